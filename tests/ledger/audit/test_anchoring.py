"""Anchors: where chains ended, kept elsewhere, shows what a chain alone cannot: that all of it was made anew."""

from __future__ import annotations

import datetime as dt
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from accordance.cli.main import run
from accordance.project.home import Home
from accordance.store.opening import open_ledger
from tests.keys import new_key
from tests.ledger.project import Clock, Project
from tests.messages import PLAN, small_plan

ROOT = Path(__file__).parents[3]
LATER = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)


def worked(folder: Path, clock: Clock | None = None) -> Project:
    """A project in which a task was done."""
    moved = clock or Clock()
    ledger = open_ledger(folder / ".accordance" / "ledger.db", clock=moved)
    project = Project(ledger, Home(folder), moved)
    project.runs(small_plan())
    project.finish("a")
    return project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """In the current folder, with a key to sign with and another one."""
    monkeypatch.chdir(tmp_path)
    new_key(tmp_path / "key", tmp_path / "key.pub")
    new_key(tmp_path / "other", tmp_path / "other.pub")
    return worked(tmp_path)


def verified(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """What `accordance verify` says."""
    capsys.readouterr()
    code = run(["verify", *options])
    said = capsys.readouterr()
    return code, said.out + said.err


@pytest.mark.usefixtures("project")
def test_the_page_about_anchors_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of it, and each holds."""
    page = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"## Anchors\n.*?```sh\n(.*?)```", page, flags=re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    ours = [words for words in commands if words[0] == "accordance"]
    assert [words[1] for words in ours] == ["anchor", "verify"]
    for _, *words in ours:
        assert run(words) == 0, capsys.readouterr()
    assert "signature: holds" in capsys.readouterr().out


@pytest.mark.parametrize("signed", [True, False], ids=["signed", "not signed"])
def test_a_ledger_that_went_on_holds(
    project: Project, capsys: pytest.CaptureFixture[str], signed: bool
) -> None:
    """What was anchored is the beginning of what is there now. New plans may have come."""
    assert (
        run(["anchor", "-o", "heads.json", *(["--sign", "key"] if signed else [])]) == 0
    )
    project.finish("b")
    key = ["--key", "key.pub"] if signed else []
    code, said = verified(capsys, "--anchor", "heads.json", *key)
    assert code == 0, said
    assert ("signature: holds" if signed else "signature: none") in said
    assert verified(capsys, PLAN, "--anchor", "heads.json")[0] == 0


def made_anew(project: Project) -> None:
    """The same work with other times: a ledger that holds by itself."""
    project.ledger.close()
    for file in (project.home.root / ".accordance").iterdir():
        file.unlink()
    worked(project.home.root, Clock(LATER)).ledger.close()


def cut_short(project: Project) -> None:
    """Less work than there was."""
    project.ledger.close()
    for file in (project.home.root / ".accordance").iterdir():
        file.unlink()
    clock = Clock()
    ledger = open_ledger(project.home.root / ".accordance" / "ledger.db", clock=clock)
    Project(ledger, project.home, clock).runs(small_plan())
    ledger.close()


def without_the_plan(project: Project) -> None:
    """A ledger nobody ever worked in."""
    project.ledger.close()
    for file in (project.home.root / ".accordance").iterdir():
        file.unlink()
    open_ledger(project.home.root / ".accordance" / "ledger.db").close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            made_anew, "the chain was rewritten since then", id="all times are others"
        ),
        pytest.param(
            cut_short, "the last event in the anchor", id="the newest events are gone"
        ),
        pytest.param(
            without_the_plan,
            f"plans {PLAN}: is in the anchor of",
            id="the plan is gone",
        ),
    ],
)
def test_a_ledger_that_was_made_anew_shows(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Project], None],
    said: str,
) -> None:
    """It holds by itself; it does not hold against the anchor."""
    assert run(["anchor", "-o", "heads.json"]) == 0
    change(project)
    assert verified(capsys)[0] == 0
    code, told = verified(capsys, "--anchor", "heads.json")
    assert (code, said in told) == (1, True), told


def unsigned(anchor: dict[str, Any]) -> object:
    """What is in the envelope, without it."""
    import base64

    return json.loads(base64.b64decode(anchor["payload"]))


def changed_inside(anchor: dict[str, Any]) -> object:
    """Another head under the same signature."""
    import base64

    statement: Any = unsigned(anchor)
    statement["predicate"]["plans"] = []
    return {
        **anchor,
        "payload": base64.b64encode(json.dumps(statement).encode()).decode(),
    }


@pytest.mark.parametrize(
    ("made", "key", "said"),
    [
        pytest.param(
            lambda one: one, "other.pub", "not signed with this key", id="another key"
        ),
        pytest.param(unsigned, "key.pub", "it is not signed", id="no signature"),
        pytest.param(
            changed_inside, "key.pub", "not a readable anchor", id="changed inside"
        ),
        pytest.param(lambda _: [], "key.pub", "not a readable anchor", id="a list"),
        pytest.param(
            lambda _: {"payload": 1},
            "key.pub",
            "not a readable anchor",
            id="half an envelope",
        ),
    ],
)
@pytest.mark.usefixtures("project")
def test_an_anchor_that_does_not_hold_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[Any], object],
    key: str,
    said: str,
) -> None:
    """Before anything is compared with it."""
    assert run(["anchor", "-o", "heads.json", "--sign", "key"]) == 0
    anchor = json.loads((tmp_path / "heads.json").read_text())
    (tmp_path / "heads.json").write_text(json.dumps(made(anchor)))
    code, told = verified(capsys, "--anchor", "heads.json", "--key", key)
    assert (code, said in told, len(told.splitlines())) == (1, True, 1), told


def test_an_anchor_names_every_head(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printed, it is the file; with a file, --json says what was written."""
    assert run(["anchor"]) == 0
    statement = json.loads(capsys.readouterr().out)
    with project.ledger.read() as tx:
        head = tx.plan(PLAN).head
    (told,) = statement["predicate"]["plans"]
    assert told == {"plan_id": PLAN, "events": head.seq, "head": head.hash}
    assert run(["anchor", "-o", "heads.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plans"] == 1


def test_an_anchored_event_that_was_changed_shows(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it does without an anchor."""
    assert run(["anchor", "-o", "heads.json"]) == 0
    with project.ledger.engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(text("UPDATE task_events SET at = '2020' WHERE seq = 1"))
    assert verified(capsys, "--anchor", "heads.json")[0] == 1


@pytest.mark.usefixtures("project")
def test_where_an_anchor_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said in a line."""
    (tmp_path / "file").touch()
    assert run(["anchor", "-o", str(tmp_path / "file" / "heads.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("accordance: ")
    assert "heads.json" in line

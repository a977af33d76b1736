"""An agent that asks for its verdict while it still runs, in a clone made by the workshop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.executor_specs import spec_of
from accordance.domain.routing import Choice
from accordance.engine.coding import Commission, Workshop, workshop_of
from accordance.engine.home import Home
from accordance.engine.working import take_up
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import Produced
from accordance.store.opening import open_ledger
from tests.acceptance.coding import FIRST, CodingProject, a_task, coding_node, coding_plan
from tests.hostile.stage import FIXED, FOLDER, TEST, git
from tests.unit.cases import a_submit

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="isolation needs Linux: no test could be run by accordance itself"
)
WRONG = "def last(items):\n    return items[0]\n"


def a_choice(model: str | None = None) -> Choice:
    """The executor of a route."""
    spec = spec_of("agent", {"kind": "command", "command": "true"})
    return Choice(
        executor="agent",
        spec=spec,
        model=model,
        tier=None,
        tiers={},
        contract="xiaobo_action_v1",
        prompt="coder.v1",
    )


def begun(tmp_path: Path, **task: Any) -> tuple[Workshop, Commission]:
    """A task that was just taken up."""
    project = CodingProject(tmp_path / "project", plan=coding_plan(coding_node(task=a_task(**task))))
    project.build()
    assert project.imports().code == 0
    home = Home(project.home)
    shop, ledger = workshop_of(home), open_ledger(home.ledger)
    with ledger.write() as tx:
        job = shop.commission(tx, take_up(tx, tx.task(FIRST), "test", 900).task)
    ledger.close()
    assert job is not None
    return shop, job


def hand_in(work: Path) -> bytes:
    """The evidence of what is there, and the submission."""
    folder = work / FOLDER
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text("Done.\n")
    (folder / "selftest.log").write_text(f"$ {TEST}\nEXIT_CODE=0\n")
    (folder / "patch.diff").write_text(git(work, "diff", "--binary", "HEAD", "--", "src"))
    said = a_submit(new_files=[], tests={"commands": [TEST], "passed": True, "summary": ""})
    (folder / "submit.json").write_text(json.dumps(said))
    return json.dumps(said).encode()


def test_it_repairs_what_it_is_told(tmp_path: Path) -> None:
    """RETRY with what failed, then DONE; in the end everything is judged again, and only that is kept."""
    shop, job = begun(tmp_path)
    opinions: list[Opinion] = []

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> Produced:
        for text in (WRONG, FIXED):
            (work / "src/app.py").write_text(text)
            opinions.append(opinion(hand_in(work)))
        return Produced(raw=hand_in(work))

    produced = shop.carry_out(job, a_choice(), agent)
    assert [(one.done, one.reason_code) for one in opinions] == [(False, "CI_FAILED"), (True, None)]
    assert f"exit code 1: {TEST}" in opinions[0].text
    assert produced.judged is not None
    assert produced.judged["verdict"]["outcome"] == "DONE"  # type: ignore[index]
    assert [place.name for place in (shop.home.root / FOLDER).iterdir()] == ["attempt-1"]
    assert shop.repository == shop.home.root / "repository"


def test_a_fault_is_passed_on(tmp_path: Path) -> None:
    """An agent that ended without a message, but for silence, is judged by nobody."""
    from accordance.domain.faults import Fault

    shop, job = begun(tmp_path)
    fault = Produced(fault=Fault.TIMED_OUT, text="too long")
    assert shop.carry_out(job, a_choice(), lambda *_: fault) is fault
    assert not (shop.home.root / FOLDER).exists()


@pytest.mark.parametrize(
    ("task", "model", "said"),
    [
        pytest.param(
            {"allowedExecutors": ["codex"]}, None, "agent is not among those allowed", id="executor"
        ),
        pytest.param({"allowedModels": ["large"]}, "small", "small is not among those allowed", id="model"),
        pytest.param({"allowedTests": []}, None, "must be tested", id="no tests"),
        pytest.param({"files": ["docs/guide.md"]}, None, "files: docs/guide.md", id="files out of scope"),
    ],
)
def test_preflight(tmp_path: Path, task: dict[str, Any], model: str | None, said: str) -> None:
    """What could not be accepted in the end is not begun."""
    shop, job = begun(tmp_path, **task)
    produced = shop.carry_out(job, a_choice(model), lambda *_: pytest.fail("it was begun"))
    assert (produced.code, said in produced.text) == ("PREFLIGHT_FAILED", True), produced


def test_an_opinion_is_about_the_tree_as_it_is(tmp_path: Path) -> None:
    """A link in the evidence's place is seen while it is there; in the end it is gone, and the work is judged without it."""
    shop, job = begun(tmp_path)
    opinions: list[Opinion] = []

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> Produced:
        (work / "src/app.py").write_text(FIXED)
        raw = hand_in(work)
        (work / FOLDER / "report.md").unlink()
        (work / "artifacts").rename(work / "elsewhere")
        (work / "artifacts").symlink_to("elsewhere")
        opinions.append(opinion(raw))
        (work / "artifacts").unlink()
        (work / "elsewhere").rename(work / "artifacts")
        return Produced(raw=hand_in(work))

    produced = shop.carry_out(job, a_choice(), agent)
    assert not opinions[0].done
    assert produced.judged is not None

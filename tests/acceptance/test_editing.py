"""`accordance run --executor llm`: a model that is asked directly changes a repository by saying how its files shall be."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cli import ROOT, accordance, programs_with_accordance
from tests.acceptance.coding import BRANCH, FIRST, CodingProject
from tests.fake_model_server import Json, Script, Server, serving
from tests.hostile.stage import git
from tests.messages import ACTION, EDITS
from tests.reviews import node_review

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
SETTINGS = """
[workspace]
repo = "repository"

[executors.llm]
model = "m"
base_url = "{url}/v1"
reasks = 1

[review]
own_work = true
"""
RIGHT = "def last(items):\n    return items[-1]\n"
WRONG = "def last(items):\n    return items[0]\n"


def edits(*files: tuple[str, str | None], **more: Any) -> Json:
    """What the model says."""
    made = [{"path": path, "content": content} for path, content in files]
    return {"json": {**EDITS, "task_id": FIRST, "edits": made, **more}}


def begun(home: Path, server: Server) -> CodingProject:
    """A project whose only executor is the scripted model, and a plan that may begin."""
    project = CodingProject(home)
    project.build()
    (home / "accordance.toml").write_text(SETTINGS.format(url=server.url), "utf-8")
    return project


def conversation(request: Json) -> str:
    """All that the model has read in one call."""
    return "\n".join(str(one["content"]) for one in request["body"]["messages"])


def test_it_mends_what_it_is_told(tmp_path: Path) -> None:
    """A bad edit, the verdict with what the test printed, a good edit: done, on the plan's branch, and recomputable."""
    steps = [
        edits(("src/app.py", WRONG), ("src/other.py", None)),
        edits(("src/app.py", RIGHT)),
    ]
    with serving(Script(steps)) as server:
        project = begun(tmp_path / "project", server)
        project.imports()
        ran = project.runs("--executor", "llm")
    assert (ran.code, ran.json["root"], ran.json["branch"]) == (0, "DONE", BRANCH), ran
    assert [(one["outcome"], one["reason_code"]) for one in ran.json["verdicts"]] == [
        ("DONE", "PASSED")
    ]
    assert project.shown("src/app.py") == RIGHT
    assert (
        git(project.repository, "log", "-1", "--format=%s", BRANCH).strip()
        == "Mend last()"
    )
    assert git(project.repository, "status", "--short") == ""
    first, again = map(conversation, server.asked)
    for shown in (
        'name="file you may change: src/app.py"',
        "items[len(items)]",
        "assert last([1, 2]) == 2",
        "Makefile",
    ):
        assert shown in first
    assert "selftest.log" not in first  # it could leave no evidence
    assert "CI_FAILED" in again
    assert "AssertionError: wrong" in again
    submit = json.loads((project.bundle() / "submit.json").read_bytes())
    assert (submit["changed_files"], submit["summary"]) == (
        ["src/app.py"],
        EDITS["summary"],
    )
    assert project("verify").code == 0
    assert project("verify", project.bundle()).code == 0
    kept = project("task", "prompt", FIRST)
    assert "items[len(items)]" in kept.out
    (run,) = project.task()["runs"]
    assert run["ran"]["calls"] == 2


@pytest.mark.parametrize(
    ("said", "verdicts", "state", "calls"),
    [
        pytest.param(
            edits(status="NEED_INPUT", needs_input=["Which end?"]),
            [("ESCALATE", "NEED_INPUT_REQUIRED")],
            ("BLOCKED", "WAITING_INPUT"),
            1,
            id="a question: a person is asked, and the model not again",
        ),
        pytest.param(
            edits(status="FAILED", reason_code="SPLIT_REQUIRED"),
            [("RETRY", "CI_FAILED"), ("ESCALATE", "CI_FAILED")],
            ("DEAD_LETTER", None),
            2,
            id="it says that it cannot: it is not pressed within the attempt",
        ),
        pytest.param(
            edits(("src/app.py", WRONG)),
            [("RETRY", "CI_FAILED"), ("ESCALATE", "CI_FAILED")],
            ("DEAD_LETTER", None),
            4,
            id="always wrong: given up",
        ),
        pytest.param(
            edits(("src/app.py", RIGHT), ("README.md", "mine\n")),
            [("REJECT", "SCOPE_CONFLICT")],
            ("BLOCKED", "WAITING_EXTERNAL"),
            2,
            id="out of scope: a person decides",
        ),
        pytest.param(
            edits(("src/app.py", RIGHT), ("src/gone.py", None)),
            [("RETRY", "EVIDENCE_INVALID"), ("ESCALATE", "EVIDENCE_INVALID")],
            ("DEAD_LETTER", None),
            4,
            id="an edit that cannot be made: nothing is",
        ),
        pytest.param(
            edits(("src/app.py", RIGHT), tests="all green"),
            [("REJECT", "SCHEMA_VIOLATION"), ("REJECT", "SCHEMA_VIOLATION")],
            ("DEAD_LETTER", None),
            4,
            id="never the contract",
        ),
    ],
)
def test_outcomes(
    tmp_path: Path,
    said: Json,
    verdicts: list[tuple[str, str]],
    state: tuple[str, str | None],
    calls: int,
) -> None:
    """A model's edits are judged like anybody's work, and its claims count for as little."""
    with serving(Script([said])) as server:
        project = begun(tmp_path / "project", server)
        project.imports()
        project.runs("--executor", "llm")
    assert project.verdicts() == verdicts
    assert (project.state(), len(server.asked)) == (state, calls)
    assert project("verify").code == 0


def test_a_broken_message_is_told_by_its_own_contract(tmp_path: Path) -> None:
    """Also in the next attempt: nothing ever asks a model for scc.submit.v1."""
    with serving(Script([edits(("src/app.py", RIGHT), tests="all green")])) as server:
        project = begun(tmp_path / "project", server)
        project.imports()
        project.runs("--executor", "llm")
    assert "$.tests" in conversation(server.asked[2])
    assert all("scc.submit.v1" not in conversation(one) for one in server.asked)


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("../../../../../stolen", ("REJECT", "SCHEMA_VIOLATION")),
        ("{outside}/stolen", ("REJECT", "SCHEMA_VIOLATION")),
        (".git/hooks/post-checkout", ("REJECT", "SCHEMA_VIOLATION")),
        ("src/out/stolen", ("REJECT", "SCOPE_CONFLICT")),
        ("src/kept", ("REJECT", "SCOPE_CONFLICT")),
    ],
    ids=["up", "absolute", "a hook", "through a link", "onto a link"],
)
def test_what_leads_out_is_refused(
    tmp_path: Path, path: str, verdict: tuple[str, str]
) -> None:
    """Nothing outside of the clone is touched, and nothing of the rest is done."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("theirs\n")
    said = edits((path.format(outside=outside), "stolen\n"), ("src/app.py", RIGHT))
    with serving(Script([said])) as server:
        project = begun(tmp_path / "project", server)
        (project.repository / "src/out").symlink_to(outside)
        (project.repository / "src/kept").symlink_to(outside / "kept")
        git(project.repository, "add", "--all")
        git(project.repository, "commit", "--quiet", "--message=links")
        project.imports("--fuse", "attempts=1")
        project.runs("--executor", "llm")
    assert project.verdicts() == [verdict]
    assert [place.name for place in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "theirs\n"
    assert not list(tmp_path.rglob("stolen"))
    assert not list(tmp_path.rglob("post-checkout"))
    assert git(project.repository, "branch", "--list", "accordance/*") == ""
    assert project("verify").code == 0


def test_a_silent_model_has_done_nothing(tmp_path: Path) -> None:
    """Who cannot work in the clone has not worked in silence."""
    with serving(Script([{"say": " "}])) as server:
        project = begun(tmp_path / "project", server)
        project.imports()
        project.runs("--executor", "llm")
    (question,) = project("inbox", "list", "--json").json["items"]
    assert "the model's answer is empty" in question["text"]
    assert {code for _, code in project.verdicts()} == {"EXECUTOR_ERROR"}
    assert not project.bundle().exists()


# -- the quickstart, by one model

PRICES = '"""Prices by zone, in cents for each kilogram."""\n\nPRICES = {"city": 390, "country": 540, "abroad": 1290}\n\n\ndef price(zone, kilograms):\n    """What a parcel costs."""\n    return PRICES[zone] * kilograms\n'
ROUNDING = '"""Rounding of prices."""\n\n\ndef to_five(cents):\n    """The nearest multiple of five."""\n    return (cents + 2) // 5 * 5\n'
FILES = {
    "New prices": ("parcels/prices.py", PRICES),
    "Rounding to five cents": ("parcels/rounding.py", ROUNDING),
    "A discount, the quick way": (
        "parcels/discount.py",
        "def discounted(cents, parcels):\n    return cents * 9 // 10 if parcels >= 10 else cents\n",
    ),
    "Express parcels": (
        "parcels/express.py",
        "def express(cents):\n    return max(500, cents * 3 // 2)\n",
    ),
}


def answer(body: Json) -> Json:
    """A model that does everything: it writes, edits (once badly, at first) and reviews."""
    told = "\n".join(str(one["content"]) for one in body["messages"][:2])
    found = re.search(r"schema_version '(\S+)' and task_id '(\S+)'", told)
    title = re.search(r"^Title: (.*)$", told, re.MULTILINE)
    assert found is not None
    assert title is not None
    version, task = found[1], found[2]
    if version == "xiaojing_review_v1":
        return {"json": node_review(task, 95)}
    if version == "xiaobo_action_v1":
        assert "390" in told or title[1].startswith(
            "Notes"
        )  # the price list, or what came of it
        return {
            "json": {
                **ACTION,
                "task_id": task,
                "artifact": {**ACTION["artifact"], "path_hint": None},
            }
        }
    path, content = FILES[title[1]]
    if title[1].startswith("Rounding") and len(body["messages"]) == 2:
        content = content.replace("+ 2", "+ 4")
    made = [{"path": path, "content": content}]
    return {"json": {**EDITS, "task_id": task, "edits": made, "summary": title[1]}}


@pytest.mark.unmeasured
def test_the_quickstart_by_one_model(tmp_path: Path) -> None:
    """`run.sh FOLDER --executor llm`: writer, coder and reviewer are the same model, and everything is done."""
    example, folder = tmp_path / "quickstart", tmp_path / "project"
    shutil.copytree(ROOT / "examples/quickstart", example)
    settings = (example / "accordance.toml").read_text("utf-8")
    python = str(Path(sys.executable).parent)
    others = os.environ.get("PATH", os.defpath)
    path = os.pathsep.join((programs_with_accordance(), python, others))
    with serving(Script([{"say": "?"}], asked=answer)) as server:
        # as its README says: take the mark of the comment away and name the endpoint
        local = re.sub(
            r"^# base_url = \S+",
            f'base_url = "{server.url}/v1"',
            settings,
            flags=re.MULTILINE,
        )
        assert local != settings
        (example / "accordance.toml").write_text(local, "utf-8")
        done = subprocess.run(
            ("sh", example / "run.sh", folder, "--executor", "llm"),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            env={**os.environ, "PATH": path},
        )
    assert (done.returncode, done.stderr) == (0, ""), done
    branch, repository = "accordance/parcels-in-april", folder / "repository"
    for path, content in FILES.values():
        assert git(repository, "show", f"{branch}:{path}") == content
    assert sorted(
        git(repository, "log", "--format=%s", f"main..{branch}").splitlines()
    ) == sorted(FILES)
    asked = [conversation(one) for one in server.asked]
    assert sum("CI_FAILED" in one for one in asked) == 1
    assert accordance("verify", "--home", folder).code == 0

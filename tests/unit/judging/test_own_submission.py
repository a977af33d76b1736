"""What accordance hands in where no agent did: facts, made worse by a claim and never better."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.facts import (
    AttemptFacts,
    ChangeKind,
    ChangeSet,
    CommandRun,
    Ending,
    PathChange,
    Snapshot,
)
from accordance.judging import own_submission
from accordance.judging.own_submission import Claim, HandedIn, hand_in
from accordance.workspace.clone import Workspace
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.git import Git
from accordance.workspace.patching import ReadablePatch
from tests.unit.cases import TASK_ID, a_task

NOT_COMPARED = ReadablePatch(b"", base="", tree="", left_out=("large",))
CHANGES = ChangeSet(
    (
        PathChange("src/new.py", ChangeKind.ADDED),
        PathChange("src/to.py", ChangeKind.RENAMED, old_path="src/from.py"),
        PathChange("src/app.py", ChangeKind.MODIFIED),
    )
)
PASSES = CommandRun("make test", 0)
FAILS = CommandRun("make check", 3)
HANGS = CommandRun("make slow", 0, Ending.TIMED_OUT)


def handed_in(
    folder: Path, *runs: CommandRun, claim: Claim | None = None, **facts: Any
) -> HandedIn:
    """Hand in after these runs, each of which has printed its command twice."""
    logs = []
    for number, run in enumerate(runs):
        log = folder / f"{number}.log"
        log.write_text(f"{run.command}\n" * 2)
        logs.append(log)

    collected = CollectedFacts(
        AttemptFacts(changes=CHANGES, runs=runs, **facts),
        before=Snapshot({}),
        after=Snapshot({}),
        patch=NOT_COMPARED,
        logs=tuple(logs),
    )
    tests = [run.command for run in runs] or ["make test"]
    request = EvidenceRequest.usually(TASK_ID, tests)
    workspace = Workspace(folder, Git(folder, folder), commit="")
    return hand_in(a_task(), collected, workspace, request, folder / "ours", claim)


def submission(*args: Any, **more: Any) -> dict[str, Any]:
    """What is handed in, as JSON."""
    return dict(json.loads(handed_in(*args, **more).submit))


def artifact(result: HandedIn, name: str) -> str:
    """One of the artifacts."""
    return result.artifacts[name].decode()


@pytest.mark.parametrize(
    ("runs", "status", "code", "exit_code", "summary"),
    [
        pytest.param([PASSES], "DONE", None, 0, "1 of 1", id="the test passes"),
        pytest.param([FAILS], "FAILED", "CI_FAILED", 3, "0 of 1", id="it fails"),
        pytest.param(
            [HANGS], "FAILED", "CI_FAILED", 1, "0 of 1", id="it fails without a code"
        ),
        pytest.param(
            [PASSES, FAILS, HANGS],
            "FAILED",
            "CI_FAILED",
            3,
            "1 of 3",
            id="the first failure counts",
        ),
    ],
)
def test_the_status_is_that_of_the_tests(
    tmp_path: Path,
    runs: list[CommandRun],
    status: str,
    code: str | None,
    exit_code: int,
    summary: str,
) -> None:
    """And the log ends with the same exit code."""
    result = handed_in(tmp_path, *runs)
    message = json.loads(result.submit)
    assert (message["status"], message.get("reason_code")) == (status, code)
    assert message["exit_code"] == exit_code
    assert message["tests"] == {
        "commands": [run.command for run in runs],
        "passed": status == "DONE",
        "summary": f"{summary} test commands passed",
    }

    selftest = result.collected.facts.evidence.selftest
    assert selftest is not None
    assert (selftest.exit_code, selftest.commands_missing) == (exit_code, ())


def test_tests_that_could_not_run_have_not_passed(tmp_path: Path) -> None:
    """There is no isolation: nothing was run, and the log gives the reason."""
    result = handed_in(tmp_path, isolation_missing="install bubblewrap")
    message = json.loads(result.submit)
    assert (message["status"], message["exit_code"]) == ("FAILED", 1)
    assert message["reason_code"] == "ISOLATION_UNAVAILABLE"
    assert message["tests"]["passed"] is False
    assert artifact(result, "selftest.log") == (
        "$ make test\nnot run: install bubblewrap\nEXIT_CODE=1\n"
    )


def test_the_files_are_those_of_the_change(tmp_path: Path) -> None:
    """Both ends of a rename; new files apart."""
    message = submission(tmp_path, PASSES)
    assert message["changed_files"] == ["src/app.py", "src/from.py", "src/to.py"]
    assert message["new_files"] == ["src/new.py"]


def test_the_artifacts_are_examined_like_an_agents(tmp_path: Path) -> None:
    """All five exist where the submission says, and are returned for the bundle."""
    result = handed_in(tmp_path, PASSES)
    evidence = result.collected.facts.evidence
    assert [fact.problem for fact in evidence.artifacts] == [""] * 5
    assert all(fact.exists for fact in evidence.artifacts)
    places = {fact.name: fact.path for fact in evidence.artifacts}
    assert places == json.loads(result.submit)["artifacts"]
    for path, content in result.artifacts.items():
        assert (tmp_path / "ours" / evidence.folder / path).read_bytes() == content


def test_what_was_printed_is_in_the_log(tmp_path: Path) -> None:
    """Each command with its output, and the exit code last."""
    result = handed_in(tmp_path, PASSES, FAILS)
    assert artifact(result, "selftest.log") == (
        "$ make test\nmake test\nmake test\n"
        "$ make check\nmake check\nmake check\n"
        "EXIT_CODE=3\n"
    )


def test_a_long_output_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole log is kept beside it."""
    monkeypatch.setattr(own_submission, "_MAX_LOG_BYTES", 6)
    result = handed_in(tmp_path, PASSES)
    assert artifact(result, "selftest.log") == "$ make test\nmake t\nEXIT_CODE=0\n"


def test_the_report_lists_changes_and_tests(tmp_path: Path) -> None:
    """For people: what was asked, what was changed, what passed."""
    result = handed_in(tmp_path, PASSES, FAILS)
    assert artifact(result, "report.md") == (
        "# Fix it.\n\n"
        "No agent handed anything in; this was made from the facts.\n\n"
        "Changed files: 3\n\n"
        "- added: src/new.py\n"
        "- renamed: src/from.py -> src/to.py\n"
        "- modified: src/app.py\n\n"
        "Test commands:\n\n"
        "- passed: make test\n"
        "- failed: make check\n"
    )


DONE = Claim(status="DONE", summary="Done.")
FAILED = Claim(status="FAILED", summary="No.")
ASKS = Claim(status="NEED_INPUT", summary="Which?", needs_input=("Which list?",))


@pytest.mark.parametrize(
    ("claim", "run", "status", "code", "exit_code"),
    [
        pytest.param(DONE, PASSES, "DONE", None, 0, id="done, and it is"),
        pytest.param(DONE, FAILS, "FAILED", "CI_FAILED", 3, id="done, and it is not"),
        pytest.param(FAILED, PASSES, "FAILED", None, 1, id="failed, says the model"),
        pytest.param(
            replace(FAILED, reason_code="MERGE_CONFLICT"),
            PASSES,
            "FAILED",
            "MERGE_CONFLICT",
            1,
            id="failed, for a reason",
        ),
        pytest.param(
            ASKS, PASSES, "NEED_INPUT", "NEED_INPUT_REQUIRED", 0, id="a question"
        ),
        pytest.param(
            replace(ASKS, reason_code="PINS_INSUFFICIENT"),
            PASSES,
            "NEED_INPUT",
            "PINS_INSUFFICIENT",
            0,
            id="a question, for a reason",
        ),
    ],
)
def test_a_claim_makes_the_status_worse_and_never_better(
    tmp_path: Path,
    claim: Claim,
    run: CommandRun,
    status: str,
    code: str | None,
    exit_code: int,
) -> None:
    """A model that cannot write files may still fail, or ask."""
    message = submission(tmp_path, run, claim=claim)
    assert (message["status"], message.get("reason_code")) == (status, code)
    assert message["exit_code"] == exit_code
    assert message["summary"] == claim.summary
    assert message["needs_input"] == list(claim.needs_input)


def test_an_edit_that_could_not_be_made_is_still_declared(tmp_path: Path) -> None:
    """It is a claim that does not hold, so that the gate for files sees it."""
    claim = replace(DONE, not_made=("src/gone.py",))
    message = submission(tmp_path, PASSES, claim=claim)
    assert message["changed_files"] == [
        "src/app.py",
        "src/from.py",
        "src/gone.py",
        "src/new.py",
        "src/to.py",
    ]
    assert message["new_files"] == []


def test_the_summary_of_a_claim_is_in_the_report(tmp_path: Path) -> None:
    result = handed_in(tmp_path, PASSES, claim=DONE)
    assert "\nDone.\n" in artifact(result, "report.md")

"""What happened, for people: task show, diff, log and open, events, and the end of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.acceptance.cli import Ran, accordance
from tests.acceptance.coding import FIRST, CodingProject
from tests.acceptance.test_shown import EVIL, is_harmless
from tests.hostile.stage import TEST

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no agent could be run",
)
MENDED_LATER = f"""
import sys
print({EVIL!r}, file=sys.stderr)
print("a\\ttab", file=sys.stderr)
if told["attempt"] == 1:
    app.write_text(WRONG)
    Path("stray.txt").write_text("stray")
    change(told, "Mended.", passed=True)
elif told["attempt"] == 2:
    Path("stray.txt").unlink(missing_ok=True)
    app.write_text(WRONG + {("# " + EVIL)!r}.replace("\\n", "").replace("\\r", "") + "\\n")
    change(told, "Mended.", passed=True)
else:
    Path("stray.txt").unlink(missing_ok=True)
    app.write_text(RIGHT)
    change(told, "Mended.")
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> CodingProject:
    """A task whose agent fails at first, with a hostile log; it has been carried out."""
    project = CodingProject(tmp_path_factory.mktemp("story") / "project")
    project.build()
    project.agent(MENDED_LATER)
    project.imports()
    summary = project.home / "summary.md"
    project.ran = project("run", "--summary", summary)
    if project.state()[0] == "BLOCKED":  # out of its pins: a person lets it go on
        assert project("task", "retry", FIRST).code == 0
        project.ran = project("run", "--summary", summary)
    return project


def ran(story: CodingProject) -> Ran:
    """How the run ended."""
    assert story.ran is not None
    return story.ran


def test_the_story_of_a_task(story: CodingProject) -> None:
    """Attempts with who and why, the failing test with its last lines, where all of it lies."""
    out = story("task", "show", FIRST).out
    is_harmless(out)
    for line in (
        "Attempt 1 by agent  ",
        "  REJECT, SCOPE_CONFLICT: 1 path is outside the allowed paths: stray.txt",
        "  next      human",
        "  RETRY, CI_FAILED: ",
        "  failing   ",
        "            | AssertionError",
        "  DONE, PASSED: All checks passed.",
        f"  evidence  artifacts/{FIRST}/attempt-1",
        f"  log       .accordance/runs/{FIRST}/action-1-1/stderr.log",
        "Question #",
    ):
        assert line in out, line
    digest = story.task()["artifacts"][0]["sha256"]
    assert digest not in out
    assert "VERDICT" not in out
    more = story("task", "show", FIRST, "--hashes", "--events").out
    assert digest in more
    assert "VERDICT" in more


def test_the_change_of_an_attempt(story: CodingProject) -> None:
    """Its patch; paths out of scope are marked; without a terminal there are no colours."""
    first = story("task", "diff", FIRST, "--attempt", "1").out
    assert "✗ stray.txt  out of scope: not_allowed\n" in first
    assert "✓ src/app.py\n" in first
    is_harmless(story("task", "diff", FIRST, "--attempt", "2").out)
    last = story("task", "diff", FIRST).out
    assert "+    return items[-1]\n" in last
    assert "stray" not in last
    whole = story("task", "diff", FIRST, "--since-start", "--json").json
    assert [path["path"] for path in whole["paths"]] == ["src/app.py"]


def test_a_change_without_a_commit(story: CodingProject) -> None:
    """It builds on nothing that could be compared."""
    done = story("task", "diff", FIRST, "--attempt", "2", "--since-start")
    assert (done.code, done.err.count("\n")) == (5, 1)
    assert "has no commit" in done.err


def test_the_log_of_an_attempt(story: CodingProject) -> None:
    """What the agent printed is text and nothing else; -n shows the end of it."""
    whole = story("task", "log", FIRST, "--attempt", "1").out
    is_harmless(whole)
    assert "forged" in whole
    assert "a       tab" in whole
    end = story("task", "log", FIRST, "--attempt", "1", "-n", "1").out
    assert end.splitlines() == whole.splitlines()[-1:]
    followed = story("task", "log", FIRST, "--attempt", "1", "-f")
    assert (followed.code, "forged" in followed.out) == (0, True)
    assert story("task", "log", FIRST, "-f", "--json").code == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("test_app", "AssertionError", id="a part of it"),
        pytest.param(TEST, "AssertionError", id="a command"),
    ],
)
def test_the_output_of_a_test(story: CodingProject, name: str, words: str) -> None:
    """By a part of its name, or of the command that ran it."""
    out = story("task", "log", FIRST, "--attempt", "2", "--test", name).out
    assert words in out


def test_a_test_that_nobody_ran(story: CodingProject) -> None:
    """The error names those that were run."""
    done = story("task", "log", FIRST, "--attempt", "2", "--test", "nothing")
    assert (done.code, "its test commands: " in done.err) == (5, True)


def test_where_the_evidence_lies(story: CodingProject) -> None:
    """The path alone, where there is no terminal or only that is wanted."""
    for options in ((), ("--print",)):
        out = story("task", "open", FIRST, "--attempt", "1", *options).out
        assert out == f"{story.bundle()}\n"
    view = story("task", "open", FIRST, "--json").json
    assert (view["kind"], view["attempt"]) == ("evidence", 3)


def test_evidence_that_was_removed(story: CodingProject, tmp_path: Path) -> None:
    """It is in the ledger, and comes back when it is asked for."""
    aside = tmp_path / "aside"
    shutil.move(story.bundle(), aside)
    try:
        for command in ("diff", "open", "show"):
            done = story("task", command, FIRST)
            assert done.code == 0, done.err
            assert "not there any more" not in done.out
    finally:
        shutil.rmtree(story.bundle(), ignore_errors=True)
        shutil.move(aside, story.bundle())


def test_events_in_sentences(story: CodingProject) -> None:
    """Hashes only on demand."""
    out = story("events").out
    is_harmless(out)
    assert "Mend last(): attempt 1 by agent ended REJECT, SCOPE_CONFLICT: " in out
    assert "Mend last(): attempt 3 by agent ended DONE, PASSED: " in out
    last = story("events", "--json").out.splitlines()[-1]
    digest = last.rpartition('"hash": "')[2][:64]
    assert digest not in out
    assert digest in story("events", "--hashes").out


def test_the_end_of_a_run(story: CodingProject) -> None:
    """Fuses first; at the end what was done, what it took, and where to look; long lines stay whole."""
    out = ran(story).out
    assert out.startswith("fuses: plan 5,000 calls, ")
    assert "is finished\n" in out
    assert "2 of 2 tasks done, " in out
    assert "\nDeliverables\n  Mend last()  workspace/artifacts/" in out
    (verdict,) = [line for line in out.splitlines() if "CI_FAILED: " in line][-1:]
    assert len(verdict) > 80


def test_the_summary_of_a_run(story: CodingProject, tmp_path: Path) -> None:
    """In a file, on the page of a CI job, and later by `plan show`."""
    kept = (story.home / "summary.md").read_text("utf-8")
    assert "2 of 2 tasks done" in kept.splitlines()[0]
    assert f"- artifacts/{FIRST}/attempt-1" in kept
    shown = story("plan", "show", "--format", "markdown").out
    assert shown.splitlines()[0] == kept.splitlines()[0]
    page = tmp_path / "page.md"
    page.write_text("before\n")
    done = accordance(
        "run",
        "--json",
        "--home",
        story.home,
        env={"GITHUB_STEP_SUMMARY": str(page)},
    )
    assert done.code == 0
    assert page.read_text().startswith("before\n## ")
    done = accordance(
        "run",
        "--home",
        story.home,
        env={"GITHUB_STEP_SUMMARY": str(tmp_path)},
    )
    assert (done.code, "could not be written" in done.err) == (0, True)


def test_a_summary_that_cannot_be_written(story: CodingProject) -> None:
    """One line; the plan is as it was."""
    done = story("run", "--summary", story.home / "plan.json" / "summary.md")
    assert (done.code, "cannot be written" in done.err) == (2, True)


def test_what_plan_show_promises(story: CodingProject) -> None:
    """Fuses and rubric are there."""
    out = story("plan", "show").out
    assert "  fuses          plan 5,000 calls, " in out
    assert "  rubric         Correctness 40, " in out

"""A person steers a plan from the command line: approve, amend, pause, cancel, archive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.cli import Ran, accordance
from tests.acceptance.coding import FIRST, CodingProject
from tests.messages import Message, edge, node, small_plan
from tests.reviews import node_review


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with a plan that waits for its review."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(small_plan()), "utf-8")
    accordance("plan", "import", file, cwd=tmp_path)
    return tmp_path


def plan(home: Path, *words: str | Path) -> Ran:
    return accordance("plan", *words, cwd=home)


def plus_c() -> Message:
    message = small_plan()
    message["nodes"].append(node("c"))
    message["edges"].append(edge("root", "c"))
    return message


def test_a_person_approves_the_plan_they_imported(home: Path) -> None:
    """The inbox asks for it, and the command is a form."""
    asked = accordance("inbox", "list", cwd=home)
    assert (asked.code, "APPROVAL" in asked.out) == (3, True)
    approved = plan(home, "approve", "--by", "ann", "--note", "go")
    assert (approved.code, "is ACTIVE, approved by ann" in approved.out) == (0, True)
    assert accordance("inbox", "list", cwd=home).code == 0
    again = plan(home, "approve")
    assert (again.code, again.err.count("\n")) == (6, 1)
    assert "is approved already" in again.err


def test_a_person_returns_a_plan(home: Path) -> None:
    """With what has to change."""
    silent = plan(home, "return")
    assert (silent.code, "--reason" in silent.err) == (2, True)
    returned = plan(home, "return", "--reason", "too long", "--json")
    assert (returned.code, returned.json["state"]) == (0, "RETURNED")


def test_pause_resume_cancel_archive(home: Path) -> None:
    """Each says where the plan is then; a list leaves out what is archived."""
    plan(home, "approve")
    assert "is PAUSED" in plan(home, "pause", "--reason", "lunch").out
    resting = accordance("task", "next", cwd=home)
    assert (resting.code, "the plan is paused" in resting.err + resting.out) == (
        3,
        True,
    )
    assert "is ACTIVE" in plan(home, "resume").out
    unasked = plan(home, "cancel")
    assert (unasked.code, "pass --yes" in unasked.err) == (2, True)
    assert plan(home, "cancel", "--yes", "--json").json["state"] == "CANCELLED"
    twice = plan(home, "cancel")
    assert (twice.code, "nothing is left to cancel" in twice.err) == (6, True)
    late = plan(home, "pause")
    assert (late.code, "only an active plan can be paused" in late.err) == (6, True)
    assert plan(home, "archive").code == 0
    assert plan(home, "list").out == "no plans\n"
    unnamed = plan(home, "archive", "--undo")
    assert (unnamed.code, "every plan is archived" in unnamed.err) == (5, True)
    assert "ARCHIVED" in plan(home, "list", "--filter", "state:archived").out
    (plan_id,) = [
        one["plan_id"]
        for one in plan(home, "list", "--json", "--filter", "state:archived").json[
            "items"
        ]
    ]
    refused = accordance("task", "submit", "-", "--task", "a", stdin=b"{}", cwd=home)
    assert (refused.code, "archive --undo" in refused.err) == (6, True)
    assert plan(home, "archive", "--undo", plan_id).code == 0
    assert accordance("verify", cwd=home).code == 0


def test_an_amendment_is_shown_before_it_is_done(home: Path) -> None:
    """As a difference for people, and as values for programs."""
    plan(home, "approve")
    (home / "new.json").write_text(json.dumps(plus_c()), "utf-8")
    looked = plan(home, "amend", "9a4f", "new.json", "--dry-run")
    assert looked.code == 0
    assert looked.out.splitlines() == [
        "Spring catalogue: revision 1 becomes 2",
        "  + c  Task c",
        "  + root has the part c",
    ]
    unasked = plan(home, "amend", "9a4f", "new.json")
    assert (unasked.code, "pass --yes" in unasked.err) == (2, True)
    done = plan(home, "amend", "9a4f", "new.json", "--yes", "--json").json
    assert (done["is_done"], done["added"]) == (
        True,
        [{"task_id": "c", "title": "Task c"}],
    )
    again = plan(home, "amend", "9a4f", "new.json", "--yes")
    assert (again.code, "changes nothing" in again.err) == (1, True)
    assert (
        json.loads((home / "tasks/plan.json").read_text())["nodes"][-1]["task_id"]
        == "c"
    )
    assert accordance("verify", cwd=home).code == 0


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        pytest.param([], 2, "say what to amend", id="nothing is said"),
        pytest.param(["--allow", "src/**"], 2, "--task TASK", id="no task is named"),
        pytest.param(["--task", "a"], 2, "say what becomes of the task", id="nothing becomes of the task"),
        pytest.param(["--task", "aa", "--goal", "x"], 5, "no task 'aa'; did you mean a", id="an unknown task"),
        pytest.param(["--task", "a", "--allow", "src/**"], 2, "changes no repository", id="pins of a task without any"),
        pytest.param(["--fuse", "attempts=off"], 2, "attempts", id="a fuse that is never off"),
        pytest.param(["--fuse", "run_seconds=never"], 2, "NAME=NUMBER or NAME=off", id="a fuse without a number"),
        pytest.param(["--fuse", "atempts=3"], 2, "did you mean attempts", id="an unknown fuse"),
        pytest.param(["cycle.json"], 1, "b -> a -> b", id="a cycle"),
    ],
)  # fmt: skip
def test_amendments_that_are_none(
    home: Path, words: list[str], code: int, why: str
) -> None:
    """One clear line, or the violations of the plan; nothing has changed."""
    message = small_plan()
    message["edges"].append(edge("b", "a", "DEPENDS_ON"))
    (home / "cycle.json").write_text(json.dumps(message), "utf-8")
    ran = plan(home, "amend", "9a4f", *words, "--yes")
    assert (ran.code, why in ran.err + ran.out) == (code, True), ran
    assert plan(home, "show", "--json").json["revision"] == 1


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="isolation needs Linux")
def test_the_pins_of_a_blocked_task_are_widened(tmp_path: Path) -> None:
    """The question says so, the task is retried, and both verdicts can be recomputed."""
    project = CodingProject(tmp_path / "project")
    project.build()
    project.agent(
        "Path('README.md').write_text('mine')\n"
        "app.write_text(RIGHT)\n"
        "change(told, 'Mended.')\n"
    )
    project.imports()
    assert project.runs().code == 3
    assert project.state() == ("BLOCKED", "WAITING_EXTERNAL")
    widened = project(
        "plan", "amend", "9a4f", "--task", FIRST[:6], "--allow", "README.md", "--yes"
    )
    assert (widened.code, "task.pins.allowed_paths" in widened.out) == (0, True), (
        widened
    )
    (question,) = project("inbox", "list", "--json").json["items"]
    assert "task.pins.allowed_paths" in question["text"]
    assert project("task", "retry", FIRST).code == 0
    ran = project.runs()
    assert (ran.code, ran.json["root"], ran.json["state"]) == (0, "DONE", "FINISHED"), (
        ran
    )
    assert project("verify").code == 0


LONG = "A title that is longer than eighty columns, " * 4


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A plan with a long title and a task that is known by its title."""
    text = f"title: '{LONG}end'\ntasks:\n  - title: Bake bread\n"
    (tmp_path / "plan.yaml").write_text(text)
    plan(tmp_path, "import", "plan.yaml", "--no-review")
    return tmp_path


def test_messages_name_their_task_by_its_title(shop: Path) -> None:
    """As every other command does; a name that fits nothing is refused, and nothing is kept."""
    task = shop_task(shop)
    message = {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "ARTIFACT",
        "artifact": {"name": "bread", "format": "md", "content": "Warm."},
    }
    raw = json.dumps(message).encode()
    wrong = accordance("task", "submit", "-", "--task", "Fry", stdin=raw, cwd=shop)
    assert (wrong.code, "no task 'Fry'" in wrong.err) == (5, True), wrong
    done = accordance("task", "submit", "-", "--task", "Bake", stdin=raw, cwd=shop)
    assert (done.code, "READY_TO_CHECK" in done.out) == (0, True), done
    review = json.dumps(node_review(task, 95)).encode()
    (product,) = accordance("task", "show", task, "--json", cwd=shop).json["artifacts"]
    words = ["task", "review", "-", "--task", "bake b", "--worker", "eve"]
    words += ["--artifact", product["sha256"]]
    reviewed = accordance(*words, stdin=review, cwd=shop)
    assert (reviewed.code, f"{task} is DONE" in reviewed.out) == (0, True), reviewed


def test_a_fuse_is_turned_off(shop: Path) -> None:
    """For a plan in the ledger; `run` and `plan show` name only the limits that are left."""
    before = plan(shop, "show").out
    amended = plan(shop, "amend", "A title", "--fuse", "run_seconds=off", "--yes")
    assert (amended.code, "run_seconds" in amended.out) == (0, True), amended
    after = plan(shop, "show").out
    assert (", 3 d;" in before, ", 3 d;" in after) == (True, False)
    assert accordance("verify", cwd=shop).code == 0


def shop_task(shop: Path) -> str:
    """The id of the task that bakes."""
    tasks = accordance("task", "list", "--json", cwd=shop).json["items"]
    (task_id,) = [task["task_id"] for task in tasks if task["title"] == "Bake bread"]
    return str(task_id)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["plan", "list"], id="plans"),
        pytest.param(["task", "list"], id="tasks"),
        pytest.param(["plan", "status", "--once"], id="the table of a plan"),
    ],
)
def test_nothing_is_wrapped_in_a_pipe(shop: Path, words: list[str]) -> None:
    """Whoever reads the lines elsewhere gets each as a whole."""
    lines = accordance(*words, cwd=shop).out.splitlines()
    assert any(f"{LONG}end" in line for line in lines), lines

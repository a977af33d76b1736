"""Tasks that change a repository, done by somebody elsewhere: `task next` lends a clone, `task submit` has it judged.

Whoever works there is played by the test itself, with a shell's rights: nobody runs or watches them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from accordance.mcp.serving import desk_for
from accordance.mcp.tools import Desk
from accordance.project.home import Home
from accordance.service.project import Project
from accordance.store.opening import open_ledger
from accordance.work.sweeping import swept
from accordance.work.taking import Taken, take_next
from tests.acceptance.cli import ROOT, Ran
from tests.acceptance.coding import (
    BRANCH,
    FIRST,
    SECOND,
    SETTINGS,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)
from tests.hostile.stage import FIXED, TEST, git
from tests.messages import edge, node
from tests.reviews import node_review
from tests.unit.cases import a_submit

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)

WRONG = "def last(items):\n    return items[0]\n"
ELSEWHERE = (
    SETTINGS.format(executor="").replace('executor = "agent"', 'executor = "people"')
    + '\n[executors.people]\nkind = "external"\n'
)
Assignment = dict[str, Any]


@dataclass
class OutsideProject(CodingProject):
    """A project whose changes are routed to somebody elsewhere."""

    settings: str = field(default=ELSEWHERE)

    def build(self) -> None:
        """The same, with routes that lead elsewhere."""
        super().build()
        (self.home / "accordance.toml").write_text(self.settings, "utf-8")

    def next(self, *options: str) -> Assignment:
        """What somebody who asks for work is told."""
        assignment: Assignment = self("task", "next", "--json", *options).json
        return assignment

    def submit(self, assignment: Assignment, *options: str) -> Ran:
        """Hand in as the assignment says, with what lies in the clone as the message."""
        hand_in = [word for word in assignment["hand_in"] if word != "-"]
        return self(*hand_in[1:], "--json", *options)

    @property
    def clones(self) -> list[str]:
        """The clones that are lent."""
        return sorted(
            place.name for place in (self.home / ".accordance/lent").glob("*")
        )

    def holds(self) -> None:
        """The ledger and every bundle can be recomputed, and nothing is left of any judgement."""
        assert self("verify").code == 0
        for manifest in (self.home / "artifacts").glob("*/attempt-*/manifest.json"):
            assert self("verify", manifest.parent).code == 0
        assert not list((self.home / ".accordance/work").glob("*"))


@pytest.fixture
def project(tmp_path: Path) -> OutsideProject:
    """A project with one change, for somebody elsewhere."""
    made = OutsideProject(tmp_path / "project")
    made.build()
    assert made.imports().code == 0
    return made


def evidence(work: Path, task_id: str = FIRST, **claims: Any) -> bytes:
    """The evidence of what is there, and the submission, as an honest agent leaves them; `claims` are said instead."""
    folder = work / "artifacts" / task_id
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text("Done.\n")
    (folder / "selftest.log").write_text(f"$ {TEST}\nEXIT_CODE=0\n")
    (folder / "patch.diff").write_text(
        git(work, "diff", "--binary", "HEAD", "--", "src")
    )
    paths = {
        name: f"artifacts/{task_id}/{file}"
        for name, file in (
            ("report_md", "report.md"),
            ("selftest_log", "selftest.log"),
            ("evidence_dir", "evidence"),
            ("patch_diff", "patch.diff"),
            ("submit_json", "submit.json"),
        )
    }
    tests = {"commands": [TEST], "passed": True, "summary": ""}
    message = {
        **a_submit(new_files=[], tests=tests),
        "task_id": task_id,
        "artifacts": paths,
        **claims,
    }
    (folder / "submit.json").write_text(json.dumps(message))
    return json.dumps(message).encode()


def mend(assignment: Assignment, text: str = FIXED, **claims: Any) -> bytes:
    """Change the file in the clone, and leave the evidence of it."""
    work = Path(assignment["workspace"])
    (work / "src/app.py").write_text(text)
    return evidence(work, assignment["task"]["task_id"], **claims)


def test_done_and_landed(project: OutsideProject) -> None:
    """The change is judged by facts, kept as a product and committed on the plan's branch, as an executor's is."""
    before = git(project.repository, "rev-parse", "HEAD")
    assignment = project.next()
    work = Path(assignment["workspace"])
    assert work.is_dir()
    assert (assignment["contract"]["schema_version"], assignment["tests"]) == (
        "scc.submit.v1",
        [TEST],
    )
    assert assignment["change"]["pins"] == {"allowed_paths": ["src/**"]}
    assert "src/app.py" in assignment["context"]["map_summary"]["files"]
    mend(assignment)
    done = project.submit(assignment)
    assert (done.code, done.json["outcome"], done.json["state"]) == (
        0,
        "DONE",
        "DONE",
    ), done
    assert project.shown("src/app.py") == FIXED
    assert git(project.repository, "rev-parse", f"{BRANCH}~1") == before
    assert git(project.repository, "rev-parse", "HEAD") == before
    assert not work.exists()
    project.holds()
    ran = project.runs()
    assert (ran.code, ran.json["root"]) == (0, "DONE")


def test_the_clone_is_bounded(project: OutsideProject) -> None:
    """It holds what the task may read, has no history, and nothing of what is withheld lies beside it."""
    work = Path(project.next()["workspace"])
    files = {
        path.relative_to(work).as_posix()
        for path in work.rglob("*")
        if ".git" not in path.parts
    }
    assert {"src/app.py", "tests/test_app.py", "Makefile"} <= files
    assert not {"README.md", "secrets/key.txt"} & files
    assert git(work, "log", "--format=%s").splitlines() == ["What this task may read"]
    assert [place.name for place in work.parent.iterdir()] == [work.name]
    assert not list((project.home / ".accordance/work").glob("*"))


def test_it_is_told_in_words_too(project: OutsideProject) -> None:
    """Where to work, within which bounds, what will be run, how to hand in."""
    text = project("task", "next").out
    (clone,) = project.clones
    for line in (
        f"  clone     {project.home}/.accordance/lent/{clone}",
        "  may       src/**",
        f"  test      {TEST}",
        f"  evidence  artifacts/{FIRST}/ in the clone: report.md, ",
        "  contract  scc.submit.v1 for task_id",
        f"  hand in   accordance task submit - --task {FIRST} --attempt 1 --home {project.home}",
    ):
        assert line in text
    assert (
        f"  clone     {project.home}/.accordance/lent/{clone}"
        in project("task", "show", FIRST).out
    )


def nothing_left(assignment: Assignment) -> None:
    """Change the file, and leave neither evidence nor a message."""
    (Path(assignment["workspace"]) / "src/app.py").write_text(FIXED)


def out_of_scope(assignment: Assignment) -> None:
    """Change a file that is not allowed, beside an honest change."""
    mend(assignment)
    (Path(assignment["workspace"]) / "Makefile").write_text("test:\n\ttrue\n")


def a_hook(assignment: Assignment) -> None:
    """Leave a hook in the clone's git directory."""
    mend(assignment)
    hooks = Path(assignment["workspace"]) / ".git/hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\ntouch /tmp/owned\n")


def a_git_setting(assignment: Assignment) -> None:
    """Let git run a program whenever somebody looks at the clone."""
    mend(assignment)
    git(Path(assignment["workspace"]), "config", "core.fsmonitor", "touch owned")


def another_git_directory(assignment: Assignment) -> None:
    """Put another repository in the place of the clone's own."""
    mend(assignment)
    work = Path(assignment["workspace"])
    shutil.rmtree(work / ".git")
    git(work, "init", "--quiet")
    git(work, "add", "--all")


def in_the_place_of_what_is_withheld(assignment: Assignment) -> None:
    """Write a file whose path the clone does not show."""
    mend(assignment)
    (Path(assignment["workspace"]) / "README.md").write_text("mine\n")


def unchanged(assignment: Assignment) -> None:
    """Claim a change that is not there."""
    evidence(Path(assignment["workspace"]))


def committed(assignment: Assignment) -> None:
    """Commit the change in the clone."""
    mend(assignment)
    work = Path(assignment["workspace"])
    git(work, "commit", "--quiet", "--all", "--message=mine")


@pytest.mark.parametrize(
    ("work", "code", "outcome", "reason"),
    [
        pytest.param(mend, 0, "DONE", "PASSED", id="honest"),
        pytest.param(committed, 0, "DONE", "PASSED", id="honest, and committed in the clone"),
        pytest.param(nothing_left, 0, "DONE", "PASSED", id="honest without a word: accordance hands in"),
        pytest.param(lambda assignment: mend(assignment, WRONG), 1, "RETRY", "CI_FAILED", id="tests fail, whatever is claimed"),
        pytest.param(unchanged, 1, "RETRY", "EVIDENCE_INVALID", id="nothing was changed"),
        pytest.param(lambda _: None, 1, "RETRY", "CI_FAILED", id="nothing was done at all"),
        pytest.param(out_of_scope, 1, "REJECT", "SCOPE_CONFLICT", id="out of scope"),
        pytest.param(in_the_place_of_what_is_withheld, 1, "REJECT", "SCOPE_CONFLICT", id="what is withheld"),
        pytest.param(a_hook, 1, "REJECT", "SCOPE_CONFLICT", id="a hook in the clone"),
        pytest.param(a_git_setting, 1, "REJECT", "SCOPE_CONFLICT", id="a setting of the clone's git"),
        pytest.param(another_git_directory, 1, "REJECT", "SCOPE_CONFLICT", id="another git directory"),
    ],
)  # fmt: skip
def test_outcomes(
    project: OutsideProject,
    work: Callable[[Assignment], object],
    code: int,
    outcome: str,
    reason: str,
) -> None:
    """The same verdicts as on executors of accordance's own; what did not pass never lands."""
    assignment = project.next()
    work(assignment)
    answer = project.submit(assignment)
    verdict = answer.json
    assert (answer.code, verdict["outcome"], verdict["reason_code"]) == (
        code,
        outcome,
        reason,
    ), verdict
    assert (git(project.repository, "branch", "--list", BRANCH) != "") is (
        outcome == "DONE"
    )
    assert project.clones == []
    project.holds()


def test_the_next_attempt_is_told(project: OutsideProject) -> None:
    """What was found, in words; the clone begins where the last one stopped."""
    assignment = project.next()
    mend(assignment, WRONG)
    assert project.submit(assignment).json["outcome"] == "RETRY"
    again = project.next()
    assert again["attempt"] == 2
    assert (
        again["context"]["last_errors"][0]
        == "Your last attempt was not accepted: CI_FAILED."
    )
    assert again["context"]["last_errors"][1].startswith(f"exit code 1: {TEST}")
    assert again["context"]["history"][0].startswith(
        "attempt 1, submission: RETRY CI_FAILED"
    )
    assert (Path(again["workspace"]) / "src/app.py").read_text() == WRONG
    mend(again)
    assert project.submit(again).json["outcome"] == "DONE"
    project.holds()


def test_after_a_breach_of_scope_a_person_decides(project: OutsideProject) -> None:
    """Whoever tries next is told, and begins anew."""
    assignment = project.next()
    out_of_scope(assignment)
    assert project.submit(assignment).json["reason_code"] == "SCOPE_CONFLICT"
    assert project.state() == ("BLOCKED", "WAITING_EXTERNAL")
    nobody = project("task", "next", "--json")
    assert (nobody.code, nobody.json["why"]) == (3, "WAITING")
    (question,) = project("inbox", "list", "--json").json["items"]
    assert (
        project(
            "inbox", "answer", question["question_id"], "Leave the Makefile alone."
        ).code
        == 0
    )
    again = project.next()
    assert "SCOPE_CONFLICT" in again["context"]["last_errors"][0]
    assert "Makefile" in " ".join(again["context"]["last_errors"])
    assert (
        again["context"]["answers"][0]["answer"]["text"] == "Leave the Makefile alone."
    )
    assert (Path(again["workspace"]) / "src/app.py").read_text() != FIXED
    mend(again)
    assert project.submit(again).json["outcome"] == "DONE"
    project.holds()


@pytest.mark.parametrize("by", ["a file", "standard input", "what lies in the clone"])
def test_the_same_hand_in_gets_the_same_answer(
    project: OutsideProject, by: str
) -> None:
    """However it is handed in; the clone is gone by then, and nothing happens twice."""
    assignment = project.next()
    raw = mend(assignment)
    (project.home / "submit.json").write_bytes(raw)
    words = [str(word) for word in assignment["hand_in"][1:] if word != "-"]
    ways = {"a file": [str(project.home / "submit.json")], "standard input": ["-"]}
    command = [*words, *ways.get(by, []), "--json"]
    first, second = (project(*command, stdin=raw) for _ in range(2))
    assert (first.json["outcome"], first.json["repeated"]) == ("DONE", False), first
    assert second.json == {**first.json, "repeated": True}
    assert [event["event"] for event in project.task()["events"]].count("VERDICT") == 1
    project.holds()


def test_hand_ins_side_by_side(project: OutsideProject) -> None:
    """One of them is judged; the other hears the same, or that it is being judged just now. Nothing counts twice."""
    assignment = project.next()
    mend(assignment)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(project.submit, [assignment, assignment]))
    codes = sorted(answer.code for answer in answers)
    assert codes in ([0, 0], [0, 6]), answers
    if codes == [0, 6]:
        assert (
            "being judged just now" in max(answers, key=lambda answer: answer.code).err
        )
    assert project.submit(assignment).json["outcome"] == "DONE"
    assert [event["event"] for event in project.task()["events"]].count("VERDICT") == 1
    project.holds()


def release(project: OutsideProject, _: Assignment) -> None:
    """Somebody puts the task down."""
    assert project("task", "release", FIRST).code == 0


def run_out(project: OutsideProject, assignment: Assignment) -> None:
    """The lease runs out, and somebody else has the task then."""
    ended = project(
        "task", "extend", FIRST, "--attempt", str(assignment["attempt"]), "--lease", "1"
    )
    assert ended.code == 0
    with open_ledger(project.home / ".accordance/ledger.db").write() as tx:
        task = tx.task(FIRST)
        assert task.lease is not None
        tx.take(
            FIRST,
            type(task.lease)(
                holder=task.lease.holder, until="2020-01-01T00:00:00.000000Z"
            ),
        )


@pytest.mark.parametrize("lose", [release, run_out])
def test_whoever_has_lost_the_task_is_refused(
    project: OutsideProject, lose: Callable[[OutsideProject, Assignment], None]
) -> None:
    """By a release or by time: their hand-in is a conflict, is kept, and changes nothing for whoever has it now."""
    assignment = project.next("--worker", "one")
    raw = mend(assignment, WRONG)
    lose(project, assignment)
    theirs = project.next("--worker", "two")
    assert (theirs["attempt"], theirs["workspace"] == assignment["workspace"]) == (
        2,
        False,
    )
    assert Path(assignment["workspace"]).exists() is (lose is run_out), (
        "what was only slow is not thrown away"
    )
    (project.home / "late.json").write_bytes(raw)
    late = project("task", "submit", project.home / "late.json", "--attempt", "1")
    assert (late.code, late.err) == (
        6,
        f"accordance: attempt 1 of task {FIRST} is over; the current attempt is 2\n",
    )
    mend(theirs)
    assert project.submit(theirs).json["outcome"] == "DONE"
    project.next()
    assert project.clones == []
    assert project.task()["failures"] == (1 if lose is run_out else 0)
    project.holds()


def test_an_agent_that_dies_between_next_and_submit(project: OutsideProject) -> None:
    """Its work lies where it was: whoever comes back hands it in, also after a lease that nobody else has taken up."""
    assignment = project.next()
    mend(assignment)
    run_out(project, assignment)
    done = project("task", "submit", "--task", FIRST, "--json")
    assert (done.code, done.json["outcome"]) == (0, "DONE"), done
    project.holds()


def test_a_next_that_dies_before_it_has_lent_a_clone(project: OutsideProject) -> None:
    """Nothing can be handed in; whoever comes back under the name gets the clone, others after a release."""
    ledger = open_ledger(project.home / ".accordance/ledger.db")
    assert isinstance(take_next(ledger, [], holder="worker"), Taken)
    ledger.close()
    refused = project("task", "submit", "--task", FIRST)
    assert (refused.code, f"accordance task release {FIRST}" in refused.err) == (
        6,
        True,
    ), refused
    worker = agent(project, "worker", resumes=True)
    mend(worker("next_task"))
    assert worker("submit")["outcome"] == "DONE"
    project.holds()


def test_a_run_leaves_what_is_elsewhere_alone(project: OutsideProject) -> None:
    """It says that the task waits elsewhere; nobody who runs sweeps the clone, not even on another ledger."""
    before = project.runs()
    assert (before.code, before.json["rests"]) == (3, "ELSEWHERE"), before
    assignment = project.next()
    mend(assignment)
    home = Home(project.home)
    project(
        "plan",
        "import",
        project.home / "plan.json",
        "--no-review",
        "--ledger",
        "other.db",
    )
    for name in (".accordance/ledger.db", "other.db"):
        ledger = open_ledger(project.home / name)
        with swept(ledger, home, is_alone=True):
            assert Path(assignment["workspace"]).is_dir()
        ledger.close()
    assert project.submit(assignment).json["outcome"] == "DONE"


def test_a_clone_that_is_gone(project: OutsideProject) -> None:
    """It cannot be judged, and no link in its place is followed; nothing is counted, and the task can be taken up again."""
    assignment = project.next()
    work = Path(assignment["workspace"])
    shutil.rmtree(work)
    work.symlink_to(project.repository)
    refused = project.submit(assignment)
    assert (refused.code, refused.json["status"]) == (6, "refused")
    assert f"accordance task release {FIRST}" in refused.json["why"]
    assert project("task", "release", FIRST).code == 0
    assert project.repository.is_dir()
    again = project.next()
    mend(again)
    assert project.submit(again).json["outcome"] == "DONE"
    assert project.task()["failures"] == 0
    project.holds()


def test_rules_that_change_meanwhile(project: OutsideProject) -> None:
    """What an attempt is held to is what it was given: other settings of its role count for the next one."""
    assignment = project.next()
    mend(assignment)
    wider = ELSEWHERE + '\n[roles.engineer]\nread = ["**"]\n'
    (project.home / "accordance.toml").write_text(wider, "utf-8")
    done = project.submit(assignment)
    assert done.json["outcome"] == "DONE", done
    project.holds()


def test_changes_are_made_one_after_the_other(tmp_path: Path) -> None:
    """Where the settings say so: the second worker is given no change while the first has one, and then builds on what that has come to."""
    pins = a_task(pins={"allowed_paths": ["src/**"]})
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(coding_node(), coding_node(SECOND, "Again", pins)),
        settings=ELSEWHERE.replace("[workspace]", "[workspace]\nparallel_changes = 1"),
    )
    project.build()
    project.imports()
    assignment = project.next("--worker", "one")
    waits = project("task", "next", "--json", "--worker", "two")
    assert (waits.code, waits.json["why"]) == (5, "CHANGING")
    assert project("task", "next", "--peek").out == ""
    mend(assignment)
    assert project.submit(assignment).json["outcome"] == "DONE"
    second = project.next("--worker", "two")
    assert (Path(second["workspace"]) / "src/app.py").read_text() == FIXED
    mend(second, f"{FIXED}# more\n")
    assert project.submit(second).json["outcome"] == "DONE"
    assert len(git(project.repository, "log", "--format=%s", BRANCH).splitlines()) == 3
    project.holds()


BOTH = ELSEWHERE.replace(
    '[[routes]]\nexecutor = "people"',
    '[[routes]]\nexecutor = "agent"\n[[routes]]\nexecutor = "people"',
)
ONLY_ELSEWHERE = a_task(allowedExecutors=["external"])
ONLY_CODEX = a_task(allowedExecutors=["codex"])
ALSO_ELSEWHERE = a_task(allowedExecutors=["codex", "external"])


@pytest.mark.parametrize(
    ("settings", "task", "options", "why"),
    [
        pytest.param(ELSEWHERE, a_task(), (), None, id="routed elsewhere"),
        pytest.param('[workspace]\nrepo = "repository"\n', a_task(), (), None, id="no executors at all"),
        pytest.param(SETTINGS.format(executor=""), a_task(), (), "OTHERS", id="routed to a program"),
        pytest.param(SETTINGS.format(executor=""), a_task(), ("--any",), None, id="but anything will do"),
        pytest.param(ELSEWHERE, ALSO_ELSEWHERE, (), None, id="the task allows it"),
        pytest.param(BOTH, ONLY_ELSEWHERE, (), None, id="the second route leads to whom it allows"),
        pytest.param(BOTH, a_task(), (), "OTHERS", id="the first route counts"),
        pytest.param(ELSEWHERE, ONLY_CODEX, (), "OTHERS", id="the task allows only another"),
        pytest.param(SETTINGS.format(executor=""), ONLY_CODEX, ("--any",), "OTHERS", id="whatever is asked for"),
        pytest.param(ELSEWHERE, a_task(allowedTests=["no-such-program"]), (), "WAITING", id="a test nobody can run"),
    ],
)  # fmt: skip
def test_what_is_handed_out(
    tmp_path: Path,
    settings: str,
    task: Assignment,
    options: tuple[str, ...],
    why: str | None,
) -> None:
    """By routes as everything else is, and never against the task; what could not be judged in the end is not begun."""
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(coding_node(task=task)),
        settings=settings,
    )
    project.build()
    project.imports()
    assignment = project.next(*options)
    assert assignment.get("why") == why
    assert ("workspace" in assignment) is (why is None)
    assert len(project.clones) == (why is None)
    if why is None:
        mend(assignment)
        assert project.submit(assignment).json["outcome"] == "DONE"
    if why == "WAITING":
        (question,) = project("inbox", "list", "--json").json["items"]
        assert question["text"].startswith("PREFLIGHT_FAILED: ")
    project.holds()


def test_a_run_asks_a_person_where_nobody_may_do_it(tmp_path: Path) -> None:
    """Its route leads elsewhere, and its task allows only another: nobody would ever be given it."""
    project = OutsideProject(
        tmp_path / "project", plan=coding_plan(coding_node(task=ONLY_CODEX))
    )
    project.build()
    project.imports()
    ran = project.runs()
    assert (ran.code, project.state()) == (3, ("BLOCKED", "WAITING_EXTERNAL")), ran
    (question,) = project("inbox", "list", "--json").json["items"]
    assert question["text"].startswith(
        "PREFLIGHT_FAILED: its route leads to an outside worker"
    )
    assert project("verify").code == 0


def test_a_run_leaves_to_others_what_only_they_may_do(tmp_path: Path) -> None:
    """Though its own program comes first in the routes."""
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(coding_node(task=ONLY_ELSEWHERE)),
        settings=BOTH,
    )
    project.build()
    project.agent("raise SystemExit('it was asked')\n")
    project.imports()
    ran = project.runs()
    assert (ran.json["rests"], project.state()) == ("ELSEWHERE", ("READY", None)), ran


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        pytest.param((), 2, "name a FILE, or with --task", id="neither file nor task"),
        pytest.param(
            ("--task", FIRST),
            6,
            "take it up with `accordance task next`",
            id="not taken up",
        ),
        pytest.param(
            ("--task", "root"),
            6,
            "so it takes a message",
            id="a task that changes nothing",
        ),
    ],
)
def test_what_cannot_be_handed_in(
    project: OutsideProject, given: tuple[str, ...], code: int, why: str
) -> None:
    """Nothing is counted."""
    refused = project("task", "submit", *given)
    assert (refused.code, why in refused.err) == (code, True), refused
    assert project.state() == ("READY", None)


def test_a_change_that_is_reviewed_by_others_lands_when_it_is_approved(
    tmp_path: Path,
) -> None:
    """Nobody reviews their own change; the branch moves with the approval, and no run is needed for that."""
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(
            coding_node(),
            node("check", "CHECK"),
            edges=(edge(FIRST, "check", "DEPENDS_ON"),),
        ),
        settings='[workspace]\nrepo = "repository"\n',
    )
    project.build()
    project.imports()
    assignment = project.next("--worker", "maker")
    mend(assignment)
    assert project.submit(assignment).json["state"] == "READY_TO_CHECK"
    assert git(project.repository, "branch", "--list", BRANCH) == ""
    assert project.next("--worker", "maker")["why"] == "OWN_WORK"
    review = project.next("--worker", "reviewer")
    assert "items[len(items) - 1]" in review["context"]["product"]["content"]
    (project.home / "review.json").write_text(json.dumps(node_review(FIRST)))
    approved = project("task", "review", project.home / "review.json", "--json")
    assert approved.json["outcome"] == "DONE", approved
    assert project.shown("src/app.py") == FIXED
    project.holds()


def test_a_change_that_does_not_apply_any_more_is_told(tmp_path: Path) -> None:
    """Another one landed while its review waited for a person: the next clone stands on that, and MERGE_CONFLICT names the files."""
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(
            coding_node(priority=9),
            coding_node(SECOND, "Another"),
            node("check", "CHECK"),
            edges=(edge(FIRST, "check", "DEPENDS_ON"),),
        ),
        settings='[workspace]\nrepo = "repository"\n',
    )
    project.build()
    project.imports()
    first = project.next("--worker", "maker")
    mend(first)
    assert project.submit(first).json["state"] == "READY_TO_CHECK"
    second = project.next("--worker", "maker")
    assert second["task"]["task_id"] == SECOND
    reviews(project, node_review(FIRST, 50, "REQUEST_EXTERNAL_INPUT"))
    mend(second, f"# another\n{FIXED.replace('len(items) - 1', '-1')}")
    assert project.submit(second).json["outcome"] == "DONE"
    (question,) = project("inbox", "list", "--json").json["items"]
    assert project("inbox", "answer", question["question_id"], "Go on.").code == 0
    again = project.next("--worker", "maker")
    conflict, *_ = again["context"]["last_errors"]
    assert conflict.startswith(
        "MERGE_CONFLICT: your last change does not apply to the current state of src/app.py"
    )
    assert (Path(again["workspace"]) / "src/app.py").read_text().startswith("# another")
    mend(again, f"# both\n{FIXED}")
    project.submit(again)
    reviews(project, node_review(FIRST))
    assert project.shown("src/app.py").startswith("# both")
    project.holds()


def test_a_run_lands_what_was_made_elsewhere(tmp_path: Path) -> None:
    """Approved in a run after another change has landed: it is rebased there, for which no outside worker has to come."""
    others = a_task(pins={"allowed_paths": ["docs/**"]}, allowedTests=["true"])
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(
            coding_node(priority=9),
            coding_node(SECOND, "Another", others),
            node("check", "CHECK"),
            edges=(edge(FIRST, "check", "DEPENDS_ON"),),
        ),
    )
    project.build()
    project.imports()
    first, second = project.next("--worker", "one"), project.next("--worker", "two")
    mend(first)
    (Path(second["workspace"]) / "docs/more.md").write_text("more\n")
    assert project.submit(first).json["state"] == "READY_TO_CHECK"
    assert project.submit(second).json["state"] == "DONE"
    ran = project.runs()
    assert (ran.code, ran.json["root"]) == (0, "DONE"), ran
    decided = [(one["outcome"], one["reason_code"]) for one in ran.json["verdicts"]]
    assert decided.count(("RETRY", "BEHIND")) == 1
    log = git(project.repository, "log", "--format=%s", BRANCH).splitlines()
    assert log == ["Mend last()", "Another", "base"]
    project.holds()


def reviews(project: OutsideProject, message: Assignment) -> None:
    """Somebody else takes the review up and hands it in."""
    assert project.next("--worker", "reviewer")["kind"] == "review"
    (project.home / "review.json").write_text(json.dumps(message))
    assert project("task", "review", project.home / "review.json").code in (0, 3)


def test_a_branch_that_cannot_be_moved_is_told(project: OutsideProject) -> None:
    """The change is in the ledger; whoever hands in hears why the branch does not stand there."""
    assignment = project.next()
    mend(assignment)
    git(project.repository, "switch", "--quiet", "--create", BRANCH)
    done = project.submit(assignment)
    assert (done.code, done.json["state"]) == (0, "DONE"), done
    assert "is checked out; switch to another branch" in done.json["not_published"]
    git(project.repository, "switch", "--quiet", "main")
    assert "not_published" not in project.submit(assignment).json
    assert project.shown("src/app.py") == FIXED


def test_the_page_about_it_holds(project: OutsideProject) -> None:
    """The commands of docs/executors.md, run by a shell as they stand there."""
    page = (ROOT / "docs/executors.md").read_text("utf-8")
    (script,) = re.findall(r"```sh\n(accordance task next.*?)```", page, re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["sh", "-euc", script],
        cwd=project.home,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran
    assert project.state() == ("DONE", None)
    assert "items[-1]" in project.shown("src/app.py")


# -- over MCP


@dataclass(frozen=True)
class Agent:
    """One agent at a desk of its own."""

    desk: Desk

    def __call__(self, tool: str, **arguments: Any) -> Any:
        return next(offer for offer in self.desk.offers() if offer.name == tool).call(
            arguments
        )


def agent(project: OutsideProject, holder: str, *, resumes: bool = False) -> Agent:
    """An agent that comes to the project."""
    ledger = open_ledger(project.home / ".accordance/ledger.db")
    served = Project(Home(project.home), ledger)
    return Agent(desk_for(served, holder=holder, resumes=resumes))


@pytest.mark.parametrize(
    "is_spoken", [True, False], ids=["the message is said", "it lies in the clone"]
)
def test_over_mcp(project: OutsideProject, is_spoken: bool) -> None:
    """The clone comes with the task, submit judges it, RETRY is told, the next one is DONE."""
    worker = agent(project, "one")
    assignment = worker("next_task")
    raw = mend(assignment, WRONG)
    answer = (
        worker("submit", message=json.loads(raw)) if is_spoken else worker("submit")
    )
    assert (answer["outcome"], answer["reason_code"]) == ("RETRY", "CI_FAILED")
    again = worker("next_task")
    assert (
        again["context"]["last_errors"][0]
        == "Your last attempt was not accepted: CI_FAILED."
    )
    raw = mend(again)
    answer = (
        worker("submit", message=json.loads(raw)) if is_spoken else worker("submit")
    )
    assert (answer["outcome"], answer["state"]) == ("DONE", "DONE")
    assert [verdict["outcome"] for verdict in worker("get_verdict")["verdicts"]] == [
        "RETRY",
        "DONE",
    ]
    assert project.shown("src/app.py") == FIXED
    project.holds()


def test_over_mcp_only_the_holder_hands_in(project: OutsideProject) -> None:
    """Another agent is refused; the one that has the task comes back under its name and finds its clone."""
    assignment = agent(project, "one")("next_task")
    mend(assignment)
    stranger = agent(project, "two")
    assert stranger("next_task")["why"] == "BUSY"
    refused = stranger("submit", task_id=FIRST)
    assert (refused["status"], refused["why"]) == (
        "refused",
        f"task {FIRST} is not with two now; one has it",
    )
    back = agent(project, "one", resumes=True)
    assert back("next_task")["workspace"] == assignment["workspace"]
    assert back("submit")["outcome"] == "DONE"
    project.holds()


def test_over_mcp_a_task_is_put_down(project: OutsideProject) -> None:
    """Its clone is thrown away."""
    worker = agent(project, "one")
    worker("next_task")
    assert worker("release")["state"] == "READY"
    assert project.clones == []
    assert worker("next_task")["attempt"] == 2


def test_over_mcp_a_person_is_asked(project: OutsideProject) -> None:
    """The task waits with what was made so far; whoever goes on gets both, and no attempt is used up."""
    worker = agent(project, "one")
    mend(worker("next_task"), WRONG)
    asked = worker("ask_human", question="Which end?")
    assert (asked["state"], asked["waiting"], asked["outcome"]) == (
        "BLOCKED",
        "WAITING_INPUT",
        "ESCALATE",
    )
    (question,) = project("inbox", "list", "--json").json["items"]
    assert "the agent asks: Which end?" in question["text"]
    assert (
        project("inbox", "answer", question["question_id"], "The right end.").code == 0
    )
    again = worker("next_task")
    assert again["context"]["answers"][0]["answer"]["text"] == "The right end."
    assert (Path(again["workspace"]) / "src/app.py").read_text() == WRONG
    mend(again)
    assert worker("submit")["outcome"] == "DONE"
    assert project.task()["failures"] == 0
    project.holds()

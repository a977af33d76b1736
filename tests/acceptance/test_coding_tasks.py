"""Tasks of a plan that change a repository, carried out by `accordance run` with programs as agents."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.cli import ROOT
from tests.acceptance.coding import (
    BRANCH,
    FIRST,
    SECOND,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)
from tests.hostile.stage import git
from tests.limits import LIMIT
from tests.messages import Message, edge, node

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no agent could be run",
)

HONEST = "app.write_text(RIGHT)\nchange(told, 'Mended.')\n"
UNTRUE = "app.write_text(WRONG)\nchange(told, 'Mended.', passed=True)\n"


@pytest.fixture
def project(tmp_path: Path) -> CodingProject:
    """A project with one task that changes its repository."""
    made = CodingProject(tmp_path / "project")
    made.build()
    return made


def test_done(project: CodingProject) -> None:
    """The change is judged, kept as a product and committed on the plan's branch; the user's own tree is left alone."""
    project.agent(HONEST)
    before = git(project.repository, "rev-parse", "HEAD")
    project.imports()
    ran = project.runs()
    assert (ran.code, ran.json["root"], ran.json["branch"]) == (0, "DONE", BRANCH), ran
    assert [(one["outcome"], one["reason_code"]) for one in ran.json["verdicts"]] == [
        ("DONE", "PASSED")
    ]
    assert "items[-1]" in project.shown("src/app.py")
    assert git(project.repository, "log", "-1", "--format=%s%n%b", BRANCH).startswith(
        "Mend last()\n"
    )
    assert git(project.repository, "rev-parse", f"{BRANCH}~1") == before
    assert git(project.repository, "rev-parse", "HEAD") == before
    assert git(project.repository, "status", "--short") == ""
    (product,) = ran.json["deliverables"]
    assert (project.home / product["path"]).read_bytes() == (
        project.bundle() / "patch.diff"
    ).read_bytes()
    assert project("verify").code == 0
    assert project("verify", project.bundle()).code == 0
    assert not list((project.home / ".accordance").glob("work/*"))


def test_retry_then_done(project: CodingProject) -> None:
    """The next attempt is told what was found, and begins where the last one stopped."""
    project.agent(
        "if told['attempt'] == 1:\n"
        "    app.write_text(WRONG)\n"
        "    change(told, 'Mended.', passed=True)\n"
        "else:\n"
        "    seen = [app.read_text() == WRONG, *told['context']['last_errors']]\n"
        "    app.write_text(RIGHT)\n"
        "    change(told, repr(seen))\n"
    )
    project.imports()
    assert project.runs().code == 0
    assert project.verdicts() == [("RETRY", "CI_FAILED"), ("DONE", "PASSED")]
    told = json.loads((project.bundle(2) / "submit.json").read_bytes())["summary"]
    assert told.startswith(
        "[True, 'Your last attempt was not accepted: CI_FAILED.', 'exit code 1: "
    )
    assert "AssertionError" in told, "what the failed test printed"
    prompts = [project("task", "prompt", FIRST, "--attempt", at).out for at in "12"]
    assert "what was decided about this task" not in prompts[0]
    assert "what was decided about this task" in prompts[1]
    assert "- attempt 1, submission: RETRY CI_FAILED: exit code 1: " in prompts[1]
    assert project("verify").code == 0


@pytest.mark.parametrize(
    ("agent", "verdicts", "state", "code"),
    [
        pytest.param(
            "Path('README.md').write_text('mine')\n" + HONEST,
            [("REJECT", "SCOPE_CONFLICT")],
            ("BLOCKED", "WAITING_EXTERNAL"),
            3,
            id="out of scope: a person decides",
        ),
        pytest.param(
            UNTRUE,
            [("RETRY", "CI_FAILED"), ("ESCALATE", "CI_FAILED")],
            ("DEAD_LETTER", None),
            1,
            id="the same failure again: given up",
        ),
        pytest.param(
            "print('Sure!')\n",
            [("REJECT", "SCHEMA_VIOLATION"), ("REJECT", "SCHEMA_VIOLATION")],
            ("DEAD_LETTER", None),
            1,
            id="no submission at all: given up",
        ),
        pytest.param(
            "app.write_text(RIGHT)\n",
            [("DONE", "PASSED")],
            ("DONE", None),
            0,
            id="done without a word: accordance hands in",
        ),
        pytest.param(
            "app.write_text(RIGHT)\nprint('I have mended it: last() is right now.')\n",
            [("DONE", "PASSED")],
            ("DONE", None),
            0,
            id="done and told in words: accordance hands in",
        ),
        pytest.param(
            "app.write_text(WRONG)\nprint('All tests pass.')\n",
            [("RETRY", "CI_FAILED"), ("ESCALATE", "CI_FAILED")],
            ("DEAD_LETTER", None),
            1,
            id="words that are not true: the tests decide",
        ),
        pytest.param(
            'app.write_text(RIGHT)\nprint(\'Here it is: {"schema_version": "scc.submit.v1"\')\n',
            [("REJECT", "SCHEMA_VIOLATION"), ("REJECT", "SCHEMA_VIOLATION")],
            ("DEAD_LETTER", None),
            1,
            id="a broken submission: still a finding",
        ),
        pytest.param(
            HONEST.replace("change(", "print('Thinking ...')\nchange("),
            [("DONE", "PASSED")],
            ("DONE", None),
            0,
            id="chatter on standard output: what lies in the evidence folder counts",
        ),
    ],
)
def test_outcomes(
    project: CodingProject,
    agent: str,
    verdicts: list[tuple[str, str]],
    state: tuple[str, str | None],
    code: int,
) -> None:
    """A verdict takes its task where the ladder says."""
    project.agent(agent)
    project.imports()
    assert project.runs().code == code
    assert project.verdicts() == verdicts
    assert project.state() == state
    assert project("verify").code == 0


def test_a_question_is_answered(project: CodingProject) -> None:
    """NEED_INPUT blocks the task with the agent's question, costs no attempt, and the answer is told to the next one."""
    project.agent(
        "if told['context']['answers']:\n"
        "    app.write_text(RIGHT)\n"
        "    change(told, told['context']['answers'][0]['answer']['text'])\n"
        "else:\n"
        "    change(told, 'Unsure.', passed=True, status='NEED_INPUT', needs_input=['Which end?'])\n"
    )
    project.imports()
    assert project.runs().code == 3
    assert project.state() == ("BLOCKED", "WAITING_INPUT")
    (question,) = project("inbox", "list", "--json").json["items"]
    assert "the agent asks: Which end?" in question["text"]
    assert (
        project("inbox", "answer", question["question_id"], "The right end.").code == 0
    )
    assert project.runs().code == 0
    assert project.verdicts() == [
        ("ESCALATE", "NEED_INPUT_REQUIRED"),
        ("DONE", "PASSED"),
    ]
    assert project.task()["failures"] == 0
    assert (
        json.loads((project.bundle(2) / "submit.json").read_bytes())["summary"]
        == "The right end."
    )


def test_changes_build_on_each_other(project: CodingProject) -> None:
    """Two tasks are done at once; the one that ends last is applied to what the first has come to, though both changed a file."""
    project.plan = coding_plan(
        coding_node(),
        coding_node(
            SECOND, "Write more", a_task(pins={"allowed_paths": ["src/**", "docs/**"]})
        ),
    )
    project.agent(
        "if told['task']['title'] == 'Write more':\n"
        "    Path('docs/more.md').write_text('more\\n')\n"
        "app.write_text(RIGHT)\n"
        "change(told, 'Done.')\n"
    )
    project.imports()
    assert project.runs().code == 0
    assert "items[-1]" in project.shown("src/app.py")
    assert project.shown("docs/more.md") == "more\n"
    log = git(project.repository, "log", "--format=%s", BRANCH).split("\n")
    assert (sorted(log[:2]), log[2]) == (["Mend last()", "Write more"], "base")
    decided = sorted(project.verdicts())
    assert decided == [("DONE", "PASSED"), ("DONE", "PASSED"), ("RETRY", "BEHIND")]
    prompts = [
        project("task", "prompt", one, "--attempt", "2") for one in (FIRST, SECOND)
    ]
    assert [one.code for one in prompts] == [5, 5]  # no agent was asked twice
    assert project("verify").code == 0


def test_a_change_that_is_reviewed(project: CodingProject) -> None:
    """A passing change waits for its CHECK; it lands when a person approves it, wherever the plan has come to by then."""
    checked = coding_node(
        SECOND,
        "Reviewed",
        a_task(pins={"allowed_paths": ["src/**", "docs/**"]}),
        priority=9,
    )
    project.plan = coding_plan(
        coding_node(priority=1),
        checked,
        node("check", "CHECK", title="Review it"),
        edges=(edge(SECOND, "check", "DEPENDS_ON"),),
    )
    project.agent(
        "if told['task']['title'] == 'Reviewed':\n"
        "    Path('docs/more.md').write_text('more\\n')\n"
        "app.write_text(RIGHT)\n"
        "change(told, 'Done.')\n"
    )
    reviewer = (project.home / "agents/reviewer.py").read_text("utf-8")
    (project.home / "agents/reviewer.py").write_text(
        reviewer.replace(
            'is_behind = "parcels/prices.py" in content',
            'is_behind = "more.md" in content',
        ),
        "utf-8",
    )
    project.imports("--fuse", "review_rounds=1")
    assert project.runs().code == 3
    assert project.state(FIRST) == ("DONE", None)
    assert project.state(SECOND) == ("BLOCKED", "WAITING_EXTERNAL")
    assert git(project.repository, "log", "--format=%s", BRANCH).split() == [
        "Mend",
        "last()",
        "base",
    ]
    (question,) = project("inbox", "list", "--json").json["items"]
    late = project("inbox", "answer", question["question_id"], "--approve")
    assert (late.code, project.state(SECOND)) == (0, ("DONE", None)), late
    assert project.runs().code == 0
    assert project.shown("docs/more.md") == "more\n"
    assert project("verify").code == 0


REVIEWED = "Reviewed"
NO_LUCK = "raise SystemExit('no luck')\n"
TWO_FILES = (
    "place = Path('docs/more.md') if told['task']['title'] == 'Reviewed' else app\n"
    "place.write_text(RIGHT)\n"
    "app.write_text(RIGHT)\n"
)


def two_changes(project: CodingProject) -> str:
    """A plan of a change that is reviewed and one that is not, and a reviewer who fails. The good reviewer."""
    pins = a_task(pins={"allowed_paths": ["src/**", "docs/**"]})
    project.plan = coding_plan(
        coding_node(FIRST, REVIEWED, pins, priority=9),
        coding_node(SECOND, task=a_task(allow_no_change=True), priority=1),
        node("check", "CHECK", title="Review it"),
        edges=(edge(FIRST, "check", "DEPENDS_ON"),),
    )
    reviewer = project.home / "agents/reviewer.py"
    good = reviewer.read_text("utf-8")
    reviewer.write_text(NO_LUCK, "utf-8")
    return good


def test_a_review_that_waits_holds_up_no_other_change(project: CodingProject) -> None:
    """The other change lands; when the review has come at last, the first one is applied to it, and is reviewed again: a part of it was there already."""
    good = two_changes(project)
    project.agent(TWO_FILES + "change(told, repr(told['context']['last_errors']))\n")
    project.imports()
    assert project.runs().code == 3
    assert project.state("check") == ("BLOCKED", "WAITING_EXTERNAL")
    assert (project.state(FIRST), project.state(SECOND)) == (
        ("READY_TO_CHECK", None),
        ("DONE", None),
    )
    (project.home / "agents/reviewer.py").write_text(good, "utf-8")
    (question,) = project("inbox", "list", "--json").json["items"]
    assert (
        project(
            "inbox", "answer", question["question_id"], "The reviewer is well again."
        ).code
        == 0
    )
    ran = project.runs()
    assert (ran.code, ran.json["root"]) == (0, "DONE"), ran
    decided = [
        (one["outcome"], one["reason_code"])
        for one in ran.json["verdicts"]
        if one["task_id"] == FIRST
    ]
    assert decided == [
        ("DONE", "PASSED"),
        ("RETRY", "BEHIND"),
        ("DONE", "PASSED"),
        ("DONE", "APPROVE"),
    ]
    assert git(project.repository, "log", "--format=%s", BRANCH).splitlines() == [
        REVIEWED,
        "Mend last()",
        "base",
    ]
    made = json.loads((project.bundle(2) / "submit.json").read_bytes())
    assert (made["payload"], made["summary"]) == ({"made_by": "accordance"}, "[]")
    assert project("verify").code == 0


@contextlib.contextmanager
def running_until_the_end(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive its test."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_a_change_that_lands_while_another_is_made(project: CodingProject) -> None:
    """The other one is applied to it and judged again; that is nobody's failure, and nothing is lost."""
    good = two_changes(project)
    project.agent(
        TWO_FILES + "if told['task']['title'] != 'Reviewed' and told['attempt'] == 1:\n"
        "    import time\n"
        "    while not Path('go').exists():\n"
        "        time.sleep(0.05)\n"
        "    Path('go').unlink()\n"
        "change(told, 'Done.')\n"
    )
    project.imports()
    command = [
        sys.executable,
        "-m",
        "accordance.cli.main",
        "run",
        "--json",
        "--home",
        str(project.home),
    ]
    with running_until_the_end(command) as running:
        project.awaits(
            lambda: (
                project.state("check")[0] == "BLOCKED"
                and project.state(SECOND)[0] == "IN_PROGRESS"
            )
        )
        (project.home / "agents/reviewer.py").write_text(good, "utf-8")
        (question,) = project("inbox", "list", "--json").json["items"]
        project(
            "inbox", "answer", question["question_id"], "The reviewer is well again."
        )
        project.awaits(lambda: project.state(FIRST)[0] == "DONE")
        (clone,) = (project.home / ".accordance/work").glob(f"{SECOND}-1-*")
        (clone / "work/go").touch()
        out, err = running.communicate(timeout=LIMIT)
    assert running.returncode == 0, err
    decided = [
        (one["outcome"], one["reason_code"])
        for one in json.loads(out)["verdicts"]
        if one["task_id"] == SECOND
    ]
    assert decided == [("RETRY", "BEHIND"), ("DONE", "PASSED")]
    assert project.task(SECOND)["failures"] == 0
    assert git(project.repository, "log", "--format=%s", BRANCH).splitlines() == [
        "Mend last()",
        REVIEWED,
        "base",
    ]
    assert project("verify").code == 0


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda one: one.plan["nodes"][1]["task"].update(allowedTests=["no-such-program"]), "no-such-program is not installed", id="a test nobody can run"),
        pytest.param(lambda one: git(one.repository, "branch", BRANCH), "this ledger did not make it", id="a branch of that name"),
        pytest.param(lambda one: shutil.rmtree(one.repository), "is not a git repository", id="no repository"),
    ],
)  # fmt: skip
def test_what_cannot_begin(project: CodingProject, spoil: object, said: str) -> None:
    """Nobody is asked to work; a person is told what is in the way."""
    assert callable(spoil)
    spoil(project)
    project.agent(HONEST)
    project.imports()
    assert project.runs().code == 3
    (question,) = project("inbox", "list", "--json").json["items"]
    assert question["text"].startswith("PREFLIGHT_FAILED: ")
    assert said in question["text"]
    assert not project.bundle().exists()


def test_a_checked_out_branch_is_not_moved(project: CodingProject) -> None:
    """The change is in the ledger; the branch follows when nobody looks at it any more."""
    project.plan = coding_plan(
        coding_node(),
        coding_node(SECOND, "Again", a_task()),
        edges=(edge(FIRST, SECOND, "DEPENDS_ON"),),
    )
    project.agent(
        "if told['task']['title'] == 'Again' and not told['context']['answers']:\n"
        "    change(told, 'Unsure.', passed=True, status='NEED_INPUT', needs_input=['Now?'])\n"
        "else:\n"
        "    app.write_text(RIGHT + '# ' + told['task']['title'] + '\\n')\n"
        "    change(told, 'Done.')\n"
    )
    project.imports()
    assert project.runs().code == 3
    git(project.repository, "switch", "--quiet", BRANCH)
    (question,) = project("inbox", "list", "--json").json["items"]
    project("inbox", "answer", question["question_id"], "Now.")
    ran = project.runs()
    assert ran.code == 0
    assert "is checked out" in ran.json["not_published"]
    assert git(project.repository, "status", "--short") == ""
    git(project.repository, "switch", "--quiet", "main")
    assert project.runs().json["not_published"] is None
    assert "# Again" in project.shown("src/app.py")


def test_evidence_that_was_touched_is_seen(project: CodingProject) -> None:
    """`accordance verify` reads every bundle again: a changed file, another verdict; a folder that is gone is in the ledger."""
    project.agent(HONEST)
    project.imports()
    project.runs()
    facts = project.bundle() / "facts.json"
    whole = facts.read_bytes()
    facts.write_bytes(whole.replace(b'"exit_code": 0', b'"exit_code": 1'))
    assert "facts.json: changed" in project("verify").out
    facts.write_bytes(whole)
    manifest = project.bundle() / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    assert "is not that of the judgement" in project("verify").out
    shutil.rmtree(project.bundle())
    assert project("verify").code == 0


def test_what_a_run_that_was_cut_off_has_left(project: CodingProject) -> None:
    """Its evidence is set aside, its clone thrown away; the attempt is made again."""
    project.agent(HONEST)
    project.imports()
    project.bundle().mkdir(parents=True)
    (project.bundle() / "half.json").write_text("{")
    for left in (
        f"work/{FIRST}-1-0123456789abcdef/work",
        f"runs/{FIRST}/action-1-1/room",
    ):
        (project.home / ".accordance" / left).mkdir(parents=True)
    assert project.runs().code == 0
    assert not list((project.home / ".accordance/work").iterdir())
    assert not list((project.home / ".accordance/runs").rglob("room"))
    logs = sorted((project.home / ".accordance/runs" / FIRST).rglob("*.log"))
    assert [f"{place.parent.name}/{place.name}" for place in logs] == [
        "action-1-2/stderr.log",
        "action-1-2/stdout.log",
    ]
    assert (project.bundle().with_name("attempt-1-cut-1") / "half.json").exists()


def test_what_is_routed_to_a_program_is_done_by_accordance_run(
    project: CodingProject,
) -> None:
    """Nobody who asks for work elsewhere gets it unless they ask for anything, and no message by hand counts."""
    project.imports()
    assert project("task", "next", "--json").json["task"] is None
    (project.home / "m.json").write_text("{}")
    refused = project("task", "submit", project.home / "m.json", "--task", FIRST)
    assert "changes a repository" in refused.out + refused.err


Spoilt = dict[str, object]


@pytest.mark.parametrize(
    ("changed", "path", "code"),
    [
        (
            {"task": {"role": "engineer", "pins": {"allowed_paths": []}}},
            "$.nodes[1].task.pins.allowed_paths",
            "empty",
        ),
        ({"task": a_task(role="gremlin")}, "$.nodes[1].task.role", "unknown_role"),
        ({"task": a_task(task_id=SECOND)}, "$.nodes[1].task.task_id", "wrong_task"),
        (
            {"task": a_task(pins={"allowed_paths": ["../x"]})},
            "$.nodes[1].task.pins.allowed_paths[0]",
            "unsafe_path",
        ),
        ({"task": "mend it"}, "$.nodes[1].task", "wrong_type"),
        ({"tags": []}, "$.nodes[1].tags", "task_misplaced"),
        ({"node_type": "GOAL"}, "$.nodes[1].task", "task_misplaced"),
        ({"task_id": "mend"}, "$.nodes[1].task_id", "bad_format"),
    ],
    ids=[
        "no paths",
        "unknown role",
        "another task",
        "a path outside",
        "no object",
        "no tag",
        "a goal",
        "no UUID",
    ],
)
def test_bad_tasks_are_reported_before_anything_runs(
    project: CodingProject, changed: Spoilt, path: str, code: str
) -> None:
    """At their place in the plan, when it is imported; nothing is imported."""
    spoilt: Message = {**coding_node(), **changed}
    project.plan = coding_plan(spoilt)
    for options in ((), ("--dry-run",)):
        ran = project.imports(*options)
        assert ran.code == 1, ran
        assert f"{path} " in ran.out
        assert f" {code}\n" in ran.out


def test_settings_nobody_knows(project: CodingProject) -> None:
    """A wrong [workspace] is said before anything runs."""
    project.imports()
    for said, expected in (
        ('nest = "."', "no key 'nest'; known: repo, base"),
        ("repo = 1", "is a text, got 1"),
    ):
        text = (project.home / "accordance.toml").read_text("utf-8")
        (project.home / "accordance.toml").write_text(
            text.replace('repo = "repository"', said), "utf-8"
        )
        ran = project.runs()
        assert (ran.code, expected in ran.err) == (2, True), ran
        (project.home / "accordance.toml").write_text(text, "utf-8")


BUSY = """
app.write_text(RIGHT)
Path("src/data.bin").write_bytes(bytes(range(256)))
Path("src/tool.sh").write_text("#!/bin/sh\\n")
Path("src/tool.sh").chmod(0o755)
Path("src/link.py").symlink_to("app.py")
Path("src/other.py").unlink()
change(told, "Mended.")
"""


def test_a_kill_while_a_change_is_judged_costs_no_second_run(
    project: CodingProject,
) -> None:
    """The agent's work is laid into a new clone, however often that happens; it is only judged, and lands as it was."""
    project.agent(BUSY)
    project.imports()
    for _ in range(2):
        command = [
            sys.executable,
            "-m",
            "tests.acceptance.dying_judge",
            str(project.home),
        ]
        died = subprocess.run(
            command, cwd=ROOT, capture_output=True, timeout=LIMIT, check=False
        )
        assert died.returncode == -signal.SIGKILL, died.stderr
    ran = project("run", "--resume", "--json")
    assert (ran.code, ran.json["root"]) == (0, "DONE"), ran
    assert [(one["outcome"], one["attempt"]) for one in ran.json["verdicts"]] == [
        ("DONE", 1)
    ]
    runs = (project.home / ".accordance" / "runs").glob("*/action-*/stdout.log")
    assert [place.parent.name for place in runs] == ["action-1-1"]
    tree = git(project.repository, "ls-tree", "-r", BRANCH, "src").splitlines()
    assert {line.split("\t")[1]: line.split()[0] for line in tree} == {
        "src/app.py": "100644",
        "src/data.bin": "100644",
        "src/link.py": "120000",
        "src/tool.sh": "100755",
    }
    assert project.shown("src/app.py").strip().endswith("items[-1]")
    assert project("verify").code == 0
    assert not list((project.home / ".accordance").glob("work/*"))


def test_what_tools_leave_in_a_clone_does_not_land(project: CodingProject) -> None:
    """Ignored files, caches and an environment with links out of the tree: none is blamed, and none is committed."""
    project.agent(
        "app.write_text(RIGHT)\n"
        "left = ('build/app.o', '.coverage', '.venv/pyvenv.cfg', 'src/__pycache__/app.pyc')\n"
        "for path in left:\n"
        "    Path(path).parent.mkdir(parents=True, exist_ok=True)\n"
        "    Path(path).write_text('left')\n"
        "Path('.venv/python').symlink_to('/usr/bin/python3')\n"
        "git('add', '--all', '--force', 'src')\n"
    )
    project.imports()
    assert project.runs().code == 0
    assert project.verdicts() == [("DONE", "PASSED")]
    landed = git(project.repository, "diff", "--name-only", f"{BRANCH}~1", BRANCH)
    assert landed.split() == ["src/app.py"]
    notices = json.loads((project.bundle() / "judgement.json").read_bytes())["notices"]
    left_out = [text for text in notices if "left out" in text]
    assert len(left_out) == 2
    assert project("verify", project.bundle()).code == 0

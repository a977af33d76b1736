"""Pins bound what an agent can read: in its clone, in git, in its prompt, and by way of the tests that are run for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.coding import (
    BRANCH,
    FIRST,
    SECOND,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)
from tests.acceptance.test_editing import RIGHT, begun, conversation, edits
from tests.fake_model_server import Script, serving
from tests.hostile.stage import git
from tests.messages import edge

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no agent could be run",
)
OLD = "hunter1"  # what the forbidden file held in an earlier commit
NOW = "hunter2"  # what it holds
LOOK = """
import os
import subprocess
def out(*words):
    return subprocess.run(("git", *words), capture_output=True).stdout.decode("utf-8", "replace")
seen = [out("log", "-p", "--all", "--reflog"), out("cat-file", "--batch-all-objects", "--batch", "--buffer")]
for folder, _, names in os.walk("."):
    seen += [Path(folder, name).read_bytes().decode("utf-8", "replace") for name in names]
    seen += names
seen += [out("show", "HEAD:secrets/key.txt"), out("log", "--oneline")]
app.write_text(RIGHT)
change(told, "Mended.")
Path("artifacts", told["change"]["task_id"], "evidence/seen.txt").write_text("\\n".join(seen), errors="replace")
"""


@pytest.fixture
def project(tmp_path: Path) -> CodingProject:
    """A project whose forbidden file has a history."""
    made = CodingProject(tmp_path / "project")
    made.build()
    with_history(made)
    return made


def with_history(project: CodingProject) -> None:
    """Let the forbidden file have had other content before."""
    place = project.repository / "secrets/key.txt"
    for text in (OLD, NOW):
        place.write_text(f"{text}\n", "utf-8")
        git(project.repository, "add", "--all")
        git(
            project.repository,
            "commit",
            "--quiet",
            "--allow-empty",
            f"--message={text}",
        )


def test_a_program_finds_nothing_else(project: CodingProject) -> None:
    """It runs its tests and is done; neither disk nor git shows it what lies outside, and that lands untouched."""
    project.agent(LOOK)
    project.imports()
    ran = project.runs()
    assert project.verdicts() == [("DONE", "PASSED")], ran
    seen = (project.bundle() / "agent/evidence/seen.txt").read_text("utf-8")
    assert "assert last([1, 2]) == 2" in seen  # the test it is to pass
    for hidden in (OLD, NOW, "key.txt", "How to use it", "guide.md", "accordance.toml"):
        assert hidden not in seen
    assert project.shown("secrets/key.txt").strip() == NOW
    assert git(
        project.repository, "diff", "--name-only", f"{BRANCH}~1", BRANCH
    ).split() == ["src/app.py"]
    assert git(project.repository, "rev-parse", f"{BRANCH}~1") == git(
        project.repository, "rev-parse", "main"
    )
    assert project("verify").code == 0
    assert project("verify", project.bundle()).code == 0


def test_a_file_in_the_place_of_a_withheld_one_is_out_of_scope(
    project: CodingProject,
) -> None:
    """It is never taken over, and nobody else's file is."""
    project.agent(
        "app.write_text(RIGHT)\nPath('secrets').mkdir()\nPath('secrets/key.txt').write_text('mine')\n"
        "change(told, 'Mended.')\n"
    )
    project.imports()
    project.runs()
    assert project.verdicts() == [("REJECT", "SCOPE_CONFLICT")]
    assert git(project.repository, "branch", "--list", BRANCH) == ""


def test_forbidden_tests_are_run_and_never_read(project: CodingProject) -> None:
    """The judge has them, the agent has not; an agent that trusts in its work hands in all the same."""
    pins = {"allowed_paths": ["src/**"], "forbidden_paths": ["tests/**"]}
    project.plan = coding_plan(coding_node(task=a_task(pins=pins)))
    project.agent(
        "assert not Path('tests').exists()\napp.write_text(RIGHT)\nchange(told, 'Mended.', passed=True)\n"
    )
    project.imports()
    project.runs()
    assert project.verdicts() == [("DONE", "PASSED")]


@pytest.mark.seed("003-10", "004-9")
def test_a_model_is_shown_nothing_else(tmp_path: Path) -> None:
    """Neither in what it is asked, nor by a test that prints for it what it may not read."""
    printing = (
        "print(open('secrets/key.txt').read(), open('docs/guide.md').read()[:3])\n"
    )
    steps = [edits(("src/app.py", printing)), edits(("src/app.py", RIGHT))]
    with serving(Script(steps)) as server:
        project = begun(tmp_path / "project", server)
        with_history(project)
        project.imports()
        project.runs("--executor", "llm")
    assert project.verdicts() == [("DONE", "PASSED")]
    first, again = map(conversation, server.asked)
    assert "assert last([1, 2]) == 2" in first
    for hidden in ("key.txt", "guide.md", "How to use it", NOW, OLD):
        assert hidden not in first
    assert "CI_FAILED" in again
    assert (
        "No such file or directory: 'secrets/key.txt'" in again
    )  # of the run without it
    assert NOW not in again


def test_the_change_of_another_task_is_shown_as_far_as_it_may_be_read(
    project: CodingProject,
) -> None:
    """A task that comes after another is told what that one changed, without the files it may not read itself."""
    pins = {"allowed_paths": ["docs/**", "src/other.py"]}
    first = coding_node(
        title="Tell the plans", task=a_task(pins=pins, allowedTests=["true"])
    )
    project.plan = coding_plan(
        first, coding_node(SECOND), edges=(edge(FIRST, SECOND, "DEPENDS_ON"),)
    )
    project.agent(
        "if 'plans' in told['task']['title']:\n"
        "    Path('docs/guide.md').write_text('Our secret plans.')\n"
        "    Path('src/other.py').write_text('OTHER = 2')\n"
        "    change(told, 'Told.')\n"
        "else:\n"
        "    heard = repr(told['context']['dependencies']) + told['prompt']['user']\n"
        "    assert 'OTHER = 2' in heard and 'left out' in heard and 'secret plans' not in heard, heard\n"
        "    app.write_text(RIGHT)\n"
        "    change(told, 'Mended.')\n"
    )
    project.imports()
    ran = project.runs()
    assert project.verdicts() == [("DONE", "PASSED"), ("DONE", "PASSED")], ran

"""`accordance ci`: the files it writes, and the judgement they call for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from accordance import __version__
from tests.acceptance.checkout import Checkout
from tests.acceptance.cli import ROOT, Ran, accordance
from tests.hostile.stage import FIXED
from tests.unit.cases import TASK_ID

EXAMPLES = ROOT / "examples/ci"
FILES = {
    "github": (EXAMPLES / "accordance.yml", "codex[bot]"),
    "gitlab": (EXAMPLES / "gitlab.yml", "codex"),
}
PINNED = re.compile(r"[\w/-]+@[0-9a-f]{40}")


@pytest.mark.parametrize("forge", FILES)
def test_the_examples_are_what_the_command_writes(forge: str) -> None:
    """Otherwise one of the two would be out of date."""
    example, agent = FILES[forge]
    written = accordance("ci", forge, "--agent", agent, "-o", "-")
    assert written.out == example.read_text("utf-8")
    assert f'"accordance=={__version__}"' in written.out


def test_every_action_is_pinned_to_a_commit() -> None:
    """A tag can be moved."""
    workflow = yaml.safe_load((EXAMPLES / "accordance.yml").read_text("utf-8"))
    job = workflow["jobs"]["judge"]
    actions = [step["uses"] for step in job["steps"] if "uses" in step]
    assert len(actions) == 3
    assert all(PINNED.fullmatch(action) for action in actions)
    assert "if" not in job  # a required job that is skipped counts as passed


@pytest.mark.parametrize("file", [EXAMPLES / "accordance.yml", ROOT / "action.yml"])
def test_no_script_contains_an_expression(file: Path) -> None:
    """A branch may be called `$(curl …)`: expressions go through variables only."""
    text = file.read_text("utf-8")
    document = yaml.safe_load(text)
    runs = document.get("runs") or document["jobs"]["judge"]
    scripts = [step["run"] for step in runs["steps"] if "run" in step]
    assert len(scripts) >= 2
    for script in scripts:
        assert "${{" not in script


def test_the_gitlab_file_has_one_job() -> None:
    """And it runs for merge requests."""
    jobs = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text("utf-8"))
    assert list(jobs) == ["accordance"]
    assert "merge_request_event" in jobs["accordance"]["rules"][0]["if"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ((), 0, "judges changes from branches agent/TASK_ID by tasks/TASK_ID.json"),
        (("--tasks", "../up"), 2, "is not a folder of the repository"),
        (("--tasks", 'x" && rm'), 2, "is not a folder of the repository"),
        (("--agent", 'a" b'), 2, "is not a login"),
    ],
)
def test_writing_a_file(
    tmp_path: Path, options: tuple[str, ...], code: int, says: str
) -> None:
    """Nothing that is given can break out of the file."""
    ran = accordance("ci", "github", *options, cwd=tmp_path)
    assert ran.code == code, ran
    assert says in ran.out + ran.err
    assert (tmp_path / ".github/workflows/accordance.yml").exists() == (code == 0)


def test_a_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    """People change it by hand."""
    (tmp_path / "mine.yml").write_text("mine")
    refused = accordance("ci", "gitlab", "-o", "mine.yml", cwd=tmp_path)
    assert refused.code == 6
    assert (tmp_path / "mine.yml").read_text() == "mine"
    assert (
        accordance("ci", "gitlab", "-o", "mine.yml", "--force", cwd=tmp_path).code == 0
    )


@pytest.fixture
def proposed(checkout: Checkout) -> Checkout:
    """A repository whose base has the task, and an agent who mended what it asks for."""
    checkout.write(f"tasks/{TASK_ID}.json", json.dumps(checkout.task))
    checkout.begin_with("a task")
    checkout.write("src/app.py", FIXED)
    return checkout


def judge(
    checkout: Checkout, branch: str = f"agent/{TASK_ID}", author: str = "codex[bot]"
) -> Ran:
    """What the workflow calls."""
    checkout.commit("done")
    return accordance(
        *("ci", "judge", "--branch", branch, "--author", author),
        *("--agents", "codex[bot] other", "--base", checkout.begun_at),
        *("--repo", checkout.work, "--artifacts", checkout.place / "judged"),
        *("--format", "github"),
        cwd=checkout.place,
    )


def bundles(checkout: Checkout) -> list[Path]:
    """The evidence that was kept."""
    return list((checkout.place / "judged").rglob("verdict.json"))


def test_an_agents_change_is_done(proposed: Checkout) -> None:
    """The honest twin, and its evidence is kept outside the repository."""
    ran = judge(proposed)
    assert ran.code == 0, ran
    assert "DONE" in ran.out
    assert bundles(proposed)


def test_a_change_out_of_scope_is_refused(proposed: Checkout) -> None:
    """Beside the file, in the words of GitHub."""
    proposed.write("README.md", "mine\n")
    ran = judge(proposed)
    assert ran.code == 1
    assert "::error file=README.md,title=accordance SCOPE_CONFLICT::" in ran.out


def test_the_agent_cannot_change_its_task(proposed: Checkout) -> None:
    """The task is the base's."""
    wider = {**proposed.task, "pins": {"allowed_paths": ["**"]}}
    proposed.write(f"tasks/{TASK_ID}.json", json.dumps(wider))
    ran = judge(proposed)
    assert ran.code == 1
    assert "SCOPE_CONFLICT" in ran.out


def test_evidence_in_the_branch_is_refused(proposed: Checkout) -> None:
    """It is outside every scope, so a conftest.py there would be merged unjudged."""
    proposed.write(f"artifacts/{TASK_ID}/conftest.py", "raise SystemExit\n")
    ran = judge(proposed)
    assert ran.code == 1
    assert "would be merged without being judged" in ran.err


@pytest.mark.parametrize(
    ("branch", "author", "code", "says"),
    [
        ("mend-it", "somebody", 0, "is a person's change"),
        ("mend-it", "codex[bot]", 1, "agents push to agent/TASK_ID"),
        ("agent/", "somebody", 1, "names no task"),
        ("agent/../../etc", "somebody", 1, "names no task"),
        ("agent/another", "somebody", 5, "the base has no tasks/another.json"),
    ],
)
def test_whose_change_it_is(
    proposed: Checkout, branch: str, author: str, code: int, says: str
) -> None:
    """The branch decides, then the author: an agent cannot avoid its gate by a name."""
    ran = judge(proposed, branch, author)
    assert ran.code == code, ran
    assert says in ran.out + ran.err
    assert not bundles(proposed)

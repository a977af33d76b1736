"""A task that names no tests: the repository's own and those the submission names are run, and the verdict says whose they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accordance import Judgement, judge
from accordance.domain.facts import ArtifactName
from tests.acceptance.checkout import Checkout
from tests.hostile.stage import FOLDER, TEST

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)

PAGES = [
    "docs/prompt_os/io/schemas.md",
    "docs/prompt_os/io/fail_codes.md",
    "docs/prompt_os/io/evidence_spec.md",
]
EXAMPLE: dict[str, Any] = {
    "task_id": "72c84e9c-0975-4c1a-b9a5-864c2725dc8a",
    "goal": "Create IO layer documentation for schemas, fail codes, and evidence.",
    "role": "executor",
    "pins": {"allowed_paths": ["docs/prompt_os/io/"], "forbidden_paths": []},
    "files": PAGES,
    "context": {"map": {}, "docs": {}, "history": {}},
}
"""The example of seed 004."""


def written(checkout: Checkout, *commands: str) -> Judgement:
    """The pages are written and handed in, tested by these commands."""
    for page in PAGES:
        checkout.write(page, f"# {page}\n")
    checkout.tell(new=tuple(PAGES))
    checkout.submit["tests"] = {
        "commands": [*commands],
        "passed": True,
        "summary": "there",
    }
    checkout.log = "".join(f"$ {command}\n" for command in commands) + "EXIT_CODE=0\n"
    checkout.hand_in()
    return judge(EXAMPLE, repo=checkout.work, base=checkout.begun_at)


@pytest.mark.seed("004-19", "004-28")
def test_the_seeds_own_example_can_be_done(checkout: Checkout) -> None:
    """Its submission's command is run by the gateway; whose choice it was stands in the verdict."""
    command = f"test -s {PAGES[0]}"
    found = written(checkout, command)
    assert found, found.verdict
    assert [run.command for run in found.facts.runs] == [command]
    messages = found.as_verdict()["messages"]
    assert messages == [
        f"the task names no tests; these are the agent's choice: {command}"
    ]


def test_a_choice_that_fails(checkout: Checkout) -> None:
    """What the agent says it ran is run, and it fails: more than a missing test, and the agent's to mend."""
    found = written(checkout, "test -s docs/nowhere.md")
    assert (found.verdict.outcome, found.verdict.reason_code) == ("RETRY", "CI_FAILED")


def test_no_choice_at_all(checkout: Checkout) -> None:
    """Nothing shows that the work is done; the agent is told what to do about it."""
    found = written(checkout)
    assert (found.verdict.outcome, found.verdict.reason_code) == ("RETRY", "CI_SKIPPED")
    assert found.retry is not None
    assert "or in the submission" in found.retry.tell


def test_the_repositorys_own_tests_come_first(checkout: Checkout) -> None:
    """Settings at the base name commands that no agent has chosen; its log need not show them."""
    checkout.write("accordance.toml", f'[judge]\ntests = ["{TEST}"]\n')
    checkout.begin_with("rules")
    found = written(checkout, "true")
    assert [run.command for run in found.facts.runs] == [TEST, "true"]
    assert (found.verdict.reason_code, found.verdict.findings[0].about) == (
        "CI_FAILED",
        (TEST,),
    )
    assert "the repository's own" in found.verdict.notices[0]


def test_only_so_many_are_run(checkout: Checkout) -> None:
    """Each may take its whole time, so there is an end to it; what was not run is no proof."""
    found = written(checkout, *(f"test {number} -gt 0" for number in range(1, 13)))
    assert len(found.facts.runs) == 10
    assert [one.about for one in found.verdict.findings] == [
        ("test 11 -gt 0",),
        ("test 12 -gt 0",),
    ]


def test_an_empty_folder_of_evidence_is_kept(checkout: Checkout) -> None:
    """The verdict's link leads into the bundle, not to the agent's own folder."""
    found = written(checkout, "true")
    link = found.as_verdict()["links"][ArtifactName.EVIDENCE_DIR]  # type: ignore[index]
    assert str(link).rstrip("/") == f"{FOLDER}/attempt-1/agent/evidence"
    assert (checkout.work / str(link)).is_dir()


@pytest.mark.seed("004-20")
def test_evidence_that_accordance_made_is_told(checkout: Checkout) -> None:
    """Nobody takes it for the agent's; raw HTML of a goal is no HTML of the report."""
    checkout.work_honestly()
    task = checkout.task | {"goal": "Mend <script>alert(1)</script> last()"}
    found = judge(json.dumps(task), repo=checkout.work, base=checkout.begun_at)
    assert found
    assert "made by accordance from facts" in str(found.as_verdict()["messages"])
    assert "<script" not in (checkout.bundle / "agent/report.md").read_text(
        "utf-8"
    ).replace("\\<", "")

"""Changes of agents that cannot reach the clone: they send a patch over MCP, and it is judged there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from accordance.cli.doors import open_doors
from accordance.service.project import Project
from tests.acceptance.coding import BRANCH, FIRST
from tests.hostile.stage import git
from tests.server.mcp_agent import connected, product, running
from tests.server.stage import Served, serving
from tests.server.test_mcp_door import refuse
from tests.service.landing_stage import (
    FILES,
    NAME,
    OTHER_RATE,
    RATE,
    TOTAL,
    LandingStage,
    a_plan,
    change,
    staged,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run",
)

WRONG_RATE = FILES["prices.py"].replace("return 5", "return 6")


@dataclass(frozen=True)
class Elsewhere:
    """A served project with a change to make, and the agent's own copy of the repository."""

    stage: LandingStage
    door: Served
    copy: Path

    def patch(self, text: str, path: str = "prices.py", since: str = "") -> str:
        """What git diff shows after a file was written, maybe over an earlier change; the copy is as before."""
        if since:
            (self.copy / path).write_text(since, "utf-8")
            git(self.copy, "add", "--all")
        (self.copy / path).write_text(text, "utf-8")
        git(self.copy, "add", "--intent-to-add", "--all")
        patch = git(self.copy, "diff", "--binary")
        git(self.copy, "reset", "--quiet", "--hard")
        assert patch
        return patch


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    """A change of prices.py alone, which must pass check_rate.py."""
    only = change(FIRST, "Raise the rate", "check_rate.py", ("prices.py",))
    with (
        staged(tmp_path / "project", a_plan(only)) as stage,
        serving(stage.project, mounts=open_doors(refuse)) as door,
    ):
        copy = tmp_path / "copy"
        git(tmp_path, "clone", "--quiet", str(stage.repository), str(copy))
        yield Elsewhere(stage, door, copy)


def test_a_patch_is_judged_and_lands_once(elsewhere: Elsewhere) -> None:
    """The same patch again gets the same answer, and no commit of its own."""
    patch = elsewhere.patch(RATE)
    key = elsewhere.door.key("agent")

    async def act() -> None:
        async with connected(elsewhere.door.url, key) as agent:
            taken = await agent("next_task")
            assert taken["task"]["task_id"] == FIRST
            done = await agent("submit", task_id=FIRST, patch=patch, attempt=1)
            assert (done["outcome"], done["state"]) == ("DONE", "DONE")
            again = await agent("submit", task_id=FIRST, patch=patch, attempt=1)
            assert again["repeated"]
            assert (again["outcome"], again["attempt"]) == ("DONE", 1)

    running(act)
    assert elsewhere.stage.landed() == ["Raise the rate"]
    assert elsewhere.stage.shown("prices.py") == RATE
    elsewhere.stage.holds()


def test_a_patch_that_fails_is_mended_by_another(elsewhere: Elsewhere) -> None:
    """The clone has the failed change already, so what is sent must fit that."""
    wrong, right = elsewhere.patch(WRONG_RATE), elsewhere.patch(RATE)
    mended = elsewhere.patch(RATE, since=WRONG_RATE)
    key = elsewhere.door.key("agent")

    async def act() -> None:
        async with connected(elsewhere.door.url, key) as agent:
            await agent("next_task")
            answer = await agent("submit", task_id=FIRST, patch=wrong)
            assert (answer["outcome"], answer["reason_code"]) == ("RETRY", "CI_FAILED")
            await agent("next_task")
            why = await agent.error("submit", task_id=FIRST, patch=right)
            assert "does not fit the clone in prices.py" in why
            done = await agent("submit", task_id=FIRST, patch=mended)
            assert (done["outcome"], done["attempt"]) == ("DONE", 2)

    running(act)
    assert elsewhere.stage.shown("prices.py") == RATE
    elsewhere.stage.holds()


def test_a_patch_that_fails_is_sent_again(elsewhere: Elsewhere) -> None:
    """The clone has it already: that is judged, and the task goes to a person."""
    wrong = elsewhere.patch(WRONG_RATE)
    key = elsewhere.door.key("agent")

    async def act() -> None:
        async with connected(elsewhere.door.url, key) as agent:
            for outcome in ("RETRY", "ESCALATE"):
                await agent("next_task")
                answer = await agent("submit", task_id=FIRST, patch=wrong)
                assert answer["outcome"] == outcome
                assert answer["reason_code"] == "CI_FAILED"

    running(act)
    assert elsewhere.stage.state(FIRST) == "DEAD_LETTER"


def test_a_patch_goes_where_the_task_does_not(elsewhere: Elsewhere) -> None:
    """A person must decide whether the task may; nothing of the patch lands."""
    patch = elsewhere.patch(RATE) + elsewhere.patch("Done.\n", "notes.md")
    key = elsewhere.door.key("agent")

    async def act() -> None:
        async with connected(elsewhere.door.url, key) as agent:
            await agent("next_task")
            answer = await agent("submit", task_id=FIRST, patch=patch)
            assert (answer["outcome"], answer["state"]) == ("REJECT", "BLOCKED")
            assert "notes.md" in " ".join(answer["messages"])

    running(act)
    assert git(elsewhere.stage.repository, "branch", "--list", BRANCH) == ""


def test_patches_that_do_not_fit(elsewhere: Elsewhere) -> None:
    """Nothing of them is taken, no attempt is lost, and the right patch is still taken."""
    patch = elsewhere.patch(RATE)
    stale = patch.replace("-    return 5", "-    return 4")
    half = elsewhere.patch(NAME) + stale.replace("prices.py", "total.py")
    misfits = {
        "of another state": stale,
        "fits in part": half,
        "of a file that was not lent": patch + elsewhere.patch(TOTAL, "total.py"),
        "leads out of the clone": patch.replace("prices.py", "../../prices.py"),
        "goes into git's own folder": patch.replace("prices.py", ".git/config"),
        "cut off": patch[: len(patch) // 2],
        "no patch": "Raise the rate, please.",
    }
    key, other = elsewhere.door.key("agent"), elsewhere.door.key("agent", name="eve")

    async def act() -> None:
        async with connected(elsewhere.door.url, key) as agent:
            await agent("next_task")
            for name, misfit in misfits.items():
                why = await agent.error("submit", task_id=FIRST, patch=misfit)
                assert "does not fit the clone" in why, name
                assert "\n" not in why, name
            async with connected(elsewhere.door.url, other) as stranger:
                theirs = elsewhere.patch(OTHER_RATE)
                answer = await stranger(
                    "submit", task_id=FIRST, patch=theirs, attempt=1
                )
                assert answer["status"] == "refused"
            done = await agent("submit", task_id=FIRST, patch=patch)
            assert (done["outcome"], done["attempt"]) == ("DONE", 1)

    running(act)
    assert elsewhere.stage.failures(FIRST) == 0
    assert elsewhere.stage.shown("prices.py") == RATE


def test_a_task_that_changes_no_repository_takes_no_patch(project: Project) -> None:
    """The message is not taken either; without the patch, it is."""

    async def act(door: Served) -> None:
        async with connected(door.url, door.key("agent")) as agent:
            await agent("next_task")
            why = await agent.error("submit", message=product("a"), patch="a patch")
            assert "takes no patch" in why
            done = await agent("submit", message=product("a"))
            assert (done["status"], done["attempt"]) == ("accepted", 1)

    with serving(project, mounts=open_doors(refuse)) as door:
        running(lambda: act(door))

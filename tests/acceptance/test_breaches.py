"""What an agent does beside its change: tools its role denies, programs it leaves in the repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import Observation, RunOutcome
from tests.acceptance.workshop import a_choice, begun, hand_in
from tests.hostile.stage import FIXED, git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
DONE = ("DONE", "ok")
DENIED = ("REJECT", "POLICY_VIOLATION")
BROKEN = ("REJECT", "CONSTITUTION_VIOLATION")


def verdict_of(produced: RunOutcome) -> tuple[str, str]:
    """The outcome and the reason of a run that was judged."""
    assert produced.judged is not None
    verdict: Any = produced.judged["verdict"]
    return verdict["outcome"], verdict["reason_code"] or "ok"


@pytest.mark.parametrize(
    ("tools", "verdict"),
    [
        pytest.param(
            {"used": ["Bash", "Edit"], "refused": ["WebFetch"]},
            DONE,
            id="it stayed offline",
        ),
        pytest.param(
            {"used": ["Edit", "web_search"], "refused": []},
            DENIED,
            id="it searched the web, which its role may not",
        ),
        pytest.param({"used": None}, DONE, id="its report says nothing"),
    ],
)
def test_the_tools_of_an_agent_are_judged(
    tmp_path: Path, tools: Mapping[str, Any], verdict: tuple[str, str]
) -> None:
    """A search that the model's provider makes passes every sandbox; the agent's own report shows it."""
    shop, job = begun(tmp_path)

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        return RunOutcome(raw=hand_in(work), seen=(Observation("tools", tools),))

    assert verdict_of(shop.carry_out(job, a_choice(), agent)) == verdict


def a_hook(repository: Path) -> None:
    """A program that git would run at the user's next commit."""
    hook = repository / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


def a_remote(repository: Path) -> None:
    """A setting that runs no program."""
    git(repository, "config", "remote.origin.url", "elsewhere")


def a_filter(repository: Path) -> None:
    """A program that git would run at the next checkout."""
    git(repository, "config", "filter.x.smudge", "sh -c true")


@pytest.mark.parametrize(
    ("change", "level", "verdict"),
    [
        pytest.param(a_remote, "rlimit", DONE, id="a setting without a program"),
        pytest.param(a_hook, "bwrap", DONE, id="the user's hook: the agent was inside"),
        pytest.param(a_hook, "rlimit", BROKEN, id="the agent's hook"),
        pytest.param(a_filter, "rlimit", BROKEN, id="the agent's filter"),
    ],
)
def test_an_agent_that_changes_the_repository_itself_is_rejected(
    tmp_path: Path,
    change: Callable[[Path], None],
    level: str,
    verdict: tuple[str, str],
) -> None:
    """Its clone is as it should be; the user's next commit would run its program."""
    shop, job = begun(tmp_path)

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        change(shop.repository)
        return RunOutcome(raw=hand_in(work), isolation=level)

    assert verdict_of(shop.carry_out(job, a_choice(), agent)) == verdict


def test_a_hook_that_was_there_before_is_nobodys_breach(tmp_path: Path) -> None:
    """Repositories have hooks of their own."""
    shop, job = begun(tmp_path)
    a_hook(shop.repository)

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        return RunOutcome(raw=hand_in(work), isolation="rlimit")

    assert verdict_of(shop.carry_out(job, a_choice(), agent)) == DONE


def test_a_breach_does_not_hide_behind_a_fault(tmp_path: Path) -> None:
    """An agent that adds a hook and then never ends is rejected too."""
    shop, job = begun(tmp_path)

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        a_hook(shop.repository)
        return RunOutcome(fault=Fault.TIMED_OUT, text="too long", isolation="rlimit")

    assert verdict_of(shop.carry_out(job, a_choice(), agent)) == BROKEN

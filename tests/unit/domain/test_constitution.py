"""What no task can permit."""

from __future__ import annotations

import pytest

from accordance.domain.constitution import constitution_breaches

HOOK = "hook pre-commit"


@pytest.mark.parametrize("level", ["rlimit", "none"])
def test_an_agent_that_makes_git_run_programs_has_gone_around_the_gate(
    level: str,
) -> None:
    """With the user's own rights it could write in the repository itself."""
    (breach,) = constitution_breaches([HOOK], level)
    assert breach.code == "CONSTITUTION_VIOLATION"
    assert HOOK in breach.what
    assert "remove them" in breach.what


@pytest.mark.parametrize(
    ("programs", "level"),
    [
        pytest.param([], "rlimit", id="nothing was added"),
        pytest.param([HOOK], "bwrap", id="its sandbox had no such folder"),
        pytest.param([HOOK], "landlock", id="its sandbox refused such writes"),
        pytest.param([HOOK], None, id="a model elsewhere runs nothing here"),
    ],
)
def test_who_cannot_have_done_it_is_not_blamed(
    programs: list[str], level: str | None
) -> None:
    """A user may install a hook while an agent works."""
    assert constitution_breaches(programs, level) == ()

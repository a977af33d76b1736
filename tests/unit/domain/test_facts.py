"""What a machine can do about isolation."""

from __future__ import annotations

import pytest

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe


@pytest.mark.parametrize(
    ("works", "best"),
    [
        pytest.param({"bwrap", "landlock", "rlimit"}, "bwrap", id="the strongest"),
        pytest.param({"landlock", "rlimit"}, "landlock", id="the next that works"),
        pytest.param({"rlimit", "none"}, None, id="limits alone confine nothing"),
        pytest.param(set(), None, id="none"),
    ],
)
def test_auto_never_goes_below_what_confines(works: set[str], best: str | None) -> None:
    """The strongest level of the machine that keeps a command in."""
    levels = tuple(
        LevelProbe(level=level, works=level.value in works, detail="")
        for level in IsolationLevel
    )
    found = IsolationProbe(levels).best
    assert (found.value if found else None) == best

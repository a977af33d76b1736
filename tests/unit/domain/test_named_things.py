"""What a name means: an id, a title, or the beginning of them."""

from __future__ import annotations

import pytest

from accordance.domain.named_things import Named, meant_by

DRAFT = Named("1f0c2a9b", "Draft")
DRAFT_TWO = Named("1f0c77aa", "Draft the second part")
ODD = Named("-x --yes", "Ünder \x1b[31m")
THINGS = (DRAFT, DRAFT_TWO, ODD)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("1f0c2a9b", (DRAFT,), id="a whole id"),
        pytest.param("1f0c2", (DRAFT,), id="the beginning of an id"),
        pytest.param("1f0c", (DRAFT, DRAFT_TWO), id="a beginning that fits two ids"),
        pytest.param("1f0", (), id="a beginning that is too short"),
        pytest.param("draft", (DRAFT,), id="a whole title before a longer one"),
        pytest.param("DRAFT THE", (DRAFT_TWO,), id="the beginning of a title"),
        pytest.param("Dr", (DRAFT, DRAFT_TWO), id="a beginning that fits two titles"),
        pytest.param("-x --yes", (ODD,), id="an id that looks like options"),
        pytest.param("Ünder", (ODD,), id="a title with escapes"),
        pytest.param("nothing", (), id="nothing like it"),
        pytest.param("", (), id="no name"),
    ],
)
def test_names(name: str, meant: tuple[Named, ...]) -> None:
    """A single thing is clear; several are for the caller to list."""
    assert meant_by(name, THINGS) == meant


def test_a_thing_in_a_list() -> None:
    """Is shown with its title."""
    assert str(DRAFT) == "1f0c2a9b (Draft)"

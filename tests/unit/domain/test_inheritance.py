"""A child's pins lie within its parent's: decided by searching for a path that does not."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accordance import Pins
from accordance.contracts.pins import normal_path
from accordance.domain import inheritance
from accordance.domain.inheritance import path_beyond
from accordance.errors import InvalidPattern


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        pytest.param(["docs/a.md"], ["docs/**"], id="one file of a tree"),
        pytest.param(["docs/*.md"], ["docs/"], id="a narrower pattern of a directory"),
        pytest.param(["docs/**"], ["docs"], id="the content of a bare name"),
        pytest.param(["a*b"], ["a*"], id="a star inside a star"),
        pytest.param(["**"], ["*", "*/**"], id="a union that covers everything"),
        pytest.param(
            ["src/a/x.py", "docs/b.md"],
            ["src/**/*.py", "docs/*"],
            id="each in another pattern",
        ),
        pytest.param(["docs/a.md"], ["docs/*.md"], id="a file that a star matches"),
        pytest.param(
            ["docs/*"], ["docs/**"], id="the files of a directory in its tree"
        ),
        pytest.param(
            ["docs/**"],
            ["docs/*", "docs/*/"],
            id="a tree in its files and its directories",
        ),
        pytest.param([], [], id="nothing in nothing"),
    ],
)
def test_within(child: list[str], parent: list[str]) -> None:
    """No path goes beyond."""
    assert path_beyond(Pins.of(child), Pins.of(parent)) is None


@pytest.mark.parametrize(
    ("child", "parent", "path"),
    [
        pytest.param(["src/a.py"], ["docs/**"], "src/a.py", id="elsewhere"),
        pytest.param(
            ["docs"], ["docs/**"], "docs", id="the name itself is not its content"
        ),
        pytest.param(["docs/**"], ["docs/*.md"], "docs/a", id="a wider pattern"),
        pytest.param(["**"], ["**/*.md", "src/**"], "a", id="a union with a hole"),
        pytest.param(
            ["docs/**"],
            ["docs/*"],
            "docs/a/a",
            id="a tree is more than the files of its root",
        ),
        pytest.param(
            ["src/auth/keys.py"],
            ["src/*"],
            "src/auth/keys.py",
            id="a file below what a star matches",
        ),
        pytest.param(
            ["src/auth"], ["src/*"], "src/auth/b", id="a bare name may be a directory"
        ),
        pytest.param(
            [".github"], ["*"], ".github/a", id="a dot at the front is no extension"
        ),
        pytest.param(
            ["src/a.py/"],
            ["src/*.py"],
            "src/a.py/b",
            id="a slash says that it is a directory",
        ),
        pytest.param(["Docs/a"], ["docs/**"], "Docs/a", id="allowed is exact"),
        pytest.param(["x"], [], "x", id="a parent that allows nothing"),
    ],
)
def test_beyond(child: list[str], parent: list[str], path: str) -> None:
    """The shortest path that goes beyond is the answer."""
    assert path_beyond(Pins.of(child), Pins.of(parent)) == path


@pytest.mark.parametrize(
    ("own", "path"),
    [
        pytest.param([], "docs/private/b", id="dropped"),
        pytest.param(["docs/private/**"], None, id="kept"),
        pytest.param(
            ["docs/PRIVATE"], None, id="kept in another letter case, and wider"
        ),
        pytest.param(["docs/private/a/**"], "docs/private/b", id="kept in part"),
    ],
)
def test_what_the_parent_forbids_stays_forbidden(
    own: list[str], path: str | None
) -> None:
    """A child may add forbidden paths and never drop one it could reach."""
    assert (
        path_beyond(
            Pins.of(["docs/**"], own), Pins.of(["docs/**"], ["docs/private/**"])
        )
        == path
    )


@pytest.mark.parametrize(
    ("own", "path"),
    [
        pytest.param(["docs/*.key"], None, id="kept"),
        pytest.param(["docs/*.key/"], "docs/.key", id="kept for the content alone"),
        pytest.param(["docs/a.key"], "docs/.key", id="kept for a single name"),
    ],
)
def test_what_a_forbidden_star_covers_stays_forbidden(
    own: list[str], path: str | None
) -> None:
    """A forbidden star refuses the content of what it matches, to parent and child alike."""
    assert (
        path_beyond(Pins.of(["docs/**"], own), Pins.of(["docs/**"], ["docs/*.key"]))
        == path
    )


def test_a_narrow_child_need_not_repeat_what_it_cannot_reach() -> None:
    """Forbidden paths matter only where the child could go."""
    assert (
        path_beyond(Pins.of(["docs/a.md"]), Pins.of(["docs/**"], ["docs/private/**"]))
        is None
    )


def test_many_equal_pins_are_compared_at_once() -> None:
    """Inherited word for word is within, however many and however entangled."""
    pins = Pins.of(
        [f"**/a{n}*b*/**/c*{n}" for n in range(50)], ["**/secrets/**", "**/*.pem"]
    )
    assert path_beyond(pins, pins) is None


def test_pins_too_entangled_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, never guessed."""
    monkeypatch.setattr(inheritance, "MAX_STEPS", 20)
    with pytest.raises(InvalidPattern, match="too entangled"):
        path_beyond(Pins.of(["**/a/**/b"]), Pins.of(["**/a/*/b", "**/b", "a/**"]))


names = st.sampled_from(["a", "b", "A", "ab", "*", "**", "a*", "*b"])
patterns = st.builds(
    str.__add__,
    st.lists(names, min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "/"]),
)
some_pins = st.builds(
    Pins.of, st.lists(patterns, max_size=3), st.lists(patterns, max_size=2)
)
PATHS = [
    "/".join(path)
    for size in (1, 2, 3, 4)
    for path in product(("a", "b", "A", "ab", "c"), repeat=size)
]


@settings(max_examples=300)
@example(Pins.of(["*"], ["a*"]), Pins.of([], []))
@given(some_pins, some_pins)
def test_against_every_short_path(child: Pins, parent: Pins) -> None:
    """What is found goes beyond; where nothing is found, no short path does."""
    path = path_beyond(child, parent)
    if path is None:
        assert not [one for one in PATHS if one in child and one not in parent]
    else:
        assert normal_path(path) == path
        assert path in child
        assert path not in parent

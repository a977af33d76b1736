"""The matcher, against a slow and obvious one."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance import Pins
from accordance.contracts.pins import in_both, normal_path, normal_pattern
from accordance.errors import InvalidPattern


@pytest.mark.parametrize(
    ("allowed", "path", "rule"),
    [
        (["docs/"], "docs/a.md", "allowed"),
        (["docs/"], "docs", "not_allowed"),
        (["docs"], "docs", "allowed"),
        (["docs"], "docs/a/b.md", "allowed"),
        (["docs"], "docs-evil/a.md", "not_allowed"),
        (["src/*.py"], "src/a.py", "allowed"),
        (["src/*.py"], "src/a/b.py", "not_allowed"),
        (["src/**/x.py"], "src/x.py", "allowed"),
        (["src/**/x.py"], "src/a/b/x.py", "allowed"),
        (["**"], ".env", "allowed"),
        (["**/*.md"], "README.md", "allowed"),
        (["a[b]?.py"], "a[b]?.py", "allowed"),
        (["a[b]?.py"], "ab1.py", "not_allowed"),
        (["./docs//a"], "docs/a", "allowed"),
        (["e\u0301"], "é", "allowed"),
        ([], "a", "empty_allowed"),
        (["**"], "", "unsafe_path"),
        (["**"], "a/../b", "unsafe_path"),
        (["**"], "a\\b", "unsafe_path"),
        (["**"], "c:x", "unsafe_path"),
        (["**"], "./", "unsafe_path"),
    ],
)
def test_rules(allowed: list[str], path: str, rule: str) -> None:
    """Which rule decides."""
    pins = Pins.of(allowed)
    assert pins.rule(path) == rule
    assert (path in pins) == (rule == "allowed")


def test_forbidden_wins_in_any_letter_case() -> None:
    """On a disk that folds case, Secrets is secrets."""
    pins = Pins.of(["**"], ["**/secrets/**"])
    assert pins.rule("a/Secrets/k") == "forbidden"
    assert pins.rule("mysecrets/k") == "allowed"


@pytest.mark.parametrize("pattern", ["", "/a", "../a", "a\\b", "~/a", "a\n"])
def test_patterns_that_leave_the_root(pattern: str) -> None:
    """Refused when they are compiled."""
    with pytest.raises(InvalidPattern):
        normal_pattern(pattern)


def test_in_both() -> None:
    """Compared after normalising, in any letter case."""
    assert in_both(["./src/a.py", "docs/", "x", "../y"], ["src/A.py", "docs", "../y"]) == (0, 1, 3)


segments = st.text(alphabet="abA.-é", min_size=1, max_size=3)
patterns = st.lists(segments | st.sampled_from(["*", "**", "a*", "*b"]), min_size=1, max_size=4).map("/".join)


def obvious(pattern: list[str], path: list[str]) -> bool:
    """Segment by segment, trying everything."""
    if not pattern:
        return True  # what lies below a match is matched too
    if pattern[0] == "**":
        rest = pattern[1:]
        return (not rest and bool(path)) or any(
            obvious(rest, path[at:]) for at in range(len(path) + 1) if rest
        )
    if not path:
        return False
    one = re.fullmatch(".*".join(map(re.escape, pattern[0].split("*"))), path[0], re.DOTALL)
    return one is not None and obvious(pattern[1:], path[1:])


@given(patterns, st.lists(segments, min_size=1, max_size=5).map("/".join))
def test_against_the_obvious_matcher(pattern: str, path: str) -> None:
    """No pattern allows more or less than it says."""
    if normal_path(pattern) is None or normal_path(path) is None:
        return
    nfc = unicodedata.normalize
    expected = obvious(str(normal_path(pattern)).split("/"), nfc("NFC", str(normal_path(path))).split("/"))
    assert (path in Pins.of([pattern])) == expected

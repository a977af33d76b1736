"""The matcher, against a slow and obvious one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordance import Pins
from accordance.contracts.pins import (
    is_git_file,
    normal_path,
    normal_pattern,
    patterns_in_both,
)
from accordance.errors import InvalidPattern


@pytest.mark.seed("003-4", "004-9")
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


@pytest.mark.parametrize(
    ("pattern", "path", "allowed", "forbidden"),
    [
        pytest.param("src/*", "src/a.py", True, True, id="a star matches a name"),
        pytest.param(
            "src/*",
            "src/a/b/c.py",
            False,
            True,
            id="a star at the end allows no tree, but forbids it",
        ),
        pytest.param(
            "*",
            "deep/er/x.py",
            False,
            True,
            id="a lone star allows the files of the root",
        ),
        pytest.param(
            "src/*.py",
            "src/x.py/y",
            False,
            True,
            id="a name with a star allows no directory",
        ),
        pytest.param(
            "**/*.pem",
            "a/key.pem/b",
            False,
            True,
            id="neither does it behind two stars",
        ),
        pytest.param("src/***", "src/a/b", False, True, id="three stars are one"),
        pytest.param(
            "src/*/",
            "src/a/b/c.py",
            True,
            True,
            id="a slash at the end asks for the content",
        ),
        pytest.param("src/*/", "src/a.py", False, False, id="and for nothing else"),
        pytest.param(
            "src/*/lib",
            "src/a/lib/b.py",
            True,
            True,
            id="a bare name covers its content behind a star",
        ),
        pytest.param(
            "src/**", "src/a/b/c.py", True, True, id="two stars cover the tree"
        ),
        pytest.param(
            "src/**/", "src/a/b/c.py", True, True, id="two stars and a slash as well"
        ),
    ],
)
def test_what_the_last_name_covers(
    pattern: str, path: str, allowed: bool, forbidden: bool
) -> None:
    """Only a bare name allows its content; what is forbidden stays so with everything below it."""
    assert (path in Pins.of([pattern])) == allowed
    assert (Pins.of(["**"], [pattern]).rule(path) == "forbidden") == forbidden


@pytest.mark.seed("003-5", "004-10")
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


@pytest.mark.seed("004-17")
def test_in_both() -> None:
    """Compared after normalising, in any letter case."""
    assert patterns_in_both(
        ["./src/a.py", "docs/", "x", "../y"], ["src/A.py", "docs", "../y"]
    ) == (0, 1, 3)


@pytest.mark.parametrize(
    ("allowed", "forbidden", "path", "told"),
    [
        (["src/**", "docs/"], [], "docs/a.md", "docs/a.md: allowed by docs/"),
        (
            ["**"],
            ["*.tmp", "**/Secrets/**"],
            "a/SECRETS/k",
            "a/SECRETS/k: forbidden by **/Secrets/**",
        ),
        (["**"], ["**/*.Key"], "a/b.key/c", "a/b.key/c: forbidden by **/*.Key"),
        (["src/**"], ["x"], "docs/a.md", "docs/a.md: not_allowed"),
        (["src/*"], [], "src/a/b.py", "src/a/b.py: not_allowed"),
        ([], ["x"], "x", "x: empty_allowed"),
        (["**"], [], "/etc/passwd", "/etc/passwd: unsafe_path"),
    ],
)
def test_explanations(
    allowed: list[str], forbidden: list[str], path: str, told: str
) -> None:
    """The pattern that decided is named, where one did."""
    assert str(Pins.of(allowed, forbidden).explain(path)) == told


@pytest.mark.parametrize(
    "twin",
    ["straße/k", "STRASSE/k", "STRAẞE/K", "Stra\u017fse/k"],
    ids=["sharp s", "SS", "capital", "long s"],
)
def test_forbidden_paths_have_no_letter_case_in_any_script(twin: str) -> None:
    """What a disk that folds case takes for the forbidden path is forbidden."""
    assert Pins.of(["**"], ["straße"]).rule(twin) == "forbidden"


@pytest.mark.parametrize(
    "path",
    ["K:x", "\udcff", "a/\ud800/b"],
    ids=["drive after NFC", "a stray byte", "half a character"],
)
def test_paths_that_cannot_be_judged(path: str) -> None:
    """Refused whatever is allowed."""
    assert Pins.of(["**"]).rule(path) == "unsafe_path"


def test_no_file_name_can_stall_the_matcher() -> None:
    """Blocks between wildcards are tried once: a pattern of many wildcards against a path of many names ends."""
    pins = Pins.of(["**/a/**/a/**/a/**/a/**/a/**/b*a*a*a*a*a*c"])
    assert pins.rule("a/" * 2000 + "b" + "a" * 2000) == "not_allowed"


names = st.text(alphabet="abA.é", min_size=1, max_size=3)
pattern_names = names | st.sampled_from(["*", "**", "**", "a*", "*b", "a*b*a", "*a*"])
patterns = st.builds(
    str.__add__,
    st.lists(pattern_names, min_size=1, max_size=5).map("/".join),
    st.sampled_from(["", "/"]),
)
wild_names = names | st.sampled_from(
    ["", "..", "~", "\x00", "a\\b", "A\u0301", "c:", "aabba"]
)
paths = st.builds(
    str.__add__,
    st.sampled_from(["", "/", "./"]),
    st.lists(wild_names, max_size=6).map("/".join),
)


def obvious(
    pattern: list[str], path: list[str], *, ends_with: Callable[[list[str]], bool]
) -> bool:
    """Segment by segment, trying everything; `ends_with` judges the names that are left when the pattern is used up."""
    if not pattern:
        return ends_with(path)
    first, rest = pattern[0], pattern[1:]
    if first == "**" and not rest:
        return bool(path)
    if first == "**":
        return any(
            obvious(rest, path[at:], ends_with=ends_with) for at in range(len(path) + 1)
        )
    if not path:
        return False
    name = re.fullmatch(
        ".*".join(map(re.escape, re.split(r"\*+", first))), path[0], re.DOTALL
    )
    return name is not None and obvious(rest, path[1:], ends_with=ends_with)


def reference(allowed: list[str], forbidden: list[str], path: str) -> bool:
    """Whether a path is allowed, as slowly and plainly as it can be said."""
    steps: list[str] = []
    nfc = unicodedata.normalize("NFC", path)
    if (
        path.startswith(("/", "~"))
        or re.match("[A-Za-z]:", nfc)
        or re.search(r"[\x00-\x1f\x7f\\]", path)
    ):
        return False
    for name in nfc.split("/"):
        if name == "..":
            return False
        steps += [name] if name not in ("", ".") else []

    def matches(
        pattern: str, spelling: Callable[[str], str], *, star_covers: bool
    ) -> bool:
        wanted = [
            name
            for name in unicodedata.normalize("NFC", pattern).split("/")
            if name not in ("", ".")
        ]
        is_bare = "*" not in wanted[-1]

        def ends_with(rest: list[str]) -> bool:
            if pattern.endswith("/"):
                return bool(rest)
            return not rest or is_bare or star_covers

        spelled = [[spelling(name) for name in names] for names in (wanted, steps)]
        return obvious(*spelled, ends_with=ends_with)

    if not steps or any(
        matches(pattern, str.casefold, star_covers=True) for pattern in forbidden
    ):
        return False
    return any(matches(pattern, str, star_covers=False) for pattern in allowed)


@pytest.mark.unmeasured
@settings(max_examples=1000)
@given(st.lists(patterns, max_size=3), st.lists(patterns, max_size=2), paths)
def test_against_the_obvious_matcher(
    allowed: list[str], forbidden: list[str], path: str
) -> None:
    """No path is ever allowed that resolves outside the allowed set, and none inside it is refused."""
    if any(normal_path(pattern) is None for pattern in (*allowed, *forbidden)):
        return
    pins = Pins.of(allowed, forbidden)
    assert (path in pins) == reference(allowed, forbidden, path)
    assert pins.explain(path).rule == pins.rule(path)


@pytest.mark.parametrize(
    ("path", "is_gits"),
    [
        (".git", True),
        ("a/.git/config", True),
        ("a/.GIT", True),
        (".g\u200cit/config", True),
        ("\ufeff.git", True),
        (".gi\u202et\u206f/hooks", True),
        ("git~1/config", True),
        ("a/GIT~1", True),
        (".git /config", True),
        (".git.../x", True),
        (".git::$INDEX_ALLOCATION/x", True),
        ("GIT~1 .:stream", True),
        (".gitignore", False),
        (".github/workflows/ci.yml", False),
        ("project.git/x", False),
        ("git", False),
        ("git~2", False),
        ("docs/.git-notes", False),
        ("caf\u00e9/git~11", False),
        ("src/app.py", False),
    ],
)
def test_gits_own_paths_on_any_disk(path: str, is_gits: bool) -> None:
    """As written, as HFS+ reads them and as NTFS does; the same spellings that git itself refuses."""
    assert is_git_file(path) is is_gits

"""Pins: which paths a task may touch. The only path matcher of the project.

`*` stays within a segment and `**` spans any number of segments, also none. A
trailing slash names a directory and covers its content. A last name without a star is
that path or, if it is a directory, its content. Nothing else is special: `src/*` allows
the files of a directory, `src/**` the whole tree. Patterns are relative to the
repository root.

Forbidden wins and ignores letter case; allowed is exact. A forbidden pattern that ends
in a star also covers the content of what it matches, so that nothing opens below a
forbidden name. Both are compared in NFC. An empty allowed list denies everything. A
path that leaves the root or cannot be judged safely is denied before any pattern is
tried.

Task input and submission both contain pins, so the matcher lives in contracts; see
docs/decisions/0003.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.errors import InvalidPattern

Ruling: TypeAlias = Literal[
    "allowed", "forbidden", "not_allowed", "empty_allowed", "unsafe_path"
]

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]|^[/~]|^[A-Za-z]:")
_UNTIDY = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)")  # an empty segment, `.` or `..`
_STARS = re.compile(r"\*+")
_ANY_DIRECTORIES: Final = r"(?:[^/]++/)*?"


def normal_path(path: str) -> str | None:
    """The normal spelling of a path below the root; None if it is unsafe."""
    spelled = path if path.isascii() else unicodedata.normalize("NFC", path)
    if _UNSAFE.search(spelled):
        return None
    if not _UNTIDY.search(spelled):
        return spelled

    names = spelled.split("/")
    segments = [name for name in names if name not in ("", ".")]
    if ".." in segments or not segments:
        return None
    return "/".join(segments)


def normal_pattern(pattern: str) -> str:
    """The normal spelling of a pin. A trailing slash has a meaning and is kept."""
    path = normal_path(pattern)
    if path is None:
        raise InvalidPattern(
            f"{pattern!r} is not a pattern relative to the repository root"
        )
    if pattern.endswith("/"):
        return f"{path}/"
    return path


def folded(path: str) -> str:
    """A path without letter case, as a case-insensitive disk compares it."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", path.casefold())


class Reach(Enum):
    """What the last name of a pattern covers."""

    ITSELF = "the path it matches"
    CONTENT = "everything below it"
    BOTH = "the path and everything below it"


def reach_of(pattern: str) -> Reach:
    """What a pattern covers, judging by its last name.

    A slash or `**` at the end names a directory, a star stays within its segment, and a
    bare name may be a file or a directory.
    """
    last_name = pattern.rpartition("/")[2]
    if last_name in ("", "**"):
        return Reach.CONTENT
    return Reach.ITSELF if "*" in last_name else Reach.BOTH


def refusals(forbidden: Iterable[str]) -> tuple[str, ...]:
    """Forbidden patterns as they are matched: without case, with their content."""
    patterns: list[str] = []
    for pattern in map(folded, forbidden):
        patterns.append(pattern)
        if reach_of(pattern) is Reach.ITSELF:
            patterns.append(f"{pattern}/")
    return tuple(patterns)


_BELOW: Final[Mapping[Reach, str]] = MappingProxyType(
    {
        Reach.ITSELF: "",
        Reach.CONTENT: "/.+",
        Reach.BOTH: "(?:/.+)?",
    }
)


def _regex(pattern: str) -> str:
    """Translate a normal pattern, block by block. A block lies between two `**`.

    Each block matches where it fits first and is never tried again (an atomic group).
    That loses nothing, because what follows may begin anywhere after it. So matching
    takes linear time whatever the pattern, and no file name can stall it.
    """
    *directories, last = pattern.removesuffix("/").split("/")
    blocks = [""]
    for name in directories:
        if name == "**":
            blocks.append(_ANY_DIRECTORIES)
        else:
            blocks[-1] += _segment_regex(name) + "/"

    if last == "**":
        return _joined(blocks) + ".+"
    blocks[-1] += _segment_regex(last) + _BELOW[reach_of(pattern)]
    return _joined(blocks)


def _joined(blocks: list[str]) -> str:
    """The blocks as a single expression; all but the first and the last are atomic."""
    if len(blocks) == 1:
        return blocks[0]
    first, *middle, last = blocks
    atoms = "".join(f"(?>{block})" for block in middle)
    return first + atoms + last


def _segment_regex(name: str) -> str:
    """Translate a segment.

    Each piece between two stars matches where it fits first; the last piece matches at
    the end of the segment.
    """
    first, *pieces = (re.escape(piece) for piece in _STARS.split(name))
    if not pieces:
        return first
    *middle, last = pieces
    atoms = "".join(f"(?>[^/]*?{piece})" for piece in middle)
    return f"{first}{atoms}[^/]*{last}(?![^/])"


@lru_cache(maxsize=256)
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = [f"(?:{_regex(pattern)})" for pattern in patterns]
    return re.compile("|".join(alternatives), re.DOTALL)


class Explanation(NamedTuple):
    """Why a path may or may not be touched: the rule and its pattern, if any."""

    path: str
    rule: str
    pattern: str | None = None

    def __str__(self) -> str:
        text = f"{self.path}: {self.rule}"
        if self.pattern:
            return f"{text} by {self.pattern}"
        return text


@dataclass(frozen=True, slots=True)
class Pins:
    """Compiled pins: ask `rule(path)`, `explain(path)` or simply `path in pins`."""

    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]
    _allowed: re.Pattern[str] | None = field(repr=False, compare=False)
    _forbidden: re.Pattern[str] | None = field(repr=False, compare=False)

    @classmethod
    def of(cls, allowed: Iterable[str], forbidden: Iterable[str] = ()) -> Pins:
        """Compile two lists of patterns. Raises InvalidPattern."""
        normal_allowed = tuple(map(normal_pattern, allowed))
        normal_forbidden = tuple(map(normal_pattern, forbidden))
        allowing = _compile(normal_allowed) if normal_allowed else None
        refusing = _compile(refusals(normal_forbidden)) if normal_forbidden else None
        return cls(normal_allowed, normal_forbidden, allowing, refusing)

    def rule(self, path: str) -> Ruling:
        """The rule that decides about a path."""
        normal = normal_path(path)
        if normal is None:
            return "unsafe_path"
        return self.rule_of_normal(normal)

    def rule_of_normal(self, normal: str) -> Ruling:
        """The rule that decides about a path that is known to be normal."""
        if self._allowed is None:
            return "empty_allowed"
        if self._forbidden and self._forbidden.fullmatch(folded(normal)):
            return "forbidden"
        return "allowed" if self._allowed.fullmatch(normal) else "not_allowed"

    def explain(self, path: str) -> Explanation:
        """The rule that decides about a path, and the first pattern that applies."""
        rule = self.rule(path)
        normal = normal_path(path) or ""
        if rule == "forbidden":
            refusing = _matching(self.forbidden, folded(normal), refusals)
            return Explanation(path, rule, refusing[0])
        if rule == "allowed":
            allowing = _matching(self.allowed, normal, tuple)
            return Explanation(path, rule, allowing[0])
        return Explanation(path, rule)

    def __contains__(self, path: str) -> bool:
        return self.rule(path) == "allowed"


GIT_FILES: Final = "**/.git"  # git's own files belong to no task

# HFS+ leaves these characters out of a name. NTFS reads a name by its short form,
# without spaces and dots at its end and without the name of a stream. Git refuses the
# same spellings.
_IGNORED_BY_HFS: Final = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
_GIT_ON_ANY_DISK: Final = re.compile(
    r"(?:^|/)(?:\.git|git~1)[ .]*(?::[^/]*)?(?=/|\Z)", re.IGNORECASE
)


def is_git_file(path: str) -> bool:
    """Whether a path lies in a `.git`, as it is written or as any disk reads it."""
    plain = path if path.isascii() else path.translate(_IGNORED_BY_HFS)
    return "git" in plain.lower() and _GIT_ON_ANY_DISK.search(plain) is not None


def _matching(
    patterns: Iterable[str],
    path: str,
    as_matched: Callable[[Iterable[str]], tuple[str, ...]],
) -> list[str]:
    """The patterns that match a path, each in the form in which it is matched."""
    return [
        pattern
        for pattern in patterns
        if _compile(as_matched([pattern])).fullmatch(path)
    ]


def patterns_in_both(
    allowed: Sequence[str], forbidden: Sequence[str]
) -> tuple[int, ...]:
    """Positions in `allowed` of the patterns that `forbidden` names as well."""
    refused = {_comparable(pattern) for pattern in forbidden}
    positions: list[int] = []
    for index, pattern in enumerate(allowed):
        if _comparable(pattern) in refused:
            positions.append(index)
    return tuple(positions)


def _comparable(pattern: str) -> str:
    """What a pattern names: `docs`, `docs/` and `docs/**` are the same directory."""
    name = folded(normal_path(pattern) or pattern)
    while name.endswith("/**"):
        name = name.removesuffix("/**")
    return name

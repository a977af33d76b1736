"""Pins: which paths a task may touch. The one matcher of the project.

`*` stays in one segment, `**` spans any number of them (also none), a trailing slash names a directory and covers its
content, a last name without a star is itself or, as a directory, its content; nothing else is special. So `src/*` allows the
files of one directory, and `src/**` the whole tree. Patterns are relative to the repository root.

Forbidden wins and is matched case-insensitively; allowed is exact. A forbidden pattern that ends in a star covers the content
of what it matches, too: nothing opens below a forbidden name. Both are compared in NFC. An empty allowed list denies
everything. A path that leaves the root or cannot be judged safely is denied before any pattern is asked.

Two contracts speak of pins (task input and submit), so the matcher lives here; see docs/decisions/0003.
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
_DIRECTORIES = r"(?:[^/]++/)"


def normal_path(path: str) -> str | None:
    """The one spelling of a path below the root, or None when it is unsafe to judge."""
    spelled = path if path.isascii() else unicodedata.normalize("NFC", path)
    if _UNSAFE.search(spelled):
        return None
    if not _UNTIDY.search(spelled):
        return spelled
    segments = [segment for segment in spelled.split("/") if segment not in ("", ".")]
    return None if ".." in segments or not segments else "/".join(segments)


def normal_pattern(pattern: str) -> str:
    """The one spelling of a pin; a trailing slash is kept, because it means something."""
    path = normal_path(pattern)
    if path is None:
        raise InvalidPattern(
            f"{pattern!r} is not a pattern relative to the repository root"
        )
    return f"{path}/" if pattern.endswith("/") else path


def folded(path: str) -> str:
    """A path in no letter case, as a disk that folds case compares it."""
    return (
        path.lower()
        if path.isascii()
        else unicodedata.normalize("NFC", path.casefold())
    )


class Reach(Enum):
    """What the last name of a pattern stands for."""

    ITSELF = "the path it matches"
    CONTENT = "everything below it"
    BOTH = "the path and everything below it"


def reach_of(pattern: str) -> Reach:
    """A slash or `**` at the end names a directory; a bare name may be a file or a directory; a star stays in its segment."""
    last_name = pattern.rpartition("/")[2]
    if last_name in ("", "**"):
        return Reach.CONTENT
    return Reach.ITSELF if "*" in last_name else Reach.BOTH


def refusals(forbidden: Iterable[str]) -> tuple[str, ...]:
    """Forbidden patterns as they are matched: without letter case, each with the content of what it matches."""
    patterns: list[str] = []
    for pattern in map(folded, forbidden):
        patterns.append(pattern)
        if reach_of(pattern) is Reach.ITSELF:
            patterns.append(f"{pattern}/")
    return tuple(patterns)


_BELOW: Final[Mapping[Reach, str]] = MappingProxyType(
    {Reach.ITSELF: "", Reach.CONTENT: "/.+", Reach.BOTH: "(?:/.+)?"}
)


def _regex(pattern: str) -> str:
    """Translate one normal pattern, block by block: the blocks are the segments between two `**`.

    Each block is taken where it fits first and never tried again (an atomic group), which loses nothing, because what follows
    may begin anywhere after it. So matching takes linear time whatever the pattern, and no file name can stall it.
    """
    *directories, last = pattern.removesuffix("/").split("/")
    parts, block = [""], ""
    for name in directories:
        if name == "**":
            parts[-1] += block
            parts.append(_DIRECTORIES + "*?")
            block = ""
        else:
            block += _segment(name) + "/"
    if last == "**":
        parts[-1] += block
        return _atoms(parts) + ".+"
    parts[-1] += block + _segment(last) + _BELOW[reach_of(pattern)]
    return _atoms(parts)


def _atoms(parts: list[str]) -> str:
    return (
        parts[0]
        + "".join(f"(?>{part})" for part in parts[1:-1])
        + "".join(parts[1:][-1:])
    )


def _segment(name: str) -> str:
    """One segment; each piece between two stars is taken where it fits first, the last one at the segment's end."""
    first, *pieces = (re.escape(piece) for piece in _STARS.split(name))
    if not pieces:
        return first
    *middle, last = pieces
    return (
        first
        + "".join(f"(?>[^/]*?{piece})" for piece in middle)
        + f"[^/]*{last}(?![^/])"
    )


@lru_cache(maxsize=256)
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?:{_regex(pattern)})" for pattern in patterns), re.DOTALL
    )


class Explanation(NamedTuple):
    """Why a path may or may not be touched: the rule that decided, and the pattern where one did."""

    path: str
    rule: str
    pattern: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}" + (
            f" by {self.pattern}" if self.pattern else ""
        )


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
        allow = tuple(normal_pattern(pattern) for pattern in allowed)
        forbid = tuple(normal_pattern(pattern) for pattern in forbidden)
        return cls(
            allow,
            forbid,
            _compile(allow) if allow else None,
            _compile(refusals(forbid)) if forbid else None,
        )

    def rule(self, path: str) -> Ruling:
        """Which rule decides about a path."""
        normal = normal_path(path)
        return "unsafe_path" if normal is None else self.rule_of_normal(normal)

    def rule_of_normal(self, normal: str) -> Ruling:
        """The same for a path that is known to be normal, without looking at its spelling again."""
        if self._allowed is None:
            return "empty_allowed"
        if self._forbidden and self._forbidden.fullmatch(folded(normal)):
            return "forbidden"
        return "allowed" if self._allowed.fullmatch(normal) else "not_allowed"

    def explain(self, path: str) -> Explanation:
        """The rule that decides about a path, and the first pattern that made it so."""
        rule, normal = self.rule(path), normal_path(path) or ""
        if rule == "forbidden":
            return Explanation(
                path, rule, _first(self.forbidden, folded(normal), _refusing)
            )
        return Explanation(
            path,
            rule,
            _first(self.allowed, normal, _allowing) if rule == "allowed" else None,
        )

    def __contains__(self, path: str) -> bool:
        return self.rule(path) == "allowed"


GITS_OWN: Final = "**/.git"  # git's own files belong to no task

# The characters that HFS+ leaves out of a name, and how NTFS reads one: by its short form, without spaces and dots at its
# end and without the name of a stream. Git refuses the same spellings.
_IGNORED_BY_HFS: Final = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
_GIT_ON_ANY_DISK: Final = re.compile(
    r"(?:^|/)(?:\.git|git~1)[ .]*(?::[^/]*)?(?=/|\Z)", re.IGNORECASE
)


def is_gits_own(path: str) -> bool:
    """Whether a path lies in a `.git`, as it is written or as any disk reads it."""
    plain = path if path.isascii() else path.translate(_IGNORED_BY_HFS)
    return "git" in plain.lower() and _GIT_ON_ANY_DISK.search(plain) is not None


def _allowing(pattern: str) -> tuple[str, ...]:
    return (pattern,)


def _refusing(pattern: str) -> tuple[str, ...]:
    return refusals((pattern,))


def _first(
    patterns: tuple[str, ...], path: str, meaning: Callable[[str], tuple[str, ...]]
) -> str | None:
    return next(
        (pattern for pattern in patterns if _compile(meaning(pattern)).fullmatch(path)),
        None,
    )


def in_both(allowed: Sequence[str], forbidden: Sequence[str]) -> tuple[int, ...]:
    """Positions in `allowed` of entries that stand in `forbidden` too, after normalising."""
    refused = {_comparable(pattern) for pattern in forbidden}
    return tuple(
        at for at, pattern in enumerate(allowed) if _comparable(pattern) in refused
    )


def _comparable(pattern: str) -> str:
    """What a pattern names, however a directory is written: `docs`, `docs/` and `docs/**` are one."""
    name = folded(normal_path(pattern) or pattern)
    while name.endswith("/**"):
        name = name.removesuffix("/**")
    return name

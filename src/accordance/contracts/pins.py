"""Pins: which paths a task may touch. The one matcher of the project.

`*` stays in one segment, `**` spans any number of them (also none), a trailing slash names a directory, a bare name is
itself or, as a directory, its content; nothing else is special. Patterns are relative to the repository root.
Forbidden wins and is matched case-insensitively; allowed is exact. Both are compared in NFC. An empty allowed list
denies everything. A path that leaves the root or cannot be judged safely is denied before any pattern is asked.

Two contracts speak of pins (task input and submit), so the matcher lives here; see docs/decisions/0003.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from accordance.errors import InvalidPattern

Ruling: TypeAlias = Literal["allowed", "forbidden", "not_allowed", "empty_allowed", "unsafe_path"]

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^[/~]|^[A-Za-z]:")


def normal_path(path: str) -> str | None:
    """The one spelling of a path below the root, or None when it is unsafe to judge."""
    if not path or _UNSAFE.search(path):
        return None
    segments = [
        segment for segment in unicodedata.normalize("NFC", path).split("/") if segment not in ("", ".")
    ]
    return None if ".." in segments or not segments else "/".join(segments)


def normal_pattern(pattern: str) -> str:
    """The one spelling of a pin; a trailing slash is kept, because it means something."""
    path = normal_path(pattern)
    if path is None:
        raise InvalidPattern(f"{pattern!r} is not a pattern relative to the repository root")
    return f"{path}/" if pattern.endswith("/") else path


def _regex(pattern: str) -> str:
    """Translate one normal pattern; segment by segment, so that `**` can stand for none."""
    *directories, last = pattern.removesuffix("/").split("/")
    parts = [r"(?:[^/]+/)*" if name == "**" else f"{_segment(name)}/" for name in directories]
    if last == "**":
        return "".join(parts) + ".+"
    below = "/.+" if pattern.endswith("/") else "(?:/.+)?"
    return "".join(parts) + _segment(last) + below


def _segment(name: str) -> str:
    return r"[^/]*".join(re.escape(piece) for piece in re.split(r"\*+", name))


@lru_cache(maxsize=256)
def _compile(patterns: tuple[str, ...], flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_regex(pattern)})" for pattern in patterns), flags)


@dataclass(frozen=True, slots=True)
class Pins:
    """Compiled pins: ask `rule(path)` or simply `path in pins`."""

    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]
    _allowed: re.Pattern[str] | None
    _forbidden: re.Pattern[str] | None

    @classmethod
    def of(cls, allowed: Iterable[str], forbidden: Iterable[str] = ()) -> Pins:
        """Compile two lists of patterns. Raises InvalidPattern."""
        allow = tuple(normal_pattern(pattern) for pattern in allowed)
        forbid = tuple(normal_pattern(pattern) for pattern in forbidden)
        return cls(
            allow,
            forbid,
            _compile(allow, re.DOTALL) if allow else None,
            _compile(forbid, re.DOTALL | re.IGNORECASE) if forbid else None,
        )

    def rule(self, path: str) -> Ruling:
        """Which rule decides about a path."""
        normal = normal_path(path)
        if normal is None:
            return "unsafe_path"
        if self._allowed is None:
            return "empty_allowed"
        if self._forbidden and self._forbidden.fullmatch(normal):
            return "forbidden"
        return "allowed" if self._allowed.fullmatch(normal) else "not_allowed"

    def __contains__(self, path: str) -> bool:
        return self.rule(path) == "allowed"


def in_both(allowed: Sequence[str], forbidden: Sequence[str]) -> tuple[int, ...]:
    """Positions in `allowed` of entries that stand in `forbidden` too, after normalising."""
    refused = {_comparable(pattern) for pattern in forbidden}
    return tuple(at for at, pattern in enumerate(allowed) if _comparable(pattern) in refused)


def _comparable(pattern: str) -> str:
    return (normal_path(pattern) or pattern).casefold()

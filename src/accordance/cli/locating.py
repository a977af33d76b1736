"""Where in the text a path is: lines and columns, for people and for editors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from accordance.contracts.jsonpath import Path, parse
from accordance.contracts.scanner import Scanner
from accordance.contracts.violation import Notice, Violation


class Place(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int


def places(text: str, found: Iterable[Violation | Notice]) -> dict[str, Place]:
    """The place of each finding's path, or of the nearest thing above it that is in the text."""
    findings = list(found)
    paths = {finding.path: parse(finding.path) for finding in findings}
    wanted = frozenset(path[:end] for path in paths.values() for end in range(len(path) + 1))
    scanner = Scanner(wanted=wanted)
    scanner.feed(text)
    located = {text_path: _place(text, _nearest(path, scanner.places)) for text_path, path in paths.items()}
    offsets = {
        one.path: one.offset for one in findings if isinstance(one, Violation) and one.offset is not None
    }
    return located | {path: _place(text, offset) for path, offset in offsets.items()}


def _nearest(path: Path, known: dict[Path, int]) -> int:
    return next((known[path[:end]] for end in range(len(path), -1, -1) if path[:end] in known), 0)


def _place(text: str, offset: int) -> Place:
    start = text.rfind("\n", 0, offset) + 1
    return Place(text.count("\n", 0, offset) + 1, offset - start + 1)

"""Where in the text a path is: lines and columns, for people and for editors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from accordance.contracts.jsonpath import Path, parse
from accordance.contracts.scanner import Scanner
from accordance.contracts.violation import Notice, Repair, Violation


class LineAndColumn(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int


def places(
    text: str, found: Iterable[Violation | Notice], repairs: Iterable[Repair] = ()
) -> dict[str, LineAndColumn]:
    """The place of each finding's path, or of the nearest thing above it that is in the text."""
    findings, names = list(found), _names_in_the_text(repairs)
    paths = {
        finding.path: _as_written(parse(finding.path), names) for finding in findings
    }
    wanted = frozenset(
        path[:end] for path in paths.values() for end in range(len(path) + 1)
    )
    scanner = Scanner(wanted=wanted)
    scanner.feed(text)
    located = {
        path: _place(text, _nearest(written, scanner.places))
        for path, written in paths.items()
    }
    offsets = {
        one.path: one.offset
        for one in findings
        if isinstance(one, Violation) and one.offset is not None
    }
    return located | {path: _place(text, offset) for path, offset in offsets.items()}


def _names_in_the_text(repairs: Iterable[Repair]) -> dict[Path, str]:
    """Which keys have another name in the text than in the findings."""
    return {
        (*parse(repair.path)[:-1], str(repair.after)): str(repair.before)
        for repair in repairs
        if repair.rule == "rename"
    }


def _as_written(path: Path, names: dict[Path, str]) -> Path:
    return tuple(names.get(path[: at + 1], step) for at, step in enumerate(path))


def _nearest(path: Path, known: dict[Path, int]) -> int:
    return next(
        (known[path[:end]] for end in range(len(path), -1, -1) if path[:end] in known),
        0,
    )


def _place(text: str, offset: int) -> LineAndColumn:
    start = text.rfind("\n", 0, offset) + 1
    return LineAndColumn(text.count("\n", 0, offset) + 1, offset - start + 1)

"""The lines and columns of paths in a text, for people and for editors."""

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
    text: str,
    findings: Iterable[Violation | Notice],
    repairs: Iterable[Repair] = (),
) -> dict[str, LineAndColumn]:
    """The place of each finding's path.

    A path that is not in the text has the place of its nearest parent that is.
    """
    findings = list(findings)
    names = _names_in_the_text(repairs)
    written_paths = {}
    for finding in findings:
        path = parse(finding.path)
        written_paths[finding.path] = _as_written(path, names)

    scanner = Scanner(wanted=_with_parents(written_paths.values()))
    scanner.feed(text)
    located = {}
    for finding_path, written in written_paths.items():
        offset = _nearest(written, scanner.places)
        located[finding_path] = _place(text, offset)

    for finding in findings:
        if isinstance(finding, Violation) and finding.offset is not None:
            located[finding.path] = _place(text, finding.offset)
    return located


def _with_parents(paths: Iterable[Path]) -> frozenset[Path]:
    """All paths and everything above them."""
    complete = set()
    for path in paths:
        for end in range(len(path) + 1):
            complete.add(path[:end])
    return frozenset(complete)


def _names_in_the_text(repairs: Iterable[Repair]) -> dict[Path, str]:
    """The keys that a repair renamed, with their names in the text."""
    names = {}
    for repair in repairs:
        if repair.rule == "rename":
            *parent, _ = parse(repair.path)
            renamed = (*parent, str(repair.after))
            names[renamed] = str(repair.before)
    return names


def _as_written(path: Path, names: dict[Path, str]) -> Path:
    written = []
    for number, step in enumerate(path, start=1):
        so_far = path[:number]
        written.append(names.get(so_far, step))
    return tuple(written)


def _nearest(path: Path, offsets: dict[Path, int]) -> int:
    """The offset of a path, or of its nearest parent in the text."""
    for end in range(len(path), -1, -1):
        offset = offsets.get(path[:end])
        if offset is not None:
            return offset
    return 0


def _place(text: str, offset: int) -> LineAndColumn:
    start = text.rfind("\n", 0, offset) + 1
    line = text.count("\n", 0, offset) + 1
    return LineAndColumn(line, offset - start + 1)

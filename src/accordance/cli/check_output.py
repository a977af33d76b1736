"""Results of checks for people.

The lines are styled by click alone: `accordance check` runs once for each message in a
pipeline, and loading rich would take a good part of its time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from accordance.cli.checked_file import Checked
from accordance.contracts.printable import printable
from accordance.contracts.violation import (
    Accepted,
    Fix,
    Rejected,
    Repair,
    Violation,
    excerpt,
)

_SHOWN_REPAIRS = 5
_EXCERPT = 40  # letters of a repaired value
_INDENT = "  "


def print_coloured(line: str) -> None:
    """Print a line, with its colours if it goes to a terminal.

    NO_COLOR and FORCE_COLOR overrule that.
    """
    colour = None
    if os.environ.get("NO_COLOR"):
        colour = False
    elif os.environ.get("FORCE_COLOR"):
        colour = True
    click.echo(line, color=colour)


def print_results(
    results: Iterable[Checked], print_line: Callable[[str], None] = print_coloured
) -> bool:
    """Print each result as it comes, then their number. True if all were accepted."""
    accepted = 0
    rejected = 0
    for checked in results:
        for line in _result_lines(checked):
            print_line(line)
        if checked.result:
            accepted += 1
        else:
            rejected += 1

    if accepted + rejected > 1:
        print_line("")
        print_line(_summary(accepted, rejected))
    return rejected == 0


def _summary(accepted: int, rejected: int) -> str:
    accepted_text = f"{accepted} accepted"
    if accepted:
        accepted_text = _green(accepted_text)
    rejected_text = f"{rejected} rejected"
    if rejected:
        rejected_text = _bold_red(rejected_text)
    return f"{accepted + rejected} messages: {accepted_text}, {rejected_text}"


def _result_lines(checked: Checked) -> Iterator[str]:
    result = checked.result
    if isinstance(result, Rejected):
        first = result.violations[0]
        is_unreadable = first.offset is not None
        if is_unreadable:
            yield _unreadable_line(checked, first)
            return

    mark = _green("✓") if result else _bold_red("✗")
    file = _bold(printable(checked.file))
    contract = click.style(result.contract or "no contract", fg="cyan")
    yield f"{mark} {file}  {contract}"

    for line in _repair_lines(result.repairs):
        yield _INDENT + line
    if isinstance(result, Rejected):
        yield from _violation_lines(checked, result)
    else:
        yield from _warning_lines(checked, result)


def _unreadable_line(checked: Checked, violation: Violation) -> str:
    """The single line about a text that cannot be read as a message."""
    mark = _bold_red("✗ ")
    file = _bold(printable(checked.file))
    reason = printable(f"expected {violation.expected}, got {violation.actual}")
    place = checked.places[violation.path]
    where = _dim(f"  line {place.line}, column {place.column}")
    return f"{mark}{file}  {reason}{where}  {_red(violation.code)}"


def _repair_lines(repairs: tuple[Repair, ...]) -> Iterator[str]:
    for repair in repairs[:_SHOWN_REPAIRS]:
        mark = _blue("~ ")
        path = printable(repair.path)
        before = excerpt(repair.before, _EXCERPT)
        after = excerpt(repair.after, _EXCERPT)
        yield f"{mark}{path}  {before} → {after}  {_dim(repair.rule)}"

    further = len(repairs) - _SHOWN_REPAIRS
    if further > 0:
        yield _blue(f"~ and {further} more repairs")


def _violation_lines(checked: Checked, result: Rejected) -> Iterator[str]:
    """All violations, in the order of the text."""

    def place_of(violation: Violation) -> tuple[int, int]:
        return checked.places[violation.path]

    for violation in sorted(result.violations, key=place_of):
        yield from _lines_of_violation(checked, violation)

    further = result.total - len(result.violations)
    if further > 0:
        yield _INDENT + _red(f"and {further} more violations")


def _lines_of_violation(checked: Checked, violation: Violation) -> Iterator[str]:
    place = checked.places[violation.path]
    where = f"line {place.line}"
    if violation.offset is not None:
        where += f", column {place.column}"

    path = _bold(printable(violation.path))
    yield f"{_INDENT}{path}  {_dim(where)}  {_red(violation.code)}"
    yield _detail("expected", printable(violation.expected))
    yield _detail("got", printable(violation.actual))
    if violation.fix:
        fix = _fix_text(violation.fix, violation.path)
        yield _detail("fix", _green(printable(fix)))


def _detail(label: str, text: str) -> str:
    padded = f"{label:<10}"
    return _INDENT * 2 + _dim(padded) + text


def _fix_text(fix: Fix, path: str) -> str:
    """What to do, without the path where it is that of the violation itself."""
    if fix.path != path:
        return str(fix)
    if fix.op == "remove":
        return "remove it"
    return f"set it to {excerpt(fix.value)}"


def _warning_lines(checked: Checked, result: Accepted[Any]) -> Iterator[str]:
    for notice in result.warnings:
        mark = _yellow("! ")
        path = printable(notice.path)
        place = checked.places[notice.path]
        where = _dim(f"  line {place.line}  ")
        message = printable(notice.message)
        code = _dim(f"  {notice.code}")
        yield f"{_INDENT}{mark}{path}{where}{message}{code}"

    further = result.total_warnings - len(result.warnings)
    if further > 0:
        yield _INDENT + _yellow(f"and {further} more warnings")


def _bold(text: str) -> str:
    return click.style(text, bold=True)


def _bold_red(text: str) -> str:
    return click.style(text, fg="red", bold=True)


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _blue(text: str) -> str:
    return click.style(text, fg="blue")


def _green(text: str) -> str:
    return click.style(text, fg="green")


def _red(text: str) -> str:
    return click.style(text, fg="red")


def _yellow(text: str) -> str:
    return click.style(text, fg="yellow")

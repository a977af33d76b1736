"""Reports of checks and pages of contracts for people, drawn with rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from accordance.cli.checked_file import Checked
from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract
from accordance.contracts.describing import alias_rows, rewrite_texts, rule_text
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


def print_results(results: Iterable[Checked], console: Console | None = None) -> bool:
    """Print each result as it comes, then their number. True if all were accepted."""
    console = console or Console(highlight=False, soft_wrap=True)
    accepted = 0
    rejected = 0
    for checked in results:
        for line in _result_lines(checked):
            console.print(line)
        if checked.result:
            accepted += 1
        else:
            rejected += 1

    if accepted + rejected > 1:
        console.print()
        console.print(_summary(accepted, rejected))
    return rejected == 0


def _summary(accepted: int, rejected: int) -> Text:
    text = Text(f"{accepted + rejected} messages: ")
    text.append(f"{accepted} accepted", "green" if accepted else "")
    text.append(", ")
    return text.append(f"{rejected} rejected", "bold red" if rejected else "")


def _result_lines(checked: Checked) -> Iterator[RenderableType]:
    result = checked.result
    if isinstance(result, Rejected):
        first = result.violations[0]
        is_unreadable = first.offset is not None
        if is_unreadable:
            yield _unreadable_line(checked, first)
            return

    mark, style = ("✓", "green") if result else ("✗", "bold red")
    file = printable(checked.file)
    contract = result.contract or "no contract"
    yield Text.assemble((mark, style), " ", (file, "bold"), "  ", (contract, "cyan"))

    for line in _repair_lines(result.repairs):
        yield _indented(line)
    if isinstance(result, Rejected):
        yield from _violation_lines(checked, result)
    else:
        yield from _warning_lines(checked, result)


def _unreadable_line(checked: Checked, violation: Violation) -> Text:
    """The single line about a text that cannot be read as a message."""
    place = checked.places[violation.path]
    reason = f"expected {violation.expected}, got {violation.actual}"
    return Text.assemble(
        ("✗ ", "bold red"),
        (printable(checked.file), "bold"),
        f"  {printable(reason)}",
        (f"  line {place.line}, column {place.column}", "dim"),
        "  ",
        (violation.code, "red"),
    )


def _repair_lines(repairs: tuple[Repair, ...]) -> Iterator[Text]:
    for repair in repairs[:_SHOWN_REPAIRS]:
        before = excerpt(repair.before, _EXCERPT)
        after = excerpt(repair.after, _EXCERPT)
        yield Text.assemble(
            ("~ ", "blue"),
            printable(repair.path),
            f"  {before} → {after}  ",
            (repair.rule, "dim"),
        )

    further = len(repairs) - _SHOWN_REPAIRS
    if further > 0:
        yield Text(f"~ and {further} more repairs", "blue")


def _violation_lines(checked: Checked, result: Rejected) -> Iterator[RenderableType]:
    """All violations, in the order of the text."""
    by_place = sorted(
        result.violations, key=lambda violation: checked.places[violation.path]
    )
    for violation in by_place:
        yield from _lines_of_violation(checked, violation)

    further = result.total - len(result.violations)
    if further > 0:
        yield _indented(Text(f"and {further} more violations", "red"))


def _lines_of_violation(checked: Checked, violation: Violation) -> Iterator[Text]:
    place = checked.places[violation.path]
    where = f"line {place.line}"
    if violation.offset is not None:
        where += f", column {place.column}"

    path = (printable(violation.path), "bold")
    head = Text.assemble(path, "  ", (where, "dim"), "  ", (violation.code, "red"))
    yield _indented(head)
    yield _detail("expected  ", Text(printable(violation.expected)))
    yield _detail("got       ", Text(printable(violation.actual)))
    if violation.fix:
        fix = printable(_fix_text(violation.fix, violation.path))
        yield _detail("fix       ", Text(fix, "green"))


def _detail(label: str, text: Text) -> Text:
    return _indented(Text.assemble((label, "dim"), text), 4)


def _fix_text(fix: Fix, path: str) -> str:
    """What to do, without the path where it is that of the violation itself."""
    if fix.path != path:
        return str(fix)
    if fix.op == "remove":
        return "remove it"
    return f"set it to {excerpt(fix.value)}"


def _warning_lines(checked: Checked, result: Accepted[Any]) -> Iterator[RenderableType]:
    for notice in result.warnings:
        place = checked.places[notice.path]
        line = Text.assemble(
            ("! ", "yellow"),
            printable(notice.path),
            (f"  line {place.line}  ", "dim"),
            printable(notice.message),
            (f"  {notice.code}", "dim"),
        )
        yield _indented(line)

    further = result.total_warnings - len(result.warnings)
    if further > 0:
        yield _indented(Text(f"and {further} more warnings", "yellow"))


def _indented(text: Text, by: int = 2) -> Text:
    return Text(" " * by).append_text(text)


def contract_page(contract: Contract[Any]) -> Group:
    """Everything a contract demands, on one page."""
    title = contract.scope or contract.version
    return Group(
        Text.assemble((title, "bold cyan"), f"  {contract.about}"),
        Text(f"answers to: {', '.join(contract.names)}", "dim"),
        Text(),
        _fields_table(contract),
        *_rule_lines(contract),
        *_normalising_lines(contract),
    )


def _fields_table(contract: Contract[Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("field", style="bold", no_wrap=True)
    table.add_column("")
    table.add_column("expected")
    for field in fields_of(contract):
        presence = "required" if field.required else "optional"
        table.add_row(field.path, presence, field.expected)
    return table


def _rule_lines(contract: Contract[Any]) -> Iterator[RenderableType]:
    if contract.rules:
        yield Text("\nrules", "bold")
    for rule in contract.rules:
        yield _indented(Text.assemble(rule_text(rule), (f"  {rule.__name__}", "dim")))


def _normalising_lines(contract: Contract[Any]) -> Iterator[RenderableType]:
    """What is normalised before a message is checked."""
    aliases = list(alias_rows(contract))
    rewrites = list(rewrite_texts(contract))
    if aliases or rewrites:
        yield Text("\nnormalised, and recorded", "bold")

    for path, canonical, others in aliases:
        names = ", ".join(others)
        yield _indented(Text.assemble(path, "  ", (canonical, "bold"), "  ← ", names))
    for name, text in rewrites:
        yield _indented(Text.assemble(text, (f"  {name}", "dim")))

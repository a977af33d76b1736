"""Reports people enjoy: what is wrong, where, what came, and the way out."""

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

_MANY_REPAIRS = 5


def print_results(results: Iterable[Checked], console: Console | None = None) -> bool:
    """Print each result as it comes and a last line that counts. True if all were accepted."""
    console = console or Console(highlight=False, soft_wrap=True)
    accepted = rejected = 0
    for checked in results:
        for line in _result(checked):
            console.print(line)
        accepted += bool(checked.result)
        rejected += not checked.result
    if accepted + rejected > 1:
        console.print()
        console.print(_count(accepted, rejected))
    return not rejected


def _count(accepted: int, rejected: int) -> Text:
    total = accepted + rejected
    text = Text(f"{total} messages: ")
    text.append(f"{accepted} accepted", "green" if accepted else "")
    text.append(", ")
    return text.append(f"{rejected} rejected", "bold red" if rejected else "")


def _result(checked: Checked) -> Iterator[RenderableType]:
    result = checked.result
    if isinstance(result, Rejected) and result.violations[0].offset is not None:
        yield _unreadable(checked, result.violations[0])
        return
    mark, style = ("✓", "green") if result else ("✗", "bold red")
    file, contract = printable(checked.file), result.contract or "no contract"
    yield Text.assemble((mark, style), " ", (file, "bold"), "  ", (contract, "cyan"))
    for repair in _shown(result.repairs):
        yield _indent(repair)
    if isinstance(result, Rejected):
        yield from _violations(checked, result)
    else:
        yield from _warnings(checked, result)


def _unreadable(checked: Checked, violation: Violation) -> Text:
    """A text that is no message is told in one line."""
    place = checked.places[violation.path]
    file = printable(checked.file)
    what = printable(f"expected {violation.expected}, got {violation.actual}")
    where = (f"  line {place.line}, column {place.column}", "dim")
    return Text.assemble(
        ("✗ ", "bold red"),
        (file, "bold"),
        f"  {what}",
        where,
        "  ",
        (violation.code, "red"),
    )


def _shown(repairs: tuple[Repair, ...]) -> Iterator[Text]:
    for repair in repairs[:_MANY_REPAIRS]:
        change = f"{excerpt(repair.before, 40)} → {excerpt(repair.after, 40)}"
        yield Text.assemble(
            ("~ ", "blue"),
            printable(repair.path),
            f"  {change}  ",
            (repair.rule, "dim"),
        )
    if len(repairs) > _MANY_REPAIRS:
        yield Text(f"~ and {len(repairs) - _MANY_REPAIRS} more repairs", "blue")


def _violations(checked: Checked, result: Rejected) -> Iterator[RenderableType]:
    for violation in sorted(
        result.violations, key=lambda one: checked.places[one.path]
    ):
        place = checked.places[violation.path]
        where = f"line {place.line}" + (
            f", column {place.column}" if violation.offset is not None else ""
        )
        yield _indent(
            Text.assemble(
                (printable(violation.path), "bold"),
                "  ",
                (where, "dim"),
                "  ",
                (violation.code, "red"),
            )
        )
        yield _indent(
            Text.assemble(("expected  ", "dim"), printable(violation.expected)), 4
        )
        yield _indent(
            Text.assemble(("got       ", "dim"), printable(violation.actual)), 4
        )
        if violation.fix:
            fix = printable(_fix(violation.fix, violation.path))
            yield _indent(Text.assemble(("fix       ", "dim"), (fix, "green")), 4)
    if result.total > len(result.violations):
        yield _indent(
            Text(f"and {result.total - len(result.violations)} more violations", "red")
        )


def _fix(fix: Fix, path: str) -> str:
    if fix.path != path:
        return str(fix)
    return "remove it" if fix.op == "remove" else f"set it to {excerpt(fix.value)}"


def _warnings(checked: Checked, result: Accepted[Any]) -> Iterator[RenderableType]:
    for notice in result.warnings:
        place = checked.places[notice.path]
        path, message = printable(notice.path), printable(notice.message)
        text = Text.assemble(
            ("! ", "yellow"), path, (f"  line {place.line}  ", "dim"), message
        )
        yield _indent(text.append(f"  {notice.code}", "dim"))
    more = result.total_warnings - len(result.warnings)
    if more > 0:
        yield _indent(Text(f"and {more} more warnings", "yellow"))


def _indent(text: Text, by: int = 2) -> Text:
    return Text(" " * by).append_text(text)


def contract_page(contract: Contract[Any]) -> Group:
    """Everything a contract demands, on one page."""
    head = Text.assemble(
        (contract.scope or contract.version, "bold cyan"), f"  {contract.about}"
    )
    names = Text(f"answers to: {', '.join(contract.names)}", "dim")
    return Group(
        head,
        names,
        Text(),
        _fields_table(contract),
        *_rules(contract),
        *_normalising(contract),
    )


def _fields_table(contract: Contract[Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("field", style="bold", no_wrap=True)
    table.add_column("")
    table.add_column("expected")
    for one in fields_of(contract):
        table.add_row(
            one.path, "required" if one.required else "optional", one.expected
        )
    return table


def _rules(contract: Contract[Any]) -> Iterator[RenderableType]:
    if contract.rules:
        yield Text("\nrules", "bold")
    for rule in contract.rules:
        yield _indent(Text.assemble(rule_text(rule), ("  " + rule.__name__, "dim")))


def _normalising(contract: Contract[Any]) -> Iterator[RenderableType]:
    rows, steps = list(alias_rows(contract)), list(rewrite_texts(contract))
    if rows or steps:
        yield Text("\nnormalised, and recorded", "bold")
    for path, canonical, others in rows:
        yield _indent(
            Text.assemble(path, "  ", (canonical, "bold"), "  ← ", ", ".join(others))
        )
    for name, text in steps:
        yield _indent(Text.assemble(text, ("  " + name, "dim")))

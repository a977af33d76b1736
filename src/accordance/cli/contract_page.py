"""The page of a contract for people, drawn with rich."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract
from accordance.contracts.describing import alias_rows, rewrite_texts, rule_text

_INDENT = "  "


def contract_page(contract: Contract[Any]) -> Group:
    """Everything a contract demands, on a page."""
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
        name = (f"  {rule.__name__}", "dim")
        yield Text.assemble(_INDENT, rule_text(rule), name)


def _normalising_lines(contract: Contract[Any]) -> Iterator[RenderableType]:
    """What is normalised before a message is checked."""
    aliases = list(alias_rows(contract))
    rewrites = list(rewrite_texts(contract))
    if aliases or rewrites:
        yield Text("\nnormalised, and recorded", "bold")

    for path, canonical, others in aliases:
        names = ", ".join(others)
        bold = (canonical, "bold")
        yield Text.assemble(_INDENT, path, "  ", bold, "  ← ", names)
    for name, text in rewrites:
        yield Text.assemble(_INDENT, text, (f"  {name}", "dim"))

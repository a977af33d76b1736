"""Names of plans, tasks and questions that the shell completes, with their titles."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from accordance.contracts.printable import printable


def complete_plan(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the id of a plan."""
    return _items(ctx, "plans", incomplete)


def complete_task(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the id of a task."""
    return _items(ctx, "tasks", incomplete)


def complete_question(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the number or the id of an open question."""
    return _items(ctx, "questions", incomplete)


def _items(ctx: click.Context, table: str, incomplete: str) -> list[CompletionItem]:
    """Return what begins like that in the ledger that the options name so far."""
    from accordance.service.completing import names_like

    home = ctx.params.get("home")
    place = ctx.params.get("place")
    names = names_like(
        table,
        incomplete,
        home=home if isinstance(home, Path) else None,
        place=place if isinstance(place, str) else None,
    )
    return [
        CompletionItem(identity, help=printable(title))
        for identity, title in names
        if _is_plain(identity)
    ]


def _is_plain(identity: str) -> bool:
    """Whether a shell takes it as a single word, as it is."""
    has_spaces = any(letter.isspace() for letter in identity)
    return not has_spaces and identity == printable(identity)


def complete_contract(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str]:
    """The names of contracts, for the completion of a shell."""
    from accordance.api import registry

    names = [name for contract in registry for name in contract.names]
    return sorted(name for name in names if name.startswith(incomplete))

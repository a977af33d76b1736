"""Names of plans, tasks and questions that the shell completes, with their titles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from accordance.contracts.printable import printable


@dataclass(frozen=True)
class LedgerName(click.ParamType):
    """A name of something in the ledger; any text is taken as it is."""

    table: str
    name = "text"  # as the help shows it

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> str:
        """Take it as it is."""
        return str(value)

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return what begins like that. Whatever goes wrong, there is nothing to say."""
        from accordance.service.completing import names_like

        place = ctx.params.get("place")
        home = ctx.params.get("home")
        names = names_like(
            self.table,
            incomplete,
            home=home if isinstance(home, Path) else None,
            place=place if isinstance(place, str) else None,
        )
        items = []
        for identity, title in names:
            is_plain = identity == printable(identity) and not identity.isspace()
            if is_plain and " " not in identity:
                items.append(CompletionItem(identity, help=printable(title)))
        return items


PLAN: Final = LedgerName("plans")
TASK: Final = LedgerName("tasks")
QUESTION: Final = LedgerName("questions")

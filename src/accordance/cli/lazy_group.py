"""A group whose commands may be imported when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click


class LazyGroup(click.Group):
    """A group that leaves the import of some commands until they are needed.

    `plan list` is called all day and should not wait for what `plan graph` imports.
    """

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._places: dict[str, tuple[str, str]] = {}

    def defer(self, module: str, names: Mapping[str, str]) -> None:
        """Add commands of a module: their names, and what they are called there."""
        for name, attribute in names.items():
            self._places[name] = (module, attribute)

    def list_commands(self, ctx: click.Context) -> list[str]:
        imported = super().list_commands(ctx)
        return sorted({*imported, *self._places})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = self._places.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, attribute = place
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

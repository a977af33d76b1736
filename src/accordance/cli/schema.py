"""`accordance schema`: the schema of a contract."""

from __future__ import annotations

import json

import click

from accordance.api import registry
from accordance.cli.completing import complete_contract
from accordance.contracts.schemas import DIALECTS, export_schema


@click.command(name="schema")
@click.argument("name", shell_complete=complete_contract)
@click.option(
    "--for",
    "dialect",
    type=click.Choice(list(DIALECTS)),
    default="json-schema",
    show_default=True,
    help="The dialect. Those of providers are lossy; what is dropped goes to standard error.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Print {"schema": ..., "dropped": [...]} instead.',
)
def command(name: str, dialect: str, as_json: bool) -> None:
    """Print the schema of contract NAME (a version, short name or scope)."""
    export = export_schema(registry.get(name), dialect)
    dropped = list(export.dropped)
    if as_json:
        _print({"schema": export.schema, "dropped": dropped})
        return

    _print(export.schema)
    if dropped:
        click.echo(
            f"dropped for {dialect} ({len(dropped)}), so check the answer as well:",
            err=True,
        )
    for loss in dropped:
        click.echo(f"  {loss}", err=True)


def _print(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))

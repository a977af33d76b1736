"""`accordance schema`."""

from __future__ import annotations

import json

import click

from accordance.api import registry
from accordance.contracts.schemas import DIALECTS, export_schema


def complete_contract(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str]:
    """Names of contracts, for the shell."""
    return sorted(
        name
        for contract in registry
        for name in contract.names
        if name.startswith(incomplete)
    )


@click.command(name="schema")
@click.argument("name", shell_complete=complete_contract)
@click.option(
    "--for",
    "dialect",
    type=click.Choice(list(DIALECTS)),
    default="json-schema",
    show_default=True,
    help="Who is to read it. Providers' dialects are lossy; what was dropped goes to standard error.",
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
    whole = (
        {"schema": export.schema, "dropped": list(export.dropped)}
        if as_json
        else export.schema
    )
    click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    if export.dropped and not as_json:
        click.echo(
            f"dropped for {dialect} ({len(export.dropped)}), so check the answer all the same:",
            err=True,
        )
        click.echo("\n".join(f"  {loss}" for loss in export.dropped), err=True)

"""`accordance contract list | show | summary | diff`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from accordance.api import contract_summary, registry
from accordance.cli.completing import complete_contract
from accordance.cli.exits import Exit
from accordance.cli.showing import as_json_text, print_line
from accordance.contracts.comparing import ContractChange, compare, fields_of
from accordance.contracts.contract import Contract
from accordance.contracts.describing import alias_rows, rule_text


@click.group(name="contract")
def command() -> None:
    """List, show and compare contracts."""


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_contracts(as_json: bool) -> None:
    """List every contract, built in and installed."""
    contracts = list(registry)
    if as_json:
        click.echo(as_json_text([_summary(contract) for contract in contracts]))
        return

    width = max(len(contract.version) for contract in contracts)
    for contract in contracts:
        version = contract.version
        others = [name for name in contract.names if name != version]
        print_line(f"{version:<{width}}  {contract.about}")
        print_line(f"{'':<{width}}  also: {', '.join(others)}")


@command.command()
@click.argument("name", shell_complete=complete_contract)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, as_json: bool) -> None:
    """Show what contract NAME demands: fields, rules, and what is normalised."""
    contract = registry.get(name)
    if as_json:
        click.echo(as_json_text(_details(contract)))
        return

    from accordance.cli.contract_page import contract_page
    from accordance.cli.pages import print_page

    print_page(contract_page(contract))


@command.command(name="summary")
def print_summary() -> None:
    """Print a summary as JSON: version, required keys and enumerations by scope."""
    click.echo(as_json_text(contract_summary()))


@command.command()
@click.argument("old", shell_complete=complete_contract)
@click.argument("new", shell_complete=complete_contract)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(old: str, new: str, as_json: bool) -> int:
    """Show how contract NEW differs from OLD.

    Exit code 1: NEW rejects messages that OLD accepts.
    """
    changes = compare(registry.get(old), registry.get(new))
    if as_json:
        click.echo(as_json_text([change.to_json() for change in changes]))
    else:
        _print_changes(changes)

    is_breaking = any(change.breaking for change in changes)
    return Exit.REJECTED if is_breaking else Exit.OK


def _print_changes(changes: Sequence[ContractChange]) -> None:
    for change in changes:
        weight = "breaking" if change.breaking else "ok"
        print_line(f"{weight:<8}  {change.path}  {change.change}")
    if not changes:
        print_line("no difference")


def _summary(contract: Contract[Any]) -> dict[str, object]:
    return {
        "version": contract.version,
        "name": contract.name,
        "scopes": [scope.name for scope in contract.scopes],
        "names": list(contract.names),
        "about": contract.about,
        "schema_version": contract.version_key,
        "closed": contract.closed,
        "profiles": ["strict", *contract.profiles],
    }


def _details(contract: Contract[Any]) -> dict[str, object]:
    fields = [
        {
            "path": field.path,
            "required": field.required,
            "expected": field.expected,
        }
        for field in fields_of(contract)
    ]
    rules = [
        {"name": rule.__name__, "text": rule_text(rule)} for rule in contract.rules
    ]
    aliases = [
        {
            "path": path,
            "canonical": word,
            "aliases": list(names),
        }
        for path, word, names in alias_rows(contract)
    ]
    return {
        **_summary(contract),
        "fields": fields,
        "rules": rules,
        "normalised": aliases,
    }

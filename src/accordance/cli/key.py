"""`accordance key`: keys for the server."""

from __future__ import annotations

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.domain.access import Right, Role


@click.group(name="key")
def command() -> None:
    """Make, list and revoke keys for `accordance serve`."""


@command.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.OPERATOR.value,
    show_default=True,
    help="What the key is for.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([right.value for right in Right]),
    help="Only this right of the role; may be given more than once.",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    help="Only this task, or the tasks of this plan; may be given more than once.",
)
@click.option(
    "--contract",
    "contracts",
    multiple=True,
    help="Hands in messages of this contract only; may be given more than once.",
)
@click.option(
    "--days", type=float, help="Expires after this many days.  [default: never]"
)
@by_option
@ledger_options
@json_option
def make(
    where: Where,
    name: str,
    role: str,
    scopes: tuple[str, ...],
    tasks: tuple[str, ...],
    contracts: tuple[str, ...],
    days: float | None,
    by: str | None,
    as_json: bool,
) -> int:
    """Make a key. NAME stands for its user in the chain of events.

    The key is printed only once; the ledger keeps its hash.
    """
    from accordance.service import keys
    from accordance.service.project import asking_as

    with opened(where, create=True) as project:
        request = keys.KeyRequest(
            name=name,
            role=Role(role),
            scopes=tuple(map(Right, scopes)),
            tasks=keys.bound_to_known(project, tasks),
            contracts=contracts,
            days=days,
        )
        made = keys.make_key(project, request, by=asking_as(by))
    if as_json:
        print_json(made.to_json())
    else:
        print_line(made.key)
    return Exit.OK


@command.command(name="list")
@ledger_options
@json_option
def list_keys(where: Where, as_json: bool) -> int:
    """List the keys, without the keys themselves."""
    from accordance.service import keys

    with opened(where) as project:
        listed = keys.list_keys(project)
    if as_json:
        print_json(listed.to_json())
        return Exit.OK
    for key in listed.items:
        state = "revoked" if key.revoked_at else f"until {key.expires_at or 'revoked'}"
        print_line(f"{key.key_id}  {key.role:<8}  {key.name}  ({state})")
    if not listed.items:
        print_line("there is no key; `accordance key make NAME` makes a key")
    return Exit.OK


@command.command()
@click.argument("key_id")
@by_option
@ledger_options
@json_option
def revoke(where: Where, key_id: str, by: str | None, as_json: bool) -> int:
    """Revoke the key KEY_ID. Servers refuse it within two seconds."""
    from accordance.service import keys
    from accordance.service.project import asking_as

    with opened(where) as project:
        revoked = keys.revoke_key(project, key_id, by=asking_as(by))
    if as_json:
        print_json(revoked.to_json())
    else:
        print_line(f"{revoked.key_id} ({revoked.name}) is revoked")
    return Exit.OK

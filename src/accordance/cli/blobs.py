"""`accordance blobs`: the bytes of products, evidence, logs and inputs."""

from __future__ import annotations

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line


@click.group(name="blobs")
def command() -> None:
    """Show, verify and tidy up the store of large blobs."""


@command.command()
@ledger_options
@json_option
def status(where: Where, as_json: bool) -> int:
    """Show where blobs lie and how many. Exit code 1: the store cannot be used."""
    from accordance.service.blobs import blob_status

    with opened(where) as project:
        view = blob_status(project)
    if as_json:
        print_json(view.to_json())
    else:
        print_line(f"store        {view.store}")
        database = f"{view.in_database} blobs, {view.bytes_in_database:,} bytes"
        print_line(f"database     {database} (up to {view.inline_bytes:,} each)")
        print_line(f"in the store {view.in_store} blobs, {view.bytes_in_store:,} bytes")
        print_line(f"loose        {view.loose}, removed after {view.grace_hours:g} h")
        if view.problem:
            print_line(f"✗ {view.problem}")
    return Exit.OK if view.is_reachable else Exit.REJECTED


@command.command()
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@ledger_options
@json_option
def collect(dry_run: bool, where: Where, as_json: bool) -> int:
    """Remove blobs that nothing refers to, once they are older than the grace time.

    Deleted plans release blobs, and killed processes leave some behind. Blobs that the
    ledger does not know are noted first, and removed after the grace time as well.
    """
    from accordance.service.blobs import collect_blobs

    with opened(where) as project:
        view = collect_blobs(project, dry_run=dry_run)
    if as_json:
        print_json(view.to_json())
        return Exit.OK
    verb = "removed" if view.is_done else "would remove"
    print_line(f"{verb} {len(view.removed)} blobs; {view.young} are still too young")
    if view.unknown:
        print_line(f"{view.unknown} were unknown; their grace time begins now")
    return Exit.OK


@command.command()
@ledger_options
@json_option
def verify(where: Where, as_json: bool) -> int:
    """Read every blob in the store. Exit code 1: something is missing or changed."""
    from accordance.service.blobs import check_blobs

    with opened(where) as project:
        view = check_blobs(project)
    if as_json:
        print_json(view.to_json())
    else:
        for finding in view.findings:
            users = "; ".join(finding.named_by) or "nothing that is known"
            print_line(f"✗ blob {finding.sha256[:12]} is {finding.problem}: {users}")
        mark = "✓" if view.holds else "✗"
        print_line(f"{mark} {view.checked} blobs, {view.bytes:,} bytes")
    return Exit.OK if view.holds else Exit.REJECTED

"""`accordance events`: what happened."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from accordance.cli.desk import Where, at_desk, find_plan, json_option, ledger_options
from accordance.cli.exits import Exit
from accordance.cli.showing import shown
from accordance.cli.streams import reader_is_gone
from accordance.contracts.printable import printable

if TYPE_CHECKING:
    from accordance.domain.chain import Entry

_POLL_SECONDS = 0.3


@click.command(name="events")
@click.argument("plan", required=False)
@click.option("--task", help="Only of this task.")
@click.option("--after", type=click.IntRange(0), default=0, help="Only after this event.")
@click.option("--all", "is_all", is_flag=True, help="The seals of rows as well, which say nothing to people.")
@click.option("--follow", is_flag=True, help="Go on as things happen, until interrupted.")
@ledger_options
@json_option
def command(
    plan: str | None,
    task: str | None,
    after: int,
    is_all: bool,
    follow: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Show the events of a plan, in their order. With --json one object per line.

    The numbers that are left out are seals of rows: --all shows them.
    """
    from accordance.store.seals import SEALS

    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id
        last = after
        while True:
            with desk.ledger.read() as tx:
                for entry in tx.entries(plan_id, after=last):
                    last = entry.seq
                    if (is_all or entry.kind not in SEALS) and (entry.task_id or "").startswith(task or ""):
                        click.echo(_line(entry, as_json))
            if not follow or reader_is_gone():
                return Exit.OK
            time.sleep(_POLL_SECONDS)


def _line(entry: Entry, as_json: bool) -> str:
    if as_json:
        fields = ("plan_id", "seq", "at", "kind", "task_id", "payload", "hash")
        return printable(json.dumps({name: getattr(entry, name) for name in fields}, ensure_ascii=False))
    said = dict(entry.payload)
    moved = f"  {said.pop('from')} -> {said.pop('to')}" if "from" in said else ""
    rest = "  ".join(f"{name}={value}" for name, value in said.items() if value not in (None, "", []))
    line = f"{entry.seq:>6}  {entry.at[:19]}  {entry.kind}  {entry.task_id or ''}{moved}  {rest}"
    return shown(line.rstrip())

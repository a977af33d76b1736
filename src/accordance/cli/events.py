"""`accordance events`: what happened."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, json_option, ledger_options, opened
from accordance.cli.showing import shown
from accordance.cli.streams import reader_is_gone
from accordance.contracts.printable import printable

if TYPE_CHECKING:
    from accordance.service.views.events import EventView

_POLL_SECONDS = 0.3


@click.command(name="events")
@click.argument("plan", required=False)
@click.option("--task", help="Only of this task.")
@click.option(
    "--after", type=click.IntRange(0), default=0, help="Only after this event."
)
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="The seals of rows as well, which say nothing to people.",
)
@click.option(
    "--follow", is_flag=True, help="Go on as things happen, until interrupted."
)
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
    from accordance.service.events import EventReader
    from accordance.service.project import plan_id_of

    with opened(where) as project:
        plan_id = plan_id_of(project, plan)
        reader = EventReader(project, plan_id, task or "", after, with_seals=is_all)
        while True:
            for event in reader.news():
                click.echo(_line(event, as_json))
            if not follow or reader_is_gone():
                return Exit.OK
            time.sleep(_POLL_SECONDS)


def _line(event: EventView, as_json: bool) -> str:
    if as_json:
        return printable(json.dumps(event.to_json(), ensure_ascii=False))
    details = dict(event.payload)
    moved = (
        f"  {details.pop('from')} -> {details.pop('to')}" if "from" in details else ""
    )
    rest = "  ".join(
        f"{name}={value}"
        for name, value in details.items()
        if value not in (None, "", [])
    )
    line = f"{event.seq:>6}  {event.at[:19]}  {event.kind}  {event.task_id or ''}{moved}  {rest}"
    return shown(line.rstrip())

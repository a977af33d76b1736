"""`accordance events`: what happened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from accordance.cli.completing import complete_plan, complete_task
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, json_option, ledger_options, opened
from accordance.cli.list_options import cursor_option, filter_option, word
from accordance.cli.showing import shown
from accordance.cli.streams import reader_is_gone
from accordance.contracts.printable import printable
from accordance.domain.paging import MOST_ITEMS

if TYPE_CHECKING:
    from accordance.service.event_stories import EventNarrator
    from accordance.service.events import EventReader
    from accordance.service.views.events import EventPageView, EventView

_WAIT_SECONDS = 1.0  # then it is seen that the reader has gone


@click.command(name="events")
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option("--task", shell_complete=complete_task, help="Only of this task.")
@filter_option
@click.option(
    "--after", type=click.IntRange(0), default=0, help="Only events after this number."
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ITEMS),
    help="Maximum number of events.  [default: all]",
)
@cursor_option
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="Also the seals of rows, which are of no interest to people.",
)
@click.option("--hashes", is_flag=True, help="Also the hash of every event.")
@click.option(
    "--follow", is_flag=True, help="Go on as things happen, until interrupted."
)
@ledger_options
@json_option
def command(
    plan: str | None,
    task: str | None,
    wanted: str,
    after: int,
    limit: int | None,
    cursor: str | None,
    is_all: bool,
    hashes: bool,
    follow: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Show the events of all plans, or of a plan, in sentences, in the order of their commits.

    The number in front counts the events of the whole ledger; --after continues after a number. Missing numbers are
    seals of rows, which --all shows. With --json an object per line; with --limit a last line has the `next` cursor.
    """
    from accordance.service.event_stories import EventNarrator
    from accordance.service.events import EventReader, list_events
    from accordance.service.listing import ListQuery

    words = _words(plan, task, wanted)
    is_page = limit is not None or cursor is not None
    if is_page and follow:
        raise click.UsageError("--follow has no end: leave out --limit and --cursor")

    with opened(where) as project:
        printer = _Printer(EventNarrator(project), as_json, hashes)
        if is_page:
            size = limit or MOST_ITEMS
            query = ListQuery(filter=words, cursor=cursor, limit=size)
            page = list_events(project, query, after=after, with_seals=is_all)
            printer.print_page(page)
            return Exit.OK
        reader = EventReader(project, words, after, with_seals=is_all)
        for event in _events(reader, follow):
            printer.print_event(event)
    return Exit.OK


def _words(plan: str | None, task: str | None, wanted: str) -> str:
    """The filter, with what the argument and the option say."""
    words = [wanted]
    if plan is not None:
        words.append(word("plan", plan))
    if task is not None:
        words.append(word("task", task))
    return " ".join(words)


def _events(reader: EventReader, follow: bool) -> Iterator[EventView]:
    while True:
        yield from reader.news()
        if not follow or reader_is_gone():
            return
        reader.wait(_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints events: as JSON, or as sentences."""

    narrator: EventNarrator
    as_json: bool
    hashes: bool

    def print_page(self, page: EventPageView) -> None:
        for event in page.items:
            self.print_event(event)
        if self.as_json:
            click.echo(json.dumps({"next": page.next}))
        elif page.next is not None:
            click.echo(f"there are more: --cursor {page.next}")

    def print_event(self, event: EventView) -> None:
        if self.as_json:
            click.echo(printable(json.dumps(event.to_json(), ensure_ascii=False)))
            return
        day = event.at[:10]
        time = event.at[11:19]
        sentence = self.narrator.sentence(event)
        line = f"{event.number:>6}  {day} {time}  {sentence}"
        if self.hashes:
            line += f"  {event.kind} {event.hash}"
        click.echo(shown(line))

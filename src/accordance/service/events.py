"""What happened, in the order in which it was committed, across plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from accordance.domain.filters import Filter, Subject, Term, Word
from accordance.domain.paging import MOST_ITEMS, PageRequest
from accordance.service.listing import ListQuery, filter_for
from accordance.service.project import Project
from accordance.service.views.events import EventPageView, EventView, event_view
from accordance.store.ledger import Transaction
from accordance.store.listings import EVENT_LIST, cursor_after
from accordance.store.seals import SEALS


def list_events(
    project: Project,
    query: ListQuery | None = None,
    *,
    after: int = 0,
    with_seals: bool = False,
) -> EventPageView:
    """Return a page of events, of those behind a number if there is no cursor."""
    query = query or ListQuery()
    with project.ledger.read() as tx:
        wanted = _filter(tx, query.filter, with_seals=with_seals)
        cursor = query.cursor or cursor_after(wanted, after)
        request = PageRequest(limit=query.limit, cursor=cursor)
        page = tx.page(EVENT_LIST, wanted, request)
    items = tuple(event_view(entry) for entry in page.items)
    return EventPageView(items=items, next=page.next)


@dataclass
class EventReader:
    """Reads the events that fit a filter, and goes on where it stopped."""

    project: Project
    filter: str = ""
    after: int = 0  # the number of the last event that was looked at
    with_seals: bool = field(default=False, kw_only=True)

    def news(self) -> Iterator[EventView]:
        """Yield what has happened since the last look, all of it."""
        with self.project.ledger.read() as tx:
            newest = tx.last_number()
            wanted = _filter(tx, self.filter, with_seals=self.with_seals)
            cursor: str | None = cursor_after(wanted, self.after)
            while cursor is not None:
                request = PageRequest(limit=MOST_ITEMS, cursor=cursor)
                page = tx.page(EVENT_LIST, wanted, request)
                for entry in page.items:
                    yield event_view(entry)
                cursor = page.next
        self.after = max(self.after, newest)

    def wait(self, seconds: float) -> None:
        """Wait until something more has happened, whether or not it fits."""
        self.project.ledger.wait_for_change(after=self.after, seconds=seconds)


def _filter(tx: Transaction, text: str, *, with_seals: bool) -> Filter:
    """Read a filter. The seals of rows say nothing to people, and are left out."""
    wanted = filter_for(tx, text, Subject.EVENTS)
    if with_seals or wanted.wanted(Word.KIND):
        return wanted
    hidden = [Term(Word.KIND, kind, is_wanted=False) for kind in SEALS]
    return wanted.plus(*hidden)

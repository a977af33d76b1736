"""What happened, in the order in which it was committed, across plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from accordance.domain.chain import ChainEntry
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
        wanted = event_filter(tx, query.filter, with_seals=with_seals)
        cursor = query.cursor or cursor_after(wanted, after)
        request = PageRequest(limit=query.limit, cursor=cursor)
        page = tx.page(EVENT_LIST, wanted, request)
    items = tuple(event_view(entry) for entry in page.items)
    return EventPageView(items=items, next=page.next)


def events_of_plan(
    project: Project,
    plan_id: str,
    query: ListQuery,
    after: int = 0,
) -> EventPageView:
    """Return a page of the events of a plan."""
    term = str(Term(Word.PLAN, plan_id))
    of_plan = replace(query, filter=f"{term} {query.filter}".strip())
    return list_events(project, of_plan, after=after)


@dataclass
class EventReader:
    """Reads the events that fit a filter, and goes on where it stopped."""

    project: Project
    filter: str = ""
    after: int = 0  # the number of the last event that was looked at
    with_seals: bool = field(default=False, kw_only=True)
    _last_seq: int = field(default=0, init=False)  # of use where there is one plan

    def news(self) -> Iterator[EventView]:
        """Yield what has happened since the last look, all of it.

        No transaction is open while a reader takes its time with an event.
        """
        there_is_more = True
        while there_is_more:
            entries, there_is_more = self.next_page()
            for entry in entries:
                yield event_view(entry)

    def next_page(self) -> tuple[tuple[ChainEntry, ...], bool]:
        """Return some of what has happened since the last look; whether there is more."""
        with self.project.ledger.read() as tx:
            newest = tx.last_number()
            wanted = event_filter(tx, self.filter, with_seals=self.with_seals)
            cursor = cursor_after(wanted, self.after, self._last_seq)
            request = PageRequest(limit=MOST_ITEMS, cursor=cursor)
            page = tx.page(EVENT_LIST, wanted, request)

        if page.items:
            self._last_seq = page.items[-1].seq
        there_is_more = page.next is not None
        if there_is_more:
            newest = page.items[-1].number or newest
        self.after = max(self.after, newest)
        return page.items, there_is_more

    def wait(self, seconds: float) -> None:
        """Wait until something more has happened, whether or not it fits."""
        self.project.ledger.wait_for_change(after=self.after, seconds=seconds)


def event_filter(tx: Transaction, text: str, *, with_seals: bool = False) -> Filter:
    """Read a filter. The seals of rows say nothing to people, and are left out."""
    wanted = filter_for(tx, text, Subject.EVENTS)
    if with_seals or wanted.wanted(Word.KIND):
        return wanted
    hidden = [Term(Word.KIND, kind, is_wanted=False) for kind in SEALS]
    return wanted.plus(*hidden)

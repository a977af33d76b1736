"""What all lists share: the filter that was asked for, and the page of the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from accordance.domain.filters import Filter, Subject, Term, Word, parse_filter
from accordance.domain.paging import MOST_ITEMS, USUAL_ITEMS, Page, PageRequest
from accordance.service.project import find_plan_id, find_task
from accordance.store.ledger import Transaction
from accordance.store.listings import Listing, Record

__all__ = ["ListQuery", "all_of", "filter_for", "page_of"]

_WITHOUT_ARCHIVED: Final = (Subject.TASKS, Subject.DEAD_LETTERS, Subject.QUESTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """Which items of a list are wanted, as a person or a program writes it."""

    filter: str = ""
    cursor: str | None = None
    limit: int = USUAL_ITEMS

    @property
    def request(self) -> PageRequest:
        """The page. Raises InvalidLimit."""
        return PageRequest(limit=self.limit, cursor=self.cursor)


def filter_for(tx: Transaction, text: str, subject: Subject) -> Filter:
    """Read a filter, with the whole ids of the plans and tasks that it names.

    Tasks and questions of archived plans are left out, unless the filter names them.
    Raises InvalidFilter, and NotFound or AmbiguousName for a name in it.
    """
    wanted = parse_filter(text, subject)
    terms = tuple(_with_whole_id(tx, term) for term in wanted.terms)
    leaves_out = subject in _WITHOUT_ARCHIVED and not wanted.names_plans
    return replace(wanted, terms=terms, leaves_out_archived=leaves_out)


def _with_whole_id(tx: Transaction, term: Term) -> Term:
    if term.word is Word.PLAN:
        return replace(term, value=find_plan_id(tx, term.value))
    if term.word is Word.TASK:
        return replace(term, value=find_task(tx, term.value).task_id)
    return term


def all_of(
    tx: Transaction,
    listing: Listing[Record],
    wanted: Filter,
) -> Iterator[Record]:
    """Yield every item that fits, read page by page."""
    cursor = None
    while True:
        page = tx.page(listing, wanted, PageRequest(limit=MOST_ITEMS, cursor=cursor))
        yield from page.items
        if page.next is None:
            return
        cursor = page.next


def page_of(
    tx: Transaction,
    listing: Listing[Record],
    query: ListQuery,
) -> Page[Record]:
    """Return the page of a list that a query asks for."""
    wanted = filter_for(tx, query.filter, listing.subject)
    return tx.page(listing, wanted, query.request)

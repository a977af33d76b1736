"""What the commands that list things share: filter, page, and how the rest is announced."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.showing import print_line
from accordance.domain.paging import MOST_ITEMS, USUAL_ITEMS

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.base import PageView

filter_option = click.option(
    "--filter",
    "wanted",
    default="",
    metavar="WORDS",
    help="Only what matches, as in `state:failed -tag:docs text`; see docs/filters.md.",
)
cursor_option = click.option(
    "--cursor",
    metavar="TOKEN",
    help="Continue after an earlier page, with its `next`.",
)


def list_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --filter, --limit and --cursor, handed on as `query`."""

    @wraps(command)
    def with_query(
        *,
        wanted: str,
        limit: int,
        cursor: str | None,
        **options: Any,
    ) -> int:
        from accordance.service.listing import ListQuery

        query = ListQuery(filter=wanted, limit=limit, cursor=cursor)
        return command(query=query, **options)

    limit = click.option(
        "--limit",
        type=click.IntRange(1, MOST_ITEMS),
        default=USUAL_ITEMS,
        show_default=True,
        help="Maximum number of items.",
    )
    return filter_option(limit(cursor_option(with_query)))


def and_words(query: ListQuery, *words: str) -> ListQuery:
    """The same query with further words in its filter."""
    from dataclasses import replace

    terms = [query.filter, *words]
    return replace(query, filter=" ".join(terms).strip())


def word(name: str, value: str) -> str:
    """A word of a filter with a value from an option, whatever is in it."""
    from accordance.domain.filters import Term, Word

    return str(Term(Word(name), value))


def tell_of_more(page: PageView) -> None:
    """Say how to go on, where a page is not the last."""
    if page.next is not None:
        print_line(f"there are more: --cursor {page.next}")

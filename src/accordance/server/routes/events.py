"""Events: listed, and streamed as they happen."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query, Request
from starlette.responses import Response

from accordance.domain.filters import MOST_CHARACTERS
from accordance.server.authentication import Reader
from accordance.server.event_stream import EventStream
from accordance.server.problems import InvalidRequest
from accordance.server.routing import router as new_router
from accordance.server.showing import ListedBy, paged
from accordance.server.state import state_of
from accordance.service import events
from accordance.service.live_events import EventSieve
from accordance.service.views.events import EventPageView

router = new_router("events")
_STREAM = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
Number = Annotated[int, Query(ge=0, le=2**63 - 1)]


@router.get("/events", response_model=EventPageView)
def list_events(
    request: Request,
    caller: Reader,
    query: ListedBy,
    after: Number = 0,
) -> Response:
    """List what happened, in the order in which it was committed, across plans."""
    return paged(request, events.list_events(caller.project, query, after=after))


@router.get("/events/stream", responses={200: _STREAM}, response_class=Response)
def stream_events(
    request: Request,
    caller: Reader,
    filter: Annotated[str, Query(max_length=MOST_CHARACTERS)] = "",  # noqa: A002
    after: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
    last_event_id: Annotated[str | None, Header(max_length=30)] = None,
) -> Response:
    """Follow events (SSE). The id of each is its number.

    Goes on behind Last-Event-ID, or `after`; without them with what happens from now
    on. A comment comes every 15 seconds. An `end` event says why the stream ends:
    `too-slow` if the reader did not keep up, `server-stopping`. Connect again with the
    last id: nothing is missed.
    """
    sieve = EventSieve.of(caller.project, filter)
    state = state_of(request)
    feed = state.feeds.of(caller.tenant.name, caller.project)
    start = _start(after, last_event_id)
    return EventStream(feed, sieve, filter, start, state.settings.event_buffer)


def _start(after: int | None, last_event_id: str | None) -> int | None:
    if last_event_id is None:
        return after
    if not (last_event_id.isascii() and last_event_id.isdecimal()):
        raise InvalidRequest("Last-Event-ID is the number of an event")
    return int(last_event_id[:18])

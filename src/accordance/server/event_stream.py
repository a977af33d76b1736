"""A stream of server-sent events for one client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from accordance.domain.chain import ChainEntry
from accordance.errors import AccordanceError
from accordance.server.event_feed import Feed, FeedEvent, Reader
from accordance.service.events import EventReader
from accordance.service.live_events import EventSieve

HEARTBEAT_SECONDS: Final = 15.0
SEND_SECONDS: Final = 30.0  # for the client to take in what was sent
_HEARTBEAT: Final = b": still here\n\n"
_BEGIN: Final = b"retry: 2000\n\n"
_MOST_BYTES: Final = 64 << 10  # sent at once


class EventStream(Response):
    """Sends what has happened since a number, then what happens, until the client leaves."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: Feed,
        sieve: EventSieve,
        text: str,
        start: int | None,
        most: int,
    ) -> None:
        super().__init__(status_code=HTTPStatus.OK)
        self._feed = feed
        self._sieve = sieve
        self._filter = text
        self._start = start
        self._most = most

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client leaves, is too slow, or the server stops."""
        reader = Reader(self._sieve, self._most, asyncio.get_running_loop())
        try:
            live_from = await run_in_threadpool(self._feed.join, reader)
            streaming = asyncio.create_task(self._stream(reader, live_from, send))
            leaving = asyncio.create_task(_until_gone(receive))
            await asyncio.wait(
                (streaming, leaving), return_when=asyncio.FIRST_COMPLETED
            )
            for task in (streaming, leaving):
                task.cancel()
            await asyncio.gather(streaming, leaving, return_exceptions=True)
        finally:
            self._feed.leave(reader)

    async def _stream(self, reader: Reader, live_from: int, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        start = {
            "type": "http.response.start",
            "status": 200,
            "headers": headers,
        }
        await send(start)
        out = _Out(send)
        await out.write(_BEGIN)
        last = live_from if self._start is None else self._start
        if last < live_from:
            last = await self._catch_up(out, last, live_from)
        while not reader.is_too_slow and not reader.has_ended:
            events = await reader.take(HEARTBEAT_SECONDS)
            fresh = [event for event in events if event.number > last]
            if fresh:
                last = fresh[-1].number
                await out.write_all(event.text for event in fresh)
            elif not events:
                await out.write(_HEARTBEAT)
        reason = "too-slow" if reader.is_too_slow else "server-stopping"
        await out.end(reason, last)

    async def _catch_up(self, out: _Out, last: int, until: int) -> int:
        """Send what the ledger has behind a number; return the last number seen."""
        project = self._sieve.project
        past = EventReader(project, self._filter, after=last)
        there_is_more = True
        while there_is_more and past.after < until:
            try:
                entries, there_is_more = await run_in_threadpool(past.next_page)
            except AccordanceError:
                return last  # the client connects again with its last id
            await out.write_all(_texts(entries))
            last = max(last, past.after)
        return last


class _Out:
    """The way to the client. A client that takes nothing in is given up."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def write(self, text: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._send(
                {
                    "type": "http.response.body",
                    "body": text,
                    "more_body": more,
                }
            )

    async def write_all(self, texts: Iterable[bytes]) -> None:
        """Write some events at once, in pieces that are not too large."""
        piece = bytearray()
        for text in texts:
            piece += text
            if len(piece) >= _MOST_BYTES:
                await self.write(bytes(piece))
                piece.clear()
        if piece:
            await self.write(bytes(piece))

    async def end(self, reason: str, last: int) -> None:
        content = json.dumps({"reason": reason, "last": last})
        await self.write(f"event: end\ndata: {content}\n\n".encode(), more=False)


def _texts(entries: Iterable[ChainEntry]) -> Iterable[bytes]:
    return (FeedEvent(entry).text for entry in entries)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

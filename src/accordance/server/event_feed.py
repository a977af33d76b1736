"""Live events: one waiter for each project, a bounded buffer for each reader.

The waiter reads every event once and hands it to the readers whose filter it fits. What
happens shortly after is handed on together, so that a busy ledger costs a few rounds a
second, and not one for each transaction. A reader that does not keep up is cut off, and
resumes by the number of its last event.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Filter
from accordance.errors import AccordanceError
from accordance.server.showing import as_json
from accordance.service.live_events import EventSieve, LiveReader, shown_event
from accordance.service.project import Project

log: Final = logging.getLogger("accordance.server")
_LOOK_SECONDS: Final = 1.0  # after which the waiter sees that the server stops
_ROUND_SECONDS: Final = 0.05  # in which events are collected for the next round
_MOST_PAUSE_SECONDS: Final = 10.0


class FeedEvent:
    """An event, and its text, which is written once for all readers."""

    def __init__(self, entry: ChainEntry) -> None:
        self.entry = entry
        self.number = entry.number or 0

    @cached_property
    def text(self) -> bytes:
        """The event as server-sent text."""
        body = as_json(shown_event(self.entry))
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (
            self.number,
            self.entry.kind.encode(),
            body,
        )


class Reader:
    """A client that follows events: what it has not been sent yet."""

    def __init__(
        self,
        sieve: EventSieve,
        most: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.sieve = sieve
        self.is_too_slow = False
        self.has_ended = False
        self._most = most
        self._waiting: deque[FeedEvent] = deque()
        self.loop = loop
        self._news = asyncio.Event()

    def accept(self, fitting: list[FeedEvent]) -> None:
        """Take in events that fit. Like `cut_off` and `end`, it wants a `wake`."""
        if not fitting or self.is_too_slow:
            return
        if len(self._waiting) + len(fitting) > self._most:
            self.cut_off()
            return
        self._waiting.extend(fitting)

    def cut_off(self) -> None:
        """Give the reader up: it resumes by the number of its last event."""
        self.is_too_slow = True
        self._waiting.clear()

    def end(self) -> None:
        """Send nothing more: the server stops."""
        self.has_ended = True

    def look(self) -> None:
        """See what has changed. Called by the reader's own loop."""
        if self._has_news:  # else it was taken meanwhile
            self._news.set()

    @property
    def _has_news(self) -> bool:
        return bool(self._waiting) or self.is_too_slow or self.has_ended

    async def take(self, seconds: float) -> list[FeedEvent]:
        """Return what has come; after a while, nothing."""
        if not self._has_news:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait()
            except TimeoutError:
                return []
        self._news.clear()
        taken = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken


def wake(readers: Iterable[Reader]) -> None:
    """Let readers look. Called by any thread.

    A loop is woken once for all of its readers, because that takes longer than to look.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[Reader]] = {}
    for reader in readers:
        by_loop.setdefault(reader.loop, []).append(reader)
    for loop, of_loop in by_loop.items():
        with contextlib.suppress(RuntimeError):  # it is closed, with its connections
            loop.call_soon_threadsafe(_look, of_loop)


def _look(readers: Iterable[Reader]) -> None:
    for reader in readers:
        reader.look()


@dataclass(slots=True)
class Feed:
    """The events of a project as they happen."""

    project: Project
    stopping: threading.Event
    _readers: set[Reader] = field(default_factory=set)
    _listeners: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _live: LiveReader | None = None
    _thread: threading.Thread | None = None

    def join(self, reader: Reader) -> int:
        """Let a reader follow; return the number of the newest event.

        The reader gets every event behind it, and maybe some before it, which the
        waiter has not looked at yet. Blocks while the ledger is asked.
        """
        with self._lock:
            live = self._begun()
            self._readers.add(reader)
        return live.newest()

    def leave(self, reader: Reader) -> None:
        """Let a reader go."""
        with self._lock:
            self._readers.discard(reader)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function whenever something has happened."""
        with self._lock:
            self._listeners.append(listener)
            self._begun()

    @property
    def readers(self) -> int:
        """How many follow."""
        return len(self._readers)

    def _begun(self) -> LiveReader:
        if self._live is None:
            self._live = LiveReader(self.project)
        if self._thread is None:
            name = "accordance events"
            self._thread = threading.Thread(
                target=self._wait,
                name=name,
                daemon=True,
            )
            self._thread.start()
        return self._live

    def _wait(self) -> None:
        """Read and hand on what happens; a database that is away is waited for."""
        pause = 0.2
        assert self._live is not None  # noqa: S101 - set before the thread begins
        while not self.stopping.is_set():
            try:
                entries = self._live.wait(_LOOK_SECONDS)
                pause = 0.2
            except AccordanceError as error:
                log.warning("events cannot be read: %s", error)
                self.stopping.wait(pause)
                pause = min(pause * 2, _MOST_PAUSE_SECONDS)
                continue
            if entries:
                self._hand_on([FeedEvent(entry) for entry in entries])
                self.stopping.wait(_ROUND_SECONDS)
        self._end_readers()

    def _hand_on(self, events: list[FeedEvent]) -> None:
        with self._lock:
            readers = list(self._readers)
            listeners = list(self._listeners)
        of_plan: dict[str | None, list[FeedEvent]] = {None: events}
        for event in events:
            of_plan.setdefault(event.entry.plan_id, []).append(event)
        by_filter: dict[Filter, list[Reader]] = {}
        for reader in readers:
            by_filter.setdefault(reader.sieve.filter, []).append(reader)

        woken: list[Reader] = []
        for wanted, alike in by_filter.items():
            candidates = of_plan.get(wanted.only_plan)
            if candidates and _hand_to(alike, candidates):
                woken += alike
        wake(woken)
        for listener in listeners:
            listener()

    def _end_readers(self) -> None:
        with self._lock:
            readers = list(self._readers)
        for reader in readers:
            reader.end()
        wake(readers)

    def close(self) -> None:
        """Wait for the waiter's end, after the server was asked to stop."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout=_LOOK_SECONDS * 5)


def _hand_to(alike: list[Reader], events: list[FeedEvent]) -> bool:
    """Hand events to readers with the same filter, which is asked once.

    Return whether there is anything for them to see.
    """
    sieve = alike[0].sieve
    try:
        fitting = [event for event in events if sieve.lets_through(event.entry)]
    except AccordanceError as error:  # the filter had to ask the ledger
        log.warning("readers of events were cut off: %s", error)
        for reader in alike:
            reader.cut_off()
        return True
    for reader in alike:
        reader.accept(fitting)
    return bool(fitting)


@dataclass(slots=True)
class Feeds:
    """The feeds of all projects, each begun when a client first follows it."""

    stopping: threading.Event
    _feeds: dict[str, Feed] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, name: str, project: Project) -> Feed:
        """Return the feed of a project."""
        with self._lock:
            if name not in self._feeds:
                self._feeds[name] = Feed(project, self.stopping)
            return self._feeds[name]

    @property
    def readers(self) -> int:
        """How many follow, in all projects."""
        return sum(feed.readers for feed in self._feeds.values())

    def close(self) -> None:
        """Wait for the end of all."""
        ends = time.monotonic() + _LOOK_SECONDS * 5
        for feed in self._feeds.values():
            if time.monotonic() < ends:
                feed.close()

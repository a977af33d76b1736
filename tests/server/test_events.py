"""Events as they happen: resumed without a gap, bounded, one waiter for all."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accordance.client.calls import EventLines
from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Filter, Subject, Term, Word
from accordance.errors import LedgerUnavailable
from accordance.project.server_settings import ServerSettings
from accordance.server.event_feed import Feed, FeedEvent, Reader, wake
from accordance.service.events import EventReader
from accordance.service.live_events import EventSieve
from accordance.service.project import Project
from tests.limits import LIMIT
from tests.messages import PLAN
from tests.server.stage import Served, running, serving


def numbers(response: httpx.Response, count: int) -> list[int]:
    """The numbers of the first events of a stream."""
    lines = EventLines()
    got: list[int] = []
    for line in response.iter_lines():
        content = lines.feed(line)
        if content is not None:
            got.append(content["number"])
        if len(got) == count:
            break
    return got


def stored(project: Project) -> list[int]:
    """The numbers of all events that people are shown."""
    return [event.number for event in EventReader(project).news()]


@pytest.mark.parametrize("start", ["header", "parameter"])
def test_a_stream_goes_on_behind_a_number(
    served: Served, admin: httpx.Client, project: Project, start: str
) -> None:
    """With Last-Event-ID or `after`: what was missed comes first, then what happens."""
    known = stored(project)
    first = known[1]
    headers = {"Last-Event-ID": str(first)} if start == "header" else {}
    params = {} if start == "header" else {"after": first}
    plan = admin.get("/v1/plans").json()["items"][0]["plan_id"]
    with admin.stream(
        "GET", "/v1/events/stream", headers=headers, params=params
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        later = admin.post(f"/v1/plans/{plan}/pause", json={})
        assert later.status_code == 200
        behind = len(known) - 2
        got = numbers(response, behind + 1)
    assert got[:behind] == known[2:]
    assert got[behind:] == stored(project)[len(known) :]


def test_a_stream_has_its_filter(served: Served, admin: httpx.Client) -> None:
    """Live events are sieved as lists are; a filter that cannot be read is a problem."""
    plan = admin.get("/v1/plans").json()["items"][0]["plan_id"]
    params: dict[str, str | int] = {"filter": "kind:plan_resumed", "after": 0}
    with admin.stream("GET", "/v1/events/stream", params=params) as response:
        for act in ("pause", "resume"):
            body: dict[str, str] | None = {} if act == "pause" else None
            admin.post(f"/v1/plans/{plan}/{act}", json=body).raise_for_status()
        got = numbers(response, 1)
    resumed = admin.get("/v1/events", params={"filter": "kind:plan_resumed"}).json()
    assert got == [event["number"] for event in resumed["items"]]
    bad = admin.get("/v1/events/stream", params={"filter": "colour:red"})
    assert bad.json()["code"] == "invalid-filter"
    worse = admin.get("/v1/events/stream", headers={"Last-Event-ID": "x"})
    assert worse.json()["code"] == "invalid-request"


def test_many_readers_share_a_waiter(served: Served, admin: httpx.Client) -> None:
    """Twenty readers, one thread that looks at the ledger."""
    plan = admin.get("/v1/plans").json()["items"][0]["plan_id"]
    key = served.key("viewer")
    got: list[list[int]] = []
    ready = threading.Barrier(21)

    def follow() -> None:
        with (
            served.client(key) as client,
            client.stream("GET", "/v1/events/stream") as response,
        ):
            ready.wait(30)
            got.append(numbers(response, 1))

    threads = [threading.Thread(target=follow) for _ in range(20)]
    for thread in threads:
        thread.start()
    ready.wait(30)
    waiters = [
        each for each in threading.enumerate() if each.name == "accordance events"
    ]
    admin.post(f"/v1/plans/{plan}/pause", json={}).raise_for_status()
    for thread in threads:
        thread.join(30)
    assert len(waiters) == 1
    assert len(got) == 20
    assert all(each == got[0] for each in got)


def entries(project: Project) -> Iterator[FeedEvent]:
    """The events of a project, as the waiter hands them on."""
    found, _ = EventReader(project).next_page()
    for entry in found:
        yield FeedEvent(entry)


def test_a_reader_that_is_too_slow(project: Project) -> None:
    """Its buffer is bounded: it is cut off, and keeps nothing."""

    async def fill() -> tuple[bool, list[FeedEvent], bool]:
        sieve = EventSieve.of(project, "")
        reader = Reader(sieve, 3, asyncio.get_running_loop())
        events = list(entries(project))
        reader.accept(events[:2])
        was_slow = reader.is_too_slow
        reader.accept(events[:2])
        return was_slow, await reader.take(1), reader.is_too_slow

    assert asyncio.run(fill()) == (False, [], True)


def test_a_slow_reader_is_told_and_resumes(project: Project) -> None:
    """A client that does not read gets `end` with the last number, and misses nothing."""
    settings = ServerSettings(event_buffer=1, requests_per_second=1000, burst=1000)
    with serving(project, settings=settings) as served:
        client = served.client(served.key("operator"))
        plan = client.get("/v1/plans").json()["items"][0]["plan_id"]
        with client.stream("GET", "/v1/events/stream") as response:
            feed = served.state.feeds.of("one", project)
            reader = next(iter(feed._readers))
            reader.accept(list(entries(project)))  # more than its buffer holds
            wake([reader])
            lines = EventLines()
            for line in response.iter_lines():
                lines.feed(line)
        assert lines.has_ended
        client.post(f"/v1/plans/{plan}/pause", json={}).raise_for_status()
        params = {"after": stored(project)[0]}
        with client.stream("GET", "/v1/events/stream", params=params) as response:
            assert numbers(response, 2) == stored(project)[1:3]
        client.close()


def test_a_server_that_stops_ends_its_streams(project: Project) -> None:
    """Readers learn why, and the server does not wait for them."""
    with running(project) as (served, server):
        client = served.client(served.key("viewer"))
        with client.stream("GET", "/v1/events/stream") as response:
            served.state.stopping.set()
            text = "".join(response.iter_text())
        assert '"reason": "server-stopping"' in text
        server.should_exit = True
        client.close()


def test_a_client_that_leaves(served: Served, project: Project) -> None:
    """Is forgotten by the feed."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    key = served.key("viewer")
    request = f"GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n"
    feed = served.state.feeds.of("one", project)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(request.encode())
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        assert feed.readers == 1
    gone = threading.Event()
    for _ in range(300):
        if feed.readers == 0:
            break
        gone.wait(0.1)
    assert feed.readers == 0


def test_readers_with_the_same_filter_ask_it_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their number; those with another filter get what fits theirs."""
    asked: list[str] = []
    lets_through = EventSieve.lets_through

    def counted(sieve: EventSieve, entry: ChainEntry) -> bool:
        asked.append(str(sieve.filter))
        return lets_through(sieve, entry)

    monkeypatch.setattr(EventSieve, "lets_through", counted)

    async def hand_on() -> list[list[FeedEvent]]:
        loop = asyncio.get_running_loop()
        filters = ["kind:PLAN_IMPORTED"] * 3 + ["kind:NOTHING"]
        readers = [Reader(EventSieve.of(project, each), 9, loop) for each in filters]
        feed = Feed(project, threading.Event(), set(readers))
        feed._hand_on(list(entries(project)))
        return [await reader.take(0) for reader in readers]

    *alike, other = asyncio.run(hand_on())
    assert [[event.entry.kind for event in got] for got in alike] == [
        ["PLAN_IMPORTED"]
    ] * 3
    assert other == []
    assert len(asked) == 2 * len(list(entries(project)))


def test_events_are_tried_on_readers_of_their_plan(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The filters of readers of other plans are not asked."""
    asked: list[str] = []
    lets_through = EventSieve.lets_through

    def counted(sieve: EventSieve, entry: ChainEntry) -> bool:
        asked.append(str(sieve.filter))
        return lets_through(sieve, entry)

    monkeypatch.setattr(EventSieve, "lets_through", counted)
    of_plan = [event for event in entries(project) if event.entry.plan_id == PLAN]

    async def hand_on() -> list[list[FeedEvent]]:
        loop = asyncio.get_running_loop()
        other = Filter(Subject.EVENTS, (Term(Word.PLAN, "another"),))
        readers = [
            Reader(EventSieve.of(project, f"plan:{PLAN}"), 9, loop),
            Reader(EventSieve(project, other), 9, loop),
        ]
        feed = Feed(project, threading.Event(), set(readers))
        feed._hand_on(list(entries(project)))
        return [await reader.take(0) for reader in readers]

    (mine, theirs) = asyncio.run(hand_on())
    assert [event.number for event in mine] == [event.number for event in of_plan]
    assert theirs == []
    assert not [text for text in asked if "another" in text]


def test_a_reader_that_was_woken_for_what_it_has(project: Project) -> None:
    """Waits on: nothing has come, and it does not wake a second time."""

    async def take_twice() -> bool:
        reader = Reader(EventSieve.of(project, ""), 9, asyncio.get_running_loop())
        reader.accept(list(entries(project)))
        assert len(await reader.take(LIMIT)) == len(list(entries(project)))
        wake([reader])
        again = asyncio.create_task(reader.take(LIMIT))
        for _ in range(9):
            await asyncio.sleep(0)
        is_waiting = not again.done()
        again.cancel()
        return is_waiting

    assert asyncio.run(take_twice())


def test_a_loop_is_woken_once_for_its_readers(project: Project) -> None:
    """However many of them there are."""
    calls = []

    async def wake_many() -> None:
        loop = asyncio.get_running_loop()
        readers = [Reader(EventSieve.of(project, ""), 9, loop) for _ in range(50)]
        call_soon = loop.call_soon_threadsafe

        def counted(*call: Any, **about: Any) -> Any:
            calls.append(call)
            return call_soon(*call, **about)

        loop.call_soon_threadsafe = counted  # type: ignore[method-assign, assignment]
        for reader in readers:
            reader.accept(list(entries(project)))
        wake(readers)

    asyncio.run(wake_many())
    assert len(calls) == 1


def test_a_filter_that_cannot_be_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the ledger is away, its readers are cut off; the others get their events."""
    lets_through = EventSieve.lets_through

    def away(sieve: EventSieve, entry: ChainEntry) -> bool:
        if "agent" in str(sieve.filter):
            raise LedgerUnavailable("the ledger is away")
        return lets_through(sieve, entry)

    monkeypatch.setattr(EventSieve, "lets_through", away)

    async def hand_on() -> tuple[bool, int]:
        loop = asyncio.get_running_loop()
        cut = Reader(EventSieve.of(project, "agent:x"), 9, loop)
        well = Reader(EventSieve.of(project, ""), 9, loop)
        feed = Feed(project, threading.Event(), {cut, well})
        feed._hand_on(list(entries(project)))
        return cut.is_too_slow, len(await well.take(0))

    assert asyncio.run(hand_on()) == (True, len(list(entries(project))))

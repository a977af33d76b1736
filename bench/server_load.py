"""Clients of bench/server.py, in a process of their own: submissions at a rate, and readers of events.

They use plain sockets, so that they take little CPU from the server on the same machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

HOST = "127.0.0.1"
SECONDS_TO_END = 60.0
_EVENT = re.compile(rb"id: (\d+)\nevent: [^\n]*\ndata: [^\n]*?\"at\": ?\"([^\"]+)\"")
_TAIL = 1 << 16


@dataclass
class Load:
    """What is sent, how fast, and with what result."""

    ports: list[int]
    headers: str
    requests: list[tuple[str, str]]
    per_second: float
    connections: int
    statuses: Counter[str] = field(default_factory=Counter)
    took_ms: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def run(self) -> float:
        """Send every request at its time; return the seconds until the last answer."""
        waiting: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        clients = [
            asyncio.create_task(self._client(self.ports[at % len(self.ports)], waiting))
            for at in range(self.connections)
        ]
        began = time.perf_counter()
        for number, request in enumerate(self.requests):
            due = began + number / self.per_second
            pause = due - time.perf_counter()
            if pause > 0:
                await asyncio.sleep(pause)
            waiting.put_nowait(request)
        for _ in clients:
            waiting.put_nowait(None)
        await asyncio.gather(*clients)
        return time.perf_counter() - began

    async def _client(
        self, port: int, waiting: asyncio.Queue[tuple[str, str] | None]
    ) -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        while (request := await waiting.get()) is not None:
            path, body = request
            sent = time.perf_counter()
            writer.write(message("POST", path, self.headers, body.encode()))
            try:
                status, answer = await response(reader)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.statuses[type(error).__name__] += 1
                reader, writer = await asyncio.open_connection(HOST, port)
                continue
            self.took_ms.append((time.perf_counter() - sent) * 1000)
            self.statuses[str(status)] += 1
            if status >= 300 and len(self.problems) < 3:
                self.problems.append(answer.decode())
        writer.close()


def message(method: str, path: str, headers: str, body: bytes = b"") -> bytes:
    """A request as it is written."""
    head = f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{headers}"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode() + body


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert length is not None, head
    return int(head.split()[1]), await reader.readexactly(int(length[1]))


class Stream:
    """A reader of events: the events that it got, and how late."""

    def __init__(self, port: int, path: str, headers: str) -> None:
        self.port = port
        self.request = message("GET", path, headers)
        self.numbers: list[int] = []
        self.late_ms: list[float] = []
        self.text = b""
        self.is_ready = asyncio.Event()
        self.has_all = asyncio.Event()
        self.wanted: int | None = None

    def expect(self, count: int) -> None:
        """Set how many events must come."""
        self.wanted = count
        self._look()

    def _look(self) -> None:
        if self.wanted is not None and len(self.numbers) >= self.wanted:
            self.has_all.set()

    async def follow(self) -> None:
        """Read until the end."""
        reader, writer = await asyncio.open_connection(HOST, self.port)
        writer.write(self.request)
        while chunk := await reader.read(1 << 16):
            arrived = time.time()
            self.text += chunk
            if b"retry: " in self.text:
                self.is_ready.set()
            end = 0
            for event in _EVENT.finditer(self.text):
                self.numbers.append(int(event[1]))
                self.late_ms.append((arrived - moment(event[2])) * 1000)
                end = event.end()
            self.text = self.text[end:][-_TAIL:]
            self._look()
        writer.close()


def moment(at: bytes) -> float:
    """An event's time in seconds since 1970."""
    from datetime import datetime

    return datetime.fromisoformat(at.decode()).timestamp()


async def run(load: dict[str, Any]) -> None:
    """Follow events, send everything, and wait for the events that must come."""
    streams = [
        Stream(load["ports"][at % len(load["ports"])], path, load["headers"])
        for at, path in enumerate(load["streams"])
    ]
    following = [asyncio.create_task(stream.follow()) for stream in streams]
    async with asyncio.timeout(SECONDS_TO_END):
        for stream in streams:
            await stream.is_ready.wait()

    sending = Load(
        load["ports"],
        load["headers"],
        [tuple(request) for request in load["requests"]],
        load["per_second"],
        load["connections"],
    )
    seconds = await sending.run()
    report(
        {
            "seconds": seconds,
            "statuses": sending.statuses,
            "problems": sending.problems,
        }
    )

    wanted = json.loads(await asyncio.to_thread(sys.stdin.readline))
    for stream, count in zip(streams, wanted, strict=True):
        stream.expect(count)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_TO_END):
            for stream in streams:
                await stream.has_all.wait()
    for task in following:
        task.cancel()
    delays = sorted(delay for stream in streams for delay in stream.late_ms)
    report(
        {
            "took_ms": sorted(sending.took_ms),
            "late_ms": delays[:: max(1, len(delays) // 1000)],
            "numbers": [stream.numbers for stream in streams],
        }
    )


def report(message: dict[str, Any]) -> None:
    """Send a message to the process that measures."""
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.stdin.readline())))

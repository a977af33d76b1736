"""A door between each worker and the database; each can be cut or stalled by itself.

Run as a process of its own (`python -m tests.chaos.proxy DOORS`), so that the process that
forks the workers keeps a single thread. It prints the ports of its doors, then obeys a
command a line: `target PORT` (or the path of a Unix socket), `cut DOOR`, `stall DOOR`, `open DOOR`, each answered by `ok`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from tests.chaos.helper_process import HelperProcess, say

_CHUNK: Final = 65536


class _Door:
    """A port, and the connections that came through it."""

    def __init__(self) -> None:
        self.is_cut = False
        self.flows = asyncio.Event()
        self.flows.set()
        self.writers: set[asyncio.StreamWriter] = set()

    def open(self) -> None:
        self.is_cut = False
        self.flows.set()

    def stall(self) -> None:
        """Let nothing through; connections stay, and nobody hears that."""
        self.flows.clear()

    def cut(self) -> None:
        """Drop all connections, and refuse new ones."""
        self.is_cut = True
        for writer in list(self.writers):
            writer.transport.abort()


class _Doors:
    """All doors, before the same server."""

    def __init__(self, count: int) -> None:
        self.doors = [_Door() for _ in range(count)]
        self.target = ""

    async def listen(self) -> list[int]:
        """Open a port for each door; return the ports."""
        ports = []
        for door in self.doors:
            server = await asyncio.start_server(self._handler(door), "127.0.0.1", 0)
            ports.append(server.sockets[0].getsockname()[1])
        return ports

    def _handler(self, door: _Door):  # type: ignore[no-untyped-def] # noqa: ANN202
        async def handle(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            if door.is_cut:
                writer.transport.abort()
                return
            try:
                await door.flows.wait()
                there = await _reach(self.target)
            except OSError:
                writer.transport.abort()
                return
            server_reader, server_writer = there
            door.writers |= {writer, server_writer}
            try:
                await asyncio.gather(
                    _pump(reader, server_writer, door),
                    _pump(server_reader, writer, door),
                )
            finally:
                door.writers -= {writer, server_writer}

        return handle

    def obey(self, command: str) -> None:
        """Carry out a command."""
        verb, _, number = command.partition(" ")
        if verb == "target":
            self.target = number
            return
        door = self.doors[int(number)]
        {"cut": door.cut, "stall": door.stall, "open": door.open}[verb]()


async def _reach(
    target: str,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a port of loopback, or to a Unix socket."""
    if target.startswith("/"):
        return await asyncio.open_unix_connection(target)
    return await asyncio.open_connection("127.0.0.1", int(target))


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, door: _Door
) -> None:
    """Carry bytes in one direction, until either side ends."""
    try:
        while data := await reader.read(_CHUNK):
            await door.flows.wait()
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # a side has gone; the other is closed below
    finally:
        writer.close()


async def _serve(count: int) -> None:
    doors = _Doors(count)
    ports = await doors.listen()
    say(" ".join(map(str, ports)))

    loop = asyncio.get_running_loop()
    while command := await loop.run_in_executor(None, sys.stdin.readline):
        doors.obey(command.strip())
        say("ok")


class Proxy(HelperProcess):
    """The proxy, as the process of the faults sees it."""

    def __init__(self, doors: int) -> None:
        super().__init__("proxy", str(doors))
        self.ports = [int(port) for port in self.first_line.split()]

    def target(self, place: int | str) -> None:
        """Let all doors lead to this port, or to the Unix socket at this path."""
        self.send(f"target {place}")

    def cut(self, door: int) -> None:
        """Drop the connections of a door, and refuse new ones."""
        self.send(f"cut {door}")

    def stall(self, door: int) -> None:
        """Let nothing through a door."""
        self.send(f"stall {door}")

    def open(self, door: int) -> None:
        """Undo what was done to a door."""
        self.send(f"open {door}")


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))

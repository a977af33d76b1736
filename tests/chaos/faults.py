"""Each fault: what it breaks, for how long, and how that ends."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from tests.chaos.crew import TAKEN_FOR_DEAD_SECONDS, VERSIONS, Worker

_CHUNK: Final = b"\0" * 65536
_FILLER: Final = "filler"
_MOMENT: Final = 0.5


class Scene(Protocol):
    """What faults can reach."""

    def worker(self, seat: int) -> Worker:
        """The worker in a seat."""

    def replace(self, seat: int, version: str) -> None:
        """Put a new worker into a seat."""

    def home(self, seat: int) -> Path:
        """The project folder of a seat."""

    def cut(self, seat: int) -> None:
        """Drop a worker's connections to the database."""

    def stall(self, seat: int) -> None:
        """Let nothing pass between a worker and the database."""

    def reconnect(self, seat: int) -> None:
        """Undo a cut or a stall."""

    def crash_database(self) -> None:
        """Stop the database at once."""

    def move_database(self) -> None:
        """Start the database again, in another place."""


class Fault(Protocol):
    """A fault of one worker, or of what all workers share."""

    seconds: float

    def begin(self, scene: Scene, seat: int) -> None:
        """Break it."""

    def end(self, scene: Scene, seat: int) -> None:
        """Mend it."""


class Kill:
    """kill -9; a new worker takes the seat."""

    seconds = 0.0

    def begin(self, scene: Scene, seat: int) -> None:
        scene.worker(seat).kill()

    def end(self, scene: Scene, seat: int) -> None:
        scene.replace(seat, scene.worker(seat).version)


class Freeze:
    """It stands still until the others take it for dead; then it goes on."""

    seconds = TAKEN_FOR_DEAD_SECONDS

    def begin(self, scene: Scene, seat: int) -> None:
        scene.worker(seat).freeze()

    def end(self, scene: Scene, seat: int) -> None:
        scene.worker(seat).thaw()


class Cut:
    """Its connections to the database are dropped, and new ones refused."""

    seconds = TAKEN_FOR_DEAD_SECONDS

    def begin(self, scene: Scene, seat: int) -> None:
        scene.cut(seat)

    def end(self, scene: Scene, seat: int) -> None:
        scene.reconnect(seat)


class Stall:
    """Its connections stay, but nothing passes."""

    seconds = TAKEN_FOR_DEAD_SECONDS

    def begin(self, scene: Scene, seat: int) -> None:
        scene.stall(seat)

    def end(self, scene: Scene, seat: int) -> None:
        scene.reconnect(seat)


class Upgrade:
    """It is asked to end; the worker that takes its seat has another version."""

    seconds = _MOMENT

    def begin(self, scene: Scene, seat: int) -> None:
        scene.worker(seat).drain()

    def end(self, scene: Scene, seat: int) -> None:
        worker = scene.worker(seat)
        worker.wait()
        old, new = VERSIONS
        scene.replace(seat, new if worker.version == old else old)


class FullDisk:
    """Nothing more can be written into its folder."""

    seconds = _MOMENT

    def begin(self, scene: Scene, seat: int) -> None:
        filler = scene.home(seat) / _FILLER
        with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
            while True:
                file.write(_CHUNK)

    def end(self, scene: Scene, seat: int) -> None:
        try:
            (scene.home(seat) / _FILLER).unlink()
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise


class Failover:
    """The database crashes, and comes back on another port behind the same doors."""

    seconds = _MOMENT

    def begin(self, scene: Scene, seat: int) -> None:
        del seat  # all workers
        scene.crash_database()

    def end(self, scene: Scene, seat: int) -> None:
        del seat
        scene.move_database()


OF_ONE_PROCESS: Final[Mapping[str, tuple[Fault, int]]] = {
    "killed": (Kill(), 9),
    "disk full": (FullDisk(), 1),
}
"""On SQLite: each fault with how often it is chosen."""
OF_MANY: Final[Mapping[str, tuple[Fault, int]]] = {
    "killed": (Kill(), 40),
    "frozen": (Freeze(), 14),
    "connections dropped": (Cut(), 14),
    "connections stalled": (Stall(), 14),
    "another version": (Upgrade(), 8),
    "disk full": (FullDisk(), 6),
    "database failed over": (Failover(), 4),
}
"""On PostgreSQL, by many workers."""
SHARED: Final = ("database failed over",)
"""What happens to all workers at once; never twice at the same time."""

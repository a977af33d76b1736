"""The workers that faults happen to: each a process, with a folder, a user and a door of its own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.changes.keeping import store_away
from accordance.errors import BlobError, LedgerError
from accordance.executors.protocol import RunOutcome
from accordance.project.settings import SETTINGS
from accordance.runtime.ports import LOCAL, VERSION, TaskAttempt
from accordance.runtime.workers import worker_name
from accordance.store.ledger import Ledger
from tests.messages import PLAN
from tests.runtime.stage import said, stage

BEAT_SECONDS: Final = 0.3
DEAD_AFTER_SECONDS: Final = 2.0
TAKEN_FOR_DEAD_SECONDS: Final = DEAD_AFTER_SECONDS + 5 * BEAT_SECONDS
VERSIONS: Final = (VERSION, f"{VERSION}-next")
_DISK_BYTES: Final = 192 * 1024 * 1024
"""More than all products of a run: a disk is full while a fault lasts, not for ever."""
_LONGEST_RUN_SECONDS: Final = 2.0
_FIRST_USER: Final = 30_000
_LARGE_SHARE: Final = 0.05
_LARGE: Final = 300_000
"""Characters of a product that is kept in the store of blobs, not in the database."""


@dataclass(frozen=True, slots=True)
class Place:
    """What all workers have in common."""

    folder: Path  # of the whole run: logs, and a folder for each worker
    is_shared: bool  # a ledger of many processes
    has_users: bool  # each worker is a user of its own

    @property
    def log(self) -> Path:
        """The beginnings and ends of all runs, by time."""
        return self.folder / "ran.log"

    @property
    def hurry(self) -> Path:
        """There when there were enough faults: no run takes time any more."""
        return self.folder / "hurry"

    @property
    def died(self) -> Path:
        """The last words of workers that ended by an error."""
        return self.folder / "died"

    def home(self, seat: int) -> Path:
        """The project folder of a worker."""
        return self.folder / f"worker-{seat}"

    def prepare(self, seats: int, settings: str) -> bool:
        """Make the folders; return whether each worker has a disk of its own."""
        self.folder.chmod(0o755)
        (self.folder / SETTINGS).write_text(settings)  # for who looks from outside
        self.log.touch()
        self.log.chmod(0o666)
        self.died.mkdir()
        self.died.chmod(0o777)
        has_disks = True
        for seat in range(seats):
            home = self.home(seat)
            home.mkdir()
            has_disks = has_disks and _mount_small_disk(home)
            (home / SETTINGS).write_text(settings)
            if self.has_users:
                os.chown(home, _FIRST_USER + seat, _FIRST_USER + seat)
        return has_disks

    def clear(self, seats: int) -> None:
        """Take the disks away."""
        for seat in range(seats):
            command = ["umount", "-l", str(self.home(seat))]
            subprocess.run(command, check=False, capture_output=True)


def can_have_users() -> bool:
    """Whether other users may run this Python with everything it imports."""
    if os.geteuid() != 0:
        return False
    command = [sys.executable, "-c", "import _strptime, accordance, sqlalchemy"]
    try:
        probe = subprocess.run(
            command, user=_FIRST_USER, check=False, capture_output=True
        )
    except OSError:
        return False
    return not probe.returncode


def _mount_small_disk(home: Path) -> bool:
    """Give a folder a file system of its own, if this machine allows that."""
    options = f"size={_DISK_BYTES},mode=0755"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(home)]
    try:
        return not subprocess.run(command, check=False, capture_output=True).returncode
    except OSError:
        return False


class Worker:
    """A process that works on the plan."""

    def __init__(
        self, place: Place, address: str, seat: int, seed: int, version: str = VERSION
    ) -> None:
        self.seat = seat
        self.version = version
        self.pid = os.fork()
        if self.pid == 0:
            _live(place, address, seat, seed, version)

    def has_ended(self) -> bool:
        """Whether the process is gone."""
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0] == self.pid:
            self.pid = 0
        return not self.pid

    def kill(self) -> None:
        """End it without a last word."""
        self._signal(signal.SIGKILL)
        self.wait()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def drain(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until the process is gone."""
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0

    def _signal(self, number: signal.Signals) -> None:
        if self.pid:
            os.kill(self.pid, number)


def _live(place: Place, address: str, seat: int, seed: int, version: str) -> None:
    """Be a worker. Never returns."""
    try:
        _take_version(version)
        if place.has_users:
            _become_user(_FIRST_USER + seat)
        asked_to_end = threading.Event()
        while not asked_to_end.is_set():
            try:
                _work(place, address, seat, seed, asked_to_end)
                break
            except LedgerError:
                # It began while the database was away: its supervisor begins it again.
                time.sleep(BEAT_SECONDS)
    except BaseException:  # noqa: BLE001 - the report shows it
        (place.died / str(os.getpid())).write_text(traceback.format_exc())
    finally:
        os._exit(0)


def _take_version(version: str) -> None:
    """Be a worker of another version of the engine."""
    for name, module in list(sys.modules.items()):
        if name.startswith("accordance.runtime.") and hasattr(module, "VERSION"):
            module.VERSION = version  # type: ignore[attr-defined]


def _become_user(user: int) -> None:
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _work(
    place: Place, address: str, seat: int, seed: int, asked_to_end: threading.Event
) -> None:
    """Work until nothing is left to do, or until a signal comes."""
    dice = random.Random(seed)
    log = place.log.open("ab", buffering=0)

    def run(attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        name = f"{os.getpid()} {attempt.task_id} {attempt.kind} {attempt.number}"
        log.write(f"{time.time():.3f} begin {name}\n".encode())
        if not place.hurry.exists():
            stop.wait(dice.uniform(0, _LONGEST_RUN_SECONDS))
        log.write(f"{time.time():.3f} end {name}\n".encode())
        text = f"{attempt.task_id} {dice.random()}"
        if dice.random() < _LARGE_SHARE:
            text += " " * _LARGE
        return _kept(runner.ledger, said(attempt, text))

    runner = stage(address, place.home(seat)).runner(
        run,
        worker_id=worker_name() if place.is_shared else LOCAL,
        beat_seconds=BEAT_SECONDS,
        dead_after=DEAD_AFTER_SECONDS,
        plan_id=PLAN,
    )

    def end(*_: object) -> None:
        asked_to_end.set()
        runner.stop()

    signal.signal(signal.SIGTERM, end)
    runner.until_it_rests()


def _kept(ledger: Ledger, outcome: RunOutcome) -> RunOutcome:
    """Put a large product into the store before it is settled, as every executor does."""
    try:
        ledger.stage(outcome.raw or b"")
    except BlobError as error:
        return store_away(error)
    return outcome

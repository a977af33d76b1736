"""A plan is carried out while faults happen to its workers; in the end everything is there once."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from accordance.domain.lifecycle import State
from accordance.runtime.ports import VERSION
from accordance.work.tasks import retry
from tests.chaos.crew import VERSIONS, Place, Worker, can_have_users
from tests.chaos.database import Database, address_at
from tests.chaos.faults import OF_MANY, OF_ONE_PROCESS, SHARED, Fault
from tests.chaos.proxy import Proxy
from tests.chaos.report import Report, chain_breaks_in, effects_in, runs_in
from tests.runtime.stage import Stage, lanes, stage

_SEATS: Final = 4
_TASKS_FOR_EACH_FAULT: Final = {"sqlite": 12, "postgresql": 8}
_LONGEST_PAUSE_SECONDS: Final = 0.6  # between two faults
_ROUNDS_AT_THE_END: Final = 40


class OnSqlite:
    """One worker on a file; there is nothing between them."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.seats = 1
        self.kinds = OF_ONE_PROCESS

    def address(self, seat: int) -> str:
        del seat
        return str(self.place.home(0) / "ledger.db")


class OnPostgresql:
    """Several workers on a server, each through a door of its own."""

    def __init__(self, end: ExitStack) -> None:
        self.seats = _SEATS
        self.kinds = OF_MANY
        self._database = end.enter_context(Database())
        self._proxy = end.enter_context(Proxy(_SEATS + 1))
        self._proxy.target(self._database.port)

    def address(self, seat: int) -> str:
        """Where the database is for a worker; the last door is for the story itself."""
        return address_at(self._proxy.ports[seat])

    def cut(self, seat: int) -> None:
        self._proxy.cut(seat)

    def stall(self, seat: int) -> None:
        self._proxy.stall(seat)

    def reconnect(self, seat: int) -> None:
        self._proxy.open(seat)

    def crash_database(self) -> None:
        self._database.crash()

    def move_database(self) -> None:
        self._proxy.target(self._database.start())


class Story:
    """The seats, who sits in them, and the faults under way."""

    def __init__(
        self, ground: OnSqlite | OnPostgresql, place: Place, seed: int
    ) -> None:
        self._ground = ground
        self._place = place
        self._dice = random.Random(seed)
        self._seed = seed
        self._workers = [self._new(seat, VERSION) for seat in range(ground.seats)]
        self._under_way: dict[int, tuple[float, Fault]] = {}  # by seat, until when
        self.faults: Counter[str] = Counter()
        self.killed: dict[int, float] = {}
        self.given_again = 0

    def __getattr__(self, name: str) -> object:
        """Let faults reach the database and its doors."""
        return getattr(self._ground, name)

    # -- what faults can reach

    def worker(self, seat: int) -> Worker:
        return self._workers[seat]

    def replace(self, seat: int, version: str) -> None:
        self._workers[seat] = self._new(seat, version)

    def home(self, seat: int) -> Path:
        return self._place.home(seat)

    def _new(self, seat: int, version: str) -> Worker:
        self._seed += 1
        address = self._ground.address(seat)
        return Worker(self._place, address, seat, self._seed, version)

    # -- the story

    def break_things(self, count: int, *, has_disks: bool) -> None:
        """Let so many faults happen, several at a time."""
        kinds = dict(self._ground.kinds)
        if not has_disks:
            kinds.pop("disk full")
        names = list(kinds)
        weights = [weight for _, weight in kinds.values()]
        while self.faults.total() < count and not self._is_finished():
            self._end_faults(time.monotonic())
            (name,) = self._dice.choices(names, weights)
            fault, _ = kinds[name]
            seat = self._seat_for(name)
            if seat is not None:
                self._begin(name, fault, seat)
            time.sleep(self._dice.uniform(0, _LONGEST_PAUSE_SECONDS))
        self._end_faults(float("inf"))

    def _seat_for(self, name: str) -> int | None:
        """Choose a seat without a fault; what is shared has a seat of its own."""
        if name in SHARED:
            shared_seat = self._ground.seats
            return None if shared_seat in self._under_way else shared_seat
        seats = set(range(self._ground.seats)) - set(self._under_way)
        at_work = [seat for seat in sorted(seats) if self._is_at_work(seat)]
        return self._dice.choice(at_work) if at_work else None

    def _is_at_work(self, seat: int) -> bool:
        worker = self._workers[seat]
        if worker.has_ended():
            self.replace(seat, worker.version)
            return False
        return f" begin {worker.pid} " in self._place.log.read_text()

    def _begin(self, name: str, fault: Fault, seat: int) -> None:
        if name == "killed":
            self.killed[self._workers[seat].pid] = time.time()
        self.faults[name] += 1
        fault.begin(self, seat)  # type: ignore[arg-type]
        self._under_way[seat] = (time.monotonic() + fault.seconds, fault)

    def _end_faults(self, now: float) -> None:
        for seat, (until, fault) in list(self._under_way.items()):
            if until <= now:
                fault.end(self, seat)  # type: ignore[arg-type]
                del self._under_way[seat]

    def finish(self) -> None:
        """Let the workers finish; a task that lost too many workers gets another chance."""
        self._place.hurry.touch()
        for _ in range(_ROUNDS_AT_THE_END):
            for worker in self._workers:
                worker.wait()
            if self._is_finished():
                return
            self._give_another_chance()
            for seat in range(self._ground.seats):
                version = VERSIONS[seat % len(VERSIONS)]
                self.replace(seat, version if self._ground.seats > 1 else VERSION)
        for worker in self._workers:
            worker.wait()

    def _give_another_chance(self) -> None:
        on = self.look()
        for name, state in on.states().items():
            if state == State.BLOCKED and on.task(name).is_work:
                retry(on.ledger, name, by="test")
                self.given_again += 1
        on.ledger.close()

    def _is_finished(self) -> bool:
        if not any(worker.has_ended() for worker in self._workers):
            return False
        if self._under_way.get(self._ground.seats):  # the database is away
            return False
        on = self.look()
        is_done = on.task("root").progress.state is State.DONE
        on.ledger.close()
        return is_done

    def look(self) -> Stage:
        """Open the ledger beside the workers."""
        return stage(self._ground.address(self._ground.seats), self._place.folder)


def tell(database: str, count: int, seed: int) -> Report:
    """Carry a plan out while faults happen; return what is left."""
    started = time.monotonic()
    with ExitStack() as end:
        folder = Path(tempfile.mkdtemp(prefix="accordance-chaos-run-"))
        end.callback(shutil.rmtree, folder, ignore_errors=True)
        place = Place(
            folder,
            is_shared=database == "postgresql",
            has_users=can_have_users(),
        )
        ground = OnPostgresql(end) if place.is_shared else OnSqlite(place)
        end.callback(place.clear, ground.seats)
        has_disks = place.prepare(ground.seats)

        tasks = max(40, count * _TASKS_FOR_EACH_FAULT[database])
        first = stage(ground.address(0), place.home(0))
        first.brings(lanes(tasks, wide=24)).ledger.close()
        _give_to_worker(place, ground)

        story = Story(ground, place, seed)
        story.break_things(count, has_disks=has_disks)
        story.finish()
        return _report(story, place, count, time.monotonic() - started)


def _give_to_worker(place: Place, ground: OnSqlite | OnPostgresql) -> None:
    """Let the worker own the ledger that was made for it."""
    if ground.seats == 1:
        home = place.home(0)
        owner = home.stat()
        for file in home.rglob("*"):
            shutil.chown(file, owner.st_uid, owner.st_gid)


def _report(story: Story, place: Place, wanted: int, seconds: float) -> Report:
    on = story.look()
    effects = effects_in(on.ledger)
    runs = runs_in(place.log, story.killed)
    report = Report(
        wanted=wanted,
        faults=dict(story.faults),
        tasks=effects.tasks,
        runs=runs.begun,
        cut_off=runs.cut_off,
        given_again=story.given_again,
        lost=effects.lost,
        doubled=effects.doubled,
        chain_breaks=chain_breaks_in(on.ledger),
        died=tuple(path.read_text() for path in place.died.iterdir()),
        takeovers=runs.takeovers,
        seconds=seconds,
    )
    on.ledger.close()
    return report

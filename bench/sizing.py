"""What 1, 10 and 100 million tasks a day need, and what gives out first: a simulation.

A task is an action and its review: two attempts. An attempt waits for a slot of a
worker, uses its CPU, waits for a model, and ends in a transaction that locks its plan's
row, uses the CPU of the database, and finally locks the counter of events, which all
transactions of a ledger share. The times come from bench/sizing.json, which
bench/sizing_measures.py writes; everything else is assumed, and printed.

    python bench/sizing.py [--attempts 8000] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

MEASURED = Path(__file__).with_name("sizing.json")
DAY = 86_400
SCALES = (1_000_000, 10_000_000, 100_000_000)  # tasks a day


@dataclass(frozen=True)
class Measured:
    """What an attempt costs, as measured."""

    worker_cpu_ms: float
    database_cpu_ms: float
    commits: float  # that write
    all_commits: float
    rows: float
    database_bytes: float
    wal_bytes: float
    counter_ms: float

    @property
    def held_ms(self) -> float:
        """How long an attempt locks its plan's row at most: all its work except the run's."""
        committing = self.commits * self.counter_ms
        return self.worker_cpu_ms + self.database_cpu_ms + committing


@dataclass(frozen=True)
class Assumed:
    """What is assumed, not measured."""

    attempts_of_task: int = 2
    peak: float = 3.0  # the busiest hour, compared with the average of the day
    model_seconds: float = 20.0  # the mean answer of a model, exponentially distributed
    slots: int = 64  # attempts of a worker at once: they wait for models
    connections_of_worker: int = 12  # in use at once
    plans: int = 200  # that run at the same time, in a ledger
    stored_bytes: int = 40_000  # of an attempt, in the object store
    full_worker: float = 0.7  # of its CPU and of its slots
    full_database: float = 0.6  # of its CPU
    full_counter: float = 0.7  # of the time
    database_cores: int = 64  # the largest server that is easily available
    wal_megabytes: float = 200.0  # that a replica and its disk can take per second
    connections: int = 500  # of a server, beyond which a pooler is needed


# -- a small simulation of queues

Then: TypeAlias = Callable[[float], None]


@dataclass
class Clock:
    """Events in the order of their time."""

    _events: list[tuple[float, int, Then]] = field(default_factory=list)
    _count: int = 0

    def at(self, time: float, then: Then) -> None:
        """Do something at a time."""
        self._count += 1
        heapq.heappush(self._events, (time, self._count, then))

    def run(self) -> None:
        """Let everything happen."""
        while self._events:
            time, _, then = heapq.heappop(self._events)
            then(time)


@dataclass
class Station:
    """Servers with a waiting line."""

    clock: Clock
    servers: int
    busy_seconds: float = 0.0
    _busy: int = 0
    _line: deque[Then] = field(default_factory=deque)

    def take(self, now: float, then: Then) -> None:
        """Wait for a server, then continue with it."""
        if self._busy < self.servers:
            self._busy += 1
            then(now)
        else:
            self._line.append(then)

    def give(self, now: float) -> None:
        """Give a server back; the next in line gets it."""
        if self._line:
            self._line.popleft()(now)
        else:
            self._busy -= 1

    def use(self, now: float, seconds: float, then: Then) -> None:
        """Wait for a server, use it for this long, and continue."""

        def begin(began: float) -> None:
            self.busy_seconds += seconds
            self.clock.at(began + seconds, end)

        def end(ended: float) -> None:
            self.give(ended)
            then(ended)

        self.take(now, begin)

    def utilisation(self, seconds: float) -> float:
        """Return how much of the time its servers were busy."""
        return self.busy_seconds / (self.servers * seconds)


@dataclass(frozen=True)
class Sizes:
    """The sizes of a fleet."""

    tasks_a_day: int
    ledgers: int  # independent projects, each with a database of its own
    workers: int  # in all
    database_cores: int  # of each ledger
    attempts_a_second: float  # in the busiest hour, in all


@dataclass(frozen=True)
class Outcome:
    """The result of simulating a ledger."""

    delay_p50_ms: float  # beside the model's own time
    delay_p99_ms: float
    workers: float  # utilisation
    database: float
    counter: float


def size(tasks_a_day: int, measured: Measured, assumed: Assumed) -> Sizes:
    """Return how many of everything are needed, by utilisation alone."""
    attempts = tasks_a_day * assumed.attempts_of_task / DAY * assumed.peak
    busy_counter = attempts * measured.commits * measured.counter_ms / 1000
    busy_cores = attempts * measured.database_cpu_ms / 1000
    ledgers = max(
        math.ceil(busy_counter / assumed.full_counter),
        math.ceil(busy_cores / assumed.full_database / assumed.database_cores),
    )
    cores = math.ceil(busy_cores / ledgers / assumed.full_database)

    seconds_in_slot = assumed.model_seconds + measured.held_ms / 1000
    by_slots = attempts * seconds_in_slot / assumed.slots
    by_cpu = attempts * measured.worker_cpu_ms / 1000
    workers = math.ceil(max(by_slots, by_cpu) / assumed.full_worker)
    return Sizes(tasks_a_day, ledgers, max(2, workers), max(2, cores), attempts)


def simulate(
    sizes: Sizes, measured: Measured, assumed: Assumed, attempts: int, seed: int
) -> Outcome:
    """Let this many attempts arrive at a ledger, in its busiest hour."""
    dice = random.Random(seed)
    clock = Clock()
    workers = max(1, round(sizes.workers / sizes.ledgers))
    slots = Station(clock, workers * assumed.slots)
    worker_cpu = Station(clock, workers)
    database = Station(clock, sizes.database_cores)
    counter = Station(clock, 1)
    rows = [Station(clock, 1) for _ in range(assumed.plans)]
    rate = sizes.attempts_a_second / sizes.ledgers
    delays: list[float] = []

    def arrive(began: float) -> None:
        plan = rows[dice.randrange(assumed.plans)]
        model = dice.expovariate(1 / assumed.model_seconds)
        cpu = dice.expovariate(1000 / measured.worker_cpu_ms)
        held = measured.counter_ms / 1000
        share = measured.database_cpu_ms / 1000 / measured.commits

        def asked(now: float) -> None:
            clock.at(now + model, lambda time: settle(time, round(measured.commits)))

        def settle(now: float, left: int) -> None:
            """Lock the plan's row while the database works; the counter at the end."""
            if not left:
                slots.give(now)
                delays.append((now - began - model) * 1000)
                return
            work = dice.expovariate(1 / share)

            def locked(time: float) -> None:
                database.use(time, work, worked)

            def worked(time: float) -> None:
                counter.use(time, held, committed)

            def committed(time: float) -> None:
                plan.give(time)
                settle(time, left - 1)

            plan.take(now, locked)

        slots.take(began, lambda now: worker_cpu.use(now, cpu, asked))

    time = 0.0
    for _ in range(attempts):
        time += dice.expovariate(rate)
        clock.at(time, arrive)
    clock.run()

    delays.sort()
    return Outcome(
        delay_p50_ms=delays[len(delays) // 2],
        delay_p99_ms=delays[int(len(delays) * 0.99)],
        workers=worker_cpu.utilisation(time),
        database=database.utilisation(time),
        counter=counter.utilisation(time),
    )


# -- what gives out first, if everything is in a single ledger


def ceilings(measured: Measured, assumed: Assumed) -> dict[str, float]:
    """Return how many tasks a day each part of a single ledger can carry."""
    a_day = DAY / assumed.attempts_of_task / assumed.peak
    commits = measured.commits
    waiting = assumed.model_seconds / assumed.slots * assumed.connections_of_worker
    return {
        "the counter of events": 1000 / measured.counter_ms / commits * a_day,
        "CPU of the database": (
            assumed.database_cores
            * assumed.full_database
            * 1000
            / measured.database_cpu_ms
            * a_day
        ),
        "WAL": assumed.wal_megabytes * 1e6 / measured.wal_bytes * a_day,
        "connections without a pooler": assumed.connections / waiting * a_day,
        "a single plan, by its row": 1000 / measured.held_ms * a_day,
    }


def lines(
    measured: Measured, assumed: Assumed, attempts: int, seed: int
) -> Iterator[str]:
    """Yield the tables, as Markdown."""
    yield "| Tasks a day | Attempts/s at peak | Workers | Ledgers | Database, each | WAL, each | Grows, each | Object store | Delay p50 / p99 |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for tasks in SCALES:
        sizes = size(tasks, measured, assumed)
        seen = simulate(sizes, measured, assumed, attempts, seed)
        a_day = tasks * assumed.attempts_of_task
        wal = sizes.attempts_a_second * measured.wal_bytes / sizes.ledgers / 1e6
        grows = a_day * measured.database_bytes / sizes.ledgers / 1e9
        store = a_day * assumed.stored_bytes / 1e12
        yield (
            f"| {tasks:,} | {sizes.attempts_a_second:,.0f} | {sizes.workers:,}"
            f" | {sizes.ledgers} | {sizes.database_cores} cores | {wal:.1f} MB/s"
            f" | {grows:,.0f} GB/day | {store:.2f} TB/day"
            f" | {seen.delay_p50_ms:.0f} / {seen.delay_p99_ms:.0f} ms |"
        )

    yield ""
    yield "| What gives out first, in a single ledger | At tasks a day |"
    yield "|---|---|"
    for name, most in sorted(
        ceilings(measured, assumed).items(), key=lambda pair: pair[1]
    ):
        yield f"| {name} | {float(f'{most:.2g}'):,.0f} |"


def main() -> None:
    """Print the assumptions and the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured = Measured(**json.loads(MEASURED.read_text()))
    assumed = Assumed()
    table = list(lines(measured, assumed, options.attempts, options.seed))
    if options.json:
        print(
            json.dumps(
                {
                    "measured": asdict(measured),
                    "assumed": asdict(assumed),
                    "table": table,
                }
            )
        )
        return
    print(
        "measured, per attempt:",
        ", ".join(f"{k} {v:g}" for k, v in asdict(measured).items()),
    )
    print("assumed:", ", ".join(f"{k} {v:g}" for k, v in asdict(assumed).items()))
    print(*table, sep="\n")


if __name__ == "__main__":
    main()

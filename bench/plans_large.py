"""What bench/plans.py --large measures: a plan of 1,000,000 nodes, and long lines of tasks in a run.

nodes      import of the plan in a process of its own, its time and its peak memory; then a few nodes finished in it, beside
           as many in a plan of 1,000.
ready      a run in a flat plan in which 20,000 tasks are ready at once, beside 1,000: CPU time for each attempt of the first 300.
no route   a run in which 500 tasks come first that no executor can begin, beside 50: CPU time until a person was asked about
           each, and the 300 tasks behind them are done.
"""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

import engine_accordance as loop

NODES: Final = 1_000_000
SMALL_NODES: Final = 1_000
FINISHED: Final = 20  # nodes, in each plan
READY: Final = (1_000, 20_000)
WITHOUT_ROUTE: Final = (50, 500)
ATTEMPTS: Final = 300
RUNS: Final = 4  # at once


class Line(NamedTuple):
    """A run of a flat plan: how long its line of ready tasks is, and what it costs."""

    ready: int
    without_route: int
    attempts: int
    cpu_seconds: float
    asked: int


class _SomeHaveNoRoute(loop.Idle):
    """Begins all tasks but the first of the plan."""

    def __init__(self, without_route: int) -> None:
        super().__init__(RUNS)
        self._without_route = without_route

    def queue_of(self, task: Any, change: bytes | None) -> str:
        from accordance.errors import NoExecutor

        if task.place <= self._without_route:  # the root has the first place
            raise NoExecutor("no route leads to an executor")
        return super().queue_of(task, change)


class _UntilEnough:
    """Stops a run after so many attempts."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0
        self.is_enough = threading.Event()

    def attempt_ended(self, *_: object) -> None:
        self.count += 1
        if self.count >= self.most:
            self.is_enough.set()

    def notice(self, _: str) -> None:
        """Not counted."""


def run_line(folder: str, ready: int, without_route: int) -> Line:
    """Run a flat plan: its first 300 attempts, or, where tasks have no route, all of it."""
    from accordance.domain.records import QuestionRecord
    from accordance.project.home import Home
    from accordance.runtime.runner import Runner
    from accordance.store.opening import open_ledger

    place = str(Path(folder) / f"line-{ready}-{without_route}.db")
    loop.bring(place, ready, lanes=ready)
    most = 2 * ready if without_route else ATTEMPTS
    ended = _UntilEnough(most)
    router = _SomeHaveNoRoute(without_route)
    runner = Runner(place, Home(Path(folder)), router, loop.PLAN, listener=ended)

    cpu = time.process_time()
    if without_route:
        runner.until_it_rests()
    else:
        working = threading.Thread(target=runner.until_stopped)
        working.start()
        ended.is_enough.wait()
        runner.stop()
        working.join()
    cpu = time.process_time() - cpu

    ledger = open_ledger(place)
    with ledger.read() as tx:
        asked = tx.count(QuestionRecord, answered_at=None)
    ledger.close()
    return Line(ready, without_route, ended.count, cpu, asked)


def finish_some(places: dict[int, str], folder: str) -> dict[int, float]:
    """CPU seconds of a node that is finished, by the size of its plan; medians."""
    import gc

    import plans

    workers = {
        size: plans.Worker(place, "layered", size, f"{folder}/{size}")
        for size, place in places.items()
    }
    for worker in workers.values():
        worker.finish_one()  # the first one compiles what all others use
    gc.collect()
    gc.freeze()
    taken: dict[int, list[float]] = {size: [] for size in places}
    for _ in range(FINISHED):
        for size, worker in workers.items():
            taken[size].append(worker.finish_one()[1])
    for worker in workers.values():
        worker.ledger.close()
    return {size: statistics.median(times) for size, times in taken.items()}


def lines(folder: str) -> list[dict[str, Any]]:
    """The runs, the short line of each kind first."""
    found = [run_line(folder, ready, 0) for ready in READY]
    found += [run_line(folder, ATTEMPTS // 2 + lost, lost) for lost in WITHOUT_ROUTE]
    return [line._asdict() for line in found]

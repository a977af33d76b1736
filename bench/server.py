"""The server under load: 500 submissions per second, 200 readers of events, compared with a bare FastAPI route.

Submissions are sent to `accordance serve` over loopback at a fixed rate; each is stored, checked, judged and moves its task.
Meanwhile each reader follows a plan. The bare route writes one row with the same body, in the same run, with as many
processes, and without readers. "held" is the number of answers per second; p95 is from sending to the answer.
Everything shares the cores of this machine, so only ratios are meaningful. Gates: no error, every submission is in the
ledger once, every reader gets every event of its plan once and in order, memory at most 400 MB per process.

    python bench/server.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine_accordance
import server_bare
from engine import postgresql
from server_load import SECONDS_TO_END

from accordance import check_value
from accordance.domain.records import Rules
from accordance.service.events import EventReader
from accordance.service.keys import KeyRequest, Role, make_key
from accordance.service.project import Project, open_project
from accordance.work.importing import import_plan

HERE = Path(__file__).parent
PER_SECOND = 500
READERS = 200
PLANS = 20
CONNECTIONS = 64
MOST_MEMORY = 400.0
SETTINGS = "[server]\nrequests_per_second = 100000\nburst = 100000\n"


@dataclass
class Processes:
    """Servers, each a process that prints its address."""

    ports: list[int] = field(default_factory=list)
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, command: list[str]) -> None:
        """Start another server."""
        process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE)
        self.running.append(process)
        assert process.stdout
        for line in process.stdout:  # lines about doors that are off may come first
            address = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if address is not None:
                self.ports.append(int(address[1]))
                return
        raise SystemExit("a server did not start")

    def megabytes(self) -> float:
        """The highest peak memory of a process."""
        peaks = []
        for process in self.running:
            status = Path(f"/proc/{process.pid}/status")
            if status.exists():
                lines = dict(
                    line.split(":", 1) for line in status.read_text().splitlines()
                )
                peaks.append(int(lines["VmHWM"].split()[0]) / 1000)
        return max(peaks, default=0.0)

    def cpu_seconds(self) -> float:
        """The CPU time that all of them have used."""
        ticks = os.sysconf("SC_CLK_TCK")
        used = 0.0
        for process in self.running:
            stat = Path(f"/proc/{process.pid}/stat")
            if stat.exists():
                fields = stat.read_text().rpartition(")")[2].split()
                used += (int(fields[11]) + int(fields[12])) / ticks
        return used

    def stop(self) -> None:
        """End them."""
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(30)


@contextlib.contextmanager
def processes(command: list[str], count: int) -> Iterator[Processes]:
    """This many servers, for the duration of the block."""
    started = Processes()
    try:
        for _ in range(count):
            started.start(command)
        yield started
    finally:
        started.stop()


class Clients:
    """The process of the clients."""

    def __init__(self, load: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "server_load.py")],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.send(load)

    def send(self, message: Any) -> None:
        """Write a line to it."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read a line from it."""
        assert self._process.stdout
        message: dict[str, Any] = json.loads(self._process.stdout.readline())
        return message

    def end(self) -> None:
        """Wait for its end."""
        self._process.wait(SECONDS_TO_END)


# -- measuring


def bring_plans(project: Project, tasks: int) -> list[tuple[str, str]]:
    """Import plans whose tasks can all begin; return the task and the plan of each."""
    each = -(-tasks // PLANS)
    wanted = []
    for number in range(PLANS):
        plan_id = f"plan-{number:02}"
        names = [f"{plan_id}-task-{at:06}" for at in range(each)]
        text = json.dumps(engine_accordance.plan(each, each))
        text = text.replace('"bench"', json.dumps(plan_id))
        text = text.replace("task-0", f"{plan_id}-task-0")
        text = text.replace(engine_accordance.ROOT, f"{plan_id}-root")
        accepted = check_value(json.loads(text), "PLAN_GEN")
        import_plan(project.ledger, accepted.value, Rules(), waived_by="bench")
        wanted += [(name, plan_id) for name in names]
    by_turns = [wanted[at::each] for at in range(each)]
    return [task for turn in by_turns for task in turn][:tasks]


def ours(
    home: Path, place: str, count: int, tasks: int, readers: int
) -> dict[str, Any]:
    """Submissions to `accordance serve`."""
    home.mkdir(parents=True)
    (home / "accordance.toml").write_text(SETTINGS, "utf-8")
    with open_project(home, place, create=True) as project:
        sent = bring_plans(project, tasks)
        request = KeyRequest(name="bench", role=Role.ADMIN)
        key = make_key(project, request, by="bench").key
        start = EventReader(project)
        for _ in start.news():
            pass

        entry = "from accordance.cli.main import main; main()"
        command = [sys.executable, "-c", entry, "serve", "--port", "0", "--no-token"]
        command += ["--home", str(home), "--ledger", place]
        plans = [f"plan-{at % PLANS:02}" for at in range(readers)]
        load = {
            "headers": f"Authorization: Bearer {key}\r\n",
            "streams": [f"/v1/events/stream?filter=plan:{plan}" for plan in plans],
            "requests": [
                (
                    f"/v1/tasks/{task}/submit?any_holder=true",
                    json.dumps(engine_accordance.action(task)),
                )
                for task, _ in sent
            ],
        }
        with processes(command, count) as servers:

            def wanted() -> list[int]:
                happened: dict[str, int] = dict.fromkeys(plans, 0)
                reader = EventReader(project, after=start.after)
                for event in reader.news():
                    happened[event.plan_id or ""] += 1
                return [happened[plan] for plan in plans]

            measured = measure(servers, load, wanted)
        states: dict[str, int] = {}
        with project.ledger.read() as tx:
            for number in range(PLANS):
                for state, many in tx.count_states(f"plan-{number:02}").items():
                    states[state] = states.get(state, 0) + many
        return {**measured, "judged": states.get("READY_TO_CHECK", 0)}


def bare(place: str, count: int, tasks: int) -> dict[str, Any]:
    """Rows written by the bare route."""
    server_bare.make_table(place)
    command = [sys.executable, str(HERE / "server_bare.py"), place]
    names = [f"task-{at:06}" for at in range(tasks)]
    load = {
        "headers": "",
        "streams": [],
        "requests": [
            (f"/rows/{name}", json.dumps(engine_accordance.action(name)))
            for name in names
        ],
    }
    with processes(command, count) as servers:
        return measure(servers, load, list)


def measure(
    servers: Processes, load: dict[str, Any], wanted: Callable[[], list[int]]
) -> dict[str, Any]:
    """Let the clients send their load to some servers, and sum up the results."""
    cpu_before = servers.cpu_seconds()
    where = {"ports": servers.ports, "per_second": PER_SECOND}
    clients = Clients({**load, **where, "connections": CONNECTIONS})
    sent = clients.receive()
    expected = wanted()
    clients.send(expected)
    got = clients.receive()
    clients.end()

    took = got["took_ms"]
    answered = len(took)
    good = sent["statuses"].get("200", 0)
    return {
        "processes": len(servers.ports),
        "offered": len(load["requests"]),
        "held": answered / sent["seconds"],
        "p50_ms": quantile(took, 0.5),
        "p95_ms": quantile(took, 0.95),
        "errors": len(load["requests"]) - good,
        "problems": sent["problems"],
        "memory_mb": servers.megabytes(),
        "cpu_ms": (servers.cpu_seconds() - cpu_before) * 1000 / max(1, answered),
        "readers": len(expected),
        "events": sum(map(len, got["numbers"])),
        "wrong_readers": wrong_readers(got["numbers"], expected),
        "late_p95_ms": quantile(got["late_ms"], 0.95),
    }


def wrong_readers(numbers: list[list[int]], expected: list[int]) -> int:
    """How many readers miss an event, got it twice, or out of order."""
    return sum(
        len(got) != count or got != sorted(set(got))
        for got, count in zip(numbers, expected, strict=True)
    )


def quantile(ordered: list[float], share: float) -> float:
    """The value below which this share of the values lies."""
    return ordered[int(len(ordered) * share)] if ordered else 0.0


# -- printing


def show(name: str, row: dict[str, Any]) -> str:
    """One line."""
    line = (
        f"{name:<38} held {row['held']:6.1f}/s of {PER_SECOND}  p50 {row['p50_ms']:5.0f}"
        f" p95 {row['p95_ms']:5.0f} ms  CPU {row['cpu_ms']:5.1f} ms  errors {row['errors']}"
        f"  memory {row['memory_mb']:4.0f} MB"
    )
    if row["readers"]:
        line += (
            f"  {row['readers']} readers, {row['events']:,} events,"
            f" late p95 {row['late_p95_ms']:.0f} ms"
        )
    return line


def gates(name: str, row: dict[str, Any]) -> list[str]:
    """The gates that do not hold."""
    broken = []
    if row["errors"]:
        broken.append(f"{name}: {row['errors']} errors {row['problems']}")
    if row["judged"] != row["offered"]:
        broken.append(f"{name}: {row['judged']} of {row['offered']} are in the ledger")
    if row["wrong_readers"]:
        broken.append(f"{name}: {row['wrong_readers']} readers miss or repeat events")
    if row["memory_mb"] > MOST_MEMORY:
        broken.append(f"{name}: {row['memory_mb']:.0f} MB of memory")
    return broken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks, readers = (500, 20) if options.quick else (5_000, READERS)
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)  # as root the database runs as another user
        count = iter(range(1000))
        with postgresql(folder) as fresh:
            ways: list[tuple[str, Callable[[], str], int]] = [
                ("SQLite", lambda: str(folder / f"{next(count)}.db"), 1)
            ]
            if fresh is None:
                print("PostgreSQL: not installed")
            else:
                ways += [("PostgreSQL", fresh, 1), ("PostgreSQL", fresh, 2)]
            for database, place, number in ways:
                name = f"{database}, {number} process{'es' if number > 1 else ''}"
                home = folder / f"home{next(count)}"
                served = ours(home, place(), number, tasks, readers)
                beside = bare(place(), number, tasks)
                ratio = served["cpu_ms"] / beside["cpu_ms"]
                rows.append({"name": name, "ours": served, "bare": beside})
                broken += gates(name, served)
                if not options.json:
                    print(show(name, served))
                    print(show(f"{name}, the bare route", beside))
                    held = served["held"] / beside["held"]
                    print(f"  held {held:.2f} of bare, CPU {ratio:.1f}x", flush=True)
    if options.json:
        print(json.dumps({"rows": rows, "broken": broken}))
    else:
        print("\n".join(broken) or "no errors, nothing lost, nothing twice: HOLDS")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()

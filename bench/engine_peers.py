"""The peers of bench/engine.py, if they are installed: the same four steps and as many rows for each task.

They do less: none commits its rows together with its own record of a step, and none, as configured here, takes over the
work of a dead process by itself.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine_bare import CHANGE, ROW, ROWS, STATE, STATES
from sqlalchemy import Engine, insert

from accordance.store.opening import make_engine

PARTS = 2  # a task is done, then reviewed


def measure(
    parameters: dict[str, Any], fresh: Callable[[], str] | None
) -> dict[str, str]:
    """A line for each peer."""
    results = {}
    for name, module, peer in PEERS:
        if not _is_there(module):
            results[name] = "not installed"
        elif peer is procrastinate and fresh is None:
            results[name] = "not measured: it needs PostgreSQL"
        else:
            place = (
                fresh()
                if peer is procrastinate and fresh
                else str(Path(parameters["folder"]) / f"{peer.__name__}.db")
            )
            code = f"import engine_peers, json; engine_peers.main({peer.__name__!r}, json.loads({json.dumps({**parameters, 'place': place})!r}))"
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=Path(__file__).parent,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            results[name] = (
                done.stdout.strip() or f"failed: {done.stderr.strip().splitlines()[-1]}"
            )
    return results


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def main(peer: str, parameters: dict[str, Any]) -> None:
    """Measure a peer, in a process of its own."""
    engine = make_engine(parameters["place"], connections=30)
    with engine.begin() as connection:
        ROWS.metadata.create_all(connection)
        for at in range(parameters["tasks"]):
            connection.execute(insert(STATES), {"task": str(at), **STATE})
    began, cpu = time.perf_counter(), time.process_time()
    waited = globals()[peer](parameters, engine)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    tasks, waited = parameters["tasks"], sorted(wait * 1000 for wait in waited)
    p50, p95 = statistics.median(waited), waited[int(len(waited) * 0.95)]
    print(
        f"{tasks / seconds:6.1f} tasks/s  begun to done p50 {p50:4.0f} p95 {p95:4.0f} ms  CPU {cpu * 1000 / tasks:5.1f} ms/task"
    )


def write(engine: Engine, parameters: dict[str, Any], task: int) -> None:
    """Half of a task's rows, in a transaction."""
    with engine.begin() as connection:
        for _ in range(parameters["inserts"] // PARTS):
            connection.execute(insert(ROWS), {"task": str(task), **ROW})
        for _ in range(parameters["updates"] // PARTS):
            connection.execute(CHANGE, {"key": str(task), **STATE})


def langgraph(parameters: dict[str, Any], engine: Engine) -> list[float]:
    """A graph of four nodes for each task, each checkpointed before the next begins."""
    import sqlite3
    from typing import TypedDict

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        task: int
        raw: str

    def execute(_: State) -> State:
        return {"raw": parameters["message"]}

    def settle(state: State) -> State:
        write(engine, parameters, state["task"])
        return {}

    names = [
        f"{step}_{part}" for part in range(PARTS) for step in ("execute", "settle")
    ]
    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, execute if name.startswith("execute") else settle)
    for source, target in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(source, target)
    connection = sqlite3.connect(
        f"{parameters['place']}.checkpoints", check_same_thread=False
    )
    connection.execute("PRAGMA synchronous=NORMAL")
    ready = graph.compile(checkpointer=SqliteSaver(connection))

    def carry_out(task: int) -> float:
        began = time.perf_counter()
        ready.invoke(
            {"task": task},
            {"configurable": {"thread_id": str(task)}},
            durability="sync",
        )
        return time.perf_counter() - began

    with ThreadPoolExecutor(parameters["runs"]) as pool:
        return list(pool.map(carry_out, range(parameters["tasks"])))


def procrastinate(parameters: dict[str, Any], engine: Engine) -> list[float]:
    """Two jobs for each task, the second deferred by the first."""
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=parameters["place"]))
    began: dict[int, float] = {}
    waited: list[float] = []

    @app.task(name="part")
    async def part(task: int, at: int) -> None:
        began.setdefault(task, time.perf_counter())
        await asyncio.to_thread(write, engine, parameters, task)
        if at + 1 < PARTS:
            await part.configure(priority=1).defer_async(task=task, at=at + 1)
        else:
            waited.append(time.perf_counter() - began[task])

    async def work() -> None:
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            for task in range(parameters["tasks"]):
                await part.defer_async(task=task, at=0)
            while len(waited) < parameters["tasks"]:
                await app.run_worker_async(
                    concurrency=parameters["runs"],
                    wait=False,
                    install_signal_handlers=False,
                )

    asyncio.run(work())
    return waited


def celery(parameters: dict[str, Any], engine: Engine) -> list[float]:
    """Two messages for each task, the second sent by the first; its broker is a folder, its worker has threads."""
    from celery import Celery
    from celery.contrib.testing.worker import start_worker

    folder = Path(parameters["folder"]) / "celery"
    folder.mkdir()
    app = Celery("peer", broker="filesystem://")
    app.conf.update(
        broker_transport_options={
            "data_folder_in": str(folder),
            "data_folder_out": str(folder),
            "control_folder": str(folder / "control"),
            "polling_interval": 0.02,
        },
        task_acks_late=True,  # like the others: a dead worker's tasks are not lost
        worker_prefetch_multiplier=1,
    )
    began: dict[int, float] = {}
    waited: list[float] = []

    @app.task(name="part")
    def part(task: int, at: int) -> None:
        began.setdefault(task, time.perf_counter())
        write(engine, parameters, task)
        if at + 1 < PARTS:
            part.delay(task, at + 1)
        else:
            waited.append(time.perf_counter() - began[task])

    for task in range(parameters["tasks"]):
        part.delay(task, 0)
    with start_worker(
        app, pool="threads", concurrency=parameters["runs"], perform_ping_check=False
    ):
        while len(waited) < parameters["tasks"]:
            time.sleep(0.02)
    return waited


PEERS: tuple[tuple[str, str, Callable[[dict[str, Any], Engine], list[float]]], ...] = (
    ("LangGraph, SQLite saver", "langgraph.checkpoint.sqlite", langgraph),
    ("Procrastinate, PostgreSQL", "procrastinate", procrastinate),
    ("Celery, a folder as its broker", "celery", celery),
)

"""Where the CPU of a no-op task goes: the queue, the database, the chain, judging, and the rest of accordance.

The same loop as in bench/engine.py, on SQLite and in a single process, with a timer around each part. A timer that starts
within another pauses it, so the parts add up to the whole.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accordance.runtime.attempt_queue import AttemptQueue
from accordance.runtime.workflow import WorkflowEngine
from accordance.store.driver import Driver
from accordance.store.sql import SqlTransaction
from accordance.work import intake, reviewing

PARTS = {
    "queue": "the queue of attempts, including its statements",
    "database": "statements of the ledger, begin and commit",
    "chain": "events, seals and rows, before they are written",
    "judging": "reading, checking and ruling on messages",
}
REST = "the rest: taking up, moving, products, threads"


class Timers:
    """CPU time by part, each thread with a stack of its own."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.held = 0.0  # while a plan's row is locked
        self._here = threading.local()
        self._lock = threading.Lock()

    def around(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed as a part."""

        @functools.wraps(function)
        def timed(*words: Any, **more: Any) -> Any:
            stack = self._here.__dict__.setdefault("stack", [])
            self._charge(stack)
            is_in_queue = bool(stack) and stack[-1] == "queue"
            stack.append("queue" if is_in_queue else part)
            try:
                return function(*words, **more)
            finally:
                self._charge(stack)
                stack.pop()

        return timed

    def holding(self, settle: Callable[..., Any]) -> Callable[..., Any]:
        """The function that settles, timed from its lock to its commit."""

        @functools.wraps(settle)
        def held(*words: Any, **more: Any) -> Any:
            began = time.thread_time()
            try:
                return settle(*words, **more)
            finally:
                with self._lock:
                    self.held += time.thread_time() - began

        return held

    def _charge(self, stack: list[str]) -> None:
        now = time.thread_time()
        if stack:
            with self._lock:
                self.seconds[stack[-1]] += now - self._here.since
        self._here.since = now


def watch(timers: Timers) -> None:
    """Put the timers in place."""
    from sqlalchemy import Connection
    from sqlalchemy.engine.base import RootTransaction

    WorkflowEngine.settle_once = timers.holding(WorkflowEngine.settle_once)  # type: ignore[method-assign]
    for owner, names, part in (
        (AttemptQueue, ("_rows", "_change"), "queue"),
        (Connection, ("execute", "exec_driver_sql"), "database"),
        (Driver, ("all", "first", "write", "execute"), "database"),
        (Driver, ("change", "change_many"), "database"),
        (RootTransaction, ("__init__", "_do_commit"), "database"),
        (SqlTransaction, ("seal", "finish", "record"), "chain"),
        (intake, ("judge_arrived", "contract_under"), "judging"),
        (reviewing, ("judge_arrived",), "judging"),
    ):
        for name in names:
            setattr(owner, name, timers.around(part, getattr(owner, name)))


def main(parameters: dict[str, Any]) -> None:
    """Carry a plan out, and print milliseconds for each task by part."""
    import engine_accordance as it

    from accordance.project.home import Home
    from accordance.runtime.runner import Runner

    tasks = parameters["tasks"]
    it.bring(parameters["place"], tasks, parameters["runs"])
    timers = Timers()
    watch(timers)
    ended = it.Ended()
    home = Home(Path(parameters["home"]))
    runner = Runner(
        parameters["place"],
        home,
        it.Idle(parameters["runs"]),
        it.PLAN,
        "local",
        listener=ended,
    )
    began = time.process_time()
    working = threading.Thread(target=runner.until_stopped)
    working.start()
    while ended.count < tasks * 2:
        time.sleep(0.02)
    whole = time.process_time() - began
    runner.stop()
    working.join()
    parts = {part: timers.seconds[part] * 1000 / tasks for part in PARTS}
    held = timers.held * 1000 / tasks
    print(
        json.dumps({**parts, "whole": whole * 1000 / tasks, "held": held}), flush=True
    )


def lines(profile: dict[str, float]) -> list[str]:
    """The profile as lines."""
    whole = profile["whole"]
    rest = whole - sum(profile[part] for part in PARTS)
    rows = [*((text, profile[part]) for part, text in PARTS.items()), (REST, rest)]
    shown = [
        f"  {text:<48}{value:6.2f} ms/task {value / whole:5.0%}" for text, value in rows
    ]
    share = profile["held"] / whole
    held = (
        f"  of all that, while the plan's row is locked: {share:.0%};"
        f" so any number of workers on a plan do at most {1 / share:.2f}x of a single worker"
    )
    return [*shown, held]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""Attempts of a plan that end while the plan is locked are settled together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from accordance.errors import Conflict
from accordance.executors.protocol import RunOutcome
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.ports import Settled, TaskAttempt
from accordance.runtime.settling import EndedRun, Turns
from accordance.store.driver import Driver
from tests.limits import LIMIT, until
from tests.messages import PLAN, edge, node, plan
from tests.runtime.stage import Stage, good

NAMES = ("a", "b", "c")
THREE = plan(
    [node("root", "GOAL"), *map(node, NAMES)], [edge("root", name) for name in NAMES]
)


def ended(name: str) -> EndedRun:
    """A run whose attempt is not settled yet."""
    return EndedRun(name, lambda _: Settled({}), lambda _: [])


# -- turns


def test_turns() -> None:
    """The first settles, with what it gathers; what still waits has its turn next."""
    turns = Turns()
    turns.wait_for(PLAN, ended("first"))
    runs = map(ended, NAMES)
    threads = [
        threading.Thread(target=turns.wait_for, args=(PLAN, run)) for run in runs
    ]
    for thread in threads:
        thread.start()

    gathered: list[EndedRun] = []

    def has_gathered_two() -> bool:
        gathered.extend(turns.gather(PLAN, most=2 - len(gathered)))
        return len(gathered) == 2

    until(has_gathered_two)
    for run in gathered:
        run.has_turn.set()  # it was settled by the first
    turns.pass_on(PLAN)
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()

    turns.pass_on(PLAN)
    turns.wait_for(PLAN, ended("later"))  # nobody is before it


def test_plans_do_not_wait_for_each_other() -> None:
    """Each has turns of its own."""
    turns = Turns()
    turns.wait_for("one", ended("a"))
    turns.wait_for("another", ended("b"))  # returns at once


def test_what_was_never_settled_is_an_error() -> None:
    """It does not pass for settled."""
    with pytest.raises(RuntimeError, match="a was not settled"):
        ended("a").outcome()


# -- in a run


@contextmanager
def locked_until_all_have_ended(on: Stage) -> Iterator[None]:
    """Lock the plan, as another worker does, until the outcome of every run is kept."""
    with on.ledger.write() as tx:
        tx.lock(PLAN)
        yield
        with on.ledger.engine.connect() as connection:
            kept = "SELECT count(*) FROM attempt_queue WHERE kept IS NOT NULL"
            until(lambda: connection.exec_driver_sql(kept).scalar() == len(NAMES))


def carried_out(on: Stage) -> None:
    """Carry the plan out; the first three runs end while it is locked."""
    on.brings(THREE)
    may_end = threading.Event()
    begun: list[str] = []

    def run(attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        begun.append(attempt.task_id)
        assert may_end.wait(LIMIT)
        return good(attempt, stop)

    working = threading.Thread(target=on.runner(run, plan_id=PLAN).until_it_rests)
    working.start()
    until(lambda: len(begun) == len(NAMES))
    with locked_until_all_have_ended(on):
        may_end.set()
    working.join(LIMIT)


def times_of_actions(on: Stage) -> set[str]:
    """When actions were taken in. Whatever a transaction writes has the same time."""
    with on.ledger.read() as tx:
        entries = list(tx.entries(PLAN))
    return {
        entry.at
        for entry in entries
        if entry.kind == "MESSAGE" and entry.payload["kind"] == "ACTION"
    }


def test_what_waits_is_settled_together(on_postgresql: Stage) -> None:
    """Three attempts, one transaction; each is informed of, and has its file."""
    on = on_postgresql
    carried_out(on)
    assert on.states() == {"root": "DONE", "a": "DONE", "b": "DONE", "c": "DONE"}
    assert len(times_of_actions(on)) == 1

    informed = {attempt.task_id for attempt, _ in on.heard if attempt.kind == "action"}
    assert informed == set(NAMES)
    for name in NAMES:
        assert len(list(on.home.artifacts(name).iterdir())) == 1
    assert on.holds()


def test_round_trips(on_postgresql: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a plan is locked, the others wait: three attempts are settled in few statements."""
    by_transaction: dict[Driver, list[str]] = {}
    rows = Driver._rows

    def counted(driver: Driver, sql: str, *more: Any) -> Any:
        words = " ".join(sql.split()[:3])
        by_transaction.setdefault(driver, []).append(words)
        return rows(driver, sql, *more)

    monkeypatch.setattr(Driver, "_rows", counted)
    carried_out(on_postgresql)
    settling = next(
        each for each in by_transaction.values() if "SELECT 'own' AS" in each
    )
    assert settling == [
        "SELECT plans.plan_id, plans.title,",  # locks it
        "SELECT 'own' AS",  # reads ahead
        "INSERT INTO blobs",
        "WITH act_0 AS",  # writes everything else
    ]


def test_what_is_wrong_with_one_is_nothing_to_the_others(
    on_postgresql: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then each is settled by itself; the broken attempt is made again."""
    on = on_postgresql
    settle = AttemptPath.settle

    def broken_once(
        path: AttemptPath, unit: Any, attempt: TaskAttempt, *more: Any
    ) -> Settled:
        if (attempt.task_id, attempt.kind, attempt.number) == ("b", "action", 1):
            raise ValueError("b is broken")
        return settle(path, unit, attempt, *more)

    monkeypatch.setattr(AttemptPath, "settle", broken_once)
    carried_out(on)
    assert on.states() == {"root": "DONE", "a": "DONE", "b": "DONE", "c": "DONE"}
    attempts = {
        name: on.task(name).progress.standing.counters.attempts for name in NAMES
    }
    assert attempts == {"a": 1, "b": 2, "c": 1}
    assert on.holds()


def test_nothing_is_done_outside_for_what_is_undone(on: Stage) -> None:
    """What waits for a commit that never comes does not happen."""
    done: list[str] = []

    def fail() -> None:
        with on.ledger.write() as tx:
            tx.afterwards(lambda: done.append("undone"))
            raise Conflict("it is undone")

    with pytest.raises(Conflict):
        fail()
    with on.ledger.write() as tx:
        tx.afterwards(lambda: done.append("committed"))
        assert done == []
    assert done == ["committed"]

"""The queue of attempts: who may begin what, and whose word still counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import Connection, text

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.records import Lease
from accordance.executors.protocol import RunOutcome
from accordance.runtime.attempt_queue import (
    BROKEN,
    MOST_RECOVERIES,
    QUEUED,
    RUNNING,
    AttemptQueue,
    ClaimedAttempt,
    TakenOver,
    WantedAttempt,
)
from accordance.runtime.ports import TaskAttempt
from accordance.store.sql import within
from accordance.work.taking import NoTaskReason, Taken, take_up
from tests.limits import LIMIT, until
from tests.messages import PLAN
from tests.runtime.stage import Stage, lanes, said

NOW = "2026-01-01T00:00:00Z"
KEPT: JsonObject = {"raw": None, "seen": {"text": "é"}, "judged": None}


@dataclass(frozen=True)
class Queue:
    """The queue of a ledger, each act in a transaction of its own."""

    on: Stage
    statements: AttemptQueue

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A transaction."""
        with self.on.ledger.engine.begin() as connection:
            yield connection

    def enqueue(self, task: str, worker: str | None = None) -> ClaimedAttempt:
        """Queue the first attempt at a task."""
        lease = Lease(holder="w-1", until="2026-01-01T00:00:00Z", product=None)
        taken = Taken(self.on.task(task), "action", lease)
        with self.connected() as connection:
            wanted = [WantedAttempt("q", taken, worker)]
            with within(connection, NOW) as tx:
                [claimed] = self.statements.enqueue(tx, wanted)
            return claimed

    def claim(
        self, worker: str, most: int = 10, per_minute: int | None = None
    ) -> list[ClaimedAttempt]:
        """Begin what is queued."""
        with self.connected() as connection:
            return self.statements.claim(connection, "q", worker, most, per_minute)

    def settle(self, claimed: ClaimedAttempt) -> None:
        """End an attempt."""
        with self.connected() as connection:
            self.settle_on(connection, claimed)

    def settle_on(self, connection: Connection, claimed: ClaimedAttempt) -> None:
        """End an attempt in a transaction of the caller's."""
        with within(connection, NOW) as tx:
            self.statements.settle(tx, [claimed])

    def lose(self, worker: str) -> None:
        """A worker is gone, and its name begins again."""
        with self.connected() as connection:
            self.statements.requeue_own(connection, worker)

    def rows(self) -> dict[str, tuple[str, str | None]]:
        """The state of each attempt, and why it is broken."""
        with self.connected() as connection:
            rows = self.statements.of_plan(connection, PLAN)
        return {row.workflow: (row.state, row.error) for row in rows.values()}


@pytest.fixture(params=["on", "on_postgresql"])
def queue(request: pytest.FixtureRequest) -> Queue:
    """The queue of a ledger with four tasks, on each database."""
    on: Stage = request.getfixturevalue(request.param)
    on.brings(lanes(4))
    return Queue(on, AttemptQueue(on.ledger.engine.dialect.name))


def test_an_attempt_is_begun_by_one_worker(queue: Queue) -> None:
    """In the order in which they were queued, as many as a worker asks for."""
    for task in ("n0000", "n0001", "n0002"):
        queue.enqueue(task)
    first = queue.claim("w-1", most=2)
    second = queue.claim("w-2")
    assert sorted(claimed.attempt.task_id for claimed in first) == ["n0000", "n0001"]
    assert [claimed.attempt.task_id for claimed in second] == ["n0002"]
    assert queue.claim("w-3") == []


def test_what_is_begun_as_it_is_queued_waits_for_nobody(queue: Queue) -> None:
    """The worker that has taken the task up has it."""
    mine = queue.enqueue("n0000", "w-1")
    assert queue.claim("w-2") == []
    assert queue.rows() == {"n0000:action:0": (RUNNING, None)}
    queue.settle(mine)
    assert queue.rows() == {}


def test_whoever_was_taken_for_dead_comes_too_late(queue: Queue) -> None:
    """Its claim is not the newest: it can neither keep, nor settle, nor break anything."""
    slow = queue.enqueue("n0000", "slow")
    queue.lose("slow")
    (next_one,) = queue.claim("next")
    statements = queue.statements
    with queue.connected() as connection:
        with pytest.raises(TakenOver):
            statements.keep(connection, slow, KEPT)
        with pytest.raises(TakenOver):
            queue.settle_on(connection, slow)
        with pytest.raises(TakenOver):
            statements.mark_broken(connection, slow, "late")
    queue.settle(next_one)
    with pytest.raises(TakenOver):
        queue.settle(next_one)


def test_what_was_kept_comes_with_the_next_claim(queue: Queue) -> None:
    """So that a run is not paid for again."""
    first = queue.enqueue("n0000", "lost")
    with queue.connected() as connection:
        queue.statements.keep(connection, first, KEPT)
    queue.lose("lost")
    assert queue.claim("next") == [replace(first, claim=first.claim + 1, kept=KEPT)]


def test_an_attempt_that_loses_every_worker_is_broken(queue: Queue) -> None:
    """It is tried so many times, and says why it is not tried again."""
    queue.enqueue("n0000", "w-1")
    for _ in range(MOST_RECOVERIES):
        queue.lose("w-1")
        assert queue.rows() == {"n0000:action:0": (QUEUED, None)}
        assert len(queue.claim("w-1")) == 1
    queue.lose("w-1")
    error = "every worker that tried it crashed"
    assert queue.rows() == {"n0000:action:0": (BROKEN, error)}
    assert queue.claim("w-1") == []


def test_a_task_that_is_taken_up_again_begins_anew(queue: Queue) -> None:
    """Nothing of the first time counts, and nobody who had it then."""
    first = queue.enqueue("n0000", "w-1")
    with queue.connected() as connection:
        queue.statements.keep(connection, first, KEPT)
    second = queue.enqueue("n0000", "w-2")
    with pytest.raises(TakenOver):
        queue.settle(first)
    with queue.connected() as connection:
        assert queue.statements.kept(connection, second.workflow) is None
    queue.settle(second)


def test_a_claim_never_comes_again(queue: Queue) -> None:
    """A worker that slept through the end of its attempt cannot end the next of its name."""
    first = queue.enqueue("n0000", "slow")
    queue.settle(first)
    second = queue.enqueue("n0000", "next")
    assert second.workflow == first.workflow
    with pytest.raises(TakenOver):
        queue.settle(first)
    queue.settle(second)


def test_a_rate_counts_what_all_workers_begin(queue: Queue) -> None:
    """By the database's clock: after a minute there is room for more."""
    for task in ("n0000", "n0001", "n0002"):
        queue.enqueue(task)
    assert len(queue.claim("w-1", per_minute=2)) == 2
    assert queue.claim("w-2", per_minute=2) == []
    with queue.connected() as connection:
        connection.execute(text("UPDATE attempt_starts SET begun_at = begun_at - 61"))
    assert len(queue.claim("w-2", per_minute=2)) == 1
    with queue.connected() as connection:  # what is older than a minute is forgotten
        count = connection.execute(text("SELECT count(*) FROM attempt_starts"))
        assert count.scalar() == 1


def test_an_attempt_that_still_runs_is_begun_again_by_its_own_worker(on: Stage) -> None:
    """The worker was taken for dead: its run goes on under the new claim, and then it rests."""
    on.brings(lanes(1))

    def lose_and_get_back(attempt: TaskAttempt, _: threading.Event) -> RunOutcome:
        if attempt.kind == "action":
            with on.ledger.engine.begin() as connection:
                connection.execute(text("UPDATE attempt_queue SET state = 'QUEUED'"))
            until(lambda: states_in_queue(on) == [RUNNING])
        return said(attempt)

    runner = on.runner(lose_and_get_back)
    too_long = threading.Timer(LIMIT, runner.stop)
    too_long.start()
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    too_long.cancel()


def states_in_queue(on: Stage) -> list[str]:
    """The states of all attempts in the queue."""
    with on.ledger.engine.connect().execution_options(reading=True) as connection:
        return list(
            connection.execute(text("SELECT state FROM attempt_queue")).scalars()
        )


@pytest.mark.parametrize("database", ["on", "on_postgresql"])
def test_work_that_an_earlier_release_has_begun(
    database: str, request: pytest.FixtureRequest
) -> None:
    """Its queue lay in tables of DBOS: the task is handed back, and done without a failure."""
    on: Stage = request.getfixturevalue(database)
    on.brings(lanes(1))
    with on.ledger.write() as tx:
        take_up(tx, tx.task("n0000"), "local", 24 * 3600)
    with on.ledger.engine.begin() as connection:
        make_old_table(connection, "n0000:action:1")

    runner = on.runner(worker_id="local" if database == "on" else "w-1")
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    counters = on.task("n0000").progress.standing.counters
    assert (counters.attempts, counters.failures) == (2, 0)
    assert on.holds()


def make_old_table(connection: Connection, workflow: str) -> None:
    """What such a release has left behind, as far as it is read."""
    name = "workflow_status"
    if connection.dialect.name == "postgresql":
        connection.execute(text("CREATE SCHEMA dbos"))
        name = f"dbos.{name}"
    connection.execute(
        text(f"CREATE TABLE {name} (workflow_uuid TEXT PRIMARY KEY, status TEXT)")
    )
    connection.execute(
        text(f"INSERT INTO {name} VALUES (:workflow, 'PENDING')"),
        {"workflow": workflow},
    )

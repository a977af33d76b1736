"""Workers that know of each other: what each can do, who drains, what all of them pause."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from accordance.domain.capabilities import Capabilities
from accordance.domain.faults import Fault
from accordance.errors import Conflict, NoExecutor, NotFound, NotServedHere
from accordance.executors.protocol import RunOutcome
from accordance.runtime import attempt_queue, workers
from accordance.runtime.fleet import (
    ask_to_drain,
    attempts_of,
    fleet_lines,
    fleet_worker,
    fleet_workers,
)
from accordance.runtime.pauses import pauses_left, share_pause
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.runner import Runner, WorkerTerms
from accordance.runtime.slots import Bound
from accordance.store import clock
from accordance.store.opening import make_engine
from accordance.work.taking import NoTaskReason
from tests.limits import until
from tests.runtime.stage import Run, Stage, good, lanes, said

QUICKLY: dict[str, Any] = {"beat_seconds": 0.05}


@pytest.fixture
def engine(on_postgresql: Stage) -> Iterator[Engine]:
    """A connection to the ledger beside the workers."""
    beside = make_engine(on_postgresql.place, connections=3)
    yield beside
    beside.dispose()


@contextmanager
def working(on: Stage, name: str, run: Run = good, **more: Any) -> Iterator[Runner]:
    """A worker in a thread of its own."""
    runner = on.runner(run, worker_id=name, **QUICKLY, **more)
    thread = threading.Thread(target=runner.until_stopped)
    thread.start()
    try:
        yield runner
    finally:
        runner.stop()
        thread.join(60)
        assert not thread.is_alive()


class Held:
    """An executor whose runs go on until they are let go, or told to stop."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """Wait for whichever comes first."""
        self.begun.release()
        while not (self.go_on.is_set() or stop.wait(0.01)):
            continue
        if self.go_on.is_set():
            return said(attempt)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")


# -- who is there


def test_a_worker_says_what_it_can_do(on_postgresql: Stage, engine: Engine) -> None:
    """With its heartbeat; what it carries out now stands in the queue."""
    can = Capabilities(release="9", host="h", pid=1, labels=("gpu",), isolation="bwrap")
    held = Held()
    on_postgresql.brings(lanes(1))
    terms = WorkerTerms(can=can)
    with working(on_postgresql, "w-1", held.run, terms=terms):
        assert held.begun.acquire(timeout=60)
        (worker,) = fleet_workers(engine)
        assert (worker.worker_id, worker.can, worker.running) == ("w-1", can, 1)
        assert worker.is_alive
        assert worker.queues == ("q",)
        assert fleet_worker(engine, "w-").worker_id == "w-1"
        (attempt,) = attempts_of(engine, "w-1")
        assert (attempt.task_id, attempt.kind, attempt.number) == ("n0000", "action", 1)
        held.go_on.set()


@pytest.mark.parametrize("name", ["nobody", ""])
def test_an_unknown_worker(on_postgresql: Stage, engine: Engine, name: str) -> None:
    """It is neither shown nor drained."""
    with working(on_postgresql, "w-1"), pytest.raises(NotFound):
        ask_to_drain(engine, name)


def test_a_name_that_several_workers_have(on_postgresql: Stage, engine: Engine) -> None:
    """The beginning of a name must be enough to tell them apart."""
    with (
        working(on_postgresql, "w-1"),
        working(on_postgresql, "w-2"),
    ):
        until(lambda: len(fleet_workers(engine)) == 2)
        with pytest.raises(Conflict, match="write more of it"):
            fleet_worker(engine, "w")


def test_a_dead_worker_is_not_drained(on_postgresql: Stage, engine: Engine) -> None:
    """Its work is taken over already, or will be."""
    with working(on_postgresql, "w-1"):
        pass
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO accordance_workers VALUES"
                " ('w-0', '1', 'epoch', 'epoch', '[]')"
            )
        )
    assert not fleet_worker(engine, "w-0").is_alive
    with pytest.raises(Conflict, match="it is dead"):
        ask_to_drain(engine, "w-0")


def test_a_file_shows_that_a_worker_lives(on_postgresql: Stage, tmp_path: Path) -> None:
    """For probes from outside; it goes when the worker does."""
    file = tmp_path / "alive"
    held = Held()
    on_postgresql.brings(lanes(1))
    terms = WorkerTerms(alive_file=file)
    with working(on_postgresql, "w-1", held.run, terms=terms):
        assert held.begun.acquire(timeout=60)
        assert file.exists()
        held.go_on.set()
    assert not file.exists()


# -- draining


def test_a_drain_lets_attempts_end(on_postgresql: Stage, engine: Engine) -> None:
    """Asked from elsewhere: it takes up nothing more, and what runs is not stopped."""
    held = Held()
    on_postgresql.brings(lanes(2, wide=1))
    terms = WorkerTerms(drain_seconds=60)
    with working(on_postgresql, "w-1", held.run, terms=terms) as runner:
        assert held.begun.acquire(timeout=60)
        assert ask_to_drain(engine, "w-1").running == 1
        until(lambda: runner.is_draining)
        held.go_on.set()

    states = on_postgresql.states()
    assert (states["n0000"], states["n0001"]) == ("READY_TO_CHECK", "PENDING")
    assert runner.is_clean
    assert fleet_workers(engine) == []
    assert on_postgresql.holds()


def test_what_does_not_end_in_time_is_handed_back(on_postgresql: Stage) -> None:
    """Another worker begins it at once; it does not count as a failure."""
    held = Held()
    on_postgresql.brings(lanes(1))
    terms = WorkerTerms(drain_seconds=0.2)
    with working(on_postgresql, "w-1", held.run, terms=terms) as runner:
        assert held.begun.acquire(timeout=60)
        runner.drain()
    assert runner.is_clean
    assert on_postgresql.states()["n0000"] == "READY"

    other = on_postgresql.runner(worker_id="w-2", **QUICKLY)
    assert other.until_it_rests() is NoTaskReason.FINISHED
    assert on_postgresql.task("n0000").progress.standing.counters.failures == 0
    assert on_postgresql.holds()


# -- two versions side by side


def test_each_version_takes_its_own(
    on_postgresql: Stage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the old version has begun waits for it; the new one takes the rest."""
    held = Held()
    on_postgresql.brings(lanes(1))
    with monkeypatch.context() as old:
        old.setattr(attempt_queue, "VERSION", "0")
        old.setattr(workers, "VERSION", "0")
        with working(on_postgresql, "old", held.run, stop_seconds=0.1):
            assert held.begun.acquire(timeout=60)
            with engine.begin() as connection:  # as if it had been killed
                connection.execute(
                    text("UPDATE attempt_queue SET claim = 99, worker = 'gone'")
                )
    with engine.begin() as connection:
        connection.execute(text("UPDATE attempt_queue SET state = 'QUEUED'"))

    runner = on_postgresql.runner(worker_id="new", **QUICKLY)
    assert runner.until_it_rests() is NoTaskReason.BUSY
    (line,) = fleet_lines(engine)
    assert (line.version, line.queued, line.is_served) == ("0", 1, False)
    assert any("engine version 0" in told for told in on_postgresql.told)


# -- pauses


def test_a_pause_is_kept_by_all(on_postgresql: Stage, engine: Engine) -> None:
    """One worker is told to wait; the other learns of it with its next heartbeat."""
    share_pause(engine, "q", 300)
    share_pause(engine, "q", 5)  # a shorter one does not end it
    with engine.connect() as connection:
        assert 290 < pauses_left(connection)["q"] <= 300

    on_postgresql.brings(lanes(1))
    with working(on_postgresql, "w-1") as runner:
        until(lambda: not runner.slots.room("q"))
    assert on_postgresql.states()["n0000"] == "READY"


def test_a_worker_shares_its_pause(on_postgresql: Stage, engine: Engine) -> None:
    """After a 429 nothing of the queue begins, in any process."""

    def run(_: TaskAttempt, __: threading.Event) -> RunOutcome:
        return RunOutcome(fault=Fault.RATE_LIMITED, text="429", retry_after=200)

    on_postgresql.brings(lanes(1))
    with working(on_postgresql, "w-1", run):
        until(lambda: bool(_pauses(engine)))
    assert 150 < _pauses(engine)["q"] <= 200


def _pauses(engine: Engine) -> dict[str, float]:
    with engine.connect() as connection:
        return pauses_left(connection)


# -- clocks


def test_the_clock_of_a_machine_does_not_matter(
    on_postgresql: Stage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose clock is an hour fast writes the times of the database."""
    hour_ahead = "2099-01-01T00:00:00.000000Z"
    monkeypatch.setattr(clock, "now", lambda: hour_ahead)
    on_postgresql.brings(lanes(1))
    runner = on_postgresql.runner(worker_id="fast", **QUICKLY)
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    with engine.connect() as connection:
        newest = connection.execute(
            text("SELECT max(at) FROM task_events")
        ).scalar_one()
        database = clock.time_on(connection)
    assert newest <= database < hour_ahead
    assert on_postgresql.holds()


# -- where tasks go


def test_a_task_that_another_worker_can_do_is_left_to_it(
    on_postgresql: Stage,
) -> None:
    """It is neither announced nor asked about while a living worker serves its queue."""

    def not_here(_: object) -> str | None:
        raise NotServedHere("it needs a worker with the label gpu", queue="gpu")

    on_postgresql.brings(lanes(1))
    held = Held()
    other = {"gpu": Bound(runs=1)}
    with working(
        on_postgresql, "gpu-1", held.run, queue_of=lambda _: "gpu", queues=other
    ):
        assert held.begun.acquire(timeout=60)
        with working(on_postgresql, "cpu-1", queue_of=not_here):
            held.go_on.set()
            until(lambda: on_postgresql.states()["n0000"] == "DONE")
    assert on_postgresql.told == []


def test_tasks_that_nobody_can_do_are_one_notice_and_one_question(
    on_postgresql: Stage,
) -> None:
    """With what is lacking, however many there are."""

    def not_here(_: object) -> str | None:
        raise NotServedHere("it needs a worker with the label gpu", queue="q@gpu")

    on_postgresql.brings(lanes(3))
    with working(on_postgresql, "cpu-1", queue_of=not_here, patience_seconds=0.0):
        until(lambda: "READY" not in on_postgresql.states().values())
    assert on_postgresql.told == [
        "3 tasks (n0000, ...): it needs a worker with the label gpu"
    ]
    with on_postgresql.ledger.read() as tx:
        causes = {question.cause for question in tx.open_questions()}
    assert len(causes) == 1
    assert issubclass(NotServedHere, NoExecutor)

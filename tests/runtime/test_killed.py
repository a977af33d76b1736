"""kill -9 at any point: every task ends with one accepted product, nothing is doubled, nothing is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from accordance.errors import LedgerUnavailable
from accordance.executors.protocol import RunOutcome
from accordance.runtime.offers import QueuedAttempt
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.slots import Bound
from accordance.work.run_log import LEFT_ALONE
from accordance.work.taking import NoTaskReason
from tests.acceptance.cli import run_module
from tests.messages import edge, node, plan
from tests.runtime.stage import Stage, lanes, said

pytestmark = pytest.mark.unmeasured  # a process that is killed writes no figures

HERE = "tests.runtime"
TASKS = 60
"""As many as keep the workers busy while they are killed."""
ONE = plan([node("root", "GOAL"), node("a")], [edge("root", "a")])


@pytest.mark.parametrize(
    ("database", "kills", "workers"),
    [("sqlite", 5, 1), ("postgresql", 4, 3), ("restart", 2, 3)],
    ids=[
        "the only process, on SQLite",
        "one of three, on PostgreSQL",
        "while PostgreSQL is restarted",
    ],
)
def test_workers_that_are_killed_again_and_again(
    database: str,
    kills: int,
    workers: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """A few of them; `make chaos` kills many."""
    places = {"sqlite": str(tmp_path / "ledger.db"), "restart": "restart"}
    place = places.get(database) or request.getfixturevalue("postgresql_url")
    found: dict[str, Any] = json.loads(
        run_module(f"{HERE}.killed_workers", place, tmp_path, kills, workers, 11, TASKS)
    )
    assert (found["killed"], found["tasks"]) == (kills, TASKS)
    assert found["again"] >= found["cut_off"]
    assert found["restarts"] == (database == "restart")


def runs(folder: Path) -> list[str]:
    """What executors were asked to do."""
    return (folder / "ran.log").read_text().splitlines()


def test_what_was_kept_is_not_paid_for_again(on: Stage, tmp_path: Path) -> None:
    """Killed after the executor has answered and before that was judged: the answer is judged by the next process."""
    on.brings(ONE)
    run_module(f"{HERE}.dying", on.place, tmp_path, "kept", 1)
    assert (runs(tmp_path), on.states()["a"]) == (["a action 1"], "IN_PROGRESS")
    run_module(f"{HERE}.dying", on.place, tmp_path, "never", 1)
    assert runs(tmp_path) == ["a action 1", "a review 1"]
    assert on.accepted() == {"a": ["ACTION", "REVIEW"]}
    assert on.holds()


def test_what_was_cut_off_is_run_again_in_the_same_attempt(
    on: Stage, tmp_path: Path
) -> None:
    """Killed while the executor ran: nothing of it was kept."""
    on.brings(ONE)
    run_module(f"{HERE}.dying", on.place, tmp_path, "run", 2)
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert runs(tmp_path) == ["a action 1"] * 2
    assert on.task("a").progress.standing.counters.attempts == 1
    assert on.holds()


def test_a_task_that_kills_every_worker_is_given_up(on: Stage, tmp_path: Path) -> None:
    """After six of them its attempt has failed, and says why; the plan goes on."""
    on.brings(lanes(1))
    run_module(f"{HERE}.dying", on.place, tmp_path, "run", 6)
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert runs(tmp_path) == ["n0000 action 1"] * 6
    assert on.verdicts("n0000") == [("RETRY", "EXECUTOR_ERROR"), ("DONE", "APPROVE")]
    assert on.holds()


def test_attempts_of_another_version_are_left_alone(on: Stage, tmp_path: Path) -> None:
    """Whoever cannot go on with them says so, and does not wait for ever; a worker of that version goes on."""
    on.brings(ONE)
    run_module(f"{HERE}.dying", on.place, tmp_path, "run", 1, "0")
    assert on.runner().until_it_rests() is NoTaskReason.BUSY
    assert [text.split(";")[0] for text in on.told] == [
        "a: was begun by engine version 0, this is version 2"
    ]
    assert on.states()["a"] == "IN_PROGRESS"
    assert on.runner().until_it_rests() is NoTaskReason.BUSY
    with on.ledger.read() as tx:
        left = [
            dict(one.payload) for one in tx.entries_of("a") if one.kind == LEFT_ALONE
        ]
    assert left == [
        {"attempt": 1, "version": "0", "here": "2"}
    ]  # once, however often it is seen
    assert on.holds()
    run_module(f"{HERE}.dying", on.place, tmp_path, "never", 1, "0")
    assert on.states()["a"] == "DONE"
    assert on.holds()


def test_an_attempt_that_was_claimed_and_never_begun(on: Stage) -> None:
    """The connection breaks while a task is taken up: the queue says who has its attempt, and that worker does not know."""
    on.brings(ONE)
    runner = on.runner()
    lost: list[str] = []
    announce = runner.engine.announce

    def lose(queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        if queued and not lost:
            lost.extend(attempt.workflow for attempt in queued)
            raise LedgerUnavailable("the connection broke after the commit")
        announce(queued, freed)

    runner.engine.announce = lose  # type: ignore[method-assign]
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert lost == ["a:action:1"]
    assert on.task("a").progress.standing.counters.attempts == 1
    assert on.holds()


def test_work_in_the_queue_of_an_executor_that_is_gone(on: Stage) -> None:
    """It was renamed after a process had been killed: the task goes to whoever is there now."""
    on.brings(lanes(2, wide=2))

    def stop(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        first.stop()
        return said(one)

    old = {"old": Bound(runs=2, per_minute=1)}  # both are taken up, one may begin
    first = on.runner(stop, queues=old, queue_of=lambda _: "old")
    first.engine._hand_back_queued = lambda: None  # type: ignore[method-assign] # as if it were killed
    assert first.until_it_rests() is None
    assert sorted(on.states().values()) == ["IN_PROGRESS", "PENDING", "READY_TO_CHECK"]
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert on.holds()

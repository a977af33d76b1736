"""The engine carries plans out: whatever its executors do, the run comes to its end and the ledger holds."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import State
from accordance.domain.records import Rules, TaskRecord
from accordance.domain.spending import Spending
from accordance.errors import (
    LedgerError,
    LedgerUnavailable,
    NoExecutor,
    UnknownModel,
)
from accordance.executors.protocol import Observation, RunOutcome
from accordance.project.settings import AtOnce
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.ports import AttemptSteps, TaskAttempt
from accordance.runtime.run_progress import Look
from accordance.runtime.runner import Runner
from accordance.runtime.slots import Bound
from accordance.work.fetching import fetch_product
from accordance.work.intake import submit
from accordance.work.reviewing import review
from accordance.work.taking import NoTaskReason, Taken, take_next
from accordance.work.tasks import cancel, release
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.probing import probe
from tests.ledger.project import product
from tests.limits import LIMIT
from tests.messages import PLAN, edge, node, plan
from tests.reviews import node_review
from tests.runtime.stage import QueueOf, Stage, lanes, said, stage

ONE = plan([node("root", "GOAL"), node("a")], [edge("root", "a")])
HELPLESS = {
    Fault.UNAUTHORISED,
    Fault.KEY_MISSING,
    Fault.TOO_LONG,
    Fault.NOT_INSTALLED,
    Fault.NOT_ISOLATED,
    Fault.ENVIRONMENT,
    Fault.OVER_BUDGET,
    Fault.REFUSED,
    Fault.UNPREPARED,
    Fault.NO_EXECUTOR,
    Fault.FOREIGN_PUSH,
    Fault.REMOTE_AWAY,
    Fault.STORE_AWAY,
}
"""What trying again does not mend."""


def stop_after(runner: Runner, wait: Callable[[float], object]) -> None:
    """Stop a runner as soon as something has happened."""

    def stop() -> None:
        wait(60)
        runner.stop()

    threading.Thread(target=stop).start()


def flat(tasks: int) -> Any:
    """So many tasks, none of which waits for another."""
    return lanes(tasks, wide=tasks)


@pytest.mark.parametrize("database", ["on", "on_postgresql"])
def test_a_plan_is_carried_out(database: str, request: pytest.FixtureRequest) -> None:
    """Every task is done once and reviewed once, and everything can be recomputed."""
    on: Stage = request.getfixturevalue(database)
    runner = on.brings(lanes(9)).runner(
        worker_id="local" if database == "on" else "worker-1"
    )
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert set(on.states().values()) == {"DONE"}
    assert on.accepted() == {f"n{at:04}": ["ACTION", "REVIEW"] for at in range(9)}
    assert (runner.is_clean, runner.slots.busy, on.told) == (True, False, [])
    assert on.holds()


@pytest.mark.parametrize("step", ["has_old_queue", "AttemptQueue.requeue_own"])
def test_a_start_that_failed_can_be_repeated(
    on: Stage, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that is away when a process begins leaves nothing behind that would stop the next start."""
    on.brings(lanes(2))

    def is_away(*_: object, **__: object) -> None:
        raise OperationalError("SELECT 1", {}, OSError("the database is away"))

    with monkeypatch.context() as patch:
        patch.setattr(f"accordance.runtime.workflow.{step}", is_away)
        with pytest.raises(LedgerError):
            on.runner().until_it_rests()
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED


def test_it_can_be_run_again(on: Stage) -> None:
    """A finished plan is finished; a new task in another run finds the engine as it was left."""
    on.brings(ONE)
    assert [on.runner().until_it_rests() for _ in range(2)] == [
        NoTaskReason.FINISHED,
        NoTaskReason.FINISHED,
    ]
    assert len(on.heard) == 2


@pytest.mark.parametrize(
    "fault", [one for one in Fault if one is not Fault.STOPPED], ids=str
)
def test_a_fault_of_each_kind_is_ruled(
    on: Stage, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tried again while that may help, else a person is asked, or it is given up; our report stands in the ledger and verifies."""

    def run(_: TaskAttempt, __: threading.Event) -> RunOutcome:
        return RunOutcome(fault=fault, text="it went wrong")

    monkeypatch.setattr(AttemptPath, "_let_rest", lambda *_: None)
    on.brings(ONE).runner(run).until_it_rests()
    code, passes = FAULTS[fault].code, FAULTS[fault].passes
    tried = 0 if fault in HELPLESS else 2 if passes else 1
    assert on.verdicts("a") == [*[("RETRY", code)] * tried, ("ESCALATE", code)]
    assert on.states()["a"] == (
        "DEAD_LETTER" if fault is Fault.OVER_BUDGET else "BLOCKED"
    )
    assert on.holds()


@pytest.mark.parametrize("fault", [Fault.TIMED_OUT, Fault.KEY_MISSING], ids=str)
def test_a_reviewer_that_fails_is_not_the_tasks_fault(on: Stage, fault: Fault) -> None:
    """The product waits for another review, then for a person."""

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        return (
            said(one)
            if one.kind == "action"
            else RunOutcome(fault=fault, text="it went wrong")
        )

    assert on.brings(ONE).runner(run).until_it_rests() is NoTaskReason.WAITING
    counters = on.task("a").progress.standing.counters
    expected = (0, 1) if fault is Fault.KEY_MISSING else (0, 3)
    assert (counters.failures, counters.review_failures) == expected
    assert on.holds()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownModel("m", ["n"]), "PREFLIGHT_FAILED"),
        (IsolationUnavailable("bwrap", probe()), "ISOLATION_UNAVAILABLE"),
        (RuntimeError("oh"), "EXECUTOR_ERROR"),
    ],
    ids=["settings that changed", "no isolation", "a bug"],
)
def test_an_executor_that_raises_has_failed(
    on: Stage, error: Exception, code: str
) -> None:
    """The attempt has failed and says why; the run goes on."""

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        if one.task_id == "n0000":
            raise error
        return said(one)

    assert on.brings(flat(2)).runner(run).until_it_rests() is NoTaskReason.WAITING
    assert on.verdicts("n0000")[-1] == ("ESCALATE", code)
    assert on.states() == {"root": "PENDING", "n0000": "BLOCKED", "n0001": "DONE"}


def test_what_runs_is_handed_back_when_a_fuse_blows(on: Stage) -> None:
    """Nothing more is paid for; nobody has failed, and when a person lets the plan go on it begins anew."""
    others_run = threading.Barrier(2)

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        if one.number == 1:
            others_run.wait(LIMIT)
        if one.task_id == "n0000" or one.number > 1:
            return replace(said(one), spending=Spending(read=200, calls=1))
        assert stop.wait(LIMIT)
        return RunOutcome(
            fault=Fault.STOPPED,
            text="it was stopped",
            spending=Spending(read=30, calls=1),
        )

    fuses = Fuses(tokens_per_run=150)
    runner = on.brings(flat(2), Rules(fuses=fuses)).runner(run)
    assert runner.until_it_rests() is NoTaskReason.HELD
    assert on.states()["n0001"] == "READY"
    assert on.task("n0001").progress.standing.counters.failures == 0
    with on.ledger.read() as tx:
        assert tx.plan(PLAN).tokens == 230
    assert on.holds()


def test_a_listener_that_raises_changes_nothing(on: Stage) -> None:
    """What is settled is settled."""

    class Deaf(Stage):
        """Raises whenever it hears of an attempt."""

        def attempt_ended(self, *_: object) -> None:
            raise RuntimeError("no ear")

    deaf = Deaf(on.place, on.home, on.ledger, told=on.told)
    runner = on.brings(ONE).runner(listener=deaf)
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert on.told == ["a: no ear"] * 2


def test_a_task_that_is_cancelled_while_it_runs_is_stopped(on: Stage) -> None:
    """Soon, and without waiting for its end; the others go on."""
    stopped: list[str] = []

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        if one.task_id != "n0000":
            return said(one)
        cancel(on.ledger, "n0000", by="test", excuse=True)
        assert stop.wait(LIMIT)
        stopped.append(one.task_id)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")

    assert on.brings(flat(3)).runner(run).until_it_rests() is NoTaskReason.FINISHED
    assert (stopped, on.states()["n0000"]) == (["n0000"], "ABANDONED")
    assert on.holds()


def test_stopping_hands_back_what_runs(on: Stage) -> None:
    """Nothing is counted as a failure, nothing is lost: the next run does it."""
    on.brings(flat(3))
    begun = threading.Barrier(4)

    def run(_: TaskAttempt, stop: threading.Event) -> RunOutcome:
        begun.wait(LIMIT)
        assert stop.wait(LIMIT)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")

    runner = on.runner(run)
    stop_after(runner, begun.wait)
    assert runner.until_it_rests() is None
    assert runner.is_clean
    assert {on.task(f"n000{at}").progress.state.value for at in range(3)} == {"READY"}
    assert on.task("n0000").progress.standing.counters.failures == 0
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert on.holds()


def test_a_run_that_does_not_stop_is_not_waited_for(on: Stage) -> None:
    """It is said that something is left behind; the next run goes on with it, in the same attempt."""
    on.brings(ONE)
    let_go, begun = threading.Event(), threading.Event()

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        begun.set()
        let_go.wait(LIMIT)
        return said(one)

    runner = on.runner(run)
    runner.stop_seconds = 0.1
    stop_after(runner, begun.wait)
    assert (runner.until_it_rests(), runner.is_clean) == (None, False)
    assert on.states()["a"] == "IN_PROGRESS"
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    let_go.set()
    assert on.task("a").progress.standing.counters.attempts == 1
    assert on.holds()


def test_a_fuse_holds_the_plan_and_what_was_begun_still_counts(on: Stage) -> None:
    """Nothing begins any more; messages of attempts that run are judged like any other."""
    together = threading.Barrier(4)

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        if one.kind == "action":
            together.wait(LIMIT)  # all four were begun before the first message came
        return said(one)

    on.brings(flat(8), Rules(fuses=Fuses(calls_per_run=2)))
    assert on.runner(run).until_it_rests() is NoTaskReason.HELD
    assert len(on.accepted()) == 4
    assert "IN_PROGRESS" not in on.states().values()
    assert on.holds()


class Crowd:
    """Counts how many run at once."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self._lock = threading.Lock()

    def run(self, one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        with self._lock:
            for name in (one.queue, "all"):
                self.now[name] = self.now.get(name, 0) + 1
                self.most[name] = max(self.most.get(name, 0), self.now[name])
        stop.wait(0.02)
        with self._lock:
            for name in (one.queue, "all"):
                self.now[name] -= 1
        return said(one)


def by_number(task: TaskRecord) -> str:
    return "even" if int(task.task_id[1:]) % 2 == 0 else "odd"


@pytest.mark.parametrize(
    ("queues", "bounds", "most"),
    [
        (
            {"even": Bound(runs=2), "odd": Bound(runs=1)},
            AtOnce(),
            {"even": 2, "odd": 1, "all": 3},
        ),
        (
            {
                name: Bound(runs=2, executor="e", executor_runs=2)
                for name in ("even", "odd")
            },
            AtOnce(),
            {"even": 2, "odd": 2, "all": 2},
        ),
        (
            {"even": Bound(runs=3), "odd": Bound(runs=3)},
            AtOnce(in_worker=2),
            {"even": 2, "odd": 2, "all": 2},
        ),
        (
            {"even": Bound(runs=3), "odd": Bound(runs=3)},
            AtOnce(in_plan=1),
            {"even": 1, "odd": 1, "all": 1},
        ),
    ],
    ids=["each queue", "an executor over its queues", "the process", "the plan"],
)
def test_no_more_runs_at_once_than_may(
    on: Stage, queues: dict[str, Bound], bounds: AtOnce, most: dict[str, int]
) -> None:
    """Whatever is ready."""
    crowd = Crowd()
    runner = on.brings(flat(10)).runner(
        crowd.run, queue_of=by_number, queues=queues, bounds=bounds
    )
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert all(crowd.most[name] <= count for name, count in most.items()), crowd.most


def test_no_more_begin_in_a_minute_than_may(on: Stage) -> None:
    """What is over the rate waits in its queue."""
    begun: list[str] = []

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        begun.append(one.task_id)
        if len(begun) == 2:
            runner.stop()
        return said(one)

    runner = on.brings(flat(4)).runner(run, queues={"q": Bound(runs=4, per_minute=2)})
    assert runner.until_it_rests() is None
    assert len(begun) == 2


def test_what_somebody_elsewhere_does_is_waited_for(on: Stage) -> None:
    """If that is wanted: a task without an executor of ours is taken up with `task next`; the run goes on when it is done."""
    on.brings(lanes(2, wide=1))

    runner = on.runner(queue_of=elsewhere)
    resting: list[NoTaskReason | None] = []
    waited, look = threading.Event(), runner._look

    def looked() -> Look:
        looked_at = look()
        if looked_at.rest is NoTaskReason.ELSEWHERE:
            waited.set()
        return looked_at

    runner._look = looked  # type: ignore[method-assign]
    running = threading.Thread(
        target=lambda: resting.append(runner.until_it_rests(wait=True))
    )
    running.start()
    assert waited.wait(LIMIT)
    take_next(on.ledger, [], holder="somebody")
    submit(on.ledger, on.home, json.dumps(product("n0000")).encode())
    product_hash = on.task("n0000").product
    review(on.ledger, json.dumps(node_review("n0000")).encode(), product=product_hash)
    running.join(LIMIT)
    assert (resting, set(on.states().values())) == ([NoTaskReason.FINISHED], {"DONE"})


def nobody_for(_: TaskRecord) -> str | None:
    """There is no executor."""
    raise NoExecutor("no executor for this task")


def elsewhere(task: TaskRecord) -> str | None:
    """Every other task is for somebody who asks for it."""
    return None if by_number(task) == "even" else "q"


def test_what_nobody_asks_for_is_not_waited_for(on: Stage) -> None:
    """The rest is done; then the run says what is left, and for whom."""
    on.brings(flat(4))
    assert on.runner(queue_of=elsewhere).until_it_rests() is NoTaskReason.ELSEWHERE
    assert list(on.states().values()) == ["PENDING", "READY", "DONE", "READY", "DONE"]
    assert on.holds()


def test_what_somebody_has_taken_up_is_waited_for(on: Stage) -> None:
    """Until it is handed in, or put down again."""
    on.brings(flat(2))
    taken = take_next(on.ledger, [], holder="somebody")
    assert isinstance(taken, Taken)
    done = threading.Event()

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        if one.task_id == "n0001" and one.kind == "review":
            done.set()
        return said(one)

    resting: list[NoTaskReason | None] = []
    runner = on.runner(run, queue_of=elsewhere)
    running = threading.Thread(target=lambda: resting.append(runner.until_it_rests()))
    running.start()
    assert done.wait(LIMIT)
    assert resting == []
    release(on.ledger, "n0000", by="somebody")
    running.join(LIMIT)
    assert (resting, on.states()["n0000"]) == ([NoTaskReason.ELSEWHERE], "READY")


HANG = 130  # more than one look sees at once


@pytest.mark.parametrize(
    "ahead",
    [
        pytest.param(lambda _: None, id="for somebody elsewhere"),
        pytest.param(lambda _: "full", id="in a queue that is full"),
        pytest.param(nobody_for, id="for nobody"),
    ],
)
def test_what_can_begin_is_found_behind_much_that_cannot(
    on: Stage, ahead: QueueOf
) -> None:
    """However much of it there is, and though all of it comes first."""
    names = [f"x{at:04}" for at in range(HANG)]
    nodes = [node(name, priority=90) for name in names] + [node("ok", priority=1)]
    on.brings(
        plan(
            [node("root", "GOAL"), *nodes],
            [edge("root", one["task_id"]) for one in nodes],
        )
    )
    over = threading.Event()

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        if one.task_id == "ok":
            if one.kind == "review":
                over.set()
            return said(one)
        stop.wait(LIMIT)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")

    queues = {"q": Bound(runs=1), "full": Bound(runs=1)}
    queue_of = lambda task: "q" if task.task_id == "ok" else ahead(task)  # noqa: E731
    runner = on.runner(run, queue_of=queue_of, queues=queues)
    working = threading.Thread(target=runner.until_stopped)
    working.start()
    assert over.wait(LIMIT)
    runner.stop()
    working.join(LIMIT)
    assert on.holds()


def test_settling_looks_at_a_few_however_many_wait(on: Stage) -> None:
    """Behind those that could not begin, too: the work goes on without a look at everything."""
    others = [node(f"x{at:04}", priority=90) for at in range(HANG)]
    mine = [node(f"n{at:04}", priority=1) for at in range(40)]
    nodes = [*others, *mine]
    on.brings(
        plan(
            [node("root", "GOAL"), *nodes],
            [edge("root", one["task_id"]) for one in nodes],
        )
    )
    looked: dict[str, int] = {}

    def queue_of(task: TaskRecord) -> str | None:
        who = threading.current_thread().name
        looked[who] = looked.get(who, 0) + 1
        return "q" if task.task_id.startswith("n") else None

    runner = on.runner(
        queue_of=queue_of, queues={"q": Bound(runs=2), "other": Bound(runs=1)}
    )
    few: list[tuple[int, int]] = []
    take = runner.scheduler.take_up_next

    def counted(*words: Any) -> list[Any]:
        who = threading.current_thread().name
        before = looked.get(who, 0)
        put = take(*words)
        few.append((looked.get(who, 0) - before, len(put)))
        return put

    runner.scheduler.take_up_next = counted  # type: ignore[method-assign,assignment]
    assert runner.until_it_rests() is NoTaskReason.ELSEWHERE
    assert max(seen for seen, _ in few) <= 2 * (2 + 4)
    assert (
        sum(put for _, put in few) > 40
    )  # of 80: most begins when something else ends
    assert on.holds()


def test_a_task_nobody_is_there_for(on: Stage) -> None:
    """Everything else is done first; then a person is asked for it, by the code that says what is missing."""

    def nobody(task: TaskRecord) -> str | None:
        return nobody_for(task) if task.task_id == "n0001" else "q"

    assert (
        on.brings(flat(3)).runner(queue_of=nobody).until_it_rests()
        is NoTaskReason.WAITING
    )
    assert on.states() == {
        "root": "PENDING",
        "n0000": "DONE",
        "n0001": "BLOCKED",
        "n0002": "DONE",
    }
    assert on.verdicts("n0001") == [("ESCALATE", "DEPENDENCY_MISSING")]
    with on.ledger.read() as tx:
        (question,) = tx.open_questions(task_id="n0001")
    assert question.text == "DEPENDENCY_MISSING: no executor for this task"
    assert on.holds()


def test_a_product_nobody_is_there_to_review(on: Stage) -> None:
    """The same."""

    def queue_of(task: TaskRecord) -> str | None:
        return nobody_for(task) if task.progress.state is State.READY_TO_CHECK else "q"

    assert (
        on.brings(ONE).runner(queue_of=queue_of).until_it_rests()
        is NoTaskReason.WAITING
    )
    assert (on.states()["a"], on.verdicts("a")) == (
        "BLOCKED",
        [("ESCALATE", "DEPENDENCY_MISSING")],
    )
    assert on.holds()


def test_nobody_is_there_for_anything(on: Stage) -> None:
    """Then nothing is set up: it is said, and nothing has changed."""
    with pytest.raises(NoExecutor, match="no executor"):
        on.brings(flat(3)).runner(queue_of=nobody_for).until_it_rests()
    assert set(on.states().values()) == {"PENDING", "READY"}


def test_a_worker_goes_on_when_there_is_nothing_to_do(on: Stage) -> None:
    """It waits for whoever brings work; of a task it has nobody for, it says so once."""
    on.brings(flat(2))

    def nobody(task: TaskRecord) -> str | None:
        if task.task_id == "n0001":
            raise NoExecutor("no executor for this task")
        return "q"

    reviewed = threading.Event()

    class Watcher(Stage):
        """Waits for the end of a review."""

        def attempt_ended(self, attempt: TaskAttempt, _: Mapping[str, Any]) -> None:
            if attempt.kind == "review":
                reviewed.set()

    watcher = Watcher(on.place, on.home, on.ledger, told=on.told)
    runner = on.runner(queue_of=nobody, listener=watcher)
    working = threading.Thread(target=runner.until_stopped)
    working.start()
    assert reviewed.wait(LIMIT)
    runner.stop()
    working.join(LIMIT)
    assert on.told == ["n0001: no executor for this task"]


def test_an_outcome_that_cannot_be_settled_is_a_failure(
    on: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here, because of a bug. Nothing waits for ever."""
    on.brings(ONE)

    def breaks(*_: Any) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(AttemptPath, "settle", breaks)

    def paid(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        return replace(said(one), spending=Spending(read=100, written=20, calls=1))

    assert on.runner(paid).until_it_rests() is NoTaskReason.WAITING
    assert on.verdicts("a") == [
        ("RETRY", "EXECUTOR_ERROR"),
        ("ESCALATE", "EXECUTOR_ERROR"),
    ]
    assert on.states()["a"] == "BLOCKED"
    with (
        on.ledger.read() as tx
    ):  # what was paid for is counted, and what was said is there
        assert tx.plan(PLAN).tokens == 240
        assert tx.blob(
            hashlib.sha256(said(TaskAttempt("a", "action", 1)).raw or b"").hexdigest()
        )
    assert on.holds()


def test_a_product_is_stored_though_its_file_cannot_be_written(on: Stage) -> None:
    """The file is a copy: a full disk costs no attempt. The next who needs it fetches it."""
    on.brings(ONE)
    in_the_way = on.home.artifacts("a")
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("no folder can be made here")

    assert on.runner(plan_id=PLAN).until_it_rests() is NoTaskReason.FINISHED
    assert on.task("a").progress.standing.counters.attempts == 1

    in_the_way.unlink()
    with on.ledger.read() as tx:
        fetch_product(tx, on.home, "a")
    (copy,) = in_the_way.iterdir()
    assert hashlib.sha256(copy.read_bytes()).hexdigest() == on.task("a").product
    assert on.holds()


def test_what_cannot_be_settled_for_want_of_room_is_settled_later(
    on: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is given up: the run is kept, and settling is tried again."""
    tries: list[str] = []
    settle = AttemptPath.settle

    def without_room(path: AttemptPath, *given: Any) -> Any:
        tries.append("settle")
        if len(tries) == 1:
            raise LedgerUnavailable("the disk is full")
        return settle(path, *given)

    monkeypatch.setattr(AttemptPath, "settle", without_room)
    on.brings(ONE)
    assert on.runner(plan_id=PLAN).until_it_rests() is NoTaskReason.FINISHED
    assert on.task("a").progress.standing.counters.attempts == 1
    assert on.accepted() == {"a": ["ACTION", "REVIEW"]}


def test_a_ledger_that_is_busy_is_waited_for(
    on: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else writes for a long time: the run says so, waits, and goes on."""
    on.brings(ONE)
    monkeypatch.setenv("ACCORDANCE_PATIENCE", "0.05")
    free = threading.Event()

    class Patient(Stage):
        """Lets the ledger go when it hears that it is busy."""

        def notice(self, text: str) -> None:
            super().notice(text)
            free.set()

    runner = on.runner(listener=Patient(on.place, on.home, on.ledger, told=on.told))

    def hold() -> None:
        with on.ledger.engine.begin() as connection:
            connection.exec_driver_sql("SELECT 1")
            held.set()
            free.wait(LIMIT)

    held = threading.Event()
    go = runner.engine.start

    def start(steps: AttemptSteps) -> None:
        go(steps)
        threading.Thread(target=hold).start()
        held.wait(LIMIT)

    runner.engine.start = start  # type: ignore[method-assign]
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert any("another process holds it" in text for text in on.told), on.told


def test_a_provider_that_asks_for_a_pause_gets_it(on: Stage) -> None:
    """The task is tried again after the time it has named, and whoever watches is told."""
    on.brings(ONE)
    called: list[float] = []

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        called.append(time.monotonic())
        if len(called) == 1:
            return RunOutcome(
                fault=Fault.RATE_LIMITED, text="429 Too Many Requests", retry_after=0.5
            )
        return said(one)

    assert on.runner(run).until_it_rests() is NoTaskReason.FINISHED
    assert called[1] - called[0] >= 0.5
    assert on.told == ["q: 429 Too Many Requests; next call in 0.5 s"]
    assert on.verdicts("a")[0] == ("RETRY", "EXECUTOR_ERROR")
    assert on.holds()


def test_what_was_not_begun_is_handed_back_at_the_end(on: Stage) -> None:
    """It lay in a queue that had no room for it; the next run takes it up anew."""
    on.brings(flat(2))

    def stop(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        runner.stop()
        return said(one)

    narrow = {"q": Bound(runs=2, per_minute=1)}  # both are taken up, one may begin
    runner = on.runner(stop, queues=narrow)
    assert runner.until_it_rests() is None
    assert sorted(on.states().values()) == ["PENDING", "READY", "READY_TO_CHECK"]
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert on.holds()


def test_a_fault_may_hold_any_garbage(on: Stage) -> None:
    """Half a character, as a program's last words may hold, is nothing a database keeps: the run is settled all the same."""
    on.brings(ONE)
    garbage = RunOutcome(
        fault=Fault.CRASHED,
        text="it said: \udcff\0",
        seen=(Observation("log", {"end": "\ud800"}),),
    )
    assert on.runner(lambda *_: garbage).until_it_rests() is NoTaskReason.WAITING
    assert on.heard[0][1]["messages"] == ["EXECUTOR_ERROR: it said: ?\0"]
    assert on.holds()


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    """What means something in an address means nothing in a path."""
    folder = tmp_path / "what? 100%41 #1"
    folder.mkdir()
    on = stage(str(folder / "ledger.db"), folder).brings(ONE)
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    on.ledger.close()
    assert {place.name.partition(".")[0] for place in folder.iterdir()} == {
        "ledger",
        "workspace",
    }
    assert [place.name for place in tmp_path.iterdir()] == [folder.name]


def test_a_reviewer_whose_product_was_given_to_another_changes_nothing(
    on: Stage,
) -> None:
    """Somebody released it and it was taken up again: the first one's failure is not the second one's."""
    on.brings(ONE)
    seen: list[tuple[int, str]] = []

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        if one.kind == "action":
            return said(one)
        seen.append((len(seen), one.lease or ""))
        if len(seen) == 1:
            release(on.ledger, "a", by="test")
            assert stop.wait(LIMIT)
            return RunOutcome(fault=Fault.CRASHED, text="it broke")
        return said(one)

    assert on.runner(run).until_it_rests() is NoTaskReason.FINISHED
    assert len({lease for _, lease in seen}) == len(seen) == 2
    assert on.task("a").progress.standing.counters.review_failures == 0
    assert on.holds()

"""Who works on a ledger: one process on SQLite, any number on PostgreSQL, and nobody's work is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.errors import Conflict, NoExecutor
from accordance.executors.protocol import RunOutcome
from accordance.runtime.ports import LOCAL, VERSION, AttemptSteps, TaskAttempt
from accordance.runtime.slots import Bound
from accordance.runtime.workers import Heart, only_one, worker_name, working_on
from accordance.store.opening import make_engine
from accordance.work.intake import submit
from accordance.work.run_log import PROMPTED
from accordance.work.taking import NoTaskReason, Taken, take_next
from tests.acceptance.cli import accordance, interruptible
from tests.ledger.project import product
from tests.limits import LIMIT, until
from tests.messages import edge, node, plan
from tests.runtime.stage import Stage, lanes, said, stage

ONE = plan([node("root", "GOAL"), node("a")], [edge("root", "a")])
SLOW = (
    '[executors.slow]\nkind = "command"\ncommand = "sleep 600"\nisolation = "rlimit"\n'
)


def workers(on: Stage) -> dict[str, str]:
    """The workers a ledger knows, with their versions."""
    with on.ledger.engine.begin() as connection:
        found = connection.execute(
            text("SELECT executor_id, version FROM accordance_workers")
        )
        return {name: version for name, version in found}  # noqa: C416 - rows are no pairs to dict


def add_worker(
    on: Stage, name: str, version: str, age: str, queues: str | None = None
) -> None:
    """A worker that beat so long ago."""
    with on.ledger.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO accordance_workers (executor_id, version, started_at, beat_at, queues)"
                f" VALUES (:name, :version, now(), now() - interval '{age}', :queues)"
            ),
            {"name": name, "version": version, "queues": queues},
        )


def test_one_process_on_sqlite(tmp_path: Path) -> None:
    """A second one is refused as long as the first is there."""
    ledger = tmp_path / "ledger.db"
    with (
        only_one(ledger),
        pytest.raises(Conflict, match="another process runs on"),
        working_on(ledger),
    ):
        pass
    with working_on(f"sqlite:///{ledger}") as name:
        assert name == LOCAL


def test_names_are_never_the_same() -> None:
    """Not even in one process."""
    with working_on("postgresql://somewhere") as name:
        assert name != worker_name()


def test_a_heart_beats_and_leaves_nothing_behind(on_postgresql: Stage) -> None:
    """As long as its worker works; after that nobody looks for it."""
    on = on_postgresql.brings(lanes(2))
    seen: list[dict[str, str]] = []

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        seen.append(workers(on))
        return said(one)

    assert on.runner(run, worker_id="w-1").until_it_rests() is NoTaskReason.FINISHED
    assert seen == [{"w-1": VERSION}] * 4
    assert workers(on) == {}


def test_workers_of_other_versions_are_told_of(on_postgresql: Stage) -> None:
    """Those that live."""
    on = on_postgresql.brings(ONE)
    add_worker(on, "old", "0", "1 second")
    add_worker(on, "older", "00", "1 hour")
    assert on.runner(worker_id="w-1").until_it_rests() is NoTaskReason.FINISHED
    assert on.told == [
        "workers of engine version 0 are running, too (1); each version resumes its own attempts"
    ]


def test_what_a_dead_worker_had_is_taken_over(on_postgresql: Stage) -> None:
    """It is forgotten, and what it had begun is done by the next."""
    on = on_postgresql.brings(ONE)
    begun, let_go = threading.Event(), threading.Event()

    def hang(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        begun.set()
        let_go.wait(LIMIT)
        return said(one)

    lost = on.runner(hang, worker_id="lost", stop_seconds=0.1, beat_seconds=60)
    working = threading.Thread(target=lost.until_it_rests)
    working.start()
    assert begun.wait(LIMIT)
    lost.stop()
    working.join()
    assert (lost.is_clean, workers(on)) == (False, {"lost": VERSION})
    next_one = on.runner(worker_id="next", beat_seconds=0.05)
    assert next_one.until_it_rests() is NoTaskReason.FINISHED
    let_go.set()
    assert [one.kind for one, _ in on.heard] == ["action", "review"]
    assert workers(on) == {}
    assert on.task("a").progress.standing.counters.attempts == 1
    assert on.holds()


def leave_behind(on: Stage, queue: str) -> None:
    """An attempt that a worker has begun and not ended, in a queue that it alone had."""
    begun, let_go = threading.Event(), threading.Event()

    def hang(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        begun.set()
        let_go.wait(LIMIT)
        return said(one)

    lost = on.runner(
        hang,
        worker_id="lost",
        stop_seconds=0.1,
        queues={queue: Bound(runs=1)},
        queue_of=lambda _: queue,
    )
    working = threading.Thread(target=lost.until_it_rests)
    working.start()
    assert begun.wait(LIMIT)
    lost.stop()
    working.join()
    let_go.set()


def test_an_attempt_in_a_queue_that_nobody_has_is_taken_back(
    on_postgresql: Stage,
) -> None:
    """Its executor went with the last worker that had it: whoever has one now does the task."""
    on = on_postgresql.brings(ONE)
    leave_behind(on, "gone")
    assert (
        on.runner(worker_id="next", beat_seconds=0.05).until_it_rests()
        is NoTaskReason.FINISHED
    )
    assert [(one.kind, one.queue) for one, _ in on.heard] == [
        ("action", "q"),
        ("review", "q"),
    ]
    assert on.task("a").progress.standing.counters.failures == 0
    assert on.holds()


@pytest.mark.parametrize(
    "queues", ['["other", "gone"]', None], ids=["it says so", "it does not say"]
)
def test_an_attempt_in_a_queue_that_somebody_has_is_left_to_them(
    on_postgresql: Stage, queues: str | None
) -> None:
    """As long as they live."""
    on = on_postgresql.brings(ONE)
    leave_behind(on, "gone")
    add_worker(on, "living", "1", "-1 hour", queues)
    runner = on.runner(worker_id="next", beat_seconds=0.05)
    looked = threading.Semaphore(0)
    is_served = runner.crew.is_served

    def asked(queue: str) -> bool:
        looked.release()
        return is_served(queue)

    runner.crew.is_served = asked  # type: ignore[method-assign]
    running = threading.Thread(target=runner.until_it_rests)
    running.start()
    for _ in range(3):
        assert looked.acquire(timeout=LIMIT)
    assert on.states()["a"] == "IN_PROGRESS"
    with on.ledger.engine.begin() as connection:
        connection.execute(
            text("DELETE FROM accordance_workers WHERE executor_id = 'living'")
        )
    running.join(LIMIT)
    assert on.states()["a"] == "DONE"


def test_others_are_given_time_for_what_nobody_here_can_do(
    on_postgresql: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lives may have the executor: nobody is asked before it had time to begin."""
    on = on_postgresql.brings(ONE)
    add_worker(on, "living", "1", "-1 hour")

    def nobody(task: TaskRecord) -> str | None:
        if task.progress.state is State.READY:
            raise NoExecutor("no executor for this task")
        return "q"

    runner = on.runner(worker_id="w-1", queue_of=nobody)
    resting: list[NoTaskReason | None] = []
    running = threading.Thread(target=lambda: resting.append(runner.until_it_rests()))
    monkeypatch.setattr("accordance.runtime.runner._OTHERS_SECONDS", 3600)
    running.start()
    until(lambda: runner._rests_since is not None)
    assert isinstance(take_next(on.ledger, [], holder="living"), Taken)
    submit(on.ledger, on.home, json.dumps(product("a")).encode())
    running.join(LIMIT)
    assert resting == [NoTaskReason.FINISHED]


def test_a_heart_survives_a_database_that_is_away(on_postgresql: Stage) -> None:
    """The next beat tries again."""
    heart = Heart(
        make_engine(on_postgresql.place, connections=2), "w-1", beat_seconds=0.01
    )
    heart.beat()
    heart.start()
    with on_postgresql.ledger.engine.begin() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            )
        )
        connection.execute(text("DELETE FROM accordance_workers"))
    until(lambda: workers(on_postgresql) == {"w-1": VERSION})
    heart.stop()
    assert workers(on_postgresql) == {}


def test_after_an_outage_nobody_is_declared_dead_before_all_had_time_to_beat(
    on_postgresql: Stage,
) -> None:
    """Everybody's last sign of life is old then; whoever reconnects first must not take the work of the living."""
    add_worker(on_postgresql, "living", "1", "20 seconds")
    heart = Heart(
        make_engine(on_postgresql.place, connections=2), "w-1", beat_seconds=5
    )
    heart.beat()
    heart._last_beat -= 60  # it could not beat for a minute
    heart.beat()
    assert not heart._is_steady()
    heart._steady_since -= 15
    heart.beat()
    assert heart._is_steady()
    heart.stop()


def test_a_worker_beats_before_it_takes_anything(
    on_postgresql: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a kill at any point leaves nothing behind that no list names."""
    seen: list[dict[str, str]] = []
    runner = on_postgresql.brings(ONE).runner(worker_id="w-1")
    start = runner.engine.start

    def look(steps: AttemptSteps) -> None:
        seen.append(workers(on_postgresql))
        start(steps)

    monkeypatch.setattr(runner.engine, "start", look)
    assert runner.until_it_rests() is NoTaskReason.FINISHED
    assert seen == [{"w-1": VERSION}]


# -- the command line


def project(folder: Path, *options: str) -> None:
    """A project with one task and an executor that never ends."""
    (folder / "accordance.toml").write_text(SLOW)
    (folder / "plan.json").write_text(json.dumps(ONE))
    done = accordance(
        "plan", "import", "plan.json", "--no-review", *options, cwd=folder
    )
    assert done.code == 0, done.err


def begun(on: Stage, task: str) -> bool:
    """Whether somebody has been asked to do a task."""
    with on.ledger.read() as tx:
        return any(entry.kind == PROMPTED for entry in tx.entries_of(task))


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "accordance.cli.main", *words]
    return subprocess.Popen(
        command,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=interruptible(),
    )


@pytest.mark.parametrize(
    ("number", "words", "code"),
    [
        (signal.SIGINT, ("run",), 130),
        (signal.SIGTERM, ("worker", "--concurrency", "2", "--drain-seconds", "1"), 0),
    ],
    ids=["Ctrl-C and a run", "SIGTERM and a worker"],
)
def test_a_signal_hands_back_what_runs(
    tmp_path: Path,
    number: signal.Signals,
    words: tuple[str, ...],
    code: int,
    request: pytest.FixtureRequest,
) -> None:
    """The program that ran is ended, its task is ready again, nothing counts as a failure."""
    place = (
        request.getfixturevalue("postgresql_url")
        if words[0] == "worker"
        else str(tmp_path / "ledger.db")
    )
    project(tmp_path, "--ledger", place)
    worker = started(tmp_path, *words, "--ledger", place)
    look = stage(place, tmp_path)
    until(lambda: begun(look, "a"))  # only taken up, others could begin it
    os.kill(worker.pid, number)
    _, said_last = worker.communicate(timeout=LIMIT)
    assert (worker.returncode, "stopping: running attempts are ended" in said_last) == (
        code,
        True,
    ), said_last
    assert (look.states()["a"], look.task("a").progress.standing.counters.failures) == (
        "READY",
        0,
    )
    look.ledger.close()


def test_a_worker_is_listed_shown_and_drained(
    tmp_path: Path, postgresql_url: str
) -> None:
    """By anybody who has the ledger; it ends with 0, and its task is ready again."""
    place = ("--ledger", postgresql_url)
    project(tmp_path, *place)
    worker = started(tmp_path, "worker", "--drain-seconds", "1", *place)
    look = stage(postgresql_url, tmp_path)
    until(lambda: begun(look, "a"))

    listed = accordance("worker", "list", "--json", *place, cwd=tmp_path)
    (seen,) = json.loads(listed.out)["workers"]
    assert (seen["state"], seen["running"], seen["version"]) == ("alive", 1, VERSION)
    shown = accordance("worker", "show", seen["worker_id"], *place, cwd=tmp_path)
    assert "  a  action 1  " in shown.out
    told = accordance("worker", "drain", seen["worker_id"], *place, cwd=tmp_path)
    assert told.out == f"{seen['worker_id']} drains: 1 of its attempts may still end\n"

    _, said_last = worker.communicate(timeout=100)
    assert worker.returncode == 0, said_last
    assert look.states()["a"] == "READY"
    look.ledger.close()
    empty = accordance("worker", "list", *place, cwd=tmp_path)
    assert empty.out == "no worker has a heartbeat here\n"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("worker", "drain", "nobody"), 5, "no worker 'nobody'"),
        (("worker", "show", "nobody"), 5, "no worker 'nobody'"),
        (("worker", "drain"), 2, "NAME"),
        (("worker", "--drain-seconds", "0"), 2, "0 is not in the range"),
        (("worker", "--label", "gpu"), 5, "unknown label 'gpu'"),
        (("worker", "--label", ""), 5, "unknown label ''"),
    ],
)
def test_what_workers_refuse(
    tmp_path: Path, postgresql_url: str, words: tuple[str, ...], code: int, says: str
) -> None:
    """In one line, with the way out."""
    project(tmp_path, "--ledger", postgresql_url)
    refused = accordance(*words, "--ledger", postgresql_url, cwd=tmp_path)
    assert (refused.code, says in refused.err) == (code, True), refused.err


@pytest.mark.parametrize("words", [("list",), ("show", "w"), ("drain", "w")])
def test_workers_are_of_a_shared_ledger(tmp_path: Path, words: tuple[str, ...]) -> None:
    """On SQLite there is nobody to list."""
    project(tmp_path)
    refused = accordance("worker", *words, cwd=tmp_path)
    assert (refused.code, "workers need a PostgreSQL ledger" in refused.err) == (
        2,
        True,
    )


def test_a_worker_needs_postgresql(tmp_path: Path) -> None:
    """On SQLite there is one process, and it says which."""
    project(tmp_path)
    refused = accordance("worker", cwd=tmp_path)
    assert refused.code == 2
    assert refused.err == (
        "accordance: workers need a PostgreSQL ledger; on SQLite use `accordance run`\n"
    )


def test_a_stopped_run_is_no_failure(on: Stage) -> None:
    """A review that was stopped is handed back too."""
    on.brings(ONE)

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        if one.kind == "action":
            return said(one)
        runner.stop()
        assert stop.wait(LIMIT)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")

    runner = on.runner(run)
    assert runner.until_it_rests() is None
    assert (on.states()["a"], on.task("a").lease) == ("READY_TO_CHECK", None)
    assert on.runner().until_it_rests() is NoTaskReason.FINISHED
    assert on.holds()

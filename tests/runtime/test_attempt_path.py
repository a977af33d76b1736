"""The path of an attempt, without an engine: what happens in which order, and what still happens when something fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.faults import Fault
from accordance.executors.protocol import RunOutcome
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.offers import Offers, QueuedAttempt, TakenUp
from accordance.runtime.ports import (
    QueueingTransaction,
    Settled,
    TaskAttempt,
    ThreadSignals,
)
from accordance.runtime.settling import EndedRun, Settle, TakeUp, settle_all
from accordance.runtime.slots import Slots
from accordance.store.ledger import Transaction
from accordance.work.taking import take_up
from tests.messages import PLAN, edge, node, plan
from tests.runtime.stage import QUEUE, ScriptedAttempts, Stage, said

ONE = plan([node("root", "GOAL"), node("a")], [edge("root", "a")])
NEXT = QueuedAttempt("next", "q")


@dataclass
class Unit:
    """A transaction that can queue."""

    tx: Transaction

    def enqueue(self, taken_up: Sequence[TakenUp]) -> list[QueuedAttempt]:
        """Not needed here."""
        raise AssertionError(taken_up)


@dataclass
class Parts:
    """Everything an attempt meets on its way, in one object that writes down when it was met."""

    on: Stage
    is_stopping: bool = False
    fails: str = ""  # the part that raises
    slots: Slots = field(default_factory=lambda: Slots(QUEUE))
    signals: ThreadSignals = field(default_factory=ThreadSignals)
    met: list[str] = field(default_factory=list)

    def path(self, produced: RunOutcome) -> AttemptPath:
        """The path through these parts, with an executor that produces this."""

        def run(*_: object) -> RunOutcome:
            self._meet("run")
            return produced

        return AttemptPath(
            home=self.on.home,
            attempts=ScriptedAttempts(run),
            scheduler=self,
            workflows=self,
            slots=self.slots,
            listener=self,
            branches=self,
            signals=self.signals,
        )

    def _meet(self, part: str) -> None:
        self.met.append(part)
        if part == self.fails:
            raise RuntimeError(f"{part} fails")

    # the workflow engine

    @contextmanager
    def transaction(self) -> Iterator[QueueingTransaction]:
        """One of the ledger's."""
        with self.on.ledger.write() as tx:
            yield Unit(tx)

    def execute_once(self, _: str, execute: Callable[[], JsonObject]) -> JsonObject:
        """What is kept has been written down and read again."""
        kept: JsonObject = json.loads(json.dumps(execute()))
        self._meet("kept")
        return kept

    def settle_once(self, workflow: str, settle: Settle, take_up: TakeUp) -> Settled:
        """All of it, or nothing."""
        with self.transaction() as unit:
            ended = EndedRun(workflow, settle, take_up)
            [settled] = settle_all(unit, [ended])
            self._meet(f"end {workflow}")
            self._meet("commit")
        return settled

    def expect(self, queued: Sequence[QueuedAttempt]) -> None:
        """What will begin once this attempt was reported."""
        self._meet(f"expect {[attempt.workflow for attempt in queued]}")

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """What may begin."""
        self._meet(f"announce {[attempt.workflow for attempt in queued]} {freed}")

    # the scheduler

    def take_up_all(self, unit: QueueingTransaction, plan_id: str) -> Offers:
        """Not needed here."""
        raise AssertionError((unit, plan_id))

    def take_up_next(self, _: QueueingTransaction, plan_id: str) -> list[QueuedAttempt]:
        """One more, if the slot of the attempt is free."""
        assert plan_id == PLAN
        self._meet(f"take up next, {self.slots.any_room} free")
        return [NEXT]

    # who listens

    def attempt_ended(self, _: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """The branches first, then the face."""
        self._meet(f"heard {answer['status']}")

    def notice(self, text: str) -> None:
        """What goes wrong on the way."""
        self.met.append(text)

    def catch_up(self) -> None:
        """Not needed here."""


@pytest.fixture
def attempt(on: Stage) -> TaskAttempt:
    """An attempt that was just taken up."""
    on.brings(ONE)
    with on.ledger.write() as tx:
        taken = take_up(tx, tx.task("a"), "test", 900)
    return TaskAttempt("a", "action", 1, None, PLAN, "q", taken.lease.until)


def test_the_whole_path(on: Stage, attempt: TaskAttempt) -> None:
    """Run, keep, settle, take up what comes next, commit, report; only then the next begin.

    So people read the attempts of a task in their order, however fast the next one is.
    The branch is moved beside them: that takes a moment.
    """
    parts = Parts(on)
    answer = parts.path(said(attempt)).carry_out("w", attempt)
    assert answer["state"] == "READY_TO_CHECK"
    assert parts.met == [
        "run",
        "kept",
        "take up next, 4 free",
        "end w",
        "commit",
        "expect ['next']",
        "heard accepted",
        "announce ['next'] q",
        "heard accepted",
    ]
    assert parts.signals.wake.is_set()
    assert not parts.slots.busy


@pytest.mark.parametrize(
    ("stopping", "stopped"),
    [(True, False), (False, True)],
    ids=["the engine ends", "the runner was stopped"],
)
def test_nothing_new_begins_at_the_end(
    on: Stage, attempt: TaskAttempt, stopping: bool, stopped: bool
) -> None:
    """What runs is settled all the same."""
    parts = Parts(on)
    path = parts.path(said(attempt))
    kept = KeptRun.of(said(attempt)).to_json()
    parts.is_stopping = stopping
    if stopped:
        parts.signals.stop.set()
    slot = parts.slots.begin("w", "q")
    settled = parts.settle_once(
        "w",
        lambda unit: path.settle(unit, attempt, slot, kept),
        lambda unit: path.take_up_next(unit, PLAN),
    )
    assert (settled.answer["status"], settled.queued) == ("accepted", [])
    assert parts.met == ["end w", "commit"]


def test_what_was_not_begun_is_handed_back(on: Stage, attempt: TaskAttempt) -> None:
    """The engine ends before the executor could begin: nobody has failed."""
    parts = Parts(on, is_stopping=True)
    assert parts.path(said(attempt)).carry_out("w", attempt) == {
        "status": "handed_back"
    }
    assert "run" not in parts.met
    assert on.task("a").progress.state == "READY"


def test_a_settling_that_does_not_hold(on: Stage, attempt: TaskAttempt) -> None:
    """The ledger is as it was, the slot is free, and nobody hears of an end; nothing begins because of it."""
    parts = Parts(on, fails="commit")
    with pytest.raises(RuntimeError, match="commit fails"):
        parts.path(said(attempt)).carry_out("w", attempt)
    assert on.task("a").progress.state == "IN_PROGRESS"
    assert parts.met[-1] == "announce [] q"
    assert not parts.slots.busy


def test_a_listener_that_fails(on: Stage, attempt: TaskAttempt) -> None:
    """It is told so; the attempt has ended."""
    parts = Parts(on, fails="heard accepted")
    parts.path(said(attempt)).carry_out("w", attempt)
    assert parts.met[-5:] == [
        "heard accepted",
        "a: heard accepted fails",
        "announce ['next'] q",
        "heard accepted",
        "a: heard accepted fails",
    ]
    assert on.task("a").progress.state == "READY_TO_CHECK"


@pytest.mark.parametrize(
    "produced",
    [
        RunOutcome(raw=b'{"\xff": 1}'),
        RunOutcome(raw=b""),
        RunOutcome(fault=Fault.TIMED_OUT, text="too long"),
        RunOutcome(raw=b"{}", judged={"verdict": {"outcome": "DONE"}}),
    ],
    ids=["bytes that are no text", "an empty message", "a fault", "a change"],
)
def test_what_is_kept_comes_back(produced: RunOutcome) -> None:
    """To the last bit, through JSON."""
    kept = KeptRun.of(produced)
    assert KeptRun.from_json(json.loads(json.dumps(kept.to_json()))) == kept


def test_a_run_is_stopped_before_it_begins(on: Stage, attempt: TaskAttempt) -> None:
    """A cancelled attempt that still waited for its slot is not run."""
    parts = Parts(on)
    stop = threading.Event()
    stop.set()
    kept = KeptRun.from_json(parts.path(said(attempt)).execute(attempt, stop))
    assert (kept.report["fault"], parts.met) == (Fault.STOPPED, [])

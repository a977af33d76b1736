"""The path of an attempt, from top to bottom.

    take_up        a ready task is taken up and its attempt queued, in one transaction of the ledger
    carry_out      its workflow begins, in this process or in another, as soon as a slot is free
      execute      step one: the executor runs; what came of it is kept before anything is decided
      settle       step two, in one transaction with its own mark: what the run means for the task,
                   and the attempts that can begin because of it
    report         branches are moved, the listener hears of it

A process that is killed at any point is taken over from its last mark. Nothing happens twice but a run that was cut off in
the middle.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.changes.settling import change_in
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.faults import FAULTS, Fault, pause_after
from accordance.domain.input_binding import InputFile
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.protocol import Produced
from accordance.project.home import Home
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.mending import count_mended
from accordance.runtime.offers import Offers, QueuedAttempt
from accordance.runtime.ports import (
    AttemptRunner,
    Branches,
    Listener,
    QueueingTransaction,
    Scheduling,
    Signals,
    TaskAttempt,
    Workflows,
)
from accordance.runtime.run_progress import Look, RunProgress, resting
from accordance.runtime.slots import Slot, Slots
from accordance.store.ledger import Transaction
from accordance.work.faults import fail_in, hand_back_in
from accordance.work.intake import submit_in
from accordance.work.receipts import Receipt
from accordance.work.reviewing import review_in
from accordance.work.run_log import RunOf, keep_report
from accordance.work.tasks import NoTaskReason, may_not_begin, why_nothing
from accordance.workspace.errors import IsolationUnavailable

_AGAIN_SECONDS: Final = 0.5
_LEFT_OUT: Final = ("violations", "repeated")  # of an answer; the ledger has it whole
_HANDED_BACK: Final = {"status": "handed_back"}
_NOT_BEGUN: Final = Produced(fault=Fault.STOPPED, text="it was not begun")


@dataclass(kw_only=True)
class AttemptPath:
    """Carries attempts from the moment they are taken up to the moment the next ones begin."""

    home: Home
    attempts: AttemptRunner
    scheduler: Scheduling
    workflows: Workflows
    slots: Slots
    listener: Listener
    branches: Branches
    signals: Signals
    _failures: dict[str, int] = field(
        default_factory=dict
    )  # by queue: passing faults in a row
    _queued: dict[str, list[QueuedAttempt]] = field(
        default_factory=dict
    )  # by the workflow that queued them

    # -- 1: a task is taken up, and its attempt queued

    def take_up(self, plan_id: str, files: list[InputFile]) -> Look:
        """Begin whatever can begin in a plan. `files` are the inputs that lie there now."""
        with self.workflows.transaction() as unit:
            if why := may_not_begin(unit.tx, plan_id, files):
                return resting(why)
            offers = self.scheduler.take_up_all(unit, plan_id)
            look = _look_of(unit.tx, plan_id, offers)
        self.workflows.announce(offers.queued)
        return look

    # -- 2: its workflow runs

    def carry_out(self, workflow: str, attempt: TaskAttempt) -> JsonObject:
        """Both steps, in a slot of this process. A step that was done before a kill is not done again."""
        slot = self.slots.begin(workflow, attempt.queue)
        try:
            kept = self.workflows.execute_once(lambda: self.execute(attempt, slot.stop))
            answer = self.workflows.settle_once(
                lambda unit: self.settle(unit, attempt, slot, kept)
            )
        finally:
            self.slots.end(slot)
            queued = self._queued.pop(workflow, [])
            self.workflows.announce(queued, freed=attempt.queue)
        self._report(attempt, answer)
        return answer

    # -- 3: the executor runs, and what came of it is kept

    def execute(self, attempt: TaskAttempt, stop: threading.Event) -> JsonObject:
        """The first step: let the executor run; what is returned is kept."""
        produced = self._run(attempt, stop)
        self._let_rest(attempt.queue, produced)
        self.workflows.await_ledger()  # what was paid for is not lost because nobody could write it down
        return KeptRun.of(produced).to_json()

    def _run(self, attempt: TaskAttempt, stop: threading.Event) -> Produced:
        """One run. Whatever goes wrong is an outcome of the attempt, but for a ledger that is away: then nothing has begun."""
        while not (stop.is_set() or self.workflows.is_stopping):
            try:
                return self.attempts.run(attempt, stop)
            except LedgerError:
                stop.wait(_AGAIN_SECONDS)
            except IsolationUnavailable as error:
                return Produced(fault=Fault.NOT_ISOLATED, text=str(error))
            except (
                AccordanceError
            ) as error:  # settings, a route, a prompt: no executor was asked to work
                return Produced(fault=Fault.UNPREPARED, text=str(error))
            except Exception as error:  # noqa: BLE001 - a bug of an executor is the attempt's failure, not the run's
                return Produced(
                    fault=Fault.CRASHED, text=f"{type(error).__name__}: {error}"
                )
        return _NOT_BEGUN

    def _let_rest(self, queue: str, produced: Produced) -> None:
        """A provider that wants fewer calls, or is not there just now, is not called again at once."""
        passes = produced.fault is not None and FAULTS[produced.fault].passes
        failures = self._failures.get(queue, 0) + 1 if passes else 0
        self._failures[queue] = failures
        pause = pause_after(produced.fault, produced.retry_after, failures)
        if pause:
            self.slots.rest(queue, pause)
            self.listener.notice(
                f"{queue}: {produced.text}; it is called again in {pause:g} s"
            )

    # -- 4: the run is settled, and what can begin now is taken up

    def settle(
        self,
        unit: QueueingTransaction,
        attempt: TaskAttempt,
        slot: Slot,
        kept: Mapping[str, Any],
    ) -> JsonObject:
        """The second step. Everything here commits together, with the mark that the step is done."""
        unit.tx.lock(attempt.plan_id)
        answer = self._decide(unit.tx, attempt, KeptRun.from_json(kept))
        self.slots.end(slot)  # before the next ones are looked for: they may have it
        self._queued[slot.name] = self._take_up_next(unit, attempt.plan_id)
        return {name: value for name, value in answer.items() if name not in _LEFT_OUT}

    def _decide(
        self, tx: Transaction, attempt: TaskAttempt, kept: KeptRun
    ) -> JsonObject:
        """What the run means for its task."""
        run = RunOf(
            plan_id=attempt.plan_id,
            task_id=attempt.task_id,
            kind=attempt.kind,
            attempt=attempt.number,
        )
        keep_report(tx, run, kept.report)
        if kept.report["fault"] == Fault.STOPPED:
            hand_back_in(tx, attempt.task_id, attempt.number, attempt.lease)
            return dict(_HANDED_BACK)
        number = count_mended(tx, attempt.task_id, attempt.number, kept.report)
        return self._take_in(tx, attempt, number, kept).to_json()

    def _take_in(
        self, tx: Transaction, attempt: TaskAttempt, number: int, kept: KeptRun
    ) -> Receipt:
        """Take in the message of a run, by its kind. `number` counts the answers that were asked for again, too."""
        task_id, message = attempt.task_id, kept.message
        if message is None:
            return fail_in(tx, task_id, number, kept.report, attempt.lease)
        if kept.judged is not None:
            return change_in(tx, self.home, message, task_id, number, kept.judged)
        if attempt.kind == "action":
            has_stronger = bool(kept.report.get("stronger"))
            return submit_in(
                tx, self.home, message, task_id, number, has_stronger=has_stronger
            )
        return review_in(tx, message, task_id, attempt.product)

    def _take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """What can begin because an attempt was settled."""
        if self.workflows.is_stopping or self.signals.stop.is_set():
            return []
        if may_not_begin(unit.tx, plan_id, None):
            return []
        return self.scheduler.take_up_next(unit, plan_id)

    # -- 5: the world hears of it

    def _report(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """The attempt is settled, whatever its listeners make of it."""
        try:
            self.branches.attempt_ended(attempt, answer)
            self.listener.attempt_ended(attempt, answer)
        except Exception as error:  # noqa: BLE001
            self.listener.notice(f"{attempt.task_id}: {error}")
        if (
            not self.slots.busy
        ):  # otherwise the settling itself has taken up what could be
            self.signals.wake.set()


def _look_of(tx: Transaction, plan_id: str, offers: Offers) -> Look:
    """What was taken up, or why nothing was."""
    if offers.queued:
        return Look(RunProgress.BEGAN, None, offers.without_taker)
    why = NoTaskReason.BUSY if offers.waits_for_room else why_nothing(tx, plan_id)
    if offers.waits_elsewhere and why is not NoTaskReason.BUSY:
        why = NoTaskReason.ELSEWHERE
    return resting(why, offers.without_taker)

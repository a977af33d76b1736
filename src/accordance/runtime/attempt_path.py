"""The path of an attempt, from top to bottom.

    take_up        a ready task is taken up and its attempt queued, in one transaction
    carry_out      its workflow begins, as soon as a slot is free
      execute      step one: the executor runs; its outcome is kept before any decision
      settle       step two, in one transaction with the end of the workflow: what the
                   run means for the task. Attempts of a plan may be settled together;
                 then those are taken up that can begin because of it
    report         the listener is informed, branches are moved

When a process is killed at any point, another resumes from what was kept. Nothing
happens twice except a run that was interrupted in the middle.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accordance.changes.settling import change_in
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.faults import FAULTS, Fault, pause_after
from accordance.domain.input_binding import InputFile
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.programs import no_space, not_isolated
from accordance.executors.protocol import RunOutcome
from accordance.project.home import Home
from accordance.runtime.bad_answers import record_bad_answers
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.offers import Offers, QueuedAttempt
from accordance.runtime.ports import (
    AttemptRunner,
    Branches,
    Listener,
    QueueingTransaction,
    Scheduling,
    Settled,
    TaskAttempt,
    ThreadSignals,
    Unwatched,
    Watch,
    Workflows,
)
from accordance.runtime.run_progress import Look, RunProgress, resting
from accordance.runtime.slots import Slot, Slots
from accordance.store.ledger import Transaction
from accordance.work.faults import fail_in, hand_back_in
from accordance.work.intake import submit_in
from accordance.work.receipts import Receipt
from accordance.work.reviewing import review_in
from accordance.work.run_log import RunKey, keep_report
from accordance.work.taking import (
    NoTaskReason,
    while_work_ends,
    why_not_begin,
    why_nothing,
)
from accordance.workspace.errors import IsolationUnavailable

_RETRY_SECONDS: Final = 0.5  # while the ledger is away
_LEFT_OUT: Final = ("violations", "repeated")  # of an answer; the ledger has them
_HANDED_BACK: Final = {"status": "handed_back"}
_NOT_BEGUN: Final = RunOutcome(fault=Fault.STOPPED, text="it was not begun")


def _keep_to_ourselves(_queue: str, _seconds: float) -> None:
    """Tell no other process that a queue rests: there is none."""


@dataclass(kw_only=True)
class AttemptPath:
    """Carries attempts from being taken up to the start of the next ones."""

    home: Home
    attempts: AttemptRunner
    scheduler: Scheduling
    workflows: Workflows
    slots: Slots
    listener: Listener
    branches: Branches
    signals: ThreadSignals
    share_pause: Callable[[str, float], None] = _keep_to_ourselves
    watch: Watch = field(default_factory=Unwatched)
    _failures: dict[str, int] = field(default_factory=dict)
    """By queue: consecutive faults that pass by themselves."""

    # -- 1: a task is taken up, and its attempt queued

    def take_up(self, plan_id: str, files: list[InputFile]) -> Look:
        """Begin whatever can begin in a plan. `files` are the inputs present now."""
        with self.workflows.transaction() as unit:
            obstacle = why_not_begin(unit.tx, plan_id, files)
            if obstacle:
                reason = while_work_ends(unit.tx, plan_id, obstacle)
                return resting(reason)
            offers = self.scheduler.take_up_all(unit, plan_id)
            look = _look_of(unit.tx, plan_id, offers)

        self.workflows.announce(offers.queued)
        return look

    # -- 2: its workflow runs

    def carry_out(self, workflow: str, attempt: TaskAttempt) -> JsonObject:
        """Do both steps, in a slot of this process.

        A step that was completed before a kill is not repeated.
        """
        with self.watch.attempt(attempt) as span:
            queued: Sequence[QueuedAttempt] = ()
            try:
                settled = self._both_steps(workflow, attempt)
                queued = settled.queued
                self.workflows.expect(queued)
                self.watch.settled(span, attempt, settled)
                self._inform(self.listener, attempt, settled.answer)
            finally:  # only now: people read the attempts in their order
                self.workflows.announce(queued, freed=attempt.queue)
            self._inform(self.branches, attempt, settled.answer)

        # While other attempts run here, settling has taken up what could begin.
        if not self.slots.busy:
            self.signals.wake.set()
        return settled.answer

    def _both_steps(self, workflow: str, attempt: TaskAttempt) -> Settled:
        slot = self.slots.begin(workflow, attempt.queue)
        try:
            kept = self.workflows.execute_once(
                workflow, lambda: self.execute(attempt, slot.stop)
            )
            return self.workflows.settle_once(
                workflow,
                lambda unit: self.settle(unit, attempt, slot, kept),
                lambda unit: self.take_up_next(unit, attempt.plan_id),
            )
        finally:
            self.slots.end(slot)

    # -- 3: the executor runs, and its outcome is kept

    def execute(self, attempt: TaskAttempt, stop: threading.Event) -> JsonObject:
        """Do the first step: run the executor. The returned value is kept."""
        produced = self._run(attempt, stop)
        self._let_rest(attempt.queue, produced)
        return KeptRun.of(produced).to_json()

    def _run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """Run the executor once.

        Any error is an outcome of the attempt, unless the ledger is away: then nothing
        has begun, and it is tried again.
        """
        while not (stop.is_set() or self.workflows.is_stopping):
            try:
                return self.attempts.run(attempt, stop)
            except LedgerError:
                stop.wait(_RETRY_SECONDS)
            except Exception as error:  # noqa: BLE001 - a bug of an executor fails the attempt only
                return _failure(error)
        return _NOT_BEGUN

    def _let_rest(self, queue: str, produced: RunOutcome) -> None:
        """Pause a queue whose provider is overloaded or unavailable."""
        fault = produced.fault
        passes = fault is not None and FAULTS[fault].passes
        failures = self._failures.get(queue, 0) + 1 if passes else 0
        self._failures[queue] = failures

        pause = pause_after(fault, produced.retry_after, failures)
        if pause:
            self.slots.rest(queue, pause)
            self.share_pause(queue, pause)
            self.listener.notice(f"{queue}: {produced.text}; next call in {pause:g} s")

    # -- 4: the run is settled, and what can begin now is taken up

    def settle(
        self,
        unit: QueueingTransaction,
        attempt: TaskAttempt,
        slot: Slot,
        kept: Mapping[str, Any],
    ) -> Settled:
        """Do the second step. All of it commits together."""
        unit.tx.lock(attempt.plan_id)
        over_before = self.watch.over(unit.tx, attempt)
        answer = self._decide(unit.tx, attempt, KeptRun.from_json(kept))
        ended = self.watch.over(unit.tx, attempt) - over_before

        self.slots.end(slot)  # now, so that the next attempts can have it
        for name in _LEFT_OUT:
            answer.pop(name, None)
        return Settled(answer, ended=ended)

    def _decide(
        self, tx: Transaction, attempt: TaskAttempt, kept: KeptRun
    ) -> JsonObject:
        """Apply the outcome of a run to its task."""
        run = RunKey(
            plan_id=attempt.plan_id,
            task_id=attempt.task_id,
            kind=attempt.kind,
            attempt=attempt.number,
        )
        keep_report(tx, run, kept.report, kept.logs)
        if kept.report["fault"] == Fault.STOPPED:
            hand_back_in(tx, attempt.task_id, attempt.number, attempt.lease)
            return dict(_HANDED_BACK)

        number = record_bad_answers(tx, attempt.task_id, attempt.number, kept.report)
        receipt = self._take_in(tx, attempt, number, kept)
        return receipt.to_json()

    def _take_in(
        self, tx: Transaction, attempt: TaskAttempt, number: int, kept: KeptRun
    ) -> Receipt:
        """Take in the message of a run, by its kind.

        `number` also counts the answers that had to be asked for again.
        """
        task_id = attempt.task_id
        message = kept.message
        if message is None:
            return fail_in(tx, task_id, number, kept.report, attempt.lease)
        if kept.judged is not None:
            return change_in(tx, self.home, message, task_id, number, kept.judged)
        if attempt.kind == "review":
            return review_in(tx, message, task_id, attempt.product)

        has_stronger = bool(kept.report.get("stronger"))
        return submit_in(
            tx, self.home, message, task_id, number, has_stronger=has_stronger
        )

    def take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """Take up what can begin because attempts were settled."""
        if self.workflows.is_stopping or self.signals.stop.is_set():
            return []
        if why_not_begin(unit.tx, plan_id, None):
            return []
        return self.scheduler.take_up_next(unit, plan_id)

    # -- 5: the outcome is reported

    def _inform(
        self,
        informed: Listener | Branches,
        attempt: TaskAttempt,
        answer: Mapping[str, Any],
    ) -> None:
        """Report a settled attempt. Errors of a listener do not unsettle it."""
        try:
            informed.attempt_ended(attempt, answer)
        except Exception as error:  # noqa: BLE001
            self.listener.notice(f"{attempt.task_id}: {error}")


def _failure(error: Exception) -> RunOutcome:
    if isinstance(error, IsolationUnavailable):
        return not_isolated(error)
    if isinstance(error, AccordanceError):  # settings, a route or a prompt is wrong
        return RunOutcome(fault=Fault.UNPREPARED, text=str(error))
    crashed = RunOutcome(fault=Fault.CRASHED, text=f"{type(error).__name__}: {error}")
    return no_space(error) or crashed


def _look_of(tx: Transaction, plan_id: str, offers: Offers) -> Look:
    """Return what was taken up, or why nothing was."""
    look = _progress_of(tx, plan_id, offers)
    return replace(look, waits_for_budget=offers.waits_for_budget)


def _progress_of(tx: Transaction, plan_id: str, offers: Offers) -> Look:
    if offers.queued:
        return Look(RunProgress.BEGAN, None, offers.unstartable)
    if offers.waits_for_room:
        return resting(NoTaskReason.BUSY, offers.unstartable)

    reason = why_nothing(tx, plan_id)
    if offers.waits_elsewhere and reason is not NoTaskReason.BUSY:
        reason = NoTaskReason.ELSEWHERE
    return resting(reason, offers.unstartable)

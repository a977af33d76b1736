"""The spans of a plan as it is carried out: its run, its tasks, their attempts.

A run and a task last longer than any process. They are recorded when they are over, and
their ids follow from their names, so that attempts anywhere stand within them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from accordance.domain.filters import Filter, Subject, Term, Word
from accordance.domain.lifecycle import Event, State
from accordance.domain.paging import PageRequest
from accordance.domain.plan_lifecycle import IS_OVER, visible_state
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.errors import LedgerError, NotFound
from accordance.runtime.ports import Settled, TaskAttempt
from accordance.store.ledger import Ledger, Transaction
from accordance.store.listings import EVENT_LIST
from accordance.telemetry import logs, names, tracing
from accordance.telemetry.tracing import Span, SpanPlace

log: Final = logging.getLogger("accordance.runtime")
_OVER: Final = (State.DONE, State.FAILED, State.ABANDONED, State.DEAD_LETTER)
_BAD: Final = ("REJECT", "ESCALATE")


def place_of(plan: PlanRecord, task_id: str = "") -> SpanPlace:
    """Return the place of the span of a task, or of a plan's run."""
    return SpanPlace.of(f"{plan.plan_id}\0{plan.imported_at}", task_id)


@dataclass(frozen=True, slots=True)
class AttemptSpans:
    """Records the spans of attempts, and of what is over because of them."""

    ledger: Ledger

    @contextmanager
    def attempt(self, attempt: TaskAttempt) -> Iterator[Span]:
        """Record an attempt around a block."""
        attributes = names.of_attempt(
            attempt.plan_id,
            attempt.task_id,
            attempt.kind,
            attempt.number,
            attempt.queue,
        )
        place = self._place(attempt)
        with (
            logs.about(
                run=attempt.plan_id, task=attempt.task_id, attempt=attempt.number
            ),
            tracing.span(names.ATTEMPT, attributes, within=place) as span,
        ):
            log.info("attempt began")
            yield span

    def over(self, tx: Transaction, attempt: TaskAttempt) -> frozenset[str]:
        """Return which of the task, the task that it checks and the plan's root are over.

        It is asked before and after an attempt is settled, in the same transaction: of
        two attempts that end at once, only the later ends the task.
        """
        if not tracing.is_on():
            return frozenset()
        plan = tx.plan(attempt.plan_id)
        task = tx.task(attempt.task_id)
        names_of_tasks = (task.task_id, task.checks, plan.root_task_id)
        over = set()
        for name in names_of_tasks:
            if name is not None and tx.progress(name).state in _OVER:
                over.add(name)
        return frozenset(over)

    def settled(self, span: Span, attempt: TaskAttempt, settled: Settled) -> None:
        """Record what came of an attempt, and what is over with it."""
        answer: Mapping[str, Any] = settled.answer
        outcome = answer.get("outcome")
        reason = answer.get("reason_code")
        result = (outcome or answer.get("status"), reason, answer.get("state"))
        log.info("attempt settled: %s", " ".join(str(part) for part in result if part))
        if not tracing.is_on():
            return
        verdict = names.of_verdict(outcome, reason)
        span.set(verdict)
        span.tell(names.VERDICT, verdict)
        if outcome in _BAD or answer.get("status") == "rejected":
            span.fail(reason or "rejected")
        if not settled.ended:
            return
        try:
            with self.ledger.read() as tx:
                _record_what_is_over(tx, attempt, settled.ended)
        except (LedgerError, NotFound):
            return  # a span less

    def _place(self, attempt: TaskAttempt) -> SpanPlace | None:
        if not tracing.is_on():
            return None
        try:
            with self.ledger.read() as tx:
                return place_of(tx.plan(attempt.plan_id), attempt.task_id)
        except (LedgerError, NotFound):
            return None  # it stands alone


def _record_what_is_over(
    tx: Transaction, attempt: TaskAttempt, ended: frozenset[str]
) -> None:
    plan = tx.plan(attempt.plan_id)
    task = tx.task(attempt.task_id)
    for name in (task.task_id, task.checks):
        if name in ended:
            _record_task(tx, plan, tx.task(name))
    if plan.root_task_id not in ended:
        return
    root = tx.progress(plan.root_task_id).state
    state = visible_state(plan.state, root, is_archived=False)
    if state in IS_OVER:
        began = plan.run_started_at or plan.imported_at
        attributes = names.of_plan(plan.plan_id, plan.title, state.value)
        tracing.record(names.RUN, attributes, place_of(plan), began=began)


def _record_task(tx: Transaction, plan: PlanRecord, task: TaskRecord) -> None:
    began = _first_taken_up(tx, task) or plan.imported_at
    attributes = names.of_task(
        plan.plan_id, task.task_id, task.title, task.progress.state.value
    )
    tracing.record(
        names.TASK,
        attributes,
        place_of(plan, task.task_id),
        began=began,
        within=place_of(plan),
    )


def _first_taken_up(tx: Transaction, task: TaskRecord) -> str | None:
    terms = (Term(Word.TASK, task.task_id), Term(Word.KIND, Event.CLAIMED.value))
    wanted = Filter(Subject.EVENTS, terms)
    page = tx.page(EVENT_LIST, wanted, PageRequest(limit=1))
    return page.items[0].at if page.items else None

"""What was decided."""

from __future__ import annotations

from accordance.domain.records import MessageRecord, PlanRecord, VerdictRecord
from accordance.domain.verdict import Outcome
from accordance.service.views.base import View
from accordance.store.ledger import Transaction


class VerdictView(View):
    """A verdict on a message: the same shape for a plan, a task and a run."""

    task_id: str  # the plan's id where the plan itself was reviewed
    title: str
    attempt: int
    by: str  # the kind of message that was judged
    outcome: str
    reason_code: str
    messages: tuple[str, ...]
    why: str  # the first of the messages
    evidence: str | None  # where what it rests on lies
    at: str

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.outcome == Outcome.DONE


class VerdictListView(View):
    """Verdicts, the newest last."""

    items: tuple[VerdictView, ...]


def verdicts_on(tx: Transaction, subject: str) -> tuple[VerdictView, ...]:
    """The verdicts on a task, or on a plan as a whole, the newest last."""
    verdicts = tx.find(VerdictRecord, subject=subject)
    messages = tx.find(MessageRecord, subject=subject) if verdicts else []
    return _views(tx, verdicts, messages)


def verdicts_in(tx: Transaction, plan: PlanRecord) -> tuple[VerdictView, ...]:
    """Every verdict in a plan, the newest last."""
    verdicts = tx.find(VerdictRecord, plan_id=plan.plan_id)
    messages = tx.find(MessageRecord, plan_id=plan.plan_id)
    return _views(tx, verdicts, messages)


def _views(
    tx: Transaction,
    verdicts: list[VerdictRecord],
    messages: list[MessageRecord],
) -> tuple[VerdictView, ...]:
    by_id = {message.message_id: message for message in messages}
    return tuple(_view(tx, verdict, by_id[verdict.message_id]) for verdict in verdicts)


def _view(
    tx: Transaction,
    verdict: VerdictRecord,
    message: MessageRecord,
) -> VerdictView:
    is_of_plan = message.kind == "PLAN_REVIEW"
    title = (
        tx.plan(verdict.subject).title if is_of_plan else tx.task(verdict.subject).title
    )
    bundle = message.case.get("bundle")
    return VerdictView(
        task_id=verdict.subject,
        title=title,
        attempt=message.attempt,
        by=message.kind,
        outcome=verdict.outcome,
        reason_code=verdict.reason_code,
        messages=verdict.messages,
        why=verdict.messages[0] if verdict.messages else "",
        evidence=str(bundle) if bundle else None,
        at=verdict.at,
    )

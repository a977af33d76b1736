"""Where the changes of a plan land: each on exactly the commit it was judged on, or not at all."""

from __future__ import annotations

from accordance.domain.records import ArtifactRecord, MessageRecord, TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import TAG


def head_of(tx: Transaction, plan_id: str) -> str | None:
    """The commit a plan has come to: that of the change which was approved last. None before the first."""
    approved = {
        (one.task_id, one.attempt)
        for one in tx.find(ArtifactRecord, plan_id=plan_id)
        if one.approved_at
    }
    for message in reversed(tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION")):
        if (
            message.case.get("commit")
            and (message.subject, message.attempt) in approved
        ):
            return str(message.case["commit"])
    return None


def last_change(tx: Transaction, task: TaskRecord) -> MessageRecord | None:
    """The last change of a task that was judged."""
    found = [
        one
        for one in tx.find(MessageRecord, subject=task.task_id)
        if one.kind == "SUBMISSION"
    ]
    judged = [one for one in found if "bundle" in one.case]
    return judged[-1] if judged else None


def is_behind(tx: Transaction, task: TaskRecord) -> bool:
    """Whether the plan has moved on since the current change of a task was made: it would not land on what it was judged on."""
    change = last_change(tx, task) if TAG in task.tags else None
    return change is not None and not lands_on_head(
        tx, task.plan_id, str(change.case["base"])
    )


def lands_on_head(tx: Transaction, plan_id: str, base: str) -> bool:
    """Whether a change of this commit is one of what the plan has come to."""
    return head_of(tx, plan_id) in (None, base)

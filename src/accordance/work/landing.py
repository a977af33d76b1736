"""Where changes land: each on the commit it was judged on, or not at all."""

from __future__ import annotations

from accordance.domain.records import ArtifactRecord, MessageRecord, TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import TAG


def head_of(tx: Transaction, plan_id: str) -> str | None:
    """Return the commit of the change that was approved last; None before the first."""
    approved = {
        (artifact.task_id, artifact.attempt)
        for artifact in tx.find(ArtifactRecord, plan_id=plan_id)
        if artifact.approved_at
    }
    submissions = tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION")
    for message in reversed(submissions):
        commit = message.case.get("commit")
        if commit and (message.subject, message.attempt) in approved:
            return str(commit)
    return None


def last_change(tx: Transaction, task: TaskRecord) -> MessageRecord | None:
    """Return the last change of a task that was judged."""
    messages = tx.find(MessageRecord, subject=task.task_id)
    for message in reversed(messages):
        if message.kind == "SUBMISSION" and "bundle" in message.case:
            return message
    return None


def is_behind(tx: Transaction, task: TaskRecord) -> bool:
    """Whether the plan has moved on since the current change of a task was made.

    Such a change would not land on what it was judged on.
    """
    if TAG not in task.tags:
        return False
    change = last_change(tx, task)
    if change is None:
        return False
    return not lands_on_head(tx, task.plan_id, str(change.case["base"]))


def lands_on_head(tx: Transaction, plan_id: str, base: str) -> bool:
    """Whether a change made on a commit would land on the head of the plan."""
    return head_of(tx, plan_id) in (None, base)

"""The head of a plan: the commit that its last change has come to.

The changes of a plan lie on top of each other, on the base that the plan began with. A
person may take a new base in; the changes are then replayed on it, and the plan has
another head. The ledger keeps that as a message of its own, REBASE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from accordance.domain.records import ArtifactRecord, MessageRecord
from accordance.store.ledger import Transaction

REBASE: Final = "REBASE"
"""The kind of the message in which accordance says that a plan has a new base."""


class LandedChange(NamedTuple):
    """A change of a plan, as it lies below the plan's head now."""

    task_id: str
    attempt: int
    commit: str


def head_of(tx: Transaction, plan_id: str) -> str | None:
    """Return the commit of the last change; None before the first."""
    landed = landed_changes(tx, plan_id)
    rebase = _last_rebase(tx, plan_id)
    if rebase is not None and not _landed_after(landed, rebase):
        return str(rebase.case["head"])
    return str(landed[-1].case["commit"]) if landed else None


def base_of(tx: Transaction, plan_id: str) -> str | None:
    """Return the commit below the changes of a plan; None before the first."""
    rebase = _last_rebase(tx, plan_id)
    if rebase is not None:
        return str(rebase.case["base"])
    landed = landed_changes(tx, plan_id)
    return str(landed[0].case["base"]) if landed else None


def replaced_heads(tx: Transaction, plan_id: str) -> tuple[str, ...]:
    """Return the heads that the plan had before it was given a new base."""
    rebases = tx.find(MessageRecord, plan_id=plan_id, kind=REBASE)
    return tuple(str(rebase.case["old_head"]) for rebase in rebases)


def changes_below_head(tx: Transaction, plan_id: str) -> list[LandedChange]:
    """Return the changes of a plan with their commits as they are now, the first first."""
    landed = landed_changes(tx, plan_id)
    rebase = _last_rebase(tx, plan_id)
    if rebase is None:
        return [_as_judged(message) for message in landed]

    case: Mapping[str, Any] = rebase.case
    replayed = [LandedChange(*row) for row in case["changes"]]
    later = _landed_after(landed, rebase)
    return [*replayed, *(_as_judged(message) for message in later)]


def _as_judged(message: MessageRecord) -> LandedChange:
    return LandedChange(message.subject, message.attempt, str(message.case["commit"]))


def _last_rebase(tx: Transaction, plan_id: str) -> MessageRecord | None:
    rebases = tx.find(MessageRecord, plan_id=plan_id, kind=REBASE)
    return rebases[-1] if rebases else None


def _landed_after(
    landed: list[MessageRecord], rebase: MessageRecord
) -> list[MessageRecord]:
    """The changes that landed on a new base; they were judged after it was taken in."""
    return [message for message in landed if message.seq > rebase.seq]


def landed_changes(tx: Transaction, plan_id: str) -> list[MessageRecord]:
    """Return the changes that have landed, in their order.

    A change lands only on the head that it was judged on. So it was judged after the
    change before it had landed, and the order of the judgements is that of the commits.
    """
    approved = {
        (artifact.task_id, artifact.attempt)
        for artifact in tx.find(ArtifactRecord, plan_id=plan_id)
        if artifact.approved_at
    }
    submissions = tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION")
    return [
        message
        for message in submissions
        if message.case.get("commit") and (message.subject, message.attempt) in approved
    ]


def landed_since(tx: Transaction, plan_id: str, base: str) -> list[str]:
    """Return the titles of the changes that have landed on top of a commit."""
    began = 0
    for rebase in tx.find(MessageRecord, plan_id=plan_id, kind=REBASE):
        if rebase.case["head"] == base:
            began = rebase.seq

    titles: list[str] = []
    for message in reversed(landed_changes(tx, plan_id)):
        if message.case["commit"] == base or message.seq < began:
            break
        titles.append(tx.task(message.subject).title)
    titles.reverse()
    return titles


def lands_on_head(tx: Transaction, plan_id: str, base: str) -> bool:
    """Whether a change made on a commit would land on the head of the plan."""
    return head_of(tx, plan_id) in (None, base)

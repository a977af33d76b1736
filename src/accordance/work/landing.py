"""Where changes land: each on the commit it was judged on, or not at all.

Several changes of a plan are made at once, each on the head that the plan had when it
began. A good change whose plan has moved on meanwhile is not made again: accordance
applies it to the new head, in an attempt without an agent, and judges it anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.judging import BROKEN
from accordance.domain.lifecycle import State
from accordance.domain.records import MessageRecord, QuestionRecord, TaskRecord
from accordance.domain.review_ruling import BEHIND
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import TAG
from accordance.work.plan_head import lands_on_head

REBASES: Final = "rebases"
"""The key under which the event that begins such an attempt names the change."""
APPROVAL: Final = "approval"
"""The key under which a rebased change names the approval that stands."""
MOST_OVERTAKINGS: Final = 3
"""Times that a change may be overtaken; then no other change begins before it."""

_CONFLICT: Final = FAULTS[Fault.CONFLICT].code


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The approval of a change that was overtaken before it could land."""

    product: str  # the hash of the patch that was approved
    checks: tuple[str, ...]  # that approved it, or need not, as a person has

    def to_json(self) -> dict[str, Any]:
        """The approval, as the case of a rebased change stores it."""
        return {"product": self.product, "checks": list(self.checks)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A good change that is to be applied to the plan's new head."""

    attempt: int  # in which it was judged
    base: str  # the commit it was judged on
    commit: str  # the change on top of that
    summary: str  # of its submission
    tests: tuple[str, ...]  # that its submission names
    executor: str | None = None  # that made it
    model: str | None = None
    approval: Approval | None = None

    def to_json(self) -> dict[str, Any]:
        """Which change it is, as the case of the rebased change stores it."""
        return {"attempt": self.attempt, "base": self.base, "commit": self.commit}


# -- the change of a task


def last_change(tx: Transaction, task: TaskRecord) -> MessageRecord | None:
    """Return the last change of a task that was judged."""
    messages = tx.find(MessageRecord, subject=task.task_id)
    for message in reversed(messages):
        if message.kind == "SUBMISSION" and "bundle" in message.case:
            return message
    return None


def is_overtaken(tx: Transaction, task: TaskRecord) -> bool:
    """Whether the plan has moved on since the current product of a task was judged.

    Such a change would not land on what it was judged on.
    """
    change = _change_in_product(tx, task)
    if change is None:
        return False
    return not lands_on_head(tx, task.plan_id, str(change.case["base"]))


def _change_in_product(tx: Transaction, task: TaskRecord) -> MessageRecord | None:
    """The change that the current product of a task is; None if it is something else.

    A later attempt may have been judged and not accepted.
    """
    if TAG not in task.tags or task.product is None:
        return None
    versions = tx.products(task.task_id)
    current = [version for version in versions if version.sha256 == task.product]
    attempt = current[-1].attempt
    messages = tx.find(
        MessageRecord, subject=task.task_id, kind="SUBMISSION", attempt=attempt
    )
    judged = [message for message in messages if message.case.get("commit")]
    return judged[-1] if judged else None


def landing_of(tx: Transaction, task: TaskRecord) -> Landing | None:
    """Return the good change that the next attempt at a task applies to the new head.

    None if the next attempt makes the change: there is none yet, the last was not good,
    or it did not apply.
    """
    if TAG not in task.tags or not task.progress.standing.counters.attempts:
        return None
    change = last_change(tx, task)
    if change is None:
        return None

    last = _last_word(tx, task)
    approval = _approval_by_person(tx, task, last)
    if approval is not None:
        change = _change_in_product(tx, task)
    elif _is_to_be_rebased(last):
        approval = _approval_in(last)
    else:
        return None
    if change is None or not change.case.get("commit"):
        return None
    return _landing(tx, change, approval)


def _last_word(tx: Transaction, task: TaskRecord) -> MessageRecord:
    """The last message that decided about the change of a task.

    A fault decides nothing, unless it is that the change does not apply.
    """
    messages = tx.find(MessageRecord, subject=task.task_id)
    deciding = [message for message in messages if _decides(tx, message)]
    return deciding[-1]


def _decides(tx: Transaction, message: MessageRecord) -> bool:
    if "refused" in message.case:
        return False
    if message.kind != "FAULT":
        return True
    if message.answer.get("reason_code") != _CONFLICT:
        return False
    # another fault of that code: others have pushed to the plan's branch
    report = json.loads(tx.blob(message.sha256))
    return bool(report["fault"] == Fault.CONFLICT)


def _is_to_be_rebased(last: MessageRecord) -> bool:
    """Whether the last word on a good change is that the plan has moved on.

    A rebase that could not be tested says nothing about the change.
    """
    reason = last.answer.get("reason_code")
    is_rebase = "rebased" in last.case
    return reason == BEHIND or (is_rebase and reason == BROKEN)


def _approval_in(last: MessageRecord) -> Approval | None:
    """The approval of a review, or that a rebased change still has."""
    if last.kind == "REVIEW":
        check = last.answer.get("check")
        checks = (str(check),) if check else ()
        return Approval(product=str(last.case["product"]), checks=checks)

    case: Mapping[str, Any] = last.case
    stored = case.get(APPROVAL)
    if stored is None:
        return None
    return Approval(product=stored["product"], checks=tuple(stored["checks"]))


def _approval_by_person(
    tx: Transaction, task: TaskRecord, last: MessageRecord
) -> Approval | None:
    """The approval of a person, if it came after everything else; all checks rest."""
    if task.product is None:
        return None
    for question in tx.find(QuestionRecord, task_id=task.task_id):
        answer = question.answer or {}
        is_last = (question.answered_at or "") >= last.at
        if answer.get("approve") and is_last:
            checks = tx.node(task.task_id).checked_by
            return Approval(product=task.product, checks=tuple(checks))
    return None


def _landing(
    tx: Transaction, change: MessageRecord, approval: Approval | None
) -> Landing:
    case: Mapping[str, Any] = change.case
    maker: Mapping[str, Any] = case.get("maker") or {}
    submission = json.loads(tx.blob(change.sha256))
    tests = submission.get("tests") or {}
    return Landing(
        attempt=change.attempt,
        base=str(case["base"]),
        commit=str(case["commit"]),
        summary=str(submission.get("summary") or ""),
        tests=tuple(tests.get("commands") or ()),
        executor=maker.get("executor"),
        model=maker.get("model"),
        approval=approval,
    )


# -- changes at once


def has_right_of_way(tx: Transaction, task: TaskRecord) -> bool:
    """Whether a change was overtaken so often that no other begins before it."""
    attempts = task.progress.standing.counters.attempts
    if attempts < MOST_OVERTAKINGS:
        return False
    if task.progress.state not in (State.READY, State.IN_PROGRESS):
        return False

    messages = tx.find(MessageRecord, subject=task.task_id, kind="SUBMISSION")
    latest = messages[-MOST_OVERTAKINGS:]
    overtakings = [
        message for message in latest if message.answer.get("reason_code") == BEHIND
    ]
    return len(overtakings) == MOST_OVERTAKINGS


def open_checks(
    tx: Transaction, task_id: str, approved: Collection[str] = ()
) -> list[str]:
    """Return the checks that have to approve a change beside the gateway."""
    checks = []
    for check_id in tx.node(task_id).checked_by:
        progress = tx.progress(check_id)
        is_open = progress.active and progress.state is not State.DONE
        if is_open and check_id not in approved:
            checks.append(check_id)
    return checks

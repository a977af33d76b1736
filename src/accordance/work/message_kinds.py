"""How every kind of message is judged: its contract, and what it means.

Both sides use the same table. A message that comes in is judged by the case that is
stored with it, and `accordance verify` judges it again by that case and by the same
function. So the two cannot drift apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from accordance.api import check
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.violation import Accepted, Rejected, Violation
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import Counters
from accordance.domain.plan_review import PlanRuling, rule_plan_review
from accordance.domain.records import Rules
from accordance.domain.ruling import (
    Ruling,
    TaskHistory,
    rule_check_failure,
    rule_fault,
    rule_review,
    rule_review_fault,
    rule_submission,
)
from accordance.domain.verdict import Verdict
from accordance.judging.claims import read_claim
from accordance.work.contracts_for import (
    ACTIONS,
    review_context,
    reviews_by,
    rule_under,
)

Kind: TypeAlias = Literal["ACTION", "SUBMISSION", "REVIEW", "FAULT"]
"""Messages about a task. A plan has its own: PLAN_REVIEW."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All that a message is judged by beside its own content."""

    subject: str  # the task it is about, or the plan
    rules: Rules
    case: Mapping[str, Any]  # as it is stored with the message
    contract: Contract[Any] = ACTIONS  # of an action: what its attempt is held to
    verdict: Verdict | None = None  # of a submission: the verdict of the gates


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    """A message about a task: whether its contract accepts it, and what it means."""

    result: Accepted[Any] | Rejected
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class JudgedPlanReview:
    """A review of a plan: whether its contract accepts it, and what it means."""

    result: Accepted[Any] | Rejected
    ruling: PlanRuling


def judge_message(kind: Kind, raw: bytes, grounds: Grounds) -> JudgedMessage:
    """Check a message about a task, and rule on it."""
    judge = KINDS[kind]
    return judge(raw, grounds)


def read_message(kind: str, raw: bytes, grounds: Grounds) -> Accepted[Any] | Rejected:
    """Read a message about a task by the contract that it was judged by."""
    context = Context(task_id=grounds.subject)
    if kind == "SUBMISSION":
        return read_claim(raw, context)
    if kind == "REVIEW":
        rubric = grounds.rules.node_rubric
        contract = reviews_by(rubric, "TASK_CHECK")
        return check(raw, contract, review_context(rubric, task_id=grounds.subject))
    return check(raw, grounds.contract, context)


def judge_plan_review(raw: bytes, grounds: Grounds) -> JudgedPlanReview:
    """Check a review of a plan, and rule on it."""
    rubric = grounds.rules.plan_rubric
    contract = reviews_by(rubric, "PLAN_REVIEW")
    context = review_context(rubric, plan_id=grounds.subject)
    result = check(raw, contract, context)

    ruling = rule_plan_review(
        result,
        rounds=whole_number(grounds.case["rounds"]),
        failures=whole_number(grounds.case["failures"]),
        fuses=grounds.rules.fuses,
    )
    return JudgedPlanReview(result, ruling)


def _judge_action(raw: bytes, grounds: Grounds) -> JudgedMessage:
    result = read_message("ACTION", raw, grounds)
    history = case_in(grounds.case["task"])
    ruling = rule_under(grounds.contract, result, history, grounds.rules.fuses)
    return JudgedMessage(result, ruling)


def _judge_submission(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """The verdict of the gates decides; the agent's own message is only read."""
    if grounds.verdict is None:
        raise ValueError("a submission is ruled by its verdict")

    history = case_in(grounds.case["task"])
    ruling = rule_submission(grounds.verdict, history, grounds.rules.fuses)
    result = read_message("SUBMISSION", raw, grounds)
    return JudgedMessage(result, ruling)


def _judge_review(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """A review that breaks its contract is the failure of its CHECK, if it names a CHECK."""
    fuses = grounds.rules.fuses
    result = read_message("REVIEW", raw, grounds)
    if isinstance(result, Rejected) and "check" in grounds.case:
        history = case_in(grounds.case["check"])
        return JudgedMessage(result, rule_check_failure(result, history, fuses))

    history = case_in(grounds.case["task"])
    return JudgedMessage(result, rule_review(result, history, fuses))


def _judge_fault(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """Our own report of a run that ended without a message takes its place."""
    report = json.loads(raw)
    fault = Fault(report["fault"])
    text = str(report["text"])

    history = case_in(grounds.case["task"])
    is_of_review = "product" in grounds.case
    rule = rule_review_fault if is_of_review else rule_fault
    lacks = str(report.get("lacks", ""))
    ruling = rule(fault, text, history, grounds.rules.fuses, lacks)

    violation = Violation("no_message", "$", "a message", text)
    return JudgedMessage(Rejected((violation,), 1), ruling)


KINDS: Final[Mapping[Kind, Callable[[bytes, Grounds], JudgedMessage]]] = (
    MappingProxyType(
        {
            "ACTION": _judge_action,
            "SUBMISSION": _judge_submission,
            "REVIEW": _judge_review,
            "FAULT": _judge_fault,
        }
    )
)


def case_in(stored: Mapping[str, Any]) -> TaskHistory:
    """Return the history of a task as it was stored in a case."""
    used = Counters(**stored["used"])
    return TaskHistory(**{**stored, "used": used})


def whole_number(value: object) -> int:
    """Return a stored count; a missing count is 0."""
    return value if isinstance(value, int) else 0

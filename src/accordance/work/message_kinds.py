"""How every kind of message is judged: the contract it is held to, and what it means for its task or plan.

One table for both sides. A message that comes in is judged by the case that is written down with it, and `accordance verify`
judges it again by the same case and the same function; so the two cannot drift apart.
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
    """All that a message is judged by beside its own words."""

    subject: str  # the task it is about, or the plan
    rules: Rules
    case: Mapping[str, Any]  # as it is written down with the message
    contract: Contract[Any] = ACTIONS  # of an action: what its attempt is held to
    verdict: Verdict | None = None  # of a submission: what the gates have found


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    """A message that was checked, and what it means."""

    result: Accepted[Any] | Rejected
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class JudgedPlanReview:
    """The same of a review of a plan."""

    result: Accepted[Any] | Rejected
    ruling: PlanRuling


def judge_message(kind: Kind, raw: bytes, grounds: Grounds) -> JudgedMessage:
    """Check a message about a task, and rule on it."""
    return KINDS[kind](raw, grounds)


def judge_plan_review(raw: bytes, grounds: Grounds) -> JudgedPlanReview:
    """Check a review of a plan, and rule on it."""
    rubric = grounds.rules.plan_rubric
    contract = reviews_by(rubric, "PLAN_REVIEW")
    result = check(raw, contract, review_context(rubric, plan_id=grounds.subject))
    ruling = rule_plan_review(
        result,
        rounds=whole_number(grounds.case["rounds"]),
        failures=whole_number(grounds.case["failures"]),
        fuses=grounds.rules.fuses,
    )
    return JudgedPlanReview(result, ruling)


def _action(raw: bytes, grounds: Grounds) -> JudgedMessage:
    result = check(raw, grounds.contract, Context(task_id=grounds.subject))
    ruling = rule_under(
        grounds.contract, result, case_in(grounds.case["task"]), grounds.rules.fuses
    )
    return JudgedMessage(result, ruling)


def _submission(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """The gates have judged the change; what the agent says of it only counts as said."""
    if grounds.verdict is None:
        raise ValueError("a submission is ruled by its verdict")
    ruling = rule_submission(
        grounds.verdict, case_in(grounds.case["task"]), grounds.rules.fuses
    )
    result = read_claim(raw, Context(task_id=grounds.subject))
    return JudgedMessage(result, ruling)


def _review(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """A review that honours no contract is the failure of the CHECK that spoke, where there is one."""
    rubric, fuses = grounds.rules.node_rubric, grounds.rules.fuses
    contract = reviews_by(rubric, "TASK_CHECK")
    result = check(raw, contract, review_context(rubric, task_id=grounds.subject))
    if isinstance(result, Rejected) and "check" in grounds.case:
        return JudgedMessage(
            result, rule_check_failure(result, case_in(grounds.case["check"]), fuses)
        )
    return JudgedMessage(
        result, rule_review(result, case_in(grounds.case["task"]), fuses)
    )


def _fault(raw: bytes, grounds: Grounds) -> JudgedMessage:
    """Our own report of a run that ended without a message stands where the message would."""
    report = json.loads(raw)
    fault, text = Fault(report["fault"]), str(report["text"])
    is_of_review = "product" in grounds.case
    rule = rule_review_fault if is_of_review else rule_fault
    ruling = rule(fault, text, case_in(grounds.case["task"]), grounds.rules.fuses)
    missing = Violation("no_message", "$", "a message", text)
    return JudgedMessage(Rejected((missing,), 1), ruling)


KINDS: Final[Mapping[Kind, Callable[[bytes, Grounds], JudgedMessage]]] = (
    MappingProxyType(
        {
            "ACTION": _action,
            "SUBMISSION": _submission,
            "REVIEW": _review,
            "FAULT": _fault,
        }
    )
)


def case_in(written: Mapping[str, Any]) -> TaskHistory:
    """A case as it was written down."""
    return TaskHistory(**{**written, "used": Counters(**written["used"])})


def whole_number(value: object) -> int:
    """A count as it was written down; none is 0."""
    return value if isinstance(value, int) else 0

"""What a review, or its failure, means for the product it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.failure_ruling import (
    UNPARSEABLE,
    escalated,
    is_helpless,
    unparseable,
    violation_texts,
)
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.findings import with_code
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event
from accordance.domain.outside_causes import (
    outside_cause,
    review_details,
    with_cause,
)
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling, Step, TaskHistory
from accordance.domain.verdict import Outcome

if TYPE_CHECKING:
    from accordance.contracts.catalogue.review import Review

BEHIND: Final = "BEHIND"
"""The reason of a good change that the plan has overtaken."""
_MADE_AGAIN: Final = (
    "the plan has moved on since the change was made: it is made again on what the plan"
    " has come to"
)
"""Of ledgers from before changes were rebased."""
OVERTAKEN: Final = (
    "the plan has moved on since the change was made: accordance applies it to the"
    " plan's new head and judges it again"
)

_CHECK_RELEASED: Final[tuple[Step, ...]] = ((Event.RELEASED, None),)


def rule_review(
    result: Accepted[Review] | Rejected,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    """Rule on a review. `case` is that of the reviewed task."""
    if isinstance(result, Rejected):
        return _unreadable_review(result, case, fuses)

    review = result.value
    if review.action_required == "APPROVE":
        return _approved(review, case)
    if review.action_required == "REQUEST_EXTERNAL_INPUT":
        return _help_requested(review)
    return _returned(review, case, fuses)


def _approved(review: Review, case: TaskHistory) -> Ruling:
    """The last check that approves a product makes its task DONE.

    A change that the plan has overtaken is rebased first; the approval stands.
    """
    if case.is_behind:
        return replace(made_again(Event.RETURNED), check_steps=_CHECK_RELEASED)

    approval: Step = (Event.APPROVED, None)
    is_last_check = not case.other_checks
    if is_last_check and case.is_overtaken:
        return replace(overtaken(), check_steps=_CHECK_RELEASED)
    return Ruling(
        steps=(approval,) if is_last_check else (),
        check_steps=(approval,),
        outcome=Outcome.DONE if is_last_check else None,
        reason="APPROVE",
        messages=(review.summary,),
    )


def _help_requested(review: Review) -> Ruling:
    text = f"The review needs something from outside: {review.summary}"
    return Ruling(
        steps=((Event.REFERRED, None),),
        check_steps=_CHECK_RELEASED,
        outcome=Outcome.ESCALATE,
        reason="REQUEST_EXTERNAL_INPUT",
        messages=(review.summary,),
        ask=Ask(kind=QuestionKind.HELP, text=text),
    )


def _returned(review: Review, case: TaskHistory, fuses: Fuses) -> Ruling:
    """The product is changed as the review says, while rounds remain."""
    rounds = case.used.review_rounds
    messages = (review.summary,)
    if rounds < fuses.review_rounds:
        return Ruling(
            steps=((Event.RETURNED, None),),
            check_steps=_CHECK_RELEASED,
            outcome=Outcome.RETRY,
            reason="MODIFY",
            messages=messages,
        )

    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"Returned {rounds} times and still not approved: {review.summary}",
    )
    ruling = escalated((), "MAX_REVIEW_ROUNDS_EXCEEDED", messages, ask)
    return replace(ruling, check_steps=_CHECK_RELEASED)


def overtaken() -> Ruling:
    """A good change that no longer lands on the state it was judged on.

    It counts as a failure of neither the executor nor the reviewer.
    """
    return Ruling(
        steps=((Event.OVERTAKEN, None),),
        outcome=Outcome.RETRY,
        reason=BEHIND,
        messages=(OVERTAKEN,),
    )


def made_again(event: Event) -> Ruling:
    """The same, as it was ruled before changes were rebased."""
    return Ruling(
        steps=((event, None),),
        outcome=Outcome.RETRY,
        reason=BEHIND,
        messages=(_MADE_AGAIN,),
    )


def _unreadable_review(result: Rejected, case: TaskHistory, fuses: Fuses) -> Ruling:
    """A review that breaks its contract: the product waits for another review.

    It counts as the reviewer's failure, so the executor's attempts are not used up.
    """
    violations = violation_texts(result)
    failure: Step = (Event.UNPARSEABLE, None)
    failures = case.used.review_failures + 1
    if failures < fuses.review_failures:
        return Ruling(
            steps=(failure, (Event.RECHECKED, None)),
            outcome=Outcome.RETRY,
            reason=UNPARSEABLE,
            messages=violations,
        )

    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{failures} reviews could not be read; the last: {violations[0]}",
    )
    return escalated((failure,), UNPARSEABLE, violations, ask)


def rule_check_failure(result: Rejected, case: TaskHistory, fuses: Fuses) -> Ruling:
    """Rule on a check whose review breaks its contract. `case` is that of the check.

    The check has failed; the product is left alone.
    """
    return unparseable(result, case, fuses)


def rule_review_fault(
    fault: Fault,
    text: str,
    case: TaskHistory,
    fuses: Fuses,
    lacks: str = "",
) -> Ruling:
    """Rule on a run that ended without a review. The product keeps waiting.

    `lacks` names what was missing outside the task.
    """
    ruling = _rule_review_fault(fault, text, case, fuses)
    return with_cause(ruling, outside_cause(fault, lacks), review_details())


def _rule_review_fault(
    fault: Fault,
    text: str,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    code = FAULTS[fault].code
    messages = (with_code(code, text),)
    failure: Step = (Event.MISREVIEWED, None)
    failures = case.used.review_failures + 1
    if failures < fuses.review_failures and not is_helpless(fault):
        return Ruling(
            steps=(failure,),
            outcome=Outcome.RETRY,
            reason=code,
            messages=messages,
        )

    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{failures} reviews failed; the last: {messages[0]}",
    )
    return escalated((failure,), code, messages, ask)

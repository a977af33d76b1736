"""What the gateway's verdict on a change means for its task."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from accordance.domain.escalation import NextAction
from accordance.domain.failure_ruling import (
    TOO_MANY_CALLS,
    calls_are_used_up,
    stalled,
)
from accordance.domain.findings import Gate
from accordance.domain.fuses import Fuses
from accordance.domain.judging import BROKEN
from accordance.domain.lifecycle import Event, Waiting
from accordance.domain.review_ruling import made_again, overtaken
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling, TaskHistory
from accordance.domain.verdict import Outcome, Verdict

_EVENTS: Final[Mapping[NextAction, Event]] = MappingProxyType(
    {
        NextAction.DLQ: Event.BURIED,
        NextAction.HUMAN: Event.ESCALATED,
        NextAction.ROLE_ESCALATION: Event.ESCALATED,
    }
)
"""What the ladder's steps do to a task; the others give it another attempt."""

FAILS_TOGETHER: Final = "REBASE_FAILED"
"""The reason of a change that passed alone, and not on the plan's new head."""


def rule_submission(verdict: Verdict, case: TaskHistory, fuses: Fuses) -> Ruling:
    """Carry out what the escalation ladder has decided."""
    if verdict.outcome is Outcome.DONE:
        return _passed(verdict, case)
    if verdict.reason_code == BROKEN:
        return stalled(BROKEN, verdict.findings[0].message, None)
    if case.is_rebase:
        return _fails_together(verdict)
    if not verdict.uses_attempt:
        return _input_needed(verdict)
    return _refused(verdict, case, fuses)


def _passed(verdict: Verdict, case: TaskHistory) -> Ruling:
    """A change with a reviewer of its own still waits for the review.

    Where the plan has moved on, a change is rebased when nothing else is missing.
    """
    if case.is_behind:
        return made_again(Event.RELEASED)
    if case.is_overtaken and not case.other_checks:
        return overtaken()
    event = Event.PRODUCED if case.other_checks else Event.APPROVED
    return Ruling(
        steps=((event, None),),
        outcome=Outcome.DONE,
        reason="PASSED",
        messages=(verdict.reason, *verdict.notices),
    )


def _fails_together(verdict: Verdict) -> Ruling:
    """A change that was good alone, and is not on top of those that landed meanwhile.

    Its executor could not know of them, so it has not failed.
    """
    reason = verdict.reason_code or ""
    return Ruling(
        steps=((Event.RELEASED, None),),
        outcome=Outcome.RETRY,
        reason=FAILS_TOGETHER,
        messages=(f"on the plan's new head: {reason}", *verdict.messages),
    )


def _input_needed(verdict: Verdict) -> Ruling:
    questions = list(verdict.findings[0].about)
    return Ruling(
        steps=((Event.STALLED, Waiting.INPUT),),
        outcome=verdict.outcome,
        reason=verdict.reason_code or "",
        messages=verdict.messages,
        ask=Ask(
            kind=QuestionKind.HELP,
            text=verdict.reason,
            details={"questions": questions},
        ),
    )


def _refused(verdict: Verdict, case: TaskHistory, fuses: Fuses) -> Ruling:
    reason = verdict.reason_code or ""
    is_unreadable = verdict.findings[0].gate is Gate.SCHEMA
    failure = Event.UNPARSEABLE if is_unreadable else Event.ERRED

    following = _EVENTS.get(verdict.next_action, Event.RETRIED)
    question = None
    if following is Event.ESCALATED:
        question = f"{reason}: {verdict.reason}{_role_hint(verdict)}"
    elif following is Event.RETRIED and calls_are_used_up(case, fuses):
        following = Event.ESCALATED
        question = f"{TOO_MANY_CALLS}: {reason}: {verdict.reason}"

    ask = None
    if question is not None:
        ask = Ask(kind=QuestionKind.DECISION, text=question)
    return Ruling(
        steps=((failure, None), (following, None)),
        outcome=verdict.outcome,
        reason=reason,
        messages=verdict.messages,
        error=verdict.signature,
        ask=ask,
    )


def _role_hint(verdict: Verdict) -> str:
    """Name the role that could do it. Only a person may hand the task to that role."""
    role = verdict.step.role if verdict.step else None
    if role is None:
        return ""
    return f". The role {role} may do more: give the task to it, or decide otherwise"

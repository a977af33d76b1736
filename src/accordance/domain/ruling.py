"""What a message means for its task: the events, the decision, the question.

Pure: the same message in the same case is always ruled the same way, which is how
`accordance verify` recomputes every verdict. The case holds all that counts beside the
message; the fuses set the limits. The texts are stored in the ledger and compared, so
they must not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accordance.contracts.catalogue.action import (
    Action,
    ActionError,
    NeedsInput,
    RequiredDoc,
)
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.escalation import FAST_TRACKS, Level
from accordance.domain.failure_ruling import (
    BLOCKED_BY,
    UNPARSEABLE,
    escalated,
    failed_attempt,
    is_helpless,
    stalled,
    unparseable,
    violation_texts,
)
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.findings import with_code
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event, Waiting
from accordance.domain.outside_causes import outside_cause, with_cause
from accordance.domain.research.answers import awaits_a_person
from accordance.domain.review_ruling import (
    BEHIND,
    rule_check_failure,
    rule_review,
    rule_review_fault,
)
from accordance.domain.submission_ruling import FAILS_TOGETHER, rule_submission
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling, Step, TaskHistory
from accordance.domain.verdict import Outcome

__all__ = [
    "BEHIND",
    "FAILS_TOGETHER",
    "UNPARSEABLE",
    "Ask",
    "QuestionKind",
    "Ruling",
    "Step",
    "TaskHistory",
    "rule_action",
    "rule_answer",
    "rule_check_failure",
    "rule_fault",
    "rule_lost_lease",
    "rule_review",
    "rule_review_fault",
    "rule_submission",
]


def rule_action(
    result: Accepted[Action] | Rejected,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    """Rule on an executor's message."""
    if isinstance(result, Rejected):
        return unparseable(result, case, fuses)

    action = result.value
    if action.result_type == "ARTIFACT" and action.artifact is not None:
        return Ruling(steps=((Event.PRODUCED, None),), reason="ARTIFACT")
    if action.result_type == "NEEDS_INPUT" and action.needs_input is not None:
        return _documents_needed(action.needs_input)
    if action.result_type == "ERROR" and action.error is not None:
        return _error_reported(action.error, case, fuses)
    return _no_progress(case, fuses)


def rule_answer(
    result: Accepted[AgentAnswer] | Rejected,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    """Rule on a research agent's answer, which is the product of its task.

    An answer whose only fault is that it is more daring than its agent may be waits for
    a person, who can approve it as it is.
    """
    if isinstance(result, Accepted):
        return Ruling(steps=((Event.PRODUCED, None),), reason="ANSWER")
    if not awaits_a_person(result):
        return unparseable(result, case, fuses)

    violations = violation_texts(result)
    text = (
        f"The selection is below its T-score floor: {violations[0]}."
        " Approving takes the answer as it is"
    )
    return Ruling(
        steps=((Event.STALLED, Waiting.EXTERNAL),),
        outcome=Outcome.ESCALATE,
        reason="BELOW_FLOOR",
        messages=violations,
        ask=Ask(kind=QuestionKind.DECISION, text=text),
    )


def rule_fault(
    fault: Fault,
    text: str,
    case: TaskHistory,
    fuses: Fuses,
    lacks: str = "",
) -> Ruling:
    """Rule on a run that ended without a message.

    A transient fault is retried as often as there are attempts: that it comes twice
    says nothing about the task. `lacks` names what was missing outside the task.
    """
    ruling = _rule_fault(fault, text, case, fuses)
    return with_cause(ruling, outside_cause(fault, lacks))


def _rule_fault(fault: Fault, text: str, case: TaskHistory, fuses: Fuses) -> Ruling:
    page = FAULTS[fault]
    messages = (with_code(page.code, text),)
    if FAST_TRACKS.get(page.code) is Level.DEAD_LETTER:
        return Ruling(
            steps=((Event.ERRED, None), (Event.BURIED, None)),
            outcome=Outcome.ESCALATE,
            reason=page.code,
            messages=messages,
        )
    if is_helpless(fault):
        return stalled(page.code, text, None)
    if fault is Fault.CONFLICT and case.is_rebase:
        # the agent could not know of the other change
        return Ruling(
            steps=((Event.RELEASED, None),),
            outcome=Outcome.RETRY,
            reason=page.code,
            messages=messages,
        )

    limits = fuses.for_what_passes if page.passes else fuses
    error = f"{page.code} {fault}"
    return failed_attempt(Event.ERRED, page.code, messages, case, limits, error=error)


def rule_lost_lease(case: TaskHistory, fuses: Fuses) -> Ruling:
    """Rule on a task whose worker is gone.

    It is ready again at once, but not for ever: a task that keeps losing its workers
    uses up its attempts.
    """
    reason = "LEASE_LOST"
    ruling = failed_attempt(
        Event.LEASE_LOST,
        reason,
        ("the lease ran out",),
        case,
        fuses.for_what_passes,
        error=reason,
    )
    if ruling.outcome is Outcome.RETRY:
        return replace(ruling, steps=((Event.LEASE_LOST, None),))
    return ruling


def _error_reported(error: ActionError, case: TaskHistory, fuses: Fuses) -> Ruling:
    """The executor says that it failed: it waits for help, or is a failed attempt."""
    code = error.code.strip()
    if code.upper() in BLOCKED_BY:
        return stalled(code.upper(), error.message, error.suggestion)
    messages = (with_code(code, error.message),)
    return failed_attempt(Event.ERRED, code, messages, case, fuses, error=code)


def _documents_needed(needs: NeedsInput) -> Ruling:
    """The task waits until a person supplies the documents."""
    documents = needs.required_docs
    names = ", ".join(document.name for document in documents)
    messages = [
        f"{document.name}: {document.description} ({document.suggested_path})"
        for document in documents
    ]
    details = {"required_docs": [_document_details(each) for each in documents]}
    return Ruling(
        steps=((Event.ASKED, None),),
        outcome=Outcome.ESCALATE,
        reason="NEEDS_INPUT",
        messages=tuple(messages),
        ask=Ask(
            kind=QuestionKind.DOCUMENTS,
            text=f"Needs {names}",
            details=details,
        ),
    )


def _document_details(document: RequiredDoc) -> Mapping[str, object]:
    return {
        "name": document.name,
        "description": document.description,
        "accepted_types": document.accepted_types,
        "suggested_path": document.suggested_path,
    }


def _no_progress(case: TaskHistory, fuses: Fuses) -> Ruling:
    """The executor says that there is nothing to do.

    Once is fine; again and again it is a loop, and a person decides.
    """
    rounds = case.used.idle_rounds + 1
    if rounds < fuses.idle_rounds:
        return Ruling(
            steps=((Event.IDLED, None),),
            outcome=Outcome.RETRY,
            reason="NOOP",
            messages=("no progress",),
        )

    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"NOOP {rounds} times: the task makes no progress",
    )
    return escalated((), "NOOP_LOOP", (f"no progress in {rounds} rounds",), ask)

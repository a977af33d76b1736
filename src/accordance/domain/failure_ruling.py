"""What a failed attempt means: another attempt, another candidate, or a person.

The rules here are shared by all kinds of messages; `ruling` applies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from accordance.contracts.violation import Rejected
from accordance.domain.attempts import why_not_again
from accordance.domain.escalation import FAST_TRACKS
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.findings import with_code
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event, Waiting
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling, Step, TaskHistory
from accordance.domain.verdict import Outcome

BLOCKED_BY: Final[Mapping[str, Waiting]] = MappingProxyType(
    {
        "LLM_REFUSAL": Waiting.EXTERNAL,
        "INPUT_CONFLICT": Waiting.EXTERNAL,
        "MAX_ATTEMPTS_EXCEEDED": Waiting.EXTERNAL,
        "SKILL_FAILED": Waiting.SKILL,
        "SKILL_TIMEOUT": Waiting.SKILL,
        "SKILL_BAD_INPUT": Waiting.INPUT,
        "INPUT_MISSING": Waiting.INPUT,
    }
)
"""Error codes that another attempt cannot help: the task waits.

Every other code is a failed attempt.
"""

UNPARSEABLE: Final = "LLM_UNPARSEABLE"
TOO_MANY_CALLS: Final = "MAX_CALLS_PER_TASK_EXCEEDED"


def failed_attempt(
    event: Event,
    reason: str,
    messages: tuple[str, ...],
    case: TaskHistory,
    fuses: Fuses,
    *,
    error: str,
) -> Ruling:
    """Retry while attempts remain and the same error does not come again and again.

    Then the next alternative is taken, or a person decides. `error` tells this failure
    apart from others.
    """
    failure: Step = (event, None)
    failures = case.used.failures + case.used.parse_failures + 1
    why_stop = _why_stop(error, failures, case, fuses)

    if why_stop is None:
        return Ruling(
            steps=(failure, (Event.RETRIED, None)),
            outcome=Outcome.RETRY,
            reason=reason,
            messages=messages,
            error=error,
        )

    if case.has_rival:
        return Ruling(
            steps=(failure, (Event.BURIED, None)),
            outcome=Outcome.REJECT,
            reason=reason,
            messages=(*messages, f"{why_stop}: the next alternative is taken"),
            error=error,
        )

    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{why_stop} after {failures} failed attempts; the last: {messages[0]}",
    )
    ruling = escalated((failure,), reason, (*messages, why_stop), ask)
    return replace(ruling, error=error)


def _why_stop(error: str, failures: int, case: TaskHistory, fuses: Fuses) -> str | None:
    """Return why the task is not tried again; None where it is.

    An error that repeats does not count while a stronger model can be asked.
    """
    same_errors = 1
    if error == case.last_error:
        same_errors = case.same_errors + 1
    if case.has_stronger:
        same_errors = 0

    why_stop = why_not_again(failures, fuses.attempts, same_errors, fuses.same_error)
    if why_stop is None and calls_are_used_up(case, fuses):
        return TOO_MANY_CALLS
    return why_stop


def calls_are_used_up(case: TaskHistory, fuses: Fuses) -> bool:
    """Whether the task has had all its messages.

    Each attempt is a message, and so is each review that did not settle it.
    """
    if fuses.calls_per_task is None:
        return False
    used = case.used
    calls = used.attempts + used.review_rounds + used.review_failures
    return calls >= fuses.calls_per_task


def unparseable(result: Rejected, case: TaskHistory, fuses: Fuses) -> Ruling:
    """A message that breaks its contract is a failed attempt.

    Two of them are the same error when they break the same rule in the same place.
    """
    first = result.violations[0]
    return failed_attempt(
        Event.UNPARSEABLE,
        UNPARSEABLE,
        violation_texts(result),
        case,
        fuses,
        error=f"{UNPARSEABLE} {first.code} {first.path}",
    )


def violation_texts(rejected: Rejected) -> tuple[str, ...]:
    """Return a line for each violation."""
    return tuple(str(violation) for violation in rejected.violations)


def stalled(code: str, text: str, suggestion: str | None) -> Ruling:
    """The task waits until a person helps; another attempt would not."""
    message = with_code(code, text)
    hint = f" ({suggestion})" if suggestion else ""
    waiting = BLOCKED_BY.get(code, Waiting.EXTERNAL)
    return Ruling(
        steps=((Event.STALLED, waiting),),
        outcome=Outcome.ESCALATE,
        reason=code,
        messages=(message,),
        ask=Ask(kind=QuestionKind.HELP, text=f"{message}{hint}"),
    )


def escalated(
    before: tuple[Step, ...],
    reason: str,
    messages: tuple[str, ...],
    ask: Ask,
) -> Ruling:
    """A person decides, after the steps that led there."""
    return Ruling(
        steps=(*before, (Event.ESCALATED, None)),
        outcome=Outcome.ESCALATE,
        reason=reason,
        messages=messages,
        ask=ask,
    )


def is_helpless(fault: Fault) -> bool:
    """Whether another attempt cannot help, and a person has to act first."""
    code = FAULTS[fault].code
    if fault is Fault.FOREIGN_PUSH:  # the code alone is a fault that an agent can mend
        return True
    return code in BLOCKED_BY or code in FAST_TRACKS

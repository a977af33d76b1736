"""What a message means for its task: which events happen, what is decided, what a person is asked.

Pure: the same message in the same case is ruled the same way for ever, which is how `accordance verify` recomputes every
verdict. The case holds all that counts beside the message; the fuses say how much may be used up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.contracts.catalogue.action import Action
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.review import Review
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.attempts import why_not_again
from accordance.domain.escalation import FAST_TRACKS, Level, NextAction
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.findings import Gate, with_code
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Counters, Event, Waiting
from accordance.domain.research.answers import awaits_a_person
from accordance.domain.verdict import Outcome, Verdict


class QuestionKind(StrEnum):
    """What a person is asked for."""

    DOCUMENTS = "DOCUMENTS"  # an attempt needs files
    HELP = "HELP"  # an attempt or a review needs something from outside
    DECISION = "DECISION"  # attempts or rounds are used up
    CONFIRMATION = "CONFIRMATION"  # a requirement of that kind
    BINDING = "BINDING"  # which requirement a file is meant for
    GOAL = "GOAL"  # a goal cannot finish
    PLAN = "PLAN"  # the plan's review needs something, or its fuse has blown


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question to a person."""

    kind: QuestionKind
    text: str
    details: Mapping[str, object] = field(default_factory=dict)


Step: TypeAlias = tuple[Event, Waiting | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHistory:
    """What counts beside the message."""

    used: Counters  # since a person last gave it a chance, before this message
    last_error: str | None = None  # what the last failed attempt failed of
    same_errors: int = 0  # how often running
    has_rival: bool = False  # another alternative could be tried
    other_checks: int = 0  # checks of the same product that have not approved yet
    has_stronger: bool = False  # a stronger model could be asked next
    is_behind: bool = False  # the plan has moved on since the change was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What happens to the task, and to the check that spoke, in this order; what was decided and why."""

    steps: tuple[Step, ...] = ()
    check_steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None  # None: nothing is decided yet, a review has to
    reason: str = ""
    messages: tuple[str, ...] = ()
    error: str | None = (
        None  # what this attempt failed of, told apart from other errors
    )
    ask: Ask | None = None


_BLOCKED_BY: Final[Mapping[str, Waiting]] = MappingProxyType(
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
"""Error codes that trying again does not help: the task waits. Every other code is a failed attempt."""

UNPARSEABLE: Final = "LLM_UNPARSEABLE"
_TOO_MANY: Final = "MAX_CALLS_PER_TASK_EXCEEDED"
BEHIND: Final = "the plan has moved on since the change was made: it is made again on what the plan has come to"


def rule_action(
    result: Accepted[Action] | Rejected, case: TaskHistory, fuses: Fuses
) -> Ruling:
    """What an executor's message means for its task."""
    if isinstance(result, Rejected):
        return _failed(
            Event.UNPARSEABLE,
            UNPARSEABLE,
            _faults(result),
            case,
            fuses,
            _error_of(result),
        )
    action = result.value
    if action.artifact is not None and action.result_type == "ARTIFACT":
        return Ruling(steps=((Event.PRODUCED, None),), reason="ARTIFACT")
    if action.needs_input is not None and action.result_type == "NEEDS_INPUT":
        return _documents_needed(action)
    if action.error is not None and action.result_type == "ERROR":
        code, text = action.error.code.strip(), action.error.message
        if code.upper() in _BLOCKED_BY:
            return _stalled(code.upper(), text, action.error.suggestion)
        return _failed(
            Event.ERRED, code, (with_code(code, text),), case, fuses, f"{code}"
        )
    return _idle(case, fuses)


def rule_answer(
    result: Accepted[AgentAnswer] | Rejected, case: TaskHistory, fuses: Fuses
) -> Ruling:
    """What a research agent's answer means for its task: it is the product.

    One that is only more daring than its agent may be waits for a person, who can approve it as it is.
    """
    if isinstance(result, Accepted):
        return Ruling(steps=((Event.PRODUCED, None),), reason="ANSWER")
    faults = _faults(result)
    if not awaits_a_person(result):
        return _failed(
            Event.UNPARSEABLE, UNPARSEABLE, faults, case, fuses, _error_of(result)
        )
    text = f"The selection is below its T-score floor: {faults[0]}. --approve takes the answer as it is"
    return Ruling(
        steps=((Event.STALLED, Waiting.EXTERNAL),),
        outcome=Outcome.ESCALATE,
        reason="BELOW_FLOOR",
        messages=faults,
        ask=Ask(kind=QuestionKind.DECISION, text=text),
    )


def rule_review(
    result: Accepted[Review] | Rejected, case: TaskHistory, fuses: Fuses
) -> Ruling:
    """What a review means for the product it is about. `case` is the reviewed task's."""
    if isinstance(result, Rejected):
        return _misreviewed(result, case, fuses)
    review = result.value
    said = (review.summary,)
    released: tuple[Step, ...] = ((Event.RELEASED, None),)
    if review.action_required == "APPROVE" and case.is_behind:
        return replace(_behind(Event.RETURNED), check_steps=released)
    if review.action_required == "APPROVE":
        last = not case.other_checks
        return Ruling(
            steps=((Event.APPROVED, None),) if last else (),
            check_steps=((Event.APPROVED, None),),
            outcome=Outcome.DONE if last else None,
            reason="APPROVE",
            messages=said,
        )
    if review.action_required == "REQUEST_EXTERNAL_INPUT":
        ask = Ask(
            kind=QuestionKind.HELP,
            text=f"The review needs something from outside: {review.summary}",
        )
        return Ruling(
            steps=((Event.REFERRED, None),),
            check_steps=released,
            outcome=Outcome.ESCALATE,
            reason="REQUEST_EXTERNAL_INPUT",
            messages=said,
            ask=ask,
        )
    if case.used.review_rounds < fuses.review_rounds:
        return Ruling(
            steps=((Event.RETURNED, None),),
            check_steps=released,
            outcome=Outcome.RETRY,
            reason="MODIFY",
            messages=said,
        )
    text = f"Returned {case.used.review_rounds} times and still not approved: {review.summary}"
    ask = Ask(kind=QuestionKind.DECISION, text=text)
    return replace(
        _escalated((), "MAX_REVIEW_ROUNDS_EXCEEDED", said, ask), check_steps=released
    )


def rule_check_failure(result: Rejected, case: TaskHistory, fuses: Fuses) -> Ruling:
    """A check whose review honours no contract: the check has failed, the product is left alone. `case` is the check's."""
    return _failed(
        Event.UNPARSEABLE, UNPARSEABLE, _faults(result), case, fuses, _error_of(result)
    )


def rule_fault(fault: Fault, text: str, case: TaskHistory, fuses: Fuses) -> Ruling:
    """What it means for a task that a run ended without a message.

    What passes by itself is tried again as often as there are attempts: that it comes twice says nothing about the task.
    """
    code, _, passes = FAULTS[fault]
    if FAST_TRACKS.get(code) is Level.DEAD_LETTER:
        given_up: tuple[Step, ...] = ((Event.ERRED, None), (Event.BURIED, None))
        return Ruling(
            steps=given_up,
            outcome=Outcome.ESCALATE,
            reason=code,
            messages=(with_code(code, text),),
        )
    if is_helpless(fault):
        return _stalled(code, text, None)
    fuses = fuses.for_what_passes if passes else fuses
    return _failed(
        Event.ERRED, code, (with_code(code, text),), case, fuses, f"{code} {fault}"
    )


def rule_review_fault(
    fault: Fault, text: str, case: TaskHistory, fuses: Fuses
) -> Ruling:
    """What it means for a product that the run of its reviewer ended without a review. The product goes on waiting."""
    code = FAULTS[fault].code
    faults = (with_code(code, text),)
    first: Step = (Event.MISREVIEWED, None)
    failures = case.used.review_failures + 1
    if failures < fuses.review_failures and not is_helpless(fault):
        return Ruling(
            steps=(first,), outcome=Outcome.RETRY, reason=code, messages=faults
        )
    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{failures} reviews failed; the last: {faults[0]}",
    )
    return _escalated((first,), code, faults, ask)


def is_helpless(fault: Fault) -> bool:
    """Whether trying again does not mend it: a person has to do something first."""
    code = FAULTS[fault].code
    return code in _BLOCKED_BY or code in FAST_TRACKS


def rule_submission(verdict: Verdict, case: TaskHistory, fuses: Fuses) -> Ruling:
    """What the gateway's verdict on a change means for its task: the ladder has spoken, this only carries it out.

    A change that has a reviewer of its own waits for the review; what facts can show has been shown.
    """
    if verdict.outcome is Outcome.DONE and case.is_behind:
        return _behind(Event.RELEASED)
    if verdict.outcome is Outcome.DONE:
        event = Event.PRODUCED if case.other_checks else Event.APPROVED
        return Ruling(
            steps=((event, None),),
            outcome=Outcome.DONE,
            reason="PASSED",
            messages=(verdict.reason, *verdict.notices),
        )
    reason, lead = verdict.reason_code or "", verdict.findings[0]
    if not verdict.uses_attempt:
        asking = Ask(
            kind=QuestionKind.HELP,
            text=verdict.reason,
            details={"questions": list(lead.about)},
        )
        waits: Step = (Event.STALLED, Waiting.INPUT)
        return Ruling(
            steps=(waits,),
            outcome=verdict.outcome,
            reason=reason,
            messages=verdict.messages,
            ask=asking,
        )
    failed: Step = (
        Event.UNPARSEABLE if lead.gate is Gate.SCHEMA else Event.ERRED,
        None,
    )
    event, ask = Event.RETRIED, None
    if verdict.next_action is NextAction.DLQ:
        event = Event.BURIED
    elif verdict.next_action in (NextAction.HUMAN, NextAction.ROLE_ESCALATION):
        event, ask = (
            Event.ESCALATED,
            Ask(
                kind=QuestionKind.DECISION,
                text=f"{reason}: {verdict.reason}{_to_role(verdict)}",
            ),
        )
    elif _calls_are_used_up(case, fuses):
        event, ask = (
            Event.ESCALATED,
            Ask(
                kind=QuestionKind.DECISION,
                text=f"{_TOO_MANY}: {reason}: {verdict.reason}",
            ),
        )
    return Ruling(
        steps=(failed, (event, None)),
        outcome=verdict.outcome,
        reason=reason,
        messages=verdict.messages,
        error=verdict.signature,
        ask=ask,
    )


def _to_role(verdict: Verdict) -> str:
    """Which role could do it; nobody is given more rights without a person."""
    role = verdict.step.role if verdict.step else None
    return (
        f". The role {role} may do more: give the task to it, or decide otherwise"
        if role
        else ""
    )


def _behind(event: Event) -> Ruling:
    """A good change that would not land on what it was judged on. Nobody has failed."""
    return Ruling(
        steps=((event, None),),
        outcome=Outcome.RETRY,
        reason="BEHIND",
        messages=(BEHIND,),
    )


def rule_lost_lease(case: TaskHistory, fuses: Fuses) -> Ruling:
    """Whoever had the task is gone; a task that loses its workers again and again is not handed out for ever."""
    ruling = _failed(
        Event.LEASE_LOST,
        "LEASE_LOST",
        ("the lease ran out",),
        case,
        fuses.for_what_passes,
    )
    if ruling.outcome is Outcome.RETRY:
        return replace(
            ruling, steps=((Event.LEASE_LOST, None),)
        )  # it is ready again at once
    return ruling


def _failed(
    event: Event,
    reason: str,
    faults: tuple[str, ...],
    case: TaskHistory,
    fuses: Fuses,
    error: str | None = None,
) -> Ruling:
    """A failed attempt: tried again while attempts remain and it is not the same error again and again."""
    error = error or reason
    used = case.used.failures + case.used.parse_failures + 1
    same = case.same_errors + 1 if error == case.last_error else 1
    why = why_not_again(
        used, fuses.attempts, 0 if case.has_stronger else same, fuses.same_error
    )
    if why is None and _calls_are_used_up(case, fuses):
        why = _TOO_MANY
    first: Step = (event, None)
    if why is None:
        steps = (first, (Event.RETRIED, None))
        return Ruling(
            steps=steps,
            outcome=Outcome.RETRY,
            reason=reason,
            messages=faults,
            error=error,
        )
    if case.has_rival:
        steps = (first, (Event.BURIED, None))
        messages = (*faults, f"{why}: the next alternative is taken")
        return Ruling(
            steps=steps,
            outcome=Outcome.REJECT,
            reason=reason,
            messages=messages,
            error=error,
        )
    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{why} after {used} failed attempts; the last: {faults[0]}",
    )
    return replace(_escalated((first,), reason, (*faults, why), ask), error=error)


def _calls_are_used_up(case: TaskHistory, fuses: Fuses) -> bool:
    """Messages about a task: one for each attempt, one for each review that did not settle it."""
    used = case.used
    calls = used.attempts + used.review_rounds + used.review_failures
    return fuses.calls_per_task is not None and calls >= fuses.calls_per_task


def _escalated(
    before: tuple[Step, ...], reason: str, messages: tuple[str, ...], ask: Ask
) -> Ruling:
    steps = (*before, (Event.ESCALATED, None))
    return Ruling(
        steps=steps, outcome=Outcome.ESCALATE, reason=reason, messages=messages, ask=ask
    )


def _documents_needed(action: Action) -> Ruling:
    docs = action.needs_input.required_docs if action.needs_input else ()
    names = ", ".join(doc.name for doc in docs)
    details = {
        "required_docs": [
            {
                "name": doc.name,
                "description": doc.description,
                "accepted_types": doc.accepted_types,
                "suggested_path": doc.suggested_path,
            }
            for doc in docs
        ]
    }
    return Ruling(
        steps=((Event.ASKED, None),),
        outcome=Outcome.ESCALATE,
        reason="NEEDS_INPUT",
        messages=tuple(
            f"{doc.name}: {doc.description} ({doc.suggested_path})" for doc in docs
        ),
        ask=Ask(kind=QuestionKind.DOCUMENTS, text=f"Needs {names}", details=details),
    )


def _stalled(code: str, text: str, suggestion: str | None) -> Ruling:
    hint = f" ({suggestion})" if suggestion else ""
    return Ruling(
        steps=((Event.STALLED, _BLOCKED_BY.get(code, Waiting.EXTERNAL)),),
        outcome=Outcome.ESCALATE,
        reason=code,
        messages=(with_code(code, text),),
        ask=Ask(kind=QuestionKind.HELP, text=f"{with_code(code, text)}{hint}"),
    )


def _idle(case: TaskHistory, fuses: Fuses) -> Ruling:
    """Nothing to do, says the attempt. Once that may be; again and again it is a loop."""
    rounds = case.used.idle_rounds + 1
    if rounds < fuses.idle_rounds:
        steps: tuple[Step, ...] = ((Event.IDLED, None),)
        return Ruling(
            steps=steps, outcome=Outcome.RETRY, reason="NOOP", messages=("no progress",)
        )
    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"NOOP {rounds} times: the task makes no progress",
    )
    return _escalated((), "NOOP_LOOP", (f"no progress in {rounds} rounds",), ask)


def _misreviewed(result: Rejected, case: TaskHistory, fuses: Fuses) -> Ruling:
    """A review that honours no contract: the task has failed, and its product waits again for a good one.

    It is counted as the reviewer's failure: the attempts of whoever made the product are not used up by it.
    """
    faults = _faults(result)
    first: Step = (Event.UNPARSEABLE, None)
    if case.used.review_failures + 1 < fuses.review_failures:
        steps = (first, (Event.RECHECKED, None))
        return Ruling(
            steps=steps, outcome=Outcome.RETRY, reason=UNPARSEABLE, messages=faults
        )
    failures = case.used.review_failures + 1
    ask = Ask(
        kind=QuestionKind.DECISION,
        text=f"{failures} reviews could not be read; the last: {faults[0]}",
    )
    return _escalated((first,), UNPARSEABLE, faults, ask)


def _faults(rejected: Rejected) -> tuple[str, ...]:
    return tuple(str(violation) for violation in rejected.violations)


def _error_of(rejected: Rejected) -> str:
    """Two unparseable messages are the same error when they break the same rule in the same place."""
    first = rejected.violations[0]
    return f"{UNPARSEABLE} {first.code} {first.path}"

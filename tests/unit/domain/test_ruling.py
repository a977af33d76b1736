"""What a message means for its task, case by case."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from accordance import check_value
from accordance.contracts.violation import Rejected
from accordance.domain.faults import Fault
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import LIFECYCLE, Counters, State, Waiting
from accordance.domain.research.answers import AnswerExpectations as ResearchAsked
from accordance.domain.research.answers import check_answer
from accordance.domain.ruling import (
    QuestionKind,
    Ruling,
    TaskHistory,
    rule_action,
    rule_answer,
    rule_check_failure,
    rule_fault,
    rule_lost_lease,
    rule_review,
    rule_review_fault,
)
from tests.messages import ACTION, NEEDS_INPUT, TASK, Message
from tests.reviews import node_review
from tests.unit.research import REGISTRY, example

FRESH = TaskHistory(used=Counters())
ANSWER: Message = {"schema_version": "xiaobo_action_v1", "task_id": TASK}
NOOP: Message = {**ANSWER, "result_type": "NOOP"}
SAME = "LLM_UNPARSEABLE missing $.result_type"


def error(code: str, **more: str) -> Message:
    return {
        **ANSWER,
        "result_type": "ERROR",
        "error": {"code": code, "message": "it broke", **more},
    }


def used(**counters: int) -> TaskHistory:
    return TaskHistory(used=Counters(**counters))


@dataclass(frozen=True)
class Expected:
    """What a ruling has to say; `asks` is a part of the question."""

    steps: str
    outcome: str | None
    reason: str
    asks: str | None = None
    kind: QuestionKind = QuestionKind.DECISION
    waiting: Waiting | None = None


def holds(ruling: Ruling, expected: Expected, begin: State) -> None:
    """The ruling is the expected one, its steps are legal, and whatever ends blocked asks a person."""
    assert " ".join(event.name for event, _ in ruling.steps) == expected.steps
    assert (ruling.outcome, ruling.reason) == (expected.outcome, expected.reason)
    assert [waiting for _, waiting in ruling.steps if waiting] == [
        expected.waiting
    ] * bool(expected.waiting)
    state = begin
    for event, _ in ruling.steps:
        state = LIFECYCLE[state][event]
    assert (ruling.ask is not None) == (state is State.BLOCKED)
    if expected.asks is None:
        assert ruling.ask is None
    else:
        assert ruling.ask is not None
        assert ruling.ask.kind is expected.kind
        assert expected.asks in ruling.ask.text


ACTIONS = [
    pytest.param(ACTION, FRESH, Expected("PRODUCED", None, "ARTIFACT"), id="a product is decided by its review"),
    pytest.param(NEEDS_INPUT, FRESH, Expected("ASKED", "ESCALATE", "NEEDS_INPUT", "Needs supplier_sheet", QuestionKind.DOCUMENTS), id="documents"),
    pytest.param(NOOP, FRESH, Expected("IDLED", "RETRY", "NOOP"), id="nothing to do, once"),
    pytest.param(NOOP, used(idle_rounds=1), Expected("ESCALATED", "ESCALATE", "NOOP_LOOP", "NOOP 2 times"), id="nothing to do, again"),
    pytest.param(error("LLM_FAILED"), FRESH, Expected("ERRED RETRIED", "RETRY", "LLM_FAILED"), id="a first error"),
    pytest.param(error("OWN_CODE"), FRESH, Expected("ERRED RETRIED", "RETRY", "OWN_CODE"), id="a code nobody knows"),
    pytest.param(error("X"), used(failures=2), Expected("ERRED ESCALATED", "ESCALATE", "X", "MAX_ATTEMPTS_EXCEEDED after 3 failed attempts; the last: X: it broke"), id="attempts used up"),
    pytest.param(error("X"), used(failures=1, parse_failures=1), Expected("ERRED ESCALATED", "ESCALATE", "X", "MAX_ATTEMPTS_EXCEEDED"), id="parse failures are attempts too"),
    pytest.param(error("X"), used(review_rounds=3, review_failures=2), Expected("ERRED RETRIED", "RETRY", "X"), id="reviews are not"),
    pytest.param(error("X"), TaskHistory(used=Counters(failures=1), last_error="X", same_errors=1), Expected("ERRED ESCALATED", "ESCALATE", "X", "REPEATED_ERROR after 2"), id="the same error again"),
    pytest.param(error("Y"), TaskHistory(used=Counters(failures=1), last_error="X", same_errors=1), Expected("ERRED RETRIED", "RETRY", "Y"), id="another error"),
    pytest.param(error("X"), used(attempts=6, review_rounds=3, review_failures=1), Expected("ERRED ESCALATED", "ESCALATE", "X", "MAX_CALLS_PER_TASK_EXCEEDED"), id="calls used up"),
    pytest.param(error("X"), TaskHistory(used=Counters(failures=2), has_rival=True), Expected("ERRED BURIED", "REJECT", "X"), id="the next alternative"),
    pytest.param({}, FRESH, Expected("UNPARSEABLE RETRIED", "RETRY", "LLM_UNPARSEABLE"), id="unparseable"),
    pytest.param({**ANSWER, "result_type": ...}, TaskHistory(used=Counters(parse_failures=1), last_error=SAME, same_errors=1), Expected("UNPARSEABLE ESCALATED", "ESCALATE", "LLM_UNPARSEABLE", "REPEATED_ERROR"), id="unparseable in the same way"),
    pytest.param({}, TaskHistory(used=Counters(parse_failures=1), last_error=SAME, same_errors=1), Expected("UNPARSEABLE RETRIED", "RETRY", "LLM_UNPARSEABLE"), id="unparseable in another way"),
    pytest.param(error("LLM_REFUSAL"), FRESH, Expected("STALLED", "ESCALATE", "LLM_REFUSAL", "LLM_REFUSAL: it broke", QuestionKind.HELP, Waiting.EXTERNAL), id="a refusal"),
    pytest.param(error(" skill_timeout ", suggestion="wait"), FRESH, Expected("STALLED", "ESCALATE", "SKILL_TIMEOUT", "SKILL_TIMEOUT: it broke (wait)", QuestionKind.HELP, Waiting.SKILL), id="a skill, in any letter case"),
    pytest.param(error("INPUT_MISSING"), FRESH, Expected("STALLED", "ESCALATE", "INPUT_MISSING", "it broke", QuestionKind.HELP, Waiting.INPUT), id="an input"),
    pytest.param({**ACTION, "result_type": "NOOP"}, FRESH, Expected("IDLED", "RETRY", "NOOP"), id="a branch that was not chosen is none"),
    pytest.param({**NEEDS_INPUT, "result_type": "NOOP"}, FRESH, Expected("IDLED", "RETRY", "NOOP"), id="nor are documents"),
    pytest.param({**error("X"), "result_type": "NOOP"}, FRESH, Expected("IDLED", "RETRY", "NOOP"), id="nor is an error"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "case", "expected"), ACTIONS)
def test_actions(message: Message, case: TaskHistory, expected: Expected) -> None:
    """ARTIFACT, NEEDS_INPUT, NOOP, ERROR by code, and what cannot be read."""
    kept = {key: value for key, value in message.items() if value is not ...}
    holds(
        rule_action(check_value(kept, "TASK_ACTION"), case, Fuses()),
        expected,
        State.IN_PROGRESS,
    )


@pytest.mark.parametrize(
    ("changes", "case", "expected"),
    [
        ({}, FRESH, Expected("PRODUCED", None, "ANSWER")),
        (
            {"agent_id": "nobody"},
            FRESH,
            Expected("UNPARSEABLE RETRIED", "RETRY", "LLM_UNPARSEABLE"),
        ),
        (
            {"agent_id": "nobody"},
            used(failures=2),
            Expected(
                "UNPARSEABLE ESCALATED",
                "ESCALATE",
                "LLM_UNPARSEABLE",
                "MAX_ATTEMPTS_EXCEEDED",
            ),
        ),
        (
            {"vs_metadata": example("answer-low")["vs_metadata"]},
            used(failures=2),
            Expected(
                "STALLED",
                "ESCALATE",
                "BELOW_FLOOR",
                "Approving takes the answer",
                QuestionKind.DECISION,
                Waiting.EXTERNAL,
            ),
        ),
    ],
    ids=["an answer", "nobody's", "nobody's, again and again", "too daring"],
)
def test_answers(changes: Message, case: TaskHistory, expected: Expected) -> None:
    """An answer is the product; one that is only too daring waits for a person, and no attempt is used up."""
    asked = ResearchAsked(registry=REGISTRY, words="Which theory?")
    result = check_answer(json.dumps({**example("answer-1"), **changes}), asked)
    holds(rule_answer(result, case, Fuses()), expected, State.IN_PROGRESS)


REVIEWS = [
    pytest.param(node_review(TASK, 95), FRESH, Expected("APPROVED", "DONE", "APPROVE"), "APPROVED", id="approved"),
    pytest.param(node_review(TASK, 95), TaskHistory(used=Counters(), other_checks=1), Expected("", None, "APPROVE"), "APPROVED", id="approved, others have to"),
    pytest.param(node_review(TASK, 95), TaskHistory(used=Counters(review_rounds=9), is_behind=True), Expected("RETURNED", "RETRY", "BEHIND"), "RELEASED", id="approved too late, in an old ledger"),
    pytest.param(node_review(TASK, 95), TaskHistory(used=Counters(review_rounds=9), is_overtaken=True), Expected("OVERTAKEN", "RETRY", "BEHIND"), "RELEASED", id="approved too late: it is rebased"),
    pytest.param(node_review(TASK, 95), TaskHistory(used=Counters(), other_checks=1, is_overtaken=True), Expected("", None, "APPROVE"), "APPROVED", id="approved too late, and others have to"),
    pytest.param(node_review(TASK, 60), FRESH, Expected("RETURNED", "RETRY", "MODIFY"), "RELEASED", id="returned"),
    pytest.param(node_review(TASK, 60), used(review_rounds=2), Expected("RETURNED", "RETRY", "MODIFY"), "RELEASED", id="returned a third time"),
    pytest.param(node_review(TASK, 60), used(review_rounds=3), Expected("ESCALATED", "ESCALATE", "MAX_REVIEW_ROUNDS_EXCEEDED", "Returned 3 times"), "RELEASED", id="not a fourth time"),
    pytest.param(node_review(TASK, 60, "REQUEST_EXTERNAL_INPUT"), FRESH, Expected("REFERRED", "ESCALATE", "REQUEST_EXTERNAL_INPUT", "60 of 100", QuestionKind.HELP), "RELEASED", id="needs something"),
    pytest.param({}, FRESH, Expected("UNPARSEABLE RECHECKED", "RETRY", "LLM_UNPARSEABLE"), "", id="unreadable"),
    pytest.param({}, used(review_failures=2), Expected("UNPARSEABLE ESCALATED", "ESCALATE", "LLM_UNPARSEABLE", "3 reviews could not be read"), "", id="unreadable a third time"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "case", "expected", "check_steps"), REVIEWS)
def test_reviews(
    message: Message, case: TaskHistory, expected: Expected, check_steps: str
) -> None:
    """APPROVE, MODIFY, REQUEST_EXTERNAL_INPUT, and what cannot be read."""
    ruling = rule_review(check_value(message, "TASK_CHECK"), case, Fuses())
    holds(ruling, expected, State.READY_TO_CHECK)
    assert " ".join(event.name for event, _ in ruling.check_steps) == check_steps


def test_a_check_that_cannot_be_read_is_the_checks_failure() -> None:
    """Its own attempts count, not the product's."""
    rejected = check_value({}, "TASK_CHECK")
    assert isinstance(rejected, Rejected)
    expected = Expected("UNPARSEABLE RETRIED", "RETRY", "LLM_UNPARSEABLE")
    holds(rule_check_failure(rejected, FRESH, Fuses()), expected, State.IN_PROGRESS)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        pytest.param(FRESH, Expected("LEASE_LOST", "RETRY", "LEASE_LOST"), id="once"),
        pytest.param(TaskHistory(used=Counters(failures=1), last_error="LEASE_LOST", same_errors=1), Expected("LEASE_LOST", "RETRY", "LEASE_LOST"), id="twice is no pattern yet"),
        pytest.param(used(failures=2), Expected("LEASE_LOST ESCALATED", "ESCALATE", "LEASE_LOST", "MAX_ATTEMPTS_EXCEEDED"), id="three times"),
        pytest.param(TaskHistory(used=Counters(failures=2), has_rival=True), Expected("LEASE_LOST BURIED", "REJECT", "LEASE_LOST"), id="three times, with an alternative"),
    ],
)  # fmt: skip
def test_lost_leases(case: TaskHistory, expected: Expected) -> None:
    """A task that loses its workers again and again is not handed out for ever."""
    holds(rule_lost_lease(case, Fuses()), expected, State.IN_PROGRESS)


def test_calls_without_a_bound() -> None:
    """A fuse that is off never blows."""
    ruling = rule_action(
        check_value(error("X"), "TASK_ACTION"),
        used(attempts=99),
        Fuses(calls_per_task=None),
    )
    assert ruling.outcome == "RETRY"


def test_documents_are_listed_for_the_person() -> None:
    """What, why, in which form and where to put it."""
    ask = rule_action(check_value(NEEDS_INPUT, "TASK_ACTION"), FRESH, Fuses()).ask
    assert ask is not None
    docs: Any = ask.details["required_docs"]
    assert docs == NEEDS_INPUT["needs_input"]["required_docs"]


TIMED_OUT_ONCE = TaskHistory(
    used=Counters(failures=1), last_error="TIMEOUT_EXCEEDED timed_out", same_errors=1
)
LIMITED = [
    TaskHistory(
        used=Counters(failures=at),
        last_error="EXECUTOR_ERROR rate_limited",
        same_errors=at,
    )
    for at in (0, 1, 2)
]


@pytest.mark.parametrize(
    ("fault", "case", "expected"),
    [
        (Fault.CRASHED, FRESH, Expected("ERRED RETRIED", "RETRY", "EXECUTOR_ERROR")),
        (Fault.TIMED_OUT, TIMED_OUT_ONCE, Expected("ERRED ESCALATED", "ESCALATE", "TIMEOUT_EXCEEDED", "REPEATED_ERROR after 2")),
        (Fault.CRASHED, LIMITED[1], Expected("ERRED RETRIED", "RETRY", "EXECUTOR_ERROR")),
        (Fault.TIMED_OUT, replace(TIMED_OUT_ONCE, has_stronger=True), Expected("ERRED RETRIED", "RETRY", "TIMEOUT_EXCEEDED")),
        (Fault.RATE_LIMITED, LIMITED[1], Expected("ERRED RETRIED", "RETRY", "EXECUTOR_ERROR")),
        (Fault.RATE_LIMITED, LIMITED[2], Expected("ERRED ESCALATED", "ESCALATE", "EXECUTOR_ERROR", "MAX_ATTEMPTS_EXCEEDED after 3")),
        (Fault.OVER_BUDGET, FRESH, Expected("ERRED BURIED", "ESCALATE", "BUDGET_EXCEEDED")),
        (Fault.KEY_MISSING, FRESH, Expected("STALLED", "ESCALATE", "PERMISSION_DENIED", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
        (Fault.NOT_ISOLATED, FRESH, Expected("STALLED", "ESCALATE", "ISOLATION_UNAVAILABLE", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
        (Fault.ENVIRONMENT, FRESH, Expected("STALLED", "ESCALATE", "ENVIRONMENT_BROKEN", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
        (Fault.REFUSED, FRESH, Expected("STALLED", "ESCALATE", "LLM_REFUSAL", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
        (Fault.CONFLICT, replace(used(failures=2), is_rebase=True), Expected("RELEASED", "RETRY", "MERGE_CONFLICT")),
        (Fault.CONFLICT, FRESH, Expected("ERRED RETRIED", "RETRY", "MERGE_CONFLICT")),
        (Fault.FOREIGN_PUSH, used(failures=2), Expected("STALLED", "ESCALATE", "MERGE_CONFLICT", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
        (Fault.REMOTE_AWAY, used(failures=2), Expected("STALLED", "ESCALATE", "REPOSITORY_UNAVAILABLE", "no key", QuestionKind.HELP, Waiting.EXTERNAL)),
    ],
    ids=[
        "tried again",
        "the same again",
        "another one with the same code",
        "the same again, but a stronger model is there",
        "what passes may come twice",
        "but not for ever",
        "given up",
        "a person has to do something",
        "the machine cannot",
        "tests lack something",
        "refused",
        "a rebase that does not apply is nobody's failure",
        "an executor cannot call its own failure a conflict",
        "others have pushed to the branch",
        "the remote is away",
    ],
)  # fmt: skip
def test_a_run_without_a_message(
    fault: Fault, case: TaskHistory, expected: Expected
) -> None:
    """Tried again where that may help; else a person is asked, or it is given up."""
    holds(rule_fault(fault, "no key", case, Fuses()), expected, State.IN_PROGRESS)


@pytest.mark.parametrize(
    ("fault", "case", "expected"),
    [
        (Fault.CRASHED, FRESH, Expected("MISREVIEWED", "RETRY", "EXECUTOR_ERROR")),
        (
            Fault.CRASHED,
            used(review_failures=2),
            Expected(
                "MISREVIEWED ESCALATED",
                "ESCALATE",
                "EXECUTOR_ERROR",
                "3 reviews failed",
            ),
        ),
        (
            Fault.NOT_INSTALLED,
            FRESH,
            Expected(
                "MISREVIEWED ESCALATED",
                "ESCALATE",
                "DEPENDENCY_MISSING",
                "1 reviews failed",
            ),
        ),
        (
            Fault.OVER_BUDGET,
            FRESH,
            Expected(
                "MISREVIEWED ESCALATED",
                "ESCALATE",
                "BUDGET_EXCEEDED",
                "1 reviews failed",
            ),
        ),
    ],
    ids=[
        "another reviewer",
        "too often",
        "a person has to do something",
        "the product is not given up",
    ],
)
def test_a_reviewer_who_ends_without_a_review(
    fault: Fault, case: TaskHistory, expected: Expected
) -> None:
    """It never counts against the product."""
    holds(
        rule_review_fault(fault, "it broke", case, Fuses()),
        expected,
        State.READY_TO_CHECK,
    )

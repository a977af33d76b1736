"""What the gateway's verdict on a change means for its task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.briefing import briefing
from accordance.domain.escalation import LadderStep, Level
from accordance.domain.findings import Finding, Gate, with_code
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Counters, State, Waiting
from accordance.domain.ruling import QuestionKind, TaskHistory, rule_submission
from accordance.domain.verdict import Checks, Outcome, Verdict
from tests.unit.domain.test_ruling import FRESH, Expected, holds

ALL_WELL = Checks(
    schema_valid=True,
    scope_clean=True,
    tests_passed=True,
    artifacts_complete=True,
    changed_files_match=True,
)
DONE = Verdict(outcome=Outcome.DONE, checks=ALL_WELL)


def found(
    gate: Gate, code: str, outcome: Outcome, level: Level, *, uses_attempt: bool = True
) -> Verdict:
    """A verdict led by one finding."""
    return Verdict(
        outcome=outcome,
        checks=ALL_WELL,
        findings=(Finding(gate, code, "it is so", ("Which list?",)),),
        reason_code=code,
        step=LadderStep(level),
        uses_attempt=uses_attempt,
    )


@pytest.mark.parametrize(
    ("verdict", "case", "expected"),
    [
        pytest.param(DONE, FRESH, Expected("APPROVED", "DONE", "PASSED"), id="done"),
        pytest.param(DONE, TaskHistory(used=Counters(), other_checks=1), Expected("PRODUCED", "DONE", "PASSED"), id="done, and to be reviewed"),
        pytest.param(DONE, TaskHistory(used=Counters(), other_checks=1, is_behind=True), Expected("RELEASED", "RETRY", "BEHIND"), id="done too late, in an old ledger"),
        pytest.param(DONE, TaskHistory(used=Counters(), is_overtaken=True), Expected("OVERTAKEN", "RETRY", "BEHIND"), id="done too late: it is rebased"),
        pytest.param(DONE, TaskHistory(used=Counters(), other_checks=1, is_overtaken=True), Expected("PRODUCED", "DONE", "PASSED"), id="done too late, and reviewed before it is rebased"),
        pytest.param(DONE, TaskHistory(used=Counters(), is_rebase=True), Expected("APPROVED", "DONE", "PASSED"), id="good on the new head, too"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.RETRY, Level.RETRY), TaskHistory(used=Counters(failures=9), is_rebase=True), Expected("RELEASED", "RETRY", "REBASE_FAILED"), id="good alone and not together: nobody has failed"),
        pytest.param(found(Gate.TESTS, "ENVIRONMENT_BROKEN", Outcome.ESCALATE, Level.HUMAN, uses_attempt=False), TaskHistory(used=Counters(), is_rebase=True), Expected("STALLED", "ESCALATE", "ENVIRONMENT_BROKEN", "ENVIRONMENT_BROKEN: it is so", QuestionKind.HELP, Waiting.EXTERNAL), id="a rebase that could not be tested"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.RETRY, Level.RETRY), FRESH, Expected("ERRED RETRIED", "RETRY", "CI_FAILED"), id="tests fail"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.ESCALATE, Level.MODEL_UPGRADE), FRESH, Expected("ERRED RETRIED", "ESCALATE", "CI_FAILED"), id="a stronger model tries"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.ESCALATE, Level.MODEL_UPGRADE), TaskHistory(used=Counters(attempts=10)), Expected("ERRED ESCALATED", "ESCALATE", "CI_FAILED", "MAX_CALLS_PER_TASK_EXCEEDED: CI_FAILED"), id="no ladder is endless"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.ESCALATE, Level.ROLE_ESCALATION), FRESH, Expected("ERRED ESCALATED", "ESCALATE", "CI_FAILED", "CI_FAILED: it is so"), id="a person gives it to another role"),
        pytest.param(found(Gate.TESTS, "CI_FAILED", Outcome.ESCALATE, Level.DEAD_LETTER), FRESH, Expected("ERRED BURIED", "ESCALATE", "CI_FAILED"), id="given up"),
        pytest.param(found(Gate.SCHEMA, "SCHEMA_VIOLATION", Outcome.REJECT, Level.RETRY), FRESH, Expected("UNPARSEABLE RETRIED", "REJECT", "SCHEMA_VIOLATION"), id="no contract honoured"),
        pytest.param(found(Gate.SCOPE, "SCOPE_CONFLICT", Outcome.REJECT, Level.HUMAN), FRESH, Expected("ERRED ESCALATED", "REJECT", "SCOPE_CONFLICT", "SCOPE_CONFLICT: it is so"), id="out of scope"),
        pytest.param(found(Gate.CONSTITUTION, "CONSTITUTION_VIOLATION", Outcome.REJECT, Level.DEAD_LETTER), FRESH, Expected("ERRED BURIED", "REJECT", "CONSTITUTION_VIOLATION"), id="a rule no task can lift"),
        pytest.param(
            found(Gate.NEED_INPUT, "NEED_INPUT_REQUIRED", Outcome.ESCALATE, Level.HUMAN, uses_attempt=False),
            FRESH,
            Expected("STALLED", "ESCALATE", "NEED_INPUT_REQUIRED", "it is so", QuestionKind.HELP, Waiting.INPUT),
            id="a question costs no attempt",
        ),
        pytest.param(
            found(Gate.TESTS, "ENVIRONMENT_BROKEN", Outcome.ESCALATE, Level.HUMAN, uses_attempt=False),
            FRESH,
            Expected("STALLED", "ESCALATE", "ENVIRONMENT_BROKEN", "ENVIRONMENT_BROKEN: it is so", QuestionKind.HELP, Waiting.EXTERNAL),
            id="what no agent can help costs no attempt",
        ),
    ],
)  # fmt: skip
def test_a_verdict_moves_its_task(
    verdict: Verdict, case: TaskHistory, expected: Expected
) -> None:
    """Approved, reviewed, tried again, a person asked, or given up: as the ladder has said."""
    ruling = rule_submission(verdict, case, Fuses())
    holds(ruling, expected, State.IN_PROGRESS)
    failed = any(
        event.name in ("ERRED", "LLM_UNPARSEABLE", "UNPARSEABLE")
        for event, _ in ruling.steps
    )
    assert ruling.error == (verdict.signature if failed else None)


def test_a_person_is_told_which_role_could_do_it() -> None:
    """Nobody is given more rights by a ladder."""
    verdict = replace(
        found(Gate.TESTS, "CI_FAILED", Outcome.ESCALATE, Level.ROLE_ESCALATION),
        step=LadderStep(Level.ROLE_ESCALATION, role="executor"),
    )
    ask = rule_submission(verdict, FRESH, Fuses()).ask
    assert ask is not None
    assert (
        ask.text
        == "CI_FAILED: it is so. The role executor may do more: give the task to it, or decide otherwise"
    )


def test_notices_are_kept_with_a_change_that_passed() -> None:
    """What a verdict rests on is told to whoever reads it later."""
    ruling = rule_submission(
        replace(DONE, notices=("the agent's choice",)), FRESH, Fuses()
    )
    assert ruling.messages == ("All checks passed.", "the agent's choice")


def test_a_code_is_told_once() -> None:
    """However often it is put before a text."""
    told = with_code("NO_COFFEE", "the machine is broken")
    assert (told, with_code("NO_COFFEE", told)) == (
        "NO_COFFEE: the machine is broken",
    ) * 2
    assert with_code("", "no code") == "no code"


def test_whoever_changes_a_repository_is_told_pins_tests_and_where_evidence_goes() -> (
    None
):
    """The task as it will be judged by; nobody else is told of such things."""
    contract = {"schema_version": "scc.submit.v1", "task_id": "t", "schema": {}}
    told = {"task": {"task_id": "t", "title": "Mend it"}, "contract": contract}
    change = {
        "task_id": "t",
        "pins": {"allowed_paths": ["src/**"]},
        "allowedTests": ["make test"],
    }
    pieces = {piece.name: piece for piece in briefing({**told, "change": change})}
    assert "src/**" in pieces["change"].text
    assert "artifacts/t/submit.json" in pieces["change"].text
    assert not pieces["change"].is_data  # the pins bind, so they instruct
    assert "change" not in {piece.name for piece in briefing(told)}
    spoken = {
        **told,
        "change": change,
        "contract": {**contract, "schema_version": "file_edits_v1"},
    }
    said = next(piece.text for piece in briefing(spoken) if piece.name == "change")
    assert "src/**" in said
    assert "artifacts/" not in said  # a model leaves no evidence

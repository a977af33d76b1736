"""The judge: the first gate that objects leads, everything is told, and the ladder says what follows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from accordance import Accepted, Context, check_value
from accordance.domain.escalation import LadderPosition, Level, NextAction
from accordance.domain.findings import Finding, Gate, Result, in_order, listed
from accordance.domain.judging import History, judge
from accordance.domain.verdict import Outcome, Verdict, as_outcome, as_verdict
from accordance.errors import GateNotRun
from tests.unit.cases import TASK_ID

FRESH = LadderPosition(
    attempt=1, max_attempts=2, model_tier=3, allowed_tiers=frozenset((3, 2))
)
SPENT = LadderPosition(
    attempt=2, max_attempts=2, model_tier=3, allowed_tiers=frozenset((3, 2))
)
CODES = {
    Gate.SCHEMA: "SCHEMA_VIOLATION",
    Gate.CONSTITUTION: "CONSTITUTION_VIOLATION",
    Gate.POLICY: "POLICY_VIOLATION",
    Gate.SCOPE: "SCOPE_CONFLICT",
    Gate.ENVIRONMENT: "ENVIRONMENT_BROKEN",
    Gate.BUDGET: "BUDGET_EXCEEDED",
    Gate.NEED_INPUT: "EXECUTOR_ERROR",  # an agent may give any reason for asking
    Gate.EVIDENCE: "ARTIFACT_MISSING",
    Gate.FILE_MATCH: "EVIDENCE_INVALID",
    Gate.TESTS: "CI_FAILED",
    Gate.STATUS: "MERGE_CONFLICT",
}


def results(*failing: Gate) -> list[Result]:
    """One result of every gate; the failing ones object once."""
    return [
        Result(
            gate,
            (Finding(gate, CODES[gate], f"{gate} objects"),) if gate in failing else (),
        )
        for gate in reversed(Gate)
    ]


@pytest.mark.seed("003-32", "003-34", "004-44")
@pytest.mark.parametrize(
    ("gate", "fresh", "spent"),
    [
        (Gate.SCHEMA, "REJECT retry", "REJECT model_upgrade"),
        (Gate.CONSTITUTION, "REJECT dlq", "REJECT dlq"),
        (Gate.POLICY, "REJECT human", "REJECT human"),
        (Gate.SCOPE, "REJECT human", "REJECT human"),
        (Gate.ENVIRONMENT, "ESCALATE human", "ESCALATE human"),
        (Gate.BUDGET, "ESCALATE dlq", "ESCALATE dlq"),
        (Gate.NEED_INPUT, "ESCALATE human", "ESCALATE human"),
        (Gate.EVIDENCE, "RETRY retry", "ESCALATE model_upgrade"),
        (Gate.FILE_MATCH, "RETRY retry", "ESCALATE model_upgrade"),
        (Gate.TESTS, "RETRY retry", "ESCALATE model_upgrade"),
        (Gate.STATUS, "RETRY retry", "ESCALATE model_upgrade"),
    ],
)
def test_each_gate_alone(gate: Gate, fresh: str, spent: str) -> None:
    """What its objection leads to, with attempts left and without."""
    for standing, expected in ((FRESH, fresh), (SPENT, spent)):
        verdict = judge(results(gate), History(standing))
        assert f"{verdict.outcome} {verdict.next_action}" == expected
        assert verdict.reason_code == CODES[gate]
        free = (Gate.NEED_INPUT, Gate.ENVIRONMENT)
        assert verdict.uses_attempt == (gate not in free)


@pytest.mark.parametrize(
    ("gate", "code", "is_free"),
    [
        pytest.param(Gate.TESTS, "ENVIRONMENT_BROKEN", True, id="told by the tests"),
        pytest.param(Gate.ENVIRONMENT, "ENVIRONMENT_BROKEN", True, id="nothing to run"),
        pytest.param(
            Gate.ENVIRONMENT, "ISOLATION_UNAVAILABLE", True, id="no isolation"
        ),
        pytest.param(
            Gate.TESTS,
            "ISOLATION_UNAVAILABLE",
            False,
            id="no isolation, in evidence from before the environment had a gate",
        ),
    ],
)
def test_what_no_agent_can_help_costs_no_attempt(
    gate: Gate, code: str, is_free: bool
) -> None:
    """A person is asked, whichever gate reports it."""
    broken = Finding(gate, code, "pytest is not installed")
    others = [result for result in results() if result.gate is not gate]
    for standing in (FRESH, SPENT):
        verdict = judge([*others, Result(gate, (broken,))], History(standing))
        assert f"{verdict.outcome} {verdict.next_action}" == "ESCALATE human"
        assert verdict.uses_attempt is not is_free
        assert not verdict.checks.tests_passed


REJECTED = (Gate.SCHEMA, Gate.CONSTITUTION, Gate.POLICY, Gate.SCOPE)


@pytest.mark.parametrize(
    "other", [gate for gate in Gate if gate is not Gate.ENVIRONMENT]
)
def test_only_what_is_rejected_outweighs_a_broken_environment(other: Gate) -> None:
    """No attempt could mend it, so none is asked for and none is lost."""
    verdict = judge(results(Gate.ENVIRONMENT, other), History(FRESH))
    if other in REJECTED:
        assert (verdict.reason_code, verdict.uses_attempt) == (CODES[other], True)
    else:
        assert verdict.reason_code == "ENVIRONMENT_BROKEN"
        assert (verdict.next_action, verdict.uses_attempt) == (NextAction.HUMAN, False)


@pytest.mark.parametrize(("one", "other"), list(pairwise(Gate)))
def test_the_earlier_gate_leads_and_the_later_is_told(one: Gate, other: Gate) -> None:
    """The order of judgement is the order of the gates, whatever order they ran in."""
    verdict = judge(results(one, other), History(FRESH))
    assert verdict.reason_code == CODES[one]
    assert verdict.messages == (f"{one} objects", f"{other} objects")
    assert verdict.reason == f"{one} objects (1 more)"


@pytest.mark.seed("003-31")
def test_clean_work_is_done_even_on_the_last_attempt() -> None:
    """No finding, no reason, nothing further to do."""
    verdict = judge(results(), History(SPENT, ["CI_FAILED"]))
    assert (verdict.outcome, verdict.reason_code, verdict.next_action) == (
        Outcome.DONE,
        None,
        NextAction.NONE,
    )
    assert (verdict.reason, verdict.signature) == ("All checks passed.", "")


@pytest.mark.seed("003-33")
def test_the_same_error_again_is_not_retried() -> None:
    """The way it failed is compared, not only the code; the count starts anew after another error."""
    standing = LadderPosition(
        attempt=2, max_attempts=5, model_tier=3, allowed_tiers=frozenset((2,))
    )
    same = judge(results(Gate.TESTS), History(standing)).signature
    outcomes = [
        judge(results(Gate.TESTS), History(standing, earlier)).outcome
        for earlier in (
            [],
            [same],
            [same, "CI_FAILED: another test"],
            ["CI_FAILED: another test", same],
        )
    ]
    assert outcomes == [
        Outcome.RETRY,
        Outcome.ESCALATE,
        Outcome.RETRY,
        Outcome.ESCALATE,
    ]


@pytest.mark.parametrize("gate", Gate)
def test_a_gate_that_did_not_run_is_an_error(gate: Gate) -> None:
    """It is never a pass."""
    with pytest.raises(GateNotRun, match=f"not run: {gate}"):
        judge(
            [result for result in results() if result.gate is not gate], History(FRESH)
        )


def test_a_gate_with_two_results_is_an_error() -> None:
    """Nobody could say which one counts."""
    with pytest.raises(GateNotRun, match="schema has two results"):
        in_order([*results(), Result(Gate.SCHEMA)])


@pytest.mark.parametrize(
    "failing", [(), (Gate.SCOPE, Gate.TESTS), (Gate.SCHEMA,), tuple(Gate)]
)
def test_both_wire_shapes_honour_their_contracts(failing: tuple[Gate, ...]) -> None:
    """And say the same: PASS if and only if DONE, the same checks under either name."""
    verdict = judge(results(*failing), History(FRESH))
    links = dict.fromkeys(
        ("submit_json", "report_md", "selftest_log", "patch_diff", "evidence_dir"), "x"
    )
    by_003 = as_outcome(verdict, TASK_ID)
    by_004 = as_verdict(
        verdict,
        TASK_ID,
        submitted_at="2026-01-01T12:00:00Z",
        evaluated_at="2026-01-01T12:00:01Z",
        links=links,
    )
    for shape in (by_003, by_004):
        assert isinstance(
            check_value(shape, str(shape["schema_version"]), Context(task_id=TASK_ID)),
            Accepted,
        )
    assert by_004["verdict"] == ("FAIL" if failing else "PASS")
    assert ("reason_code" in by_004) == bool(failing)
    assert shown(by_003) == {
        "schema_valid": Gate.SCHEMA not in failing,
        "scope_clean": Gate.SCOPE not in failing,
        "tests_passed": not {Gate.TESTS, Gate.ENVIRONMENT}.intersection(failing),
        "artifacts_complete": Gate.EVIDENCE not in failing,
        "changed_files_match": Gate.FILE_MATCH not in failing,
    }
    assert list(shown(by_004).values()) == list(shown(by_003).values())[:4]


def shown(shape: dict[str, object]) -> dict[str, bool]:
    """The checks of a shape."""
    checks = shape["checks"]
    assert isinstance(checks, dict)
    return checks


def test_a_verdict_is_a_value() -> None:
    """The same findings and history give the same verdict."""
    one, other = (judge(results(Gate.TESTS), History(FRESH)) for _ in range(2))
    assert one == other
    assert isinstance(one, Verdict)
    assert one.step
    assert one.step.level is Level.RETRY


def test_long_lists_are_counted() -> None:
    """Ten by name, the rest by number."""
    assert listed([str(n) for n in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert listed([str(n) for n in range(12)]).endswith("9 and 2 more")

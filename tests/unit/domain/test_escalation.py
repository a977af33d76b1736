"""The ladder, its fast tracks, and what the next attempt is told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from accordance.contracts.catalogue.reasons import REASON_CODES
from accordance.contracts.catalogue.verdict import ACTIONS as WIRE_ACTIONS
from accordance.domain.escalation import (
    ACTIONS,
    FAST_TRACKS,
    LEVELS,
    LadderPosition,
    LadderStep,
    Level,
    NextAction,
    next_step,
    tiers_of,
)
from accordance.domain.fail_codes import FAIL_CODES, fail_code, normal_reason
from accordance.domain.findings import Finding, Gate
from accordance.domain.retrying import (
    STRATEGIES,
    DeadLetter,
    Strategy,
    feedback_for,
    retry_plan,
)
from accordance.domain.verdict import Checks, Outcome, Verdict
from accordance.errors import UnknownCode

STANDING = LadderPosition(
    attempt=2,
    max_attempts=2,
    model_tier=3,
    allowed_tiers=frozenset((3, 2, 1)),
    higher_role=True,
)


@pytest.mark.seed("003-30", "003-33")
@pytest.mark.parametrize(
    ("change", "step"),
    [
        pytest.param({"attempt": 1}, LadderStep(Level.RETRY), id="attempts left"),
        pytest.param({}, LadderStep(Level.MODEL_UPGRADE, 2), id="none left: the next tier"),
        pytest.param({"model_tier": 2}, LadderStep(Level.MODEL_UPGRADE, 1), id="and the next"),
        pytest.param({"allowed_tiers": frozenset((3, 1))}, LadderStep(Level.MODEL_UPGRADE, 1), id="a tier may be left out"),
        pytest.param({"model_tier": 1}, LadderStep(Level.ROLE_ESCALATION), id="no stronger model"),
        pytest.param({"model_tier": None}, LadderStep(Level.ROLE_ESCALATION), id="a model nobody knows"),
        pytest.param({"model_tier": 1, "higher_role": False}, LadderStep(Level.DEAD_LETTER), id="nothing left"),
        pytest.param({"level": Level.MODEL_UPGRADE, "model_tier": 2}, LadderStep(Level.MODEL_UPGRADE, 1), id="on the level, further"),
        pytest.param({"attempt": 1, "same_error_count": 2}, LadderStep(Level.MODEL_UPGRADE, 2), id="the same error again"),
        pytest.param({"attempt": 1, "same_error_count": 2, "repeat_threshold": 3}, LadderStep(Level.RETRY), id="not often enough"),
        pytest.param({"same_error_count": 2, "level": Level.MODEL_UPGRADE}, LadderStep(Level.ROLE_ESCALATION), id="the same error leaves its level"),
        pytest.param({"same_error_count": 2, "level": Level.ROLE_ESCALATION}, LadderStep(Level.DEAD_LETTER), id="the same error, no role left"),
        pytest.param({"level": Level.HUMAN}, LadderStep(Level.HUMAN), id="a person has it"),
        pytest.param({"level": Level.DEAD_LETTER, "attempt": 1}, LadderStep(Level.DEAD_LETTER), id="given up is given up"),
        pytest.param({"level": Level.HUMAN, "human_resolved": True}, LadderStep(Level.RETRY), id="a person resolved it"),
        pytest.param({"level": Level.HUMAN, "human_resolved": False}, LadderStep(Level.DEAD_LETTER), id="a person could not"),
    ],
)  # fmt: skip
def test_the_ladder(change: dict[str, int], step: LadderStep) -> None:
    """Where red tests lead, from each standing."""
    assert next_step("CI_FAILED", replace(STANDING, **change)) == step  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "level"), FAST_TRACKS.items())
def test_fast_tracks_ask_nothing_else(code: str, level: Level) -> None:
    """Attempts left or not."""
    assert (
        next_step(code, replace(STANDING, attempt=1))
        == next_step(code, STANDING)
        == LadderStep(level)
    )


def test_the_tables_agree() -> None:
    """Every level has an action and a sentence, every action is the seed's, every code in a table exists."""
    assert set(ACTIONS) == set(LEVELS) == set(Level)
    assert [action.value for action in NextAction] == list(WIRE_ACTIONS)
    assert {*FAST_TRACKS, *STRATEGIES, *REASON_CODES} <= {
        entry.code for entry in FAIL_CODES
    }
    assert len({entry.code for entry in FAIL_CODES}) == len(FAIL_CODES)


@pytest.mark.parametrize(
    ("reason", "change", "step"),
    [
        pytest.param("MODEL_UNAVAILABLE", {}, LadderStep(Level.MODEL_UPGRADE, 2), id="another model"),
        pytest.param("MODEL_UNAVAILABLE", {"model_tier": 1}, LadderStep(Level.HUMAN), id="no other model"),
        pytest.param("SPLIT_REQUIRED", {}, LadderStep(Level.HUMAN), id="too large for anybody"),
        pytest.param("DEPENDENCY_MISSING", {}, LadderStep(Level.HUMAN), id="nothing the agent could install"),
        pytest.param("CI_FAILED", {"upgrades_at_once": True}, LadderStep(Level.MODEL_UPGRADE, 2), id="a run that upgrades at once"),
        pytest.param("CI_FAILED", {"upgrades_at_once": True, "model_tier": 1}, LadderStep(Level.RETRY), id="the strongest tries again"),
        pytest.param("CI_FAILED", {"attempt": 2, "model_tier": 1, "role_above": "executor"}, LadderStep(Level.ROLE_ESCALATION, role="executor"), id="another role, by its name"),
    ],
)  # fmt: skip
def test_what_the_same_agent_cannot_mend(
    reason: str, change: dict[str, int], step: LadderStep
) -> None:
    """With attempts left: a gap in what somebody can do is no reason to let them try again."""
    assert next_step(reason, replace(STANDING, **{"attempt": 1, **change})) == step  # type: ignore[arg-type]


def test_tiers_of_models() -> None:
    """Models outside the table have none; a deployment brings its own table."""
    assert tiers_of(["glm-4.7", "gpt-4o", "unheard-of"]) == {3, 1}
    assert tiers_of(["mine"], {"mine": 7}) == {7}


@pytest.mark.parametrize(
    ("claimed", "stored"),
    [(None, None), ("", None), (" OK ", None), ("ci_failed", "CI_FAILED"), ("evidence_missing", "ARTIFACT_MISSING"), ("My_Own", None), ("red, sorry", None)],
)  # fmt: skip
def test_reason_codes_are_stored_in_one_spelling(
    claimed: str | None, stored: str | None
) -> None:
    """Upper case, aliases resolved; ok is none, and so is what is no fail code."""
    assert normal_reason(claimed) == stored


def test_fail_codes_by_name() -> None:
    """In any letter case, by an alias too; others are refused with the nearest."""
    assert fail_code("ci_skipped").severity == "medium"
    assert fail_code("needs_clarification").code == "NEED_INPUT_REQUIRED"
    with pytest.raises(UnknownCode, match="did you mean CI_FAILED"):
        fail_code("CI_FAILD")


def a_verdict(*findings: Finding, step: LadderStep | None) -> Verdict:
    """A verdict with these findings."""
    checks = Checks(
        schema_valid=True, scope_clean=True, tests_passed=False, artifacts_complete=True, changed_files_match=True
    )  # fmt: skip
    code = findings[0].code if findings else None
    return Verdict(
        outcome=Outcome.RETRY,
        checks=checks,
        findings=findings,
        reason_code=code,
        step=step,
    )


RED = Finding(Gate.TESTS, "CI_FAILED", "exit code 1: make test", ("make test",))
ODD = Finding(Gate.STATUS, "MY_OWN", "the agent says that it failed (MY_OWN)")


@pytest.mark.seed("003-11")
def test_what_the_next_attempt_is_told() -> None:
    """Every finding in a line, with the way out where the code is known."""
    assert feedback_for(a_verdict(RED, ODD, step=LadderStep(Level.RETRY))) == (
        "Your last attempt was not accepted: CI_FAILED.\n"
        "- exit code 1: make test [CI_FAILED] Fix the cause and run every test command again.\n"
        "- the agent says that it failed (MY_OWN) [MY_OWN]\n"
    )


def test_it_is_told_compactly() -> None:
    """At most so many bytes, and how many findings are left out."""
    verdict = a_verdict(
        *(Finding(Gate.TESTS, "CI_FAILED", "ä" * 300) for _ in range(50)),
        step=LadderStep(Level.RETRY),
    )
    told = feedback_for(verdict)
    assert len(told.encode()) <= 2000
    assert told.endswith("- and 48 more.\n")


@pytest.mark.parametrize(
    ("step", "planned"),
    [
        (LadderStep(Level.RETRY), True),
        (LadderStep(Level.MODEL_UPGRADE, 2), True),
        (LadderStep(Level.ROLE_ESCALATION), True),
        (LadderStep(Level.HUMAN), False),
        (LadderStep(Level.DEAD_LETTER), False),
        (None, False),
    ],
)
def test_there_is_a_plan_only_where_an_agent_has_the_next_move(
    step: LadderStep | None, planned: bool
) -> None:
    """A person or a dead letter needs none."""
    plan = retry_plan(a_verdict(RED, step=step), attempt=1)
    assert (plan is not None) == planned
    if plan:
        assert (plan.attempt, plan.step, plan.strategy) == (
            2,
            step,
            Strategy.SHRINK_RADIUS,
        )


def test_a_dead_letter_holds_what_is_needed_to_begin_again() -> None:
    """The task itself, the base, how it failed each time, what was asked; no two letters share an id."""
    letter = DeadLetter(
        task={"task_id": "t", "goal": "g"},
        verdict=a_verdict(RED, step=LadderStep(Level.DEAD_LETTER)),
        attempt=2,
        created_at="2026-01-01T12:00:00Z",
        base_commit="abc",
        missing_inputs=("Which port?",),
        earlier=("ARTIFACT_MISSING: report_md",),
        evidence={"report_md": "artifacts/t/report.md"},
    )
    assert replace(letter, attempt=3).id != letter.id
    assert json.loads(json.dumps(letter.to_json())) == {
        "id": "t.2",
        "task_id": "t",
        "state": "OPEN",
        "created_at": "2026-01-01T12:00:00Z",
        "reason_code": "CI_FAILED",
        "summary": "exit code 1: make test",
        "missing_inputs": ["Which port?"],
        "attempt": 2,
        "history": ["ARTIFACT_MISSING: report_md", "CI_FAILED: make test"],
        "base_commit": "abc",
        "evidence": {"report_md": "artifacts/t/report.md"},
        "task": {"task_id": "t", "goal": "g"},
    }

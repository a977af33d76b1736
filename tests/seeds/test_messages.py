"""What the seeds ask of each message: the whole message is accepted, and with one thing wrong it is refused there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Context, Rejected, check
from tests.messages import (
    ACTION,
    ANSWER,
    HANDOFF,
    NEEDS_INPUT,
    OUTCOME,
    REQUEST,
    REVIEW,
    SUBMIT,
    TASK,
    TASK_INPUT,
    VERDICT,
    Message,
    changed,
    small_plan,
)

PLAN_MESSAGE = small_plan()
ERROR: Message = {
    "schema_version": "xiaobo_action_v1",
    "task_id": TASK,
    "result_type": "ERROR",
    "error": {
        "code": "NO_SHEET",
        "message": "There is no sheet.",
        "suggestion": "Ask the supplier.",
    },
}
NOOP: Message = {
    "schema_version": "xiaobo_action_v1",
    "task_id": TASK,
    "result_type": "NOOP",
}
FULL_REQUEST: Message = {
    **REQUEST,
    "prior_agents": ["research-question-refiner"],
    "constraints": {
        "time_budget": 60,
        "context_budget": 8000,
        "quality_level": "standard",
    },
    "user_preferences": {"vs_novelty_dial": 0.4, "language": "ko"},
}
GONE: Any = ...  # what is taken out


def broken(
    scope: str,
    message: Message,
    path: str,
    value: Any,
    *demands: str,
    at: str | None = None,
) -> Any:
    """A message with one thing wrong, at a dotted path; the violation stands there, or at `at`."""
    place = at or _json_path(path)
    name = f"{scope}: {path} is {'missing' if value is GONE else json.dumps(value, ensure_ascii=False)}"
    return pytest.param(
        scope, message, path, value, place, id=name, marks=pytest.mark.seed(*demands)
    )


def _json_path(path: str) -> str:
    steps = [f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".")]
    return "$" + "".join(steps)


def accepted(message: Message, scope: str) -> bool:
    result = check(json.dumps(message), scope, Context(task_id=message.get("task_id")))
    return isinstance(result, Accepted)


@pytest.mark.parametrize(
    ("scope", "message", "path", "value", "place"),
    [
        # seed 000 and 001: actions
        broken(
            "TASK_ACTION",
            ACTION,
            "schema_version",
            "xiaobo_action_v9",
            "000-5",
            "000-6",
            "001-8",
        ),
        broken(
            "TASK_ACTION", ACTION, "schema_version", GONE, "000-5", "000-6", "001-3"
        ),
        broken("TASK_ACTION", ACTION, "task_id", GONE, "000-7", "001-3"),
        broken("TASK_ACTION", ACTION, "result_type", "MAYBE", "000-8", "001-10"),
        broken("TASK_ACTION", NEEDS_INPUT, "needs_input", GONE, "000-16"),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs",
            [],
            "000-9",
            "000-16",
        ),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs.0.name",
            GONE,
            "000-9",
            "001-12",
        ),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs.0.description",
            GONE,
            "000-9",
            "001-12",
        ),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs.0.accepted_types",
            GONE,
            "000-10",
            "001-12",
        ),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs.0.suggested_path",
            GONE,
            "001-12",
        ),
        broken(
            "TASK_ACTION",
            NEEDS_INPUT,
            "needs_input.required_docs.0.suggested_path",
            "elsewhere/x",
            "000-11",
        ),
        broken("TASK_ACTION", ACTION, "artifact", GONE, "000-17"),
        broken(
            "TASK_ACTION", ACTION, "artifact.name", GONE, "000-12", "000-17", "001-11"
        ),
        broken("TASK_ACTION", ACTION, "artifact.format", "exe", "000-12", "001-11"),
        broken("TASK_ACTION", ACTION, "artifact.format", GONE, "000-17"),
        broken(
            "TASK_ACTION",
            ACTION,
            "artifact.content",
            GONE,
            "000-12",
            "000-17",
            "001-11",
        ),
        broken(
            "TASK_ACTION",
            ACTION,
            "artifact.path_hint",
            "workspace/artifacts/another/x.md",
            "000-13",
        ),
        broken("TASK_ACTION", ACTION, "artifact.summary", 7, "000-14"),
        broken("TASK_ACTION", ERROR, "error", GONE, "000-15"),
        broken("TASK_ACTION", ERROR, "error.code", GONE, "000-15"),
        broken("TASK_ACTION", ERROR, "error.message", GONE, "000-15"),
        broken("TASK_ACTION", ERROR, "error.suggestion", 7, "000-15"),
        # seed 000 and 001: reviews
        broken(
            "TASK_CHECK",
            REVIEW,
            "schema_version",
            "xiaobo_action_v1",
            "000-21",
            "001-17",
        ),
        broken("TASK_CHECK", REVIEW, "task_id", GONE, "000-21", "001-18", "001-5"),
        broken("TASK_CHECK", REVIEW, "review_target", "HOUSE", "000-21", "001-19"),
        broken("TASK_CHECK", REVIEW, "review_target", "PLAN", "001-5", "001-15"),
        broken(
            "PLAN_REVIEW",
            changed(REVIEW, "review_target", "PLAN"),
            "review_target",
            "NODE",
            "001-4",
            "001-15",
        ),
        broken("TASK_CHECK", REVIEW, "total_score", 101, "000-22", "001-20"),
        broken("TASK_CHECK", REVIEW, "total_score", "60", "001-20"),
        broken("TASK_CHECK", REVIEW, "breakdown", GONE, "000-23", "001-23"),
        broken("TASK_CHECK", REVIEW, "breakdown.0.dimension", GONE, "000-20", "000-23"),
        broken("TASK_CHECK", REVIEW, "breakdown.0.score", GONE, "000-23"),
        broken("TASK_CHECK", REVIEW, "breakdown.0.max_score", GONE, "000-23"),
        broken("TASK_CHECK", REVIEW, "breakdown.0.issues.0.problem", GONE, "000-24"),
        broken(
            "TASK_CHECK",
            REVIEW,
            "breakdown.0.issues.0.evidence",
            GONE,
            "000-24",
            "000-30",
        ),
        broken("TASK_CHECK", REVIEW, "breakdown.0.issues.0.impact", GONE, "000-24"),
        broken("TASK_CHECK", REVIEW, "breakdown.0.issues.0.suggestion", GONE, "000-24"),
        broken(
            "TASK_CHECK",
            REVIEW,
            "breakdown.0.issues.0.acceptance_criteria",
            GONE,
            "000-24",
            "000-30",
        ),
        broken("TASK_CHECK", REVIEW, "summary", GONE, "000-25", "001-22"),
        broken("TASK_CHECK", REVIEW, "action_required", "SHRUG", "000-26", "001-21"),
        broken("TASK_CHECK", REVIEW, "suggestions", GONE, "000-27", "001-24"),
        broken(
            "TASK_CHECK",
            REVIEW,
            "suggestions.0.priority",
            "WHENEVER",
            "000-27",
            "001-24",
        ),
        broken("TASK_CHECK", REVIEW, "suggestions.0.change", GONE, "000-27", "001-24"),
        broken("TASK_CHECK", REVIEW, "suggestions.0.steps", GONE, "000-27", "001-24"),
        broken(
            "TASK_CHECK",
            REVIEW,
            "suggestions.0.acceptance_criteria",
            GONE,
            "000-27",
            "001-24",
        ),
        broken("TASK_CHECK", REVIEW, "action_required", "APPROVE", "000-29"),
        # seed 001: plans
        *(
            broken("PLAN_GEN", PLAN_MESSAGE, f"plan.{key}", GONE, "001-29")
            for key in (
                "plan_id",
                "title",
                "root_task_id",
                "created_at",
                "owner_agent_id",
                "constraints",
            )
        ),
        *(
            broken("PLAN_GEN", PLAN_MESSAGE, f"nodes.1.{key}", GONE, "001-30")
            for key in (
                "task_id",
                "plan_id",
                "node_type",
                "title",
                "owner_agent_id",
                "priority",
                "tags",
            )
        ),
        *(
            broken("PLAN_GEN", PLAN_MESSAGE, f"edges.0.{key}", GONE, "001-31")
            for key in (
                "edge_id",
                "plan_id",
                "from_task_id",
                "to_task_id",
                "edge_type",
                "metadata",
            )
        ),
        broken("PLAN_GEN", PLAN_MESSAGE, "nodes.1.node_type", "WISH", "001-6"),
        broken("PLAN_GEN", PLAN_MESSAGE, "edges.0.edge_type", "NEAR", "001-6"),
        broken(
            "PLAN_GEN",
            PLAN_MESSAGE,
            "requirements",
            ["a sheet"],
            "001-32",
            at="$.requirements[0]",
        ),
        broken("PLAN_GEN", PLAN_MESSAGE, "requirements", {"name": "a sheet"}, "001-32"),
        # seed 002: requests, answers and handoffs
        broken("agent_request_v1", FULL_REQUEST, "task_id", "t-1", "002-2"),
        broken("agent_request_v1", FULL_REQUEST, "task_type", "cooking", "002-3"),
        broken("agent_request_v1", FULL_REQUEST, "user_query", GONE, "002-4"),
        broken("agent_request_v1", FULL_REQUEST, "context.research_domain", 7, "002-5"),
        broken("agent_request_v1", FULL_REQUEST, "context.stage", "resting", "002-6"),
        broken("agent_request_v1", FULL_REQUEST, "prior_agents", "A1", "002-7"),
        broken(
            "agent_request_v1",
            FULL_REQUEST,
            "constraints.time_budget",
            "an hour",
            "002-8",
        ),
        broken(
            "agent_request_v1",
            FULL_REQUEST,
            "constraints.context_budget",
            "small",
            "002-9",
        ),
        broken(
            "agent_request_v1",
            FULL_REQUEST,
            "constraints.quality_level",
            "perfect",
            "002-10",
        ),
        broken(
            "agent_request_v1",
            FULL_REQUEST,
            "user_preferences.vs_novelty_dial",
            1.5,
            "002-11",
        ),
        broken(
            "agent_request_v1",
            FULL_REQUEST,
            "user_preferences.language",
            "xx",
            "002-12",
        ),
        broken(
            "agent_answer_v1", ANSWER, "agent_id", GONE, "002-1", "002-13", "002-51"
        ),
        broken("agent_answer_v1", ANSWER, "vs_level", "Huge", "002-14"),
        broken("agent_answer_v1", ANSWER, "vs_level", GONE, "002-14", "002-51"),
        broken("agent_answer_v1", ANSWER, "execution_timestamp", "yesterday", "002-15"),
        broken(
            "agent_answer_v1",
            ANSWER,
            "vs_metadata.phase_executed",
            [0, 9],
            "002-16",
            at="$.vs_metadata.phase_executed[1]",
        ),
        broken(
            "agent_answer_v1", ANSWER, "vs_metadata.modal_identified", "TAM", "002-17"
        ),
        broken(
            "agent_answer_v1", ANSWER, "vs_metadata.t_scores", [], "002-18", "002-52"
        ),
        broken(
            "agent_answer_v1", ANSWER, "vs_metadata.t_scores.0.option", GONE, "002-18"
        ),
        broken(
            "agent_answer_v1",
            ANSWER,
            "vs_metadata.t_scores.0.score",
            1.2,
            "002-18",
            "002-53",
        ),
        broken(
            "agent_answer_v1",
            ANSWER,
            "vs_metadata.t_scores.0.rationale",
            GONE,
            "002-18",
        ),
        broken(
            "agent_answer_v1",
            ANSWER,
            "vs_metadata.final_selection.option",
            GONE,
            "002-19",
        ),
        broken(
            "agent_answer_v1",
            ANSWER,
            "vs_metadata.final_selection.justification",
            GONE,
            "002-19",
        ),
        broken(
            "agent_answer_v1",
            ANSWER,
            "content.summary",
            "One. Two. Three. Four. Five.",
            "002-20",
        ),
        broken("agent_answer_v1", ANSWER, "content.main_output", "text", "002-21"),
        broken("agent_answer_v1", ANSWER, "content.confidence", 1.1, "002-22"),
        broken("agent_answer_v1", ANSWER, "provenance.sources", "Pekrun", "002-23"),
        broken("agent_answer_v1", ANSWER, "provenance.reasoning_trace", GONE, "002-23"),
        broken("agent_answer_v1", ANSWER, "provenance.assumptions", GONE, "002-23"),
        broken("agent_answer_v1", ANSWER, "self_critique", GONE, "002-41", "002-54"),
        broken("agent_answer_v1", ANSWER, "self_critique.strengths", GONE, "002-26"),
        broken("agent_answer_v1", ANSWER, "self_critique.weaknesses", GONE, "002-26"),
        broken(
            "agent_answer_v1",
            ANSWER,
            "self_critique.improvement_suggestions",
            GONE,
            "002-26",
        ),
        broken("agent_handoff_v1", HANDOFF, "from_agent", GONE, "002-43"),
        broken("agent_handoff_v1", HANDOFF, "to_agent", GONE, "002-43"),
        broken("agent_handoff_v1", HANDOFF, "handoff_type", "sideways", "002-44"),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "context_transfer.summary",
            "word " * 101,
            "002-45",
        ),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "context_transfer.key_decisions",
            "theory",
            "002-46",
        ),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "context_transfer.open_questions",
            "none",
            "002-47",
        ),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "context_transfer.constraints_inherited",
            "none",
            "002-48",
        ),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "validation.required_fields_check",
            "yes",
            "002-49",
        ),
        broken(
            "agent_handoff_v1", HANDOFF, "validation.schema_compliance", GONE, "002-49"
        ),
        broken(
            "agent_handoff_v1",
            HANDOFF,
            "validation.vs_phase_completion",
            GONE,
            "002-49",
        ),
        # seeds 003 and 004: tasks
        broken("scc.task.v1", TASK_INPUT, "task_id", "t-1", "003-1", "004-5", "004-15"),
        broken("scc.task.v1", TASK_INPUT, "goal", GONE, "003-2", "004-6"),
        broken("scc.task.v1", TASK_INPUT, "role", "cook", "003-3", "004-7"),
        broken("scc.task.v1", TASK_INPUT, "pins", GONE, "004-4", "004-8"),
        broken("scc.task.v1", TASK_INPUT, "pins.allowed_paths", [], "004-16"),
        broken("scc.task.v1", TASK_INPUT, "files", "src/app.py", "003-6"),
        broken("scc.task.v1", TASK_INPUT, "allowedTests", "pytest", "003-7"),
        broken("scc.task.v1", TASK_INPUT, "timeoutMs", "soon", "003-13"),
        # seeds 003 and 004: submissions
        broken(
            "scc.submit.v1",
            SUBMIT,
            "schema_version",
            "scc.submit.v9",
            "003-15",
            "003-16",
            "004-22",
        ),
        broken("scc.submit.v1", SUBMIT, "task_id", GONE, "003-17", "004-23"),
        broken("scc.submit.v1", SUBMIT, "status", "NEARLY", "003-18", "004-24"),
        broken("scc.submit.v1", SUBMIT, "changed_files", GONE, "003-20", "004-26"),
        broken("scc.submit.v1", SUBMIT, "tests", GONE, "003-22", "004-27"),
        broken("scc.submit.v1", SUBMIT, "tests.commands", "pytest", "003-22", "004-28"),
        broken("scc.submit.v1", SUBMIT, "tests.passed", "yes", "003-22", "004-29"),
        broken("scc.submit.v1", SUBMIT, "tests.summary", 7, "003-22", "004-30"),
        broken(
            "scc.submit.v1", SUBMIT, "artifacts", GONE, "003-23", "004-21", "004-31"
        ),
        *(
            broken(
                "scc.submit.v1", SUBMIT, f"artifacts.{key}", GONE, "003-23", "004-31"
            )
            for key in (
                "report_md",
                "selftest_log",
                "evidence_dir",
                "patch_diff",
                "submit_json",
            )
        ),
        broken("scc.submit.v1", SUBMIT, "exit_code", GONE, "003-24", "004-32"),
        broken("scc.submit.v1", SUBMIT, "exit_code", 1, "004-34"),
        broken(
            "scc.submit.v1",
            changed(changed(SUBMIT, "status", "NEED_INPUT"), "needs_input", ["Which?"]),
            "needs_input",
            [],
            "003-25",
            "004-33",
        ),
        # seeds 003 and 004: verdicts
        broken("scc.outcome.v1", OUTCOME, "task_id", GONE, "003-26"),
        broken("scc.outcome.v1", OUTCOME, "verdict", "PERHAPS", "003-27"),
        broken("scc.outcome.v1", OUTCOME, "reason", GONE, "003-28"),
        *(
            broken("scc.outcome.v1", OUTCOME, f"checks.{key}", GONE, "003-29")
            for key in OUTCOME["checks"]
        ),
        broken("scc.outcome.v1", OUTCOME, "next_action", "pray", "003-30"),
        broken("scc.verdict.v1", VERDICT, "schema_version", GONE, "004-39"),
        broken("scc.verdict.v1", VERDICT, "verdict", "PERHAPS", "004-38", "004-39"),
        broken("scc.verdict.v1", VERDICT, "messages", "fine", "004-39"),
        *(
            broken("scc.verdict.v1", VERDICT, f"checks.{key}", GONE, "004-40", "004-44")
            for key in VERDICT["checks"]
        ),
        broken("scc.verdict.v1", VERDICT, "timestamps.submitted_at", GONE, "004-41"),
        broken(
            "scc.verdict.v1", VERDICT, "timestamps.evaluated_at", "yesterday", "004-41"
        ),
        *(
            broken("scc.verdict.v1", VERDICT, f"links.{key}", GONE, "004-42")
            for key in VERDICT["links"]
        ),
    ],
)
def test_a_message_with_one_thing_wrong_is_refused_there(
    scope: str, message: Message, path: str, value: Any, place: str
) -> None:
    """Its honest twin is accepted."""
    assert accepted(message, scope)
    result = check(json.dumps(changed(message, path, value)), scope)
    assert isinstance(result, Rejected), result
    assert place in [violation.path for violation in result.violations]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[1]", id="an array", marks=pytest.mark.seed("000-3")),
        pytest.param(
            json.dumps(NOOP) * 2, id="two objects", marks=pytest.mark.seed("000-3")
        ),
        pytest.param(
            "Sure: " + json.dumps(NOOP),
            id="prose before it",
            marks=pytest.mark.seed("000-4"),
        ),
        pytest.param(
            json.dumps(NOOP) + " Done!",
            id="prose after it",
            marks=pytest.mark.seed("000-4"),
        ),
        pytest.param(
            f"```json\n{json.dumps(NOOP)}\n```",
            id="a fence",
            marks=pytest.mark.seed("000-4"),
        ),
    ],
)
def test_a_message_is_exactly_one_object(text: str) -> None:
    """The object alone is accepted."""
    assert accepted(NOOP, "TASK_ACTION")
    assert isinstance(check(text, "TASK_ACTION"), Rejected)


@pytest.mark.parametrize(
    ("score", "action", "good"),
    [
        pytest.param(90, "APPROVE", True, marks=pytest.mark.seed("000-28")),
        pytest.param(90, "MODIFY", False, marks=pytest.mark.seed("000-28")),
        pytest.param(
            95, "REQUEST_EXTERNAL_INPUT", False, marks=pytest.mark.seed("000-28")
        ),
        pytest.param(89, "MODIFY", True, marks=pytest.mark.seed("000-29")),
        pytest.param(
            89, "REQUEST_EXTERNAL_INPUT", True, marks=pytest.mark.seed("000-29")
        ),
        pytest.param(89, "APPROVE", False, marks=pytest.mark.seed("000-29")),
    ],
)
def test_the_score_and_the_decision_agree(score: int, action: str, good: bool) -> None:
    """Ninety is the line."""
    review = changed(changed(REVIEW, "total_score", score), "action_required", action)
    assert accepted(review, "TASK_CHECK") is good

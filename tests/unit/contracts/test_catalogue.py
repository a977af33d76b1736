"""The contracts of the catalogue: what the vectors do not reach. One table per contract: a change, and what it breaks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from accordance import Accepted, Context, Pins, Registry, Rejected, check, registry
from accordance.contracts.catalogue.action import is_plainly_in_order
from accordance.contracts.catalogue.submit import Submit
from accordance.contracts.catalogue.task import context_of
from accordance.contracts.checking import Checker
from accordance.domain.executor_specs import KINDS
from tests.messages import (
    ACTION,
    ANSWER,
    EDITS,
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
)

ERROR: Message = {
    "schema_version": "xiaobo_action_v1",
    "task_id": TASK,
    "result_type": "ERROR",
    "error": {"code": "NO_ACCESS", "message": "encrypted"},
}
DOC = "needs_input.required_docs.0."
PINNED = Context(
    task_id=TASK,
    pins=Pins.of(["src/**", "tests/"], ["**/secrets/**"]),
    allowed_tests=("pytest -q",),
)

BROKEN = [
    # (message, change, value, codes with paths)
    (ACTION, "task_id", "", ["empty $.task_id"]),
    (ACTION, "artifact", None, ["branch_missing $.artifact"]),
    (ACTION, "artifact.name", "a/b", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", "..", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", ".", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", " . ", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", "a\\", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", "a\x00b", ["unsafe_name $.artifact.name"]),
    (ACTION, "artifact.name", 7, ["wrong_type $.artifact.name"]),
    (ACTION, "artifact.path_hint", "workspace/artifacts/other/x.md", ["outside_folder $.artifact.path_hint"]),
    (ACTION, "artifact.path_hint", f"workspace/artifacts/{TASK}/../x", ["outside_folder $.artifact.path_hint"]),
    (ACTION, "artifact.path_hint", f"workspace\\artifacts\\{TASK}\\x", ["outside_folder $.artifact.path_hint"]),
    (ACTION, "artifact.path_hint", f"workspace/artifacts/{TASK}x/y", ["outside_folder $.artifact.path_hint"]),
    (NEEDS_INPUT, "needs_input", None, ["branch_missing $.needs_input"]),
    (NEEDS_INPUT, "needs_input.required_docs", [], ["empty $.needs_input.required_docs"]),
    (NEEDS_INPUT, DOC + "suggested_path", "/etc/passwd", [f"outside_folder $.{DOC}suggested_path".replace(".0.", "[0].")]),
    (NEEDS_INPUT, DOC + "suggested_path", "../..", [f"outside_folder $.{DOC}suggested_path".replace(".0.", "[0].")]),
    (NEEDS_INPUT, DOC + "suggested_path", " ", [f"empty $.{DOC}suggested_path".replace(".0.", "[0].")]),
    (NEEDS_INPUT, "needs_input.required_docs.0", "sheet", ["wrong_type $.needs_input.required_docs[0]"]),
    (ERROR, "error", ..., ["branch_missing $.error"]),
    (ERROR, "artifact", {"name": "x"}, ["missing $.artifact.format", "missing $.artifact.content"]),
    (REVIEW, "review_target", "PLAN", ["not_in_enum $.review_target"]),
    (REVIEW, "total_score", 90, ["score_contradicts_action $.action_required"]),
    (REVIEW, "action_required", "APPROVE", ["score_contradicts_action $.action_required"]),
    (REVIEW, "total_score", 101, ["out_of_range $.total_score"]),
    (REVIEW, "breakdown.0.score", -1, ["out_of_range $.breakdown[0].score"]),
    (REVIEW, "breakdown.0.max_score", 10, ["out_of_range $.breakdown[0].score"]),
    (REVIEW, "breakdown.0", 7, ["wrong_type $.breakdown[0]"]),
    (REVIEW, "summary", 7, ["wrong_type $.summary"]),
    (REQUEST, "constraints", None, ["wrong_type $.constraints"]),
    (REQUEST, "task_id", "x", ["bad_format $.task_id"]),
    (TASK_INPUT, "max_attempts", 0, ["out_of_range $.max_attempts"]),
    (TASK_INPUT, "pins.max_files", 0, ["out_of_range $.pins.max_files"]),
    (TASK_INPUT, "pins.max_loc", "many", ["wrong_type $.pins.max_loc"]),
    (ANSWER, "execution_timestamp", "2025-02-30T09:15:00Z", ["bad_format $.execution_timestamp"]),
    (ANSWER, "execution_timestamp", "yesterday", ["bad_format $.execution_timestamp"]),
    (ANSWER, "vs_metadata.phase_executed", [0, 1, "2", True, 7], ["wrong_type $.vs_metadata.phase_executed[2]", "wrong_type $.vs_metadata.phase_executed[3]", "out_of_range $.vs_metadata.phase_executed[4]", *["phase_missing $.vs_metadata.phase_executed"] * 4]),
    (ANSWER, "content.summary", "A. B. C. D.", ["sentences $.content.summary"]),
    (ANSWER, "content.confidence", 1.5, ["out_of_range $.content.confidence"]),
    (ANSWER, "vs_metadata.t_scores.0.option", "Control-Value Theory", ["duplicate_option $.vs_metadata.t_scores[1].option"]),
    (ANSWER, "vs_metadata.t_scores.1", "x", ["wrong_type $.vs_metadata.t_scores[1]", "selection_not_listed $.vs_metadata.final_selection.option"]),
    (ANSWER, "vs_metadata.final_selection.t_score", 0.5, ["selection_score_mismatch $.vs_metadata.final_selection.t_score"]),
    (ANSWER, "vs_metadata.final_selection", [], ["wrong_type $.vs_metadata.final_selection"]),
    (ANSWER, "content", [], ["wrong_type $.content"]),
    (ANSWER, "self_critique", ..., ["missing $.self_critique"]),
    (ANSWER, "vs_metadata.t_scores.0.probability", 1.5, ["out_of_range $.vs_metadata.t_scores[0].probability", "probabilities_over_one $.vs_metadata.t_scores"]),
    (ANSWER, "vs_metadata.t_scores.0.probability", None, ["wrong_type $.vs_metadata.t_scores[0].probability"]),
    (ANSWER, "self_critique.alternative_perspectives", "x", ["wrong_type $.self_critique.alternative_perspectives"]),
    (ANSWER, "task_id", "another", ["wrong_task $.task_id"]),
    (HANDOFF, "condition", {"path": "$.content.confidence"}, ["missing $.condition.expect"]),
    (HANDOFF, "to_agent", "theory-architect", ["self_handoff $.to_agent"]),
    (HANDOFF, "context_transfer.summary", "word " * 101, ["too_long $.context_transfer.summary"]),
    (HANDOFF, "context_transfer", None, ["wrong_type $.context_transfer"]),
    (HANDOFF, "validation", {}, [f"missing $.validation.{key}" for key in ("required_fields_check", "schema_compliance", "vs_phase_completion")]),
    (TASK_INPUT, "role", "ingenieur", ["unknown_role $.role"]),
    (TASK_INPUT, "role", "§", ["unknown_role $.role"]),
    (TASK_INPUT, "allowedExecutors", ["codex", "bash"], ["unknown_executor $.allowedExecutors[1]"]),
    (TASK_INPUT, "pins.allowed_paths", ["../x"], ["unsafe_path $.pins.allowed_paths[0]"]),
    (TASK_INPUT, "pins.forbidden_paths", ["/etc"], ["unsafe_path $.pins.forbidden_paths[0]"]),
    (TASK_INPUT, "pins.forbidden_paths", ["SRC/**"], ["path_in_both $.pins.allowed_paths[0]"]),
    (TASK_INPUT, "pins", "src", ["wrong_type $.pins"]),
    (TASK_INPUT, "pins.allowed_paths", ["src/**"] * 1001, ["too_many $.pins.allowed_paths"]),
    (TASK_INPUT, "pins.forbidden_paths", ["x/**"] * 1001, ["too_many $.pins.forbidden_paths"]),
    (TASK_INPUT, "timeoutMs", True, ["wrong_type $.timeoutMs"]),
    (TASK_INPUT, "timeoutMs", None, ["wrong_type $.timeoutMs"]),
    (TASK_INPUT, "context", {"thread_history": "x"}, ["wrong_type $.context.thread_history"]),
    (SUBMIT, "exit_code", 1, ["done_but_failed $.exit_code"]),
    (SUBMIT, "status", "NEED_INPUT", ["needs_input_empty $.needs_input"]),
    (SUBMIT, "needs_input", "x", ["wrong_type $.needs_input"]),
    (SUBMIT, "tests", [], ["wrong_type $.tests"]),
    (SUBMIT, "artifacts.more", "x", ["unknown_key $.artifacts.more"]),
    (SUBMIT, "changed_files", ["docs/a.md", ""], ["empty $.changed_files[1]", "out_of_scope $.changed_files[0]"]),
    (SUBMIT, "new_files", ["src/../README.md"], ["out_of_scope $.new_files[0]"]),
    (SUBMIT, "changed_files", ["x"] * 1001, ["too_many $.changed_files"]),
    (SUBMIT, "changed_files", [["src"]], ["wrong_type $.changed_files[0]"]),
    (SUBMIT, "summary", "x" * 2001, ["too_long $.summary"]),
    (EDITS, "task_id", "other", ["wrong_task $.task_id"]),
    (EDITS, "status", "NEED_INPUT", ["needs_input_empty $.needs_input"]),
    (EDITS, "summary", " ", ["empty $.summary"]),
    (EDITS, "tests", {}, ["unknown_key $.tests"]),
    (EDITS, "edits", None, ["wrong_type $.edits"]),
    (EDITS, "edits.0", "src/app.py", ["wrong_type $.edits[0]"]),
    (EDITS, "edits.0.path", 7, ["wrong_type $.edits[0].path"]),
    (EDITS, "edits.0.path", "", ["empty $.edits[0].path"]),
    (EDITS, "edits.0.content", ..., ["missing $.edits[0].content"]),
    (EDITS, "edits.0.executable", None, ["wrong_type $.edits[0].executable"]),
    (EDITS, "edits.0.path", "../x", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.0.path", "src/../../x", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.0.path", "/etc/passwd", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.0.path", "~/x", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.0.path", "src\\x", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.0.path", "src/a\nb", ["unsafe_path $.edits[0].path"]),
    (EDITS, "edits.1.path", ".git/hooks/pre-commit", ["unsafe_path $.edits[1].path"]),
    (EDITS, "edits.1.path", "vendor/.GIT/config", ["unsafe_path $.edits[1].path"]),
    (EDITS, "edits.1.path", "src/./app.py", ["path_twice $.edits[1].path"]),
    (VERDICT, "checks.tests_passed", False, ["verdict_contradicts_checks $.verdict"]),
    (VERDICT, "checks", [], ["wrong_type $.checks"]),
    (OUTCOME, "next_action", "retry", ["next_action_contradicts $.next_action"]),
    (OUTCOME, "verdict", "RETRY", ["next_action_contradicts $.next_action"]),
    (OUTCOME, "verdict", "REJECT", ["next_action_contradicts $.next_action"]),
    (OUTCOME, "verdict", 7, ["wrong_type $.verdict"]),
    (OUTCOME, "checks", [], ["wrong_type $.checks"]),
    (ACTION, "result_type", "NOOP\u212a", ["not_in_enum $.result_type"]),
    (REVIEW, "review_target", "\u017fNODE", ["not_in_enum $.review_target"]),
    (REVIEW, "breakdown.0.dimension", "\u200b", ["empty $.breakdown[0].dimension"]),
    (ACTION, "artifact.content", "\u2060\ufeff", ["empty $.artifact.content"]),
]  # fmt: skip

VERSIONS = {
    id(REQUEST): "request",
    id(ANSWER): "answer",
    id(HANDOFF): "handoff",
    id(TASK_INPUT): "task",
    id(OUTCOME): "outcome",
}


def name_of(message: Message) -> str:
    return (
        "TASK_CHECK"
        if message is REVIEW
        else VERSIONS.get(id(message)) or str(message["schema_version"])
    )


@pytest.mark.seed("001-14", "001-25", "001-38")
@pytest.mark.parametrize(("message", "place", "value", "expected"), BROKEN)
def test_broken(message: Message, place: str, value: Any, expected: list[str]) -> None:
    """One change breaks exactly these rules, at these places."""
    result = check(json.dumps(changed(message, place, value)), name_of(message), PINNED)
    assert isinstance(result, Rejected), result
    assert sorted(f"{one.code} {one.path}" for one in result.violations) == sorted(
        expected
    )


NOTED = [
    (REVIEW, "breakdown.0.score", 55, ["sum_differs"]),
    (ANSWER, "vs_metadata.modal_identified", [], ["no_modal_option"]),
    (ANSWER, "provenance.sources", [], ["empty_list"]),
    (ANSWER, "provenance.assumptions", [], []),
    (
        ANSWER,
        "self_critique",
        {"strengths": [], "weaknesses": [], "improvement_suggestions": []},
        ["empty_list"] * 3,
    ),
    (HANDOFF, "validation.schema_compliance", False, ["handoff_blocked"]),
    (HANDOFF, "handoff_type", "conditional", ["no_condition"]),
    (ANSWER, "vs_metadata.t_scores.0.probability", 0.9, []),
    (
        TASK_INPUT,
        "files",
        ["README.md", "../x"],
        ["files_outside_pins", "files_outside_pins"],
    ),
    (TASK_INPUT, "pins.allowed_paths", ["**"], ["pins_too_broad"]),
    (TASK_INPUT, "pins.allowed_paths", ["src/**", "*"], []),
    (TASK_INPUT, "pins.allowed_paths", ["src/*"], []),
    (TASK_INPUT, "allowedTests", [], ["ci_skipped"]),
    (TASK_INPUT, "allowedTests", ..., ["ci_skipped"]),
    (TASK_INPUT, "allowedTests", ["python task_selftest.py"], ["only_a_self_test"]),
    (SUBMIT, "needs_input", ["why?"], ["needs_input_ignored"]),
    (SUBMIT, "needs_input", [" "], []),
    (SUBMIT, "tests.passed", False, ["tests_failed_status", "tests_failed_reason"]),
    (SUBMIT, "tests.commands", [], ["tests_without_commands", "allowed_tests_not_run"]),
    (SUBMIT, "tests.commands", ["make"], ["allowed_tests_not_run"]),
    (SUBMIT, "changed_files", ["src/a.py", "src/a.py"], ["duplicate_paths"]),
    (SUBMIT, "changed_files", ["tests/test_app.py"], ["changed_and_new"]),
    (ACTION, "mood", "fine", ["unknown_key"]),
]


@pytest.mark.parametrize(
    ("allowed", "forbidden", "in_both"),
    [
        ("docs/**", "docs/", True),
        ("docs/", "docs/**", True),
        ("docs", "Docs/**/**", True),
        ("docs/**", "docs/private/**", False),
        ("docs/*", "docs/", False),
        ("src/**", "docs/", False),
    ],
)
def test_a_directory_is_one_however_it_is_written(
    allowed: str, forbidden: str, in_both: bool
) -> None:
    """No path is both allowed and forbidden."""
    pins = {"allowed_paths": [allowed], "forbidden_paths": [forbidden]}
    result = check(json.dumps(TASK_INPUT | {"pins": pins, "files": []}), "scc.task.v1")
    assert (
        "path_in_both" in {fault.code for fault in getattr(result, "violations", ())}
    ) == in_both


@pytest.mark.parametrize(
    ("role", "codes"),
    [
        ("executor", ["ci_skipped"]),
        ("doc", ["ci_skipped"]),
        ("reviewer", []),
        ("planner", []),
    ],
)
def test_whoever_changes_files_should_be_tested(role: str, codes: list[str]) -> None:
    """The author of a task without tests is told, unless its role only reads."""
    task = {key: value for key, value in TASK_INPUT.items() if key != "allowedTests"}
    result = check(json.dumps(task | {"role": role}), "scc.task.v1")
    assert [notice.code for notice in result.warnings] == codes


@pytest.mark.seed("004-18", "004-35")
@pytest.mark.parametrize(("message", "place", "value", "codes"), NOTED)
def test_noted(message: Message, place: str, value: Any, codes: list[str]) -> None:
    """Accepted, with a word about it."""
    result = check(json.dumps(changed(message, place, value)), name_of(message), PINNED)
    assert isinstance(result, Accepted), result
    assert [notice.code for notice in result.warnings] == codes


REPAIRED = [
    (ACTION, "result_type", " artifact ", ["spelling"]),
    (ACTION, "artifact.format", ".MD", ["spelling"]),
    (ACTION, "needs_input", {}, ["empty_branch"]),
    (REVIEW, "summary", "  ", ["blank_summary"]),
    (REVIEW, "suggestions.0.priority", "urgent", ["spelling"]),
    (TASK_INPUT, "role", "Split", ["spelling"]),
    (SUBMIT, "reason_code", "ci_failed", ["spelling"]),
    (SUBMIT, "reason_code", "evidence_missing", ["spelling"]),
    (SUBMIT, "reason_code", "something else", []),
    (SUBMIT, "reason_code", "circuit_open", ["spelling"]),
    (EDITS, "reason_code", "split_required", ["spelling"]),
    (SUBMIT, "reason_code", "CIRCUIT_OPEN", []),
    (SUBMIT, "reason_code", "OK", ["spelling"]),
    (SUBMIT, "new_files", ..., ["new_files_defaulted"]),
    (ERROR, "artifact", {"name": "", "content": None}, ["empty_branch"]),
    (ACTION, "needs_input", {"required_docs": []}, ["empty_branch"]),
    (ACTION, "error", "", ["empty_branch"]),
    (ACTION, "error", [], ["empty_branch"]),
]


@pytest.mark.seed("001-13", "001-25", "001-33", "001-34", "001-37")
@pytest.mark.parametrize(("message", "place", "value", "rules"), REPAIRED)
def test_repaired(message: Message, place: str, value: Any, rules: list[str]) -> None:
    """Accepted after a declared rewrite, which is recorded."""
    result = check(json.dumps(changed(message, place, value)), name_of(message), PINNED)
    assert isinstance(result, Accepted), result
    assert [repair.rule for repair in result.repairs] == rules


@pytest.mark.seed("001-22")
def test_a_blank_summary_is_only_mended_from_a_sound_decision() -> None:
    """Nothing is restated from a review whose decision cannot be read."""
    for place, value in (
        ("total_score", "60"),
        ("action_required", "?"),
        ("summary", None),
    ):
        broken = changed(changed(REVIEW, "summary", " "), place, value)
        result = check(json.dumps(broken), "review")
        assert isinstance(result, Rejected)
        assert result.repairs == ()


@pytest.mark.seed("001-18")
def test_plan_reviews_carry_the_plan_id() -> None:
    """Filled for a PLAN when the plan is known, never for a NODE, never over another id."""
    review = changed(changed(REVIEW, "review_target", "plan"), "task_id", ...)
    filled = check(json.dumps(review), "PLAN_REVIEW", Context(plan_id="P"))
    assert isinstance(filled, Accepted)
    assert filled.value.task_id == "P"
    assert [repair.rule for repair in filled.repairs] == [
        "spelling",
        "plan_id_as_task_id",
    ]
    assert isinstance(check(json.dumps(review), "PLAN_REVIEW"), Rejected)
    other = check(
        json.dumps({**review, "task_id": "Q"}), "PLAN_REVIEW", Context(plan_id="P")
    )
    assert isinstance(other, Rejected)
    assert [one.code for one in other.violations] == ["wrong_task"]
    assert isinstance(
        check(
            json.dumps(changed(REVIEW, "task_id", ...)),
            "TASK_CHECK",
            Context(plan_id="P"),
        ),
        Rejected,
    )


def test_the_threshold_is_one_setting() -> None:
    """With another threshold the same review means something else."""
    approved = changed(changed(REVIEW, "total_score", 70), "action_required", "APPROVE")
    assert isinstance(check(json.dumps(approved), "review"), Rejected)
    assert check(
        json.dumps(changed(approved, "breakdown.0.score", 70)),
        "review",
        Context(threshold=70),
    )


def test_every_name_of_a_scope_means_the_same() -> None:
    """TASK_REVIEW and CHECK_NODE_REVIEW are TASK_CHECK."""
    for scope in ("TASK_CHECK", "TASK_REVIEW", "CHECK_NODE_REVIEW"):
        result = check(json.dumps(REVIEW), scope)
        assert isinstance(result, Accepted)
        assert result.contract == "TASK_CHECK"


def test_a_task_may_allow_every_kind_of_executor_there_is() -> None:
    """Those that routes and settings know, and the name that older tasks have for opencode."""
    allowed = [*KINDS, "opencodecli"]
    assert isinstance(
        check(json.dumps({**TASK_INPUT, "allowedExecutors": allowed}), "task"), Accepted
    )


@pytest.mark.seed("003-9")
@pytest.mark.parametrize(
    ("written", "meant"), [("Claude", "claude"), ("claud", None), ("§", None)]
)
def test_an_unknown_executor_is_refused_with_the_choices(
    written: str, meant: str | None
) -> None:
    """Another spelling of a name can be mended; another name cannot."""
    result = check(json.dumps({**TASK_INPUT, "allowedExecutors": [written]}), "task")
    assert isinstance(result, Rejected)
    (fault,) = result.violations
    assert (fault.code, fault.fix and fault.fix.value) == ("unknown_executor", meant)
    assert "claude" in fault.expected


def test_the_context_of_a_task() -> None:
    """A task says what its submission is checked against."""
    task = check(json.dumps(changed(TASK_INPUT, "timeoutMs", 1500.5)), "task")
    assert isinstance(task, Accepted)
    assert task.value.timeoutMs == 1500.5
    context = context_of(task.value)
    assert (context.task_id, context.allowed_tests) == (TASK, ("pytest -q",))
    assert isinstance(check(json.dumps(SUBMIT), "submit", context), Accepted)
    assert isinstance(
        check(json.dumps({**SUBMIT, "task_id": "other"}), "submit", context), Rejected
    )


@pytest.mark.seed("003-19", "004-25")
@pytest.mark.parametrize(
    ("code", "meant"),
    [("ok", None), ("", None), (..., None), ("CI_FAILED", "CI_FAILED")],
)
def test_ok_is_no_reason(code: Any, meant: str | None) -> None:
    """reason_code ok means none."""
    result = check(json.dumps(changed(SUBMIT, "reason_code", code)), "submit")
    assert isinstance(result, Accepted)
    assert isinstance(result.value, Submit)
    assert result.value.fail_code == meant


@pytest.mark.parametrize(
    ("message", "errors"),
    [
        ({"vs_metadata": None}, ["wrong_type $.vs_metadata"]),
        ({"vs_metadata": {"t_scores": None}}, ["seed_error $.vs_metadata.t_scores", "wrong_type $.vs_metadata.t_scores"]),
        ({"vs_metadata": {"t_scores": "abc"}}, ["wrong_type $.vs_metadata.t_scores"]),
        ({"vs_metadata": {"t_scores": ["a", {"score": "x"}, {}, {"score": 2}]}}, ["wrong_type $.vs_metadata.t_scores[0]", "wrong_type $.vs_metadata.t_scores[1].score", "seed_error $.vs_metadata.t_scores[2].score", "seed_error $.vs_metadata.t_scores[3].score"]),
    ],
)  # fmt: skip
def test_where_the_seed_crashes_we_report(message: Message, errors: list[str]) -> None:
    """Profile seed: the same places, as violations with a path."""
    whole = {"agent_id": "a", "vs_level": "Light", "content": {}, **message}
    result = check(json.dumps(whole), "answer", Context(profile="seed"))
    assert isinstance(result, Rejected)
    assert [f"{one.code} {one.path}" for one in result.violations] == errors


def test_the_seed_profile_gives_only_the_seeds_warnings() -> None:
    """Further keys are none of its business."""
    result = check(
        json.dumps({**ANSWER, "task_id": TASK, "mood": 1}),
        "answer",
        Context(profile="seed"),
    )
    assert isinstance(result, Accepted)
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("changes", "task", "is_plain"),
    [
        pytest.param({}, None, True, id="an artifact as it should be"),
        pytest.param({}, TASK, True, id="for the task that was asked"),
        pytest.param({}, "another", False, id="for another task"),
        pytest.param({"result_type": "NOOP", "artifact": None}, None, True, id="nothing to do"),
        pytest.param({"artifact": None}, None, False, id="an artifact that is not there"),
        pytest.param({"artifact.path_hint": None}, None, True, id="no hint"),
        pytest.param({"result_type": "NOOP"}, None, False, id="an artifact that was not announced"),
        pytest.param({"error": ""}, None, False, id="a branch that is empty"),
        pytest.param({"artifact.path_hint": "elsewhere/report.md"}, None, False, id="a hint elsewhere"),
        pytest.param({"artifact.name": "a report"}, None, False, id="a name that needs a closer look"),
        pytest.param({"artifact.name": "../report"}, None, False, id="a name that is a path"),
        pytest.param(
            {"needs_input": {"required_docs": [{"name": "a", "description": "b", "accepted_types": [], "suggested_path": "/x"}]}},
            None,
            False,
            id="documents that are asked for",
        ),
    ],
)  # fmt: skip
def test_actions_that_are_plainly_in_order(
    changes: dict[str, Any], task: str | None, is_plain: bool
) -> None:
    """The quick test only ever spares rules that have nothing to say."""
    message: dict[str, Any] = ACTION
    for place, value in changes.items():
        message = changed(message, place, value)
    context, action = Context(task_id=task), registry.get("action")
    assert is_plainly_in_order(message, context) == is_plain
    without = Checker(Registry()).check(
        json.dumps(message), replace(action, settled=None), context
    )
    assert check(json.dumps(message), action, context) == without
    assert not is_plain or (without and not without.repairs)


OUTCOMES = [
    # (verdict, next_action, checks that fail, what is broken)
    ("DONE", "none", (), []),
    ("DONE", "dlq", (), ["next_action_contradicts"]),
    ("RETRY", "retry", ("tests_passed",), []),
    ("RETRY", "retry", (), []),
    ("RETRY", "dlq", ("tests_passed",), ["next_action_contradicts"]),
    ("RETRY", "human", ("tests_passed",), ["next_action_contradicts"]),
    ("RETRY", "retry", ("scope_clean",), ["verdict_contradicts_checks"]),
    ("RETRY", "retry", ("schema_valid",), ["verdict_contradicts_checks"]),
    ("ESCALATE", "model_upgrade", ("tests_passed",), []),
    ("ESCALATE", "human", (), []),
    ("ESCALATE", "dlq", ("tests_passed",), []),
    ("ESCALATE", "retry", ("tests_passed",), ["next_action_contradicts"]),
    ("ESCALATE", "human", ("scope_clean",), ["verdict_contradicts_checks"]),
    ("REJECT", "human", ("scope_clean",), []),
    ("REJECT", "retry", ("schema_valid",), []),
    ("REJECT", "dlq", (), []),
    ("REJECT", "none", ("scope_clean",), ["next_action_contradicts"]),
]


@pytest.mark.parametrize(
    ("verdict", "following", "failing", "broken"),
    [pytest.param(*case, id=f"{case[0]} then {case[1]}, failing: {', '.join(case[2]) or 'nothing'}") for case in OUTCOMES],
)  # fmt: skip
def test_an_outcome_is_of_one_piece(
    verdict: str, following: str, failing: tuple[str, ...], broken: list[str]
) -> None:
    """Verdict, checks and next action fit together, as seed 003 has them."""
    checks = {**OUTCOME["checks"], **dict.fromkeys(failing, False)}
    message = {
        **OUTCOME,
        "verdict": verdict,
        "next_action": following,
        "checks": checks,
    }
    result = check(json.dumps(message), "outcome")
    codes = (
        [one.code for one in result.violations] if isinstance(result, Rejected) else []
    )
    assert codes == broken


def test_sums_of_endless_scores_are_told_briefly() -> None:
    """An integer too long to be printed never breaks a report."""
    endless = int("9" * 4300)
    part = {**REVIEW["breakdown"][0], "score": endless, "max_score": endless}
    result = check(json.dumps({**REVIEW, "breakdown": [part, part]}), "review")
    assert isinstance(result, Accepted)
    assert len(str(result.warnings[0])) < 300

"""gateway.jsonl, every kind: through the public functions, in the words of the vectors."""

from __future__ import annotations

import json
from typing import Any

from accordance import Accepted, Context, Notice, Pins, Rejected, Violation, check, dump
from accordance.contracts.catalogue.task import TASK, TaskInput, TaskPins, context_of
from accordance.contracts.jsonpath import parse
from accordance.domain.case import Breach, Case, claim_context
from accordance.domain.escalation import LadderPosition, Level, next_step
from accordance.domain.facts import (
    ArtifactFact,
    ArtifactName,
    AttemptFacts,
    ChangeKind,
    ChangeSet,
    CommandRun,
    EvidenceFacts,
    PatchFacts,
    PathChange,
    SelftestFacts,
)
from accordance.domain.fail_codes import normal_reason
from accordance.domain.inheritance import path_beyond
from accordance.domain.judging import History, judge
from accordance.domain.patch import read_patch
from accordance.domain.roles import ROLES, role_from
from accordance.domain.scope import PathScope
from accordance.domain.verdict import as_outcome, as_verdict
from accordance.errors import InvalidPattern
from accordance.gates.running import run_gates
from tests.conformance.lines import Line, Lines

LINES = Lines("gateway.jsonl")

SUBMIT_ERRORS = {
    ("wrong_task", "task_id"): "task_id_mismatch",
    ("done_but_failed", "exit_code"): "done_exit_code",
    ("needs_input_empty", "needs_input"): "need_input_empty",
    ("out_of_scope", "changed_files"): "changed_out_of_scope",
    ("out_of_scope", "new_files"): "new_out_of_scope",
}
TASK_ERRORS = {
    ("missing", "task_id"): "missing_task_id",
    ("missing", "goal"): "missing_goal",
    ("missing", "role"): "missing_role",
    ("missing", "pins"): "missing_pins",
    ("missing", "pins.allowed_paths"): "allowed_paths_missing",
    ("bad_format", "task_id"): "task_id_not_uuid",
    ("empty", "task_id"): "task_id_not_uuid",
    ("wrong_type", "task_id"): "task_id_not_uuid",
    ("wrong_type", "goal"): "goal_type",
    ("empty", "goal"): "goal_empty",
    ("wrong_type", "role"): "role_type",
    ("empty", "role"): "role_unknown",
    ("unknown_role", "role"): "role_unknown",
    ("wrong_type", "pins"): "pins_type",
    ("wrong_type", "pins.allowed_paths"): "allowed_paths_type",
    ("empty", "pins.allowed_paths"): "allowed_paths_empty",
    ("unsafe_path", "pins.allowed_paths"): "allowed_path_unsafe",
    ("path_in_both", "pins.allowed_paths"): "path_in_both",
    ("wrong_type", "files"): "files_type",
    ("wrong_type", "allowedTests"): "allowedTests_type",
    ("unknown_executor", "allowedExecutors"): "executor_unknown",
    ("wrong_type", "allowedExecutors"): "executor_unknown",
    ("unsafe_path", "pins.forbidden_paths"): "allowed_path_unsafe",
    ("wrong_type", "timeoutMs"): "timeout_type",
    ("out_of_range", "timeoutMs"): "timeout_range",
    ("wrong_type", "context"): "context_type",
    ("not_object", ""): "not_object",
}
CHANGES = {
    "A": ChangeKind.ADDED,
    "M": ChangeKind.MODIFIED,
    "D": ChangeKind.DELETED,
    "R": ChangeKind.RENAMED,
    "T": ChangeKind.TYPE,
}
NOON = "2026-01-01T12:00:00Z"
WARNINGS = {
    "files_outside_pins": "files_outside_allowed",
    "only_a_self_test": "tests_only_task_selftest",
    "tests_without_commands": "tests_passed_without_commands",
    "changed_and_new": "changed_and_new_overlap",
}


def test_line(line: Line) -> None:
    """Each kind against what the line decides; keys it does not decide are not compared."""
    compare(KINDS[line["kind"]](line), line["expect"])


def compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Key by key: `errors` is a set, `warnings` must be among ours, `*_any` is one of several, objects in the same way."""
    for key, value in expected.items():
        if key == "errors":
            assert set(found[key]) == set(value)
        elif key == "warnings":
            assert set(value) <= set(found[key])
        elif key == "normalized":
            assert {name: plain(name, found[key].get(name)) for name in value} == {
                name: plain(name, one) for name, one in value.items()
            }
        elif key.endswith("_any"):
            assert found[key.removesuffix("_any")] in value, key
        elif isinstance(value, dict):
            compare(found[key], value)
        else:
            assert plain(key, found[key]) == plain(key, value), key


def plain(name: str, value: Any) -> Any:
    """reason_code null means none, and so does "ok"."""
    return None if name == "reason_code" and value == "ok" else value


def submit(line: Line) -> dict[str, Any]:
    context = Context()
    if isinstance(line.get("task"), dict):
        asked = check(json.dumps(line["task"]), "scc.task.v1")
        context = context_of(asked.value) if isinstance(asked, Accepted) else context
    text = line["raw"] if line.get("raw") is not None else json.dumps(line["submit"])
    result = check(text, "scc.submit.v1", context)
    errors = {submit_word(violation) for violation in violations_of(result)}
    return report(result, errors) | {"schema_ok": "schema" not in errors}


def submit_word(violation: Violation) -> str:
    return SUBMIT_ERRORS.get((violation.code, place(violation)), "schema")


def task(line: Line) -> dict[str, Any]:
    text = line["raw"] if line.get("raw") is not None else json.dumps(line["task"])
    result = check(text, "scc.task.v1")
    errors = {task_word(violation) for violation in violations_of(result)}
    return report(result, errors)


def task_word(violation: Violation) -> str:
    if violation.offset is not None:
        return "not_object" if violation.code == "not_object" else "parse_error"
    where = place(violation)
    top = where.partition(".")[0]
    return (
        TASK_ERRORS.get((violation.code, where))
        or TASK_ERRORS.get((violation.code, top))
        or f"{violation.code}:{where}"
    )


def scope(line: Line) -> dict[str, Any]:
    rule = scope_of(line).rule(line["facts"]["path"], line["facts"].get("symlinks", {}))
    return {"rule": rule, "decision": "allow" if rule == "allowed" else "deny"}


def scope_of(line: Line) -> PathScope:
    """The scope of a line: its pins, and the role's policy where the line has one."""
    pins, policy = line["task"]["pins"], line["facts"].get("role_policy")
    role = None if policy is None else role_from("role", policy).write
    return PathScope(
        Pins.of(pins["allowed_paths"], pins.get("forbidden_paths", ())), role
    )


def diff_scope(line: Line) -> dict[str, Any]:
    patch = read_patch(line["facts"]["diff_text"])
    scope = scope_of(line)
    links = {**line["facts"].get("symlinks", {}), **patch.links}
    are_allowed = all(scope.rule(path, links) == "allowed" for path in patch.touched)
    is_clean = not patch.problem and are_allowed
    return {"touched": list(patch.touched), "scope_clean": is_clean}


def pins_subset(line: Line) -> dict[str, Any]:
    try:
        child, parent = (
            Pins.of(
                line["task"][one]["allowed_paths"],
                line["task"][one].get("forbidden_paths", ()),
            )
            for one in ("child", "parent")
        )
    except InvalidPattern:
        return {"subset": False}
    return {"subset": path_beyond(child, parent) is None}


def escalation(line: Line) -> dict[str, Any]:
    facts = line["facts"]
    standing = LadderPosition(
        attempt=facts["attempt"],
        max_attempts=facts["max_attempts"],
        same_error_count=facts["same_error_count"],
        repeat_threshold=facts["repeat_threshold"],
        level=Level(facts["current_level"]),
        model_tier=facts["model_tier"],
        allowed_tiers=frozenset(facts["allowed_model_tiers"]),
        higher_role=facts["higher_role_available"],
        human_resolved=facts.get("human_resolved"),
    )
    reason = facts["reason_code"]
    step = next_step(normal_reason(reason) or reason, standing)
    return {
        "level": step.level,
        "next_action": step.action,
        "next_model_tier": step.model_tier,
    }


def verdict(line: Line) -> dict[str, Any]:
    results, facts = run_gates(case_of(line)), line["facts"]
    standing = LadderPosition(
        attempt=facts["attempt"],
        max_attempts=facts["max_attempts"],
        repeat_threshold=facts["repeat_threshold"],
        model_tier=3,
        allowed_tiers=frozenset((3, 2) if facts["model_upgrade_available"] else (3,)),
        higher_role=facts["role_escalation_available"],
    )
    signature = judge(results, History(standing)).signature
    found = judge(
        results, History(standing, [signature] * (facts["same_error_count"] - 1))
    )
    task_id, links = (
        line["task"]["task_id"],
        {name.value: name.value for name in ArtifactName},
    )
    by_003 = as_outcome(found, task_id)
    by_004 = as_verdict(
        found, task_id, submitted_at=NOON, evaluated_at=NOON, links=links
    )
    for shape in (by_003, by_004):
        assert isinstance(check(json.dumps(shape)), Accepted)
    return {"seed003": by_003, "seed004": by_004, "reason_code": found.reason_code}


def case_of(line: Line) -> Case:
    """The facts of a line as the gateway would have collected them."""
    task, facts = task_of(line), line["facts"]
    changes = ChangeSet(
        tuple(
            PathChange(
                one["path"], CHANGES[one["status"]], one.get("old_path", ""), after=None
            )
            for one in facts["diff"]
        )
    )
    runs = tuple(
        CommandRun(one["command"], one["exit_code"]) for one in facts["test_runs"]
    )
    artifacts = tuple(artifact_of(name, facts["artifacts"]) for name in ArtifactName)
    submission = check(json.dumps(line["submit"]), "scc.submit.v1", claim_context(task))
    boasts = isinstance(submission, Accepted) and submission.value.tests.passed
    evidence = EvidenceFacts(
        artifacts=artifacts,
        selftest=SelftestFacts(exit_code=0 if boasts else 1),
        patch=patch_of(changes, facts["artifacts"]),
    )
    return Case(
        task=task,
        role=ROLES[task.role],
        scope=scope_of(line),
        submission=submission,
        facts=AttemptFacts(changes=changes, runs=runs, evidence=evidence),
        breaches=tuple(Breach(code, code) for code in facts["violations"]),
        links=facts.get("symlinks", {}),
    )


def artifact_of(name: ArtifactName, seen: dict[str, Any]) -> ArtifactFact:
    """What a line knows of one artifact. Somebody looked at all of them: one that the line does not name is not there."""
    if name.value not in seen:
        return ArtifactFact(name, name.value, exists=False, readable=False)
    return ArtifactFact(
        name, name.value, **{"readable": True, "size": 1} | seen[name.value]
    )


def patch_of(changes: ChangeSet, artifacts: dict[str, Any]) -> PatchFacts:
    """A line says how long the patch is: an empty patch shows nothing of a change."""
    changed = tuple(sorted(changes.paths()))
    is_empty = artifacts.get("patch_diff", {}).get("size") == 0
    return PatchFacts(missing=changed) if is_empty else PatchFacts(paths=changed)


def task_of(line: Line) -> TaskInput:
    """The task; one that its contract refuses would never have started, but its verdict is asked for all the same."""
    asked = check(json.dumps(line["task"]), TASK)
    if isinstance(asked, Accepted):
        return asked.value
    return TaskInput.model_construct(
        **line["task"] | {"pins": TaskPins.model_construct(**line["task"]["pins"])}
    )


def report(result: Accepted[Any] | Rejected, errors: set[str]) -> dict[str, Any]:
    notices: tuple[Notice, ...] = result.warnings
    repairs = [repair.rule for repair in result.repairs]
    return {
        "ok": isinstance(result, Accepted),
        "errors": errors,
        "warnings": [WARNINGS.get(notice.code, notice.code) for notice in notices]
        + repairs,
        "normalized": dump(result.value) if isinstance(result, Accepted) else {},
    }


def violations_of(result: Accepted[Any] | Rejected) -> tuple[Violation, ...]:
    return result.violations if isinstance(result, Rejected) else ()


def place(violation: Violation) -> str:
    """The path without indexes: `pins.allowed_paths`."""
    return ".".join(step for step in parse(violation.path) if isinstance(step, str))


KINDS = {
    "submit": submit,
    "task": task,
    "scope": scope,
    "diff_scope": diff_scope,
    "pins_subset": pins_subset,
    "verdict": verdict,
    "escalation": escalation,
}

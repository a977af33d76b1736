"""gateway.jsonl, kinds submit, task and scope: through the public functions, in the words of the vectors."""

from __future__ import annotations

import json
from typing import Any

from accordance import Accepted, Context, Notice, Rejected, Violation, check, dump
from accordance.contracts.catalogue.task import context_of
from accordance.contracts.jsonpath import parse
from accordance.contracts.pins import Pins
from tests.conformance.lines import Line, Lines

LINES = Lines(
    "gateway.jsonl",
    lambda line: (
        line["kind"] in ("submit", "task")
        or (line["kind"] == "scope" and not {"symlinks", "role_policy"} & set(line["facts"]))
    ),
)

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
WARNINGS = {
    "files_outside_pins": "files_outside_allowed",
    "only_a_self_test": "tests_only_task_selftest",
    "tests_without_commands": "tests_passed_without_commands",
    "changed_and_new": "changed_and_new_overlap",
}


def test_line(line: Line) -> None:
    """Each kind against what the line decides; keys it does not decide are not compared."""
    found = {"submit": submit, "task": task, "scope": scope}[line["kind"]](line)
    for key, expected in line["expect"].items():
        if key == "warnings":
            assert set(expected) <= set(found[key])
        elif key == "normalized":
            assert {name: plain(name, found[key].get(name)) for name in expected} == {
                name: plain(name, value) for name, value in expected.items()
            }
        elif key.endswith("_any"):
            assert found[key.removesuffix("_any")] in expected
        else:
            assert found[key] == expected, key


def plain(name: str, value: Any) -> Any:
    """reason_code null means none, and so does "ok"."""
    return None if name == "reason_code" and value == "ok" else value


def submit(line: Line) -> dict[str, Any]:
    context = Context()
    if isinstance(line.get("task"), dict):
        asked = check(json.dumps(line["task"]), "scc.task.v1")
        context = context_of(asked.value) if isinstance(asked, Accepted) else context
    text = line["raw"] if "raw" in line else json.dumps(line["submit"])
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
    pins = Pins.of(line["task"]["pins"]["allowed_paths"], line["task"]["pins"].get("forbidden_paths", ()))
    rule = pins.rule(line["facts"]["path"])
    return {"rule": rule, "decision": "allow" if rule == "allowed" else "deny"}


def report(result: Accepted[Any] | Rejected, errors: set[str]) -> dict[str, Any]:
    notices: tuple[Notice, ...] = result.warnings
    repairs = [repair.rule for repair in result.repairs]
    return {
        "ok": isinstance(result, Accepted),
        "errors": sorted(errors),
        "warnings": [WARNINGS.get(notice.code, notice.code) for notice in notices] + repairs,
        "normalized": dump(result.value) if isinstance(result, Accepted) else {},
    }


def violations_of(result: Accepted[Any] | Rejected) -> tuple[Violation, ...]:
    return result.violations if isinstance(result, Rejected) else ()


def place(violation: Violation) -> str:
    """The path without indexes: `pins.allowed_paths`."""
    return ".".join(step for step in parse(violation.path) if isinstance(step, str))

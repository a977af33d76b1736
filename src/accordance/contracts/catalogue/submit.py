"""`scc.submit.v1`: what a coding agent says it did. A closed schema with real limits. Seeds 003 and 004.

Everything in it is a claim. The contract makes sure the claim is well-formed and about this task; facts come later.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Respell
from accordance.contracts.fields import Closed, NotNull, Object
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Spelling
from accordance.contracts.violation import Fix, Notice, Violation, excerpt

_PathText: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_Paths: TypeAlias = Annotated[list[_PathText], Field(max_length=1000)]
_FewPaths: TypeAlias = Annotated[list[_PathText], Field(max_length=500)]

REASON_CODES: Final = (
    "SCOPE_CONFLICT",
    "POLICY_VIOLATION",
    "CONSTITUTION_VIOLATION",
    "CI_FAILED",
    "SCHEMA_VIOLATION",
    "PINS_INSUFFICIENT",
    "BUDGET_EXCEEDED",
    "TIMEOUT_EXCEEDED",
    "PREFLIGHT_FAILED",
    "MAX_ATTEMPTS_EXCEEDED",
    "ROLE_POLICY_VIOLATION",
    "EXECUTOR_ERROR",
    "CI_SKIPPED",
    "TESTS_ONLY_TASK_SELFTEST",
    "SPLIT_REQUIRED",
    "NEED_INPUT_REQUIRED",
    "MODEL_UNAVAILABLE",
    "ARTIFACT_MISSING",
    "MAX_CHILDREN_EXCEEDED",
    "DUPLICATE_DISPATCH",
    "EVIDENCE_INVALID",
    "FILE_NOT_FOUND",
    "PERMISSION_DENIED",
    "MERGE_CONFLICT",
    "DEPENDENCY_MISSING",
)
REASON_ALIASES: Final = MappingProxyType(
    {"EVIDENCE_MISSING": "ARTIFACT_MISSING", "NEEDS_CLARIFICATION": "NEED_INPUT_REQUIRED"}
)
NO_REASON: Final = "ok"


class Tests(Closed):
    """What the agent says it ran."""

    commands: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=1000)]], Field(max_length=50)
    ]
    passed: bool
    summary: Annotated[str, StringConstraints(max_length=1000)]


class Artifacts(Closed):
    """Where the evidence lies."""

    report_md: _PathText
    selftest_log: _PathText
    evidence_dir: _PathText
    patch_diff: _PathText
    submit_json: _PathText


class AllowPaths(Closed):
    """The scope the agent believes it has. Kept, never trusted."""

    read: Annotated[_FewPaths | None, NotNull] = None
    write: Annotated[_FewPaths | None, NotNull] = None


class Submit(Closed):
    """A submission."""

    schema_version: Literal["scc.submit.v1"]
    task_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    status: Literal["DONE", "NEED_INPUT", "FAILED"]
    reason_code: Annotated[Annotated[str, StringConstraints(max_length=500)] | None, NotNull] = None
    changed_files: _Paths
    new_files: _Paths = []
    touched_files: Annotated[_Paths | None, NotNull] = None
    tests: Tests
    artifacts: Artifacts
    exit_code: int
    needs_input: Annotated[list[Annotated[str, StringConstraints(max_length=500)]], Field(max_length=20)]
    allow_paths: Annotated[AllowPaths | None, NotNull] = None
    ssot_pointers: Annotated[Annotated[list[_PathText], Field(max_length=100)] | None, NotNull] = None
    summary: Annotated[Annotated[str, StringConstraints(max_length=2000)] | None, NotNull] = None
    payload: Annotated[Object | None, NotNull] = None

    @property
    def fail_code(self) -> str | None:
        """The reason code, or None where the agent says ok or nothing."""
        return None if self.reason_code in (None, "", NO_REASON) else self.reason_code


def done_means_exit_code_zero(message: JsonObject, _: Context) -> Iterator[Violation]:
    """status DONE implies exit_code 0."""
    code = message.get("exit_code")
    if message.get("status") == "DONE" and type(code) is int and code != 0:
        expected = "0, because status is DONE"
        yield Violation("done_but_failed", "$.exit_code", expected, str(code), Fix("$.status", "FAILED"))


def need_input_says_what(message: JsonObject, _: Context) -> Iterator[Violation | Notice]:
    """NEED_INPUT comes with at least one question that says something; on other statuses questions are noise."""
    status, questions = message.get("status"), message.get("needs_input")
    if not isinstance(questions, list) or not all(isinstance(question, str) for question in questions):
        return
    asked = any(question.strip() for question in questions)
    if status == "NEED_INPUT" and not asked:
        yield Violation("needs_input_empty", "$.needs_input", "at least one question", excerpt(questions))
    elif status != "NEED_INPUT" and asked:
        yield Notice("needs_input_ignored", "$.needs_input", f"questions are not read when status is {excerpt(status)}")


def declared_paths_are_in_scope(message: JsonObject, context: Context) -> Iterator[Violation]:
    """Every path in changed_files and new_files is allowed by the task's pins."""
    if context.pins is None:
        return
    for key in ("changed_files", "new_files"):
        paths = message.get(key)
        for at, path in enumerate(paths if isinstance(paths, list) else ()):
            if isinstance(path, str) and path and path not in context.pins:
                actual = f"{excerpt(path)}, {context.pins.rule(path)}"
                yield Violation("out_of_scope", f"$.{key}[{at}]", "a path inside the task's pins", actual)


def tests_and_status_agree(message: JsonObject, context: Context) -> Iterator[Notice]:
    """Failed tests should come as FAILED with CI_FAILED; passed tests should have been run."""
    tests = message.get("tests")
    if not isinstance(tests, dict):
        return
    passed, commands = tests.get("passed"), tests.get("commands")
    if passed is False and message.get("status") == "DONE":
        yield Notice("tests_failed_status", "$.status", "tests.passed is false, so status should be FAILED")
    if passed is False and message.get("reason_code") != "CI_FAILED":
        yield Notice("tests_failed_reason", "$.reason_code", "tests.passed is false, so reason_code should be CI_FAILED")
    if passed is True and commands == []:
        yield Notice("tests_without_commands", "$.tests.commands", "tests.passed is true, but no command is named")
    if isinstance(commands, list) and not set(context.allowed_tests) <= {str(command) for command in commands}:
        yield Notice("allowed_tests_not_run", "$.tests.commands", "not every test of the task is among the commands")


def file_lists_are_tidy(message: JsonObject, _: Context) -> Iterator[Notice]:
    """No path twice, none both changed and new, and new_files is there."""
    changed, new = message.get("changed_files"), message.get("new_files", [])
    if "new_files" not in message:
        yield Notice("new_files_defaulted", "$.new_files", "absent, read as an empty list")
    if not isinstance(changed, list) or not isinstance(new, list):
        return
    changed_set, new_set = {str(path) for path in changed}, {str(path) for path in new}
    if len(changed_set) < len(changed) or len(new_set) < len(new):
        yield Notice("duplicate_paths", "$.changed_files", "a path is named twice")
    if changed_set & new_set:
        yield Notice("changed_and_new", "$.new_files", "a path is both changed and new")


SUBMIT: Final = Contract(
    version="scc.submit.v1",
    name="submit",
    about="What a coding agent says it did: status, files, tests, artifacts. Closed, and made of claims.",
    model=Submit,
    rewrites=(Respell("reason_code", Spelling((*REASON_CODES, NO_REASON), REASON_ALIASES)),),
    rules=(
        is_about_the_task,
        done_means_exit_code_zero,
        need_input_says_what,
        declared_paths_are_in_scope,
        tests_and_status_agree,
        file_lists_are_tidy,
    ),
)

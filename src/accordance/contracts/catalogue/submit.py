"""`scc.submit.v1`: what a coding agent says it did. Seeds 003 and 004.

Everything in it is a claim. The contract makes sure that the claim is well-formed and
about this task; the facts are gathered later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.catalogue.reasons import (
    NO_REASON,
    REASON_ALIASES,
    REASON_CODES,
)
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Respell
from accordance.contracts.fields import Closed, NotNull, Object
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Spelling
from accordance.contracts.printable import is_blank
from accordance.contracts.violation import Notice, Repair, Violation, excerpt

PathText: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_Paths: TypeAlias = Annotated[list[PathText], Field(max_length=1000)]
_FewPaths: TypeAlias = Annotated[list[PathText], Field(max_length=500)]
_SsotPointers: TypeAlias = Annotated[list[PathText], Field(max_length=100)]
_Command: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
_Summary: TypeAlias = Annotated[str, StringConstraints(max_length=2000)]
Question: TypeAlias = Annotated[str, StringConstraints(max_length=500)]
ReasonCode: TypeAlias = Annotated[str, StringConstraints(max_length=500)]

_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")
_TEXT: Final = frozenset((str,))


def _upper_case(written: str) -> str | None:
    """Return a text that looks like a code in upper case; None for any other text."""
    if _CODE.fullmatch(written):
        return written.upper()
    return None


SPELLED_REASON: Final = Respell(
    "reason_code",
    Spelling((*REASON_CODES, NO_REASON), REASON_ALIASES),
    otherwise=_upper_case,
)


class Tests(Closed):
    """What the agent says it ran."""

    commands: Annotated[list[_Command], Field(max_length=50)]
    passed: bool
    summary: Annotated[str, StringConstraints(max_length=1000)]


class Artifacts(Closed):
    """Where the evidence lies."""

    report_md: PathText
    selftest_log: PathText
    evidence_dir: PathText
    patch_diff: PathText
    submit_json: PathText


class AllowPaths(Closed):
    """The scope the agent believes it has. Kept, never trusted."""

    read: Annotated[_FewPaths | None, NotNull] = None
    write: Annotated[_FewPaths | None, NotNull] = None


class Submit(Closed):
    """A submission."""

    schema_version: Literal["scc.submit.v1"]
    task_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    status: Literal["DONE", "NEED_INPUT", "FAILED"]
    reason_code: Annotated[ReasonCode | None, NotNull] = None
    changed_files: _Paths
    new_files: _Paths = Field(default_factory=list)
    touched_files: Annotated[_Paths | None, NotNull] = None
    tests: Tests
    artifacts: Artifacts
    exit_code: int
    needs_input: Annotated[list[Question], Field(max_length=20)]
    allow_paths: Annotated[AllowPaths | None, NotNull] = None
    ssot_pointers: Annotated[_SsotPointers | None, NotNull] = None
    summary: Annotated[_Summary | None, NotNull] = None
    payload: Annotated[Object | None, NotNull] = None

    @property
    def fail_code(self) -> str | None:
        """The reason code, or None where the agent says ok or nothing."""
        if self.reason_code in (None, "", NO_REASON):
            return None
        return self.reason_code


def absent_new_files_are_none(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """new_files may be left out; it is stored as an empty list."""
    if "new_files" in message:
        return message, []
    repair = Repair(
        "new_files_defaulted",
        path="$.new_files",
        before=None,
        after=[],
    )
    return {**message, "new_files": []}, [repair]


def done_means_exit_code_zero(message: JsonObject, _: Context) -> Iterable[Violation]:
    """Status DONE implies exit_code 0."""
    code = message.get("exit_code")
    if code == 0 or type(code) is not int:
        return ()
    if message.get("status") != "DONE":
        return ()
    violation = Violation(
        "done_but_failed",
        path="$.exit_code",
        expected="0 with status DONE, or another status",
        actual=excerpt(code),
    )
    return (violation,)


def need_input_says_what(
    message: JsonObject, _: Context
) -> Iterable[Violation | Notice]:
    """NEED_INPUT comes with a question; with another status questions are ignored."""
    status = message.get("status")
    questions = message.get("needs_input")
    needs_input = status == "NEED_INPUT"
    if not isinstance(questions, list):
        return ()
    if not questions and not needs_input:
        return ()

    has_question = any(
        not isinstance(question, str) or not is_blank(question)
        for question in questions
    )
    if has_question == needs_input:
        return ()

    path = "$.needs_input"
    if has_question:
        return (
            Notice(
                "needs_input_ignored",
                path=path,
                message=f"questions are not read when status is {excerpt(status)}",
            ),
        )
    return (
        Violation(
            "needs_input_empty",
            path=path,
            expected="at least one question",
            actual=excerpt(questions),
        ),
    )


def declared_paths_are_in_scope(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """Every path in changed_files and new_files is allowed by the task's pins."""
    pins = context.pins
    if pins is None:
        return ()

    violations: list[Violation] = []
    for key in ("changed_files", "new_files"):
        for index, path in enumerate(_texts(message.get(key))):
            if path and path not in pins:
                violations.append(
                    Violation(
                        "out_of_scope",
                        path=f"$.{key}[{index}]",
                        expected="a path inside the task's pins",
                        actual=f"{excerpt(path)}, {pins.rule(path)}",
                    )
                )
    return violations


def tests_and_status_agree(message: JsonObject, context: Context) -> Iterable[Notice]:
    """Failed tests should come as FAILED with CI_FAILED, passed tests with commands."""
    tests = message.get("tests")
    if not isinstance(tests, dict):
        return ()
    passed = tests.get("passed")
    commands = tests.get("commands")
    if passed is True and commands and not context.allowed_tests:
        return ()

    notices: list[Notice] = []
    if passed is False:
        notices += _failed_tests_undeclared(message)
    if passed is True and commands == []:
        notices.append(
            Notice(
                "tests_without_commands",
                path="$.tests.commands",
                message="tests.passed is true, but no command is named",
            )
        )
    if not set(context.allowed_tests) <= set(_texts(commands)):
        notices.append(
            Notice(
                "allowed_tests_not_run",
                path="$.tests.commands",
                message="not every test of the task is among the commands",
            )
        )
    return notices


def _failed_tests_undeclared(message: JsonObject) -> Iterator[Notice]:
    if message.get("status") != "FAILED":
        yield Notice(
            "tests_failed_status",
            path="$.status",
            message="tests.passed is false, so status should be FAILED",
        )
    if message.get("reason_code") != "CI_FAILED":
        yield Notice(
            "tests_failed_reason",
            path="$.reason_code",
            message="tests.passed is false, so reason_code should be CI_FAILED",
        )


def _has_duplicates(paths: list[object]) -> bool:
    return len({*paths}) < len(paths)


def file_lists_are_tidy(message: JsonObject, _: Context) -> Iterable[Notice]:
    """No path is named twice, and none is both changed and new."""
    changed = message.get("changed_files")
    new = message.get("new_files", [])
    if not isinstance(changed, list) or not isinstance(new, list):
        return ()
    try:
        if len({*changed, *new}) == len(changed) + len(new):
            return ()
    except TypeError:  # not all are texts: the model reports it
        return ()

    notices: list[Notice] = []
    if _has_duplicates(changed) or _has_duplicates(new):
        notices.append(
            Notice(
                "duplicate_paths",
                path="$.changed_files",
                message="a path is named twice",
            )
        )
    if not {*changed}.isdisjoint(new):
        notices.append(
            Notice(
                "changed_and_new",
                path="$.new_files",
                message="a path is both changed and new",
            )
        )
    return notices


def _texts(value: object) -> list[str]:
    """Return a list of texts, or an empty list for anything else."""
    if not isinstance(value, list):
        return []
    has_texts_only = {*map(type, value)} <= _TEXT
    return value if has_texts_only else []


SUBMIT: Final = Contract(
    version="scc.submit.v1",
    name="submit",
    about=(
        "What a coding agent says it did: status, files, tests, artifacts. Closed, and "
        "made of claims."
    ),
    model=Submit,
    rewrites=(SPELLED_REASON, absent_new_files_are_none),
    rules=(
        is_about_the_task,
        done_means_exit_code_zero,
        need_input_says_what,
        declared_paths_are_in_scope,
        tests_and_status_agree,
        file_lists_are_tidy,
    ),
)

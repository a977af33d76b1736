"""`scc.task.v1`: what an agent is asked to do, and within which pins.

Seeds 003 and 004; the model takes both shapes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, WithJsonSchema
from pydantic.functional_validators import AfterValidator

from accordance.contracts.context import NO_CONTEXT, READING_ROLES, ROLES, Context
from accordance.contracts.contract import Contract, Respell
from accordance.contracts.fields import NotNull, Object, Open, Text, Uuid
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Spelling
from accordance.contracts.pins import Pins, normal_path, patterns_in_both
from accordance.contracts.printable import is_blank
from accordance.contracts.respelling import respelling
from accordance.contracts.violation import Fix, Notice, Violation, excerpt
from accordance.errors import InvalidPattern

MOST_PATTERNS: Final = 1000
"""As many as a submission may name files: every file is matched with every pattern."""
TOO_BROAD: Final = frozenset(("**", "**/*", "**/**"))
_SELF_TEST: Final = re.compile(r"\b(?:task_)?self_?test\b|task_selftest", re.IGNORECASE)


def _whole_stays_whole(number: float) -> float:
    """Keep whole milliseconds as an integer; 1500.5 is "a number" too."""
    return int(number) if number.is_integer() else number


_Patterns: TypeAlias = Annotated[list[str], Field(max_length=MOST_PATTERNS)]
_AtLeastOne: TypeAlias = Annotated[int, Field(ge=1)]
_Milliseconds: TypeAlias = Annotated[
    float,
    Field(gt=0),
    AfterValidator(_whole_stays_whole),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]


class TaskPins(Open):
    """Scope guard rails: where, and how much."""

    allowed_paths: Annotated[list[str], Field(min_length=1, max_length=MOST_PATTERNS)]
    forbidden_paths: _Patterns = Field(default_factory=list)
    read_paths: _Patterns = Field(default_factory=list)  # read, not written
    max_files: Annotated[_AtLeastOne | None, NotNull] = None
    max_loc: Annotated[_AtLeastOne | None, NotNull] = None


class TaskContext(Open):
    """Helper data: assembled text (seed 003) and structured data (seed 004)."""

    context_pack: Annotated[str | None, NotNull] = None
    thread_history: Annotated[list[str] | None, NotNull] = None
    map_summary: Annotated[Object | None, NotNull] = None
    map: Annotated[Object | None, NotNull] = None
    docs: Annotated[Object | None, NotNull] = None
    history: Annotated[Object | None, NotNull] = None


class HiddenTests(Open):
    """Tests that only the judge has, in a folder of `[judge] hidden_tests`.

    The commands are those of the task, unless others are named here.
    """

    folder: Text
    tests: Annotated[list[str] | None, NotNull] = None


class TaskInput(Open):
    """A task for an agent."""

    schema_version: Annotated[Literal["scc.task.v1"] | None, NotNull] = None
    task_id: Uuid
    goal: Text
    role: Text
    pins: TaskPins
    files: Annotated[list[str] | None, NotNull] = None
    allowedTests: Annotated[list[str] | None, NotNull] = None  # noqa: N815
    allowedModels: Annotated[list[str] | None, NotNull] = None  # noqa: N815
    allowedExecutors: Annotated[list[str] | None, NotNull] = None  # noqa: N815
    context: Annotated[TaskContext | None, NotNull] = None
    timeoutMs: Annotated[_Milliseconds | None, NotNull] = None  # noqa: N815
    max_attempts: Annotated[_AtLeastOne | None, NotNull] = None
    assumptions: Annotated[list[str] | None, NotNull] = None
    fail_to_pass: Annotated[list[str] | None, NotNull] = None  # ids of tests
    pass_to_pass: Annotated[list[str] | None, NotNull] = None
    # the work may be done already
    allow_no_change: Annotated[bool | None, NotNull] = None
    keeps_behaviour: Annotated[bool | None, NotNull] = (
        None  # no test can tell the work: a refactoring
    )
    given_tests: Annotated[_Patterns | None, NotNull] = None  # run as the base has them
    hidden_tests: Annotated[HiddenTests | None, NotNull] = None
    test_reports: Annotated[_Patterns | None, NotNull] = None  # JUnit's XML
    may_change_tests: Annotated[_Patterns | None, NotNull] = None  # files, or ids


def context_of(task: TaskInput, base: Context = NO_CONTEXT) -> Context:
    """Return the context that a submission for this task is checked in."""
    return replace(
        base,
        task_id=task.task_id,
        pins=Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths),
        allowed_tests=tuple(task.allowedTests or ()),
    )


def is_self_test(command: str) -> bool:
    """Return whether a command is the task's own self-test, which proves nothing."""
    return _SELF_TEST.search(command) is not None


def role_is_known(message: JsonObject, context: Context) -> Iterator[Violation]:
    """The role is registered; the registry of roles is open."""
    role = message.get("role")
    if not isinstance(role, str) or is_blank(role):
        return
    if role not in context.roles:
        yield _unknown("unknown_role", "$.role", role, context.roles)


def executors_are_known(message: JsonObject, context: Context) -> Iterator[Violation]:
    """Every entry of allowedExecutors names an executor that exists."""
    executors = message.get("allowedExecutors")
    if not isinstance(executors, list):
        return
    for index, name in enumerate(executors):
        if isinstance(name, str) and name not in context.executors:
            path = f"$.allowedExecutors[{index}]"
            yield _unknown("unknown_executor", path, name, context.executors)


def _unknown(code: str, path: str, name: str, known: Collection[str]) -> Violation:
    """Return the violation for an unknown name; a misspelt name has a fix."""
    meant = respelling(known, name)
    return Violation(
        code,
        path=path,
        expected=f"one of {', '.join(sorted(known))}",
        actual=excerpt(name),
        fix=Fix(path, meant[0]) if meant else None,
    )


def pins_stay_inside(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Patterns are relative to the repository root and never leave it."""
    pins = _pins(message)
    for key in ("allowed_paths", "forbidden_paths", "read_paths"):
        for index, pattern in enumerate(_texts(pins, key)):
            if normal_path(pattern) is None:
                yield Violation(
                    "unsafe_path",
                    path=f"$.pins.{key}[{index}]",
                    expected="a pattern relative to the repository root",
                    actual=excerpt(pattern),
                )


def tests_stay_inside(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Tests that a task names by a path never lead out of their folder."""
    for key in ("given_tests", "may_change_tests", "test_reports"):
        for index, pattern in enumerate(_texts(message, key)):
            if normal_path(pattern) is None:
                yield _unsafe_test(f"$.{key}[{index}]", "repository root", pattern)

    hidden = message.get("hidden_tests")
    folder = hidden.get("folder") if isinstance(hidden, dict) else None
    if isinstance(folder, str) and normal_path(folder) is None:
        place = "folder of hidden tests"
        yield _unsafe_test("$.hidden_tests.folder", place, folder)


def _unsafe_test(path: str, root: str, actual: str) -> Violation:
    expected = f"a path relative to the {root}"
    return Violation(
        code="unsafe_path",
        path=path,
        expected=expected,
        actual=excerpt(actual),
    )


def no_path_is_in_both(message: JsonObject, _: Context) -> Iterator[Violation]:
    """No path is both allowed and forbidden."""
    pins = _pins(message)
    allowed = _texts(pins, "allowed_paths")
    forbidden = _texts(pins, "forbidden_paths")
    for index in patterns_in_both(allowed, forbidden):
        yield Violation(
            "path_in_both",
            path=f"$.pins.allowed_paths[{index}]",
            expected="a path that is not in forbidden_paths too",
            actual=excerpt(allowed[index]),
        )


def files_lie_inside_the_pins(message: JsonObject, _: Context) -> Iterator[Notice]:
    """The files a task expects to touch should be allowed by its pins."""
    allowed = _texts(_pins(message), "allowed_paths")
    forbidden = _texts(_pins(message), "forbidden_paths")
    if max(len(allowed), len(forbidden)) > MOST_PATTERNS:
        return  # the model reports it
    try:
        pins = Pins.of(allowed, forbidden)
    except InvalidPattern:
        return  # pins_stay_inside reports it

    for index, path in enumerate(_texts(message, "files")):
        if path not in pins:
            yield Notice(
                "files_outside_pins",
                path=f"$.files[{index}]",
                message=f"{excerpt(path)} is {pins.rule(path)}",
            )


def pins_are_narrow(message: JsonObject, _: Context) -> Iterator[Notice]:
    """A pin that allows the whole repository guards nothing."""
    for index, pattern in enumerate(_texts(_pins(message), "allowed_paths")):
        if normal_path(pattern) in TOO_BROAD:
            yield Notice(
                "pins_too_broad",
                path=f"$.pins.allowed_paths[{index}]",
                message=f"{excerpt(pattern)} allows the whole repository",
            )


def tests_are_named(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Work cannot be verified without a test command, and not by a self-test alone."""
    tests = message.get("allowedTests")
    role = message.get("role")
    path = "$.allowedTests"

    changes_files = isinstance(role, str) and role not in READING_ROLES
    if tests == [] or (tests is None and changes_files):
        text = (
            "no test command: only those of accordance.toml, or of the agent's own "
            "choice, will be run"
        )
        yield Notice(
            "ci_skipped",
            path=path,
            message=text,
        )
    elif isinstance(tests, list) and _are_self_tests(tests):
        yield Notice(
            "only_a_self_test",
            path=path,
            message="only a self-test: add a real test",
        )


def _are_self_tests(tests: list[object]) -> bool:
    return all(isinstance(test, str) and is_self_test(test) for test in tests)


def _pins(message: JsonObject) -> JsonObject:
    pins = message.get("pins")
    return pins if isinstance(pins, dict) else {}


def _texts(part: JsonObject, key: str) -> list[str]:
    """Return the list of texts under a key, or an empty list for anything else."""
    items = part.get(key)
    if not isinstance(items, list):
        return []
    if all(isinstance(item, str) for item in items):
        return items
    return []


TASK: Final = Contract(
    version="scc.task.v1",
    name="task",
    about="What an agent is asked to do: goal, role, pins, tests, budget.",
    model=TaskInput,
    rewrites=(Respell("role", Spelling(tuple(sorted(ROLES)), {"split": "splitter"})),),
    rules=(
        role_is_known,
        executors_are_known,
        pins_stay_inside,
        tests_stay_inside,
        no_path_is_in_both,
        files_lie_inside_the_pins,
        pins_are_narrow,
        tests_are_named,
    ),
)

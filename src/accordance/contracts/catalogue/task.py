"""`scc.task.v1`: what an agent is asked to do, and within which pins. Seeds 003 and 004, both shapes in one model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field, WithJsonSchema
from pydantic.functional_validators import AfterValidator

from accordance.contracts.context import NO_CONTEXT, READING_ROLES, ROLES, Context
from accordance.contracts.contract import Contract, Respell
from accordance.contracts.fields import NotNull, Object, Open, Text, Uuid
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Spelling
from accordance.contracts.pins import Pins, in_both, normal_path
from accordance.contracts.printable import is_blank
from accordance.contracts.respelling import respelling
from accordance.contracts.violation import Fix, Notice, Violation, excerpt
from accordance.errors import InvalidPattern

MOST_PATTERNS: Final = 1000  # as many as a submission may name files; every file is held against every pattern
TOO_BROAD: Final = frozenset(("**", "**/*", "**/**"))
_SELF_TEST: Final = re.compile(r"\b(?:task_)?self_?test\b|task_selftest", re.IGNORECASE)


def _whole_stays_whole(number: float) -> float:
    """TimeoutMs is "a number": 300000 stays an integer, 1500.5 is legal."""
    return int(number) if number.is_integer() else number


class TaskPins(Open):
    """Scope guard rails: where, and how much."""

    allowed_paths: Annotated[list[str], Field(min_length=1, max_length=MOST_PATTERNS)]
    forbidden_paths: Annotated[list[str], Field(max_length=MOST_PATTERNS)] = Field(
        default_factory=list
    )
    read_paths: Annotated[list[str], Field(max_length=MOST_PATTERNS)] = Field(
        default_factory=list
    )  # read, not written
    max_files: Annotated[Annotated[int, Field(ge=1)] | None, NotNull] = None
    max_loc: Annotated[Annotated[int, Field(ge=1)] | None, NotNull] = None


class TaskContext(Open):
    """Helper data: assembled text (seed 003) and structured data (seed 004); they share no key."""

    context_pack: Annotated[str | None, NotNull] = None
    thread_history: Annotated[list[str] | None, NotNull] = None
    map_summary: Annotated[Object | None, NotNull] = None
    map: Annotated[Object | None, NotNull] = None
    docs: Annotated[Object | None, NotNull] = None
    history: Annotated[Object | None, NotNull] = None


class TaskInput(Open):
    """One task for one agent."""

    schema_version: Annotated[Literal["scc.task.v1"] | None, NotNull] = None
    task_id: Uuid
    goal: Text
    role: Text
    pins: TaskPins
    files: Annotated[list[str] | None, NotNull] = None
    allowedTests: Annotated[list[str] | None, NotNull] = None  # noqa: N815 - the seed's name
    allowedModels: Annotated[list[str] | None, NotNull] = None  # noqa: N815
    allowedExecutors: Annotated[list[str] | None, NotNull] = None  # noqa: N815
    context: Annotated[TaskContext | None, NotNull] = None
    timeoutMs: Annotated[  # noqa: N815
        Annotated[
            float,
            Field(gt=0),
            AfterValidator(_whole_stays_whole),
            WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
        ]
        | None,
        NotNull,
    ] = None
    max_attempts: Annotated[Annotated[int, Field(ge=1)] | None, NotNull] = None
    assumptions: Annotated[list[str] | None, NotNull] = None


def context_of(task: TaskInput, base: Context = NO_CONTEXT) -> Context:
    """What a submission for this task is checked against."""
    return replace(
        base,
        task_id=task.task_id,
        pins=Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths),
        allowed_tests=tuple(task.allowedTests or ()),
    )


def is_self_test(command: str) -> bool:
    """Whether a test command is the task's own self-test, which proves nothing by itself."""
    return _SELF_TEST.search(command) is not None


def role_is_known(message: JsonObject, context: Context) -> Iterator[Violation]:
    """Roles are an open registry; an unknown one is an invalid task."""
    role = message.get("role")
    if isinstance(role, str) and not is_blank(role) and role not in context.roles:
        meant = respelling(context.roles, role)
        fix = Fix("$.role", meant[0]) if meant else None
        expected = f"one of {', '.join(sorted(context.roles))}"
        yield Violation("unknown_role", "$.role", expected, excerpt(role), fix)


def executors_are_known(message: JsonObject, context: Context) -> Iterator[Violation]:
    """AllowedExecutors names executors that exist."""
    executors = message.get("allowedExecutors")
    for at, name in enumerate(executors if isinstance(executors, list) else ()):
        if isinstance(name, str) and name not in context.executors:
            path = f"$.allowedExecutors[{at}]"
            meant = respelling(context.executors, name)
            fix = Fix(path, meant[0]) if meant else None
            expected = f"one of {', '.join(sorted(context.executors))}"
            yield Violation("unknown_executor", path, expected, excerpt(name), fix)


def pins_stay_inside(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Patterns are relative to the repository root and never leave it."""
    for key in ("allowed_paths", "forbidden_paths", "read_paths"):
        for at, pattern in enumerate(_texts(_pins(message), key)):
            if normal_path(pattern) is None:
                expected = "a pattern relative to the repository root"
                yield Violation(
                    "unsafe_path", f"$.pins.{key}[{at}]", expected, excerpt(pattern)
                )


def no_path_is_in_both(message: JsonObject, _: Context) -> Iterator[Violation]:
    """What is forbidden is not allowed as well."""
    pins = _pins(message)
    allowed = _texts(pins, "allowed_paths")
    for at in in_both(allowed, _texts(pins, "forbidden_paths")):
        where = f"$.pins.allowed_paths[{at}]"
        yield Violation(
            "path_in_both",
            where,
            "a path that is not in forbidden_paths too",
            excerpt(allowed[at]),
        )


def files_lie_inside_the_pins(message: JsonObject, _: Context) -> Iterator[Notice]:
    """The files a task expects to touch should be allowed."""
    allowed, forbidden = (
        _texts(_pins(message), key) for key in ("allowed_paths", "forbidden_paths")
    )
    if max(len(allowed), len(forbidden)) > MOST_PATTERNS:
        return  # too many: reported as such
    try:
        pins = Pins.of(allowed, forbidden)
    except InvalidPattern:
        return  # reported by pins_stay_inside
    for at, path in enumerate(_texts(message, "files")):
        if path not in pins:
            yield Notice(
                "files_outside_pins",
                f"$.files[{at}]",
                f"{excerpt(path)} is {pins.rule(path)}",
            )


def pins_are_narrow(message: JsonObject, _: Context) -> Iterator[Notice]:
    """A pin that allows everything guards nothing."""
    for at, pattern in enumerate(_texts(_pins(message), "allowed_paths")):
        if normal_path(pattern) in TOO_BROAD:
            yield Notice(
                "pins_too_broad",
                f"$.pins.allowed_paths[{at}]",
                f"{excerpt(pattern)} allows the whole repository",
            )


def tests_are_named(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Without a test command nothing can be verified; a self-test alone verifies nothing."""
    tests, role = message.get("allowedTests"), message.get("role")
    changes_files = isinstance(role, str) and role not in READING_ROLES
    if tests == [] or (tests is None and changes_files):
        text = "no test command: only those of accordance.toml, or of the agent's own choice, will be run"
        yield Notice("ci_skipped", "$.allowedTests", text)
    elif (
        isinstance(tests, list)
        and tests
        and all(isinstance(test, str) and is_self_test(test) for test in tests)
    ):
        yield Notice(
            "only_a_self_test", "$.allowedTests", "only a self-test: add a real one"
        )


def _pins(message: JsonObject) -> JsonObject:
    pins = message.get("pins")
    return pins if isinstance(pins, dict) else {}


def _texts(part: JsonObject, key: str) -> list[str]:
    """The list of that name if it is one of texts, else nothing: its type is reported elsewhere."""
    items = part.get(key)
    return (
        items
        if isinstance(items, list) and all(isinstance(item, str) for item in items)
        else []
    )


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
        no_path_is_in_both,
        files_lie_inside_the_pins,
        pins_are_narrow,
        tests_are_named,
    ),
)

"""Preflight: a task is looked at before any agent runs. PREFLIGHT_FAILED names every reason, not the first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.task import TaskInput, is_self_test
from accordance.contracts.pins import Pins
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.case import scope_of, tests_of
from accordance.domain.findings import listed
from accordance.domain.inheritance import beyond
from accordance.domain.roles import ROLES, Role
from accordance.errors import GateNotRun, InvalidPattern, UnknownRole

CODE: Final = "PREFLIGHT_FAILED"
Part: TypeAlias = Literal[
    "contract", "role", "pins", "files", "tests", "model", "executor"
]


@dataclass(frozen=True, slots=True)
class PreflightFault:
    """One reason why a task cannot be started: which part of it is wrong, and how."""

    part: Part
    message: str

    def __str__(self) -> str:
        return f"{self.part}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a task is about to be started, and what is known about that."""

    runnable: Mapping[str, str]  # for each test command why it cannot be run, or ""
    model: str | None = None
    executor: str | None = None
    parent: Pins | None = None  # the pins of the task it is a part of
    own_tests: tuple[
        str, ...
    ] = ()  # those of the repository's settings, for a task that names none
    chooses_tests: bool = (
        False  # the agent can say which tests it ran, where nobody else names any
    )


@dataclass(frozen=True, slots=True)
class Preflight:
    """What came of it."""

    reasons: tuple[PreflightFault, ...] = ()

    @property
    def reason_code(self) -> str | None:
        """PREFLIGHT_FAILED, or None when the task may start."""
        return CODE if self.reasons else None

    def __bool__(self) -> bool:
        return not self.reasons


def preflight(
    task: Accepted[TaskInput] | Rejected,
    start: Start,
    roles: Mapping[str, Role] = ROLES,
) -> Preflight:
    """Every reason why this task must not start. Raises GateNotRun if nobody tried one of its test commands."""
    if isinstance(task, Rejected):
        return Preflight(
            tuple(
                PreflightFault("contract", str(violation))
                for violation in task.violations
            )
        )
    role = roles.get(task.value.role)
    if role is None:
        return Preflight(
            (PreflightFault("role", str(UnknownRole(task.value.role, roles))),)
        )
    return Preflight(
        (
            *_pins_lie_within_the_parents(task.value, start),
            *_files_are_in_scope(task.value, role),
            *_role_can_write(task.value, role),
            *_tests_are_there(task.value, role, start),
            *_tests_can_be_run(task.value, start),
            *_is_allowed("model", start.model, task.value.allowedModels),
            *_is_allowed("executor", start.executor, task.value.allowedExecutors),
        )
    )


def _pins_lie_within_the_parents(
    task: TaskInput, start: Start
) -> Iterator[PreflightFault]:
    """A child may reach nothing its parent cannot."""
    if start.parent is None:
        return
    try:
        path = beyond(
            Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths), start.parent
        )
    except InvalidPattern as fault:
        yield PreflightFault("pins", str(fault))
        return
    if path is not None:
        yield PreflightFault(
            "pins", f"they allow {path}, which the parent task's pins do not"
        )


def _files_are_in_scope(task: TaskInput, role: Role) -> Iterator[PreflightFault]:
    """Every file the task expects to be touched may be touched, by its pins and by its role."""
    scope = scope_of(task, role)
    for path in task.files or ():
        found = scope.explain(path)
        if found.rule != "allowed":
            yield PreflightFault("files", str(found))


def _role_can_write(task: TaskInput, role: Role) -> Iterator[PreflightFault]:
    """A task that names files has a role that writes."""
    if task.files and not role.write.allowed:
        yield PreflightFault(
            "role",
            f"{role.name} writes nothing, but the task names files: {listed(task.files)}",
        )


def _tests_are_there(
    task: TaskInput, role: Role, start: Start
) -> Iterator[PreflightFault]:
    """A role whose work must be tested has a test that is not only a self-test, or an agent that can name one."""
    tests = tests_of(task, start.own_tests)
    if not role.tests_required or (start.chooses_tests and not tests):
        return
    if not tests:
        yield PreflightFault(
            "tests",
            f"allowedTests is empty, and the work of {role.name} must be tested",
        )
    elif all(map(is_self_test, tests)):
        yield PreflightFault("tests", f"only a self-test: {listed(tests)}")


def _tests_can_be_run(task: TaskInput, start: Start) -> Iterator[PreflightFault]:
    """Every test command can be started on this machine."""
    for command in tests_of(task, start.own_tests):
        if command not in start.runnable:
            raise GateNotRun(f"nobody tried whether this test can be run: {command}")
        if why_not := start.runnable[command]:
            yield PreflightFault("tests", f"{command}: {why_not}")


def _is_allowed(
    part: Literal["model", "executor"], used: str | None, allowed: list[str] | None
) -> Iterator[PreflightFault]:
    """Who is to do the work is among those the task allows."""
    if used is not None and allowed is not None and used not in allowed:
        yield PreflightFault(
            part, f"{used} is not among those allowed: {listed(allowed)}"
        )

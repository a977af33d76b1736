"""Preflight: a task is examined before any agent runs.

PREFLIGHT_FAILED lists every reason, not only the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.task import TaskInput, is_self_test
from accordance.contracts.pins import Pins
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.case import scope_of, tests_of
from accordance.domain.findings import listed
from accordance.domain.inheritance import path_beyond
from accordance.domain.roles import ROLES, AgentRole
from accordance.errors import GateNotRun, InvalidPattern, UnknownRole

CODE: Final = "PREFLIGHT_FAILED"
Part: TypeAlias = Literal[
    "contract", "role", "pins", "files", "tests", "model", "executor"
]


@dataclass(frozen=True, slots=True)
class PreflightFault:
    """A reason why a task cannot start: which part of it is wrong, and how."""

    part: Part
    message: str

    def __str__(self) -> str:
        return f"{self.part}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a task is about to start, and what is known about that.

    `runnable` has for each test command the reason why it cannot run, or "".
    `own_tests` are those of the repository's settings, for a task that names none.
    `chooses_tests`: the agent can report which tests it ran, where neither task nor
    settings name any.
    """

    runnable: Mapping[str, str]
    model: str | None = None
    executor: str | None = None
    parent: Pins | None = None  # the pins of the task it is a part of
    own_tests: tuple[str, ...] = ()
    chooses_tests: bool = False
    hidden_tests_missing: str = ""  # why those that the task names cannot be run


@dataclass(frozen=True, slots=True)
class Preflight:
    """The reasons why a task must not start. True when there are none."""

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
    roles: Mapping[str, AgentRole] = ROLES,
) -> Preflight:
    """Return every reason why this task must not start.

    Raises GateNotRun if a test command was not tried.
    """
    if isinstance(task, Rejected):
        faults = [
            PreflightFault("contract", str(violation)) for violation in task.violations
        ]
        return Preflight(tuple(faults))

    content = task.value
    role = roles.get(content.role)
    if role is None:
        unknown = UnknownRole(content.role, roles)
        return Preflight((PreflightFault("role", str(unknown)),))

    faults = [
        *_pins_lie_within_the_parents(content, start),
        *_files_are_in_scope(content, role),
        *_role_can_write(content, role),
        *_tests_are_there(content, role, start),
        *_tests_can_be_run(content, start),
        *_hidden_tests_are_there(start),
        *_is_allowed("model", start.model, content.allowedModels),
        *_is_allowed("executor", start.executor, content.allowedExecutors),
    ]
    return Preflight(tuple(faults))


def _pins_lie_within_the_parents(
    task: TaskInput, start: Start
) -> Iterator[PreflightFault]:
    """A child may reach nothing its parent cannot."""
    if start.parent is None:
        return
    pins = Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths)
    try:
        path = path_beyond(pins, start.parent)
    except InvalidPattern as fault:
        yield PreflightFault("pins", str(fault))
        return
    if path is not None:
        yield PreflightFault(
            "pins", f"they allow {path}, which the parent task's pins do not"
        )


def _files_are_in_scope(task: TaskInput, role: AgentRole) -> Iterator[PreflightFault]:
    """Pins and role allow every file that the task expects to be touched."""
    scope = scope_of(task, role)
    for path in task.files or ():
        explanation = scope.explain(path)
        if explanation.rule != "allowed":
            yield PreflightFault("files", str(explanation))


def _role_can_write(task: TaskInput, role: AgentRole) -> Iterator[PreflightFault]:
    """A task that names files has a role that writes."""
    if task.files and not role.write.allowed:
        files = listed(task.files)
        message = f"{role.name} writes nothing, but the task names files: {files}"
        yield PreflightFault("role", message)


def _tests_are_there(
    task: TaskInput,
    role: AgentRole,
    start: Start,
) -> Iterator[PreflightFault]:
    """Work that must be tested has a test beside the task's self-test.

    An agent that can report its own tests needs none.
    """
    if task.hidden_tests is not None or not role.tests_required:
        return
    tests = tests_of(task, start.own_tests)
    if not tests:
        if not start.chooses_tests:
            message = (
                f"allowedTests is empty, and the work of {role.name} must be tested"
            )
            yield PreflightFault("tests", message)
    elif all(is_self_test(test) for test in tests):
        yield PreflightFault("tests", f"only a self-test: {listed(tests)}")


def _tests_can_be_run(task: TaskInput, start: Start) -> Iterator[PreflightFault]:
    """Every test command can start on this machine."""
    for command in tests_of(task, start.own_tests):
        if command not in start.runnable:
            raise GateNotRun(f"it was never tried whether this test can run: {command}")
        why_not = start.runnable[command]
        if why_not:
            yield PreflightFault("tests", f"{command}: {why_not}")


def _hidden_tests_are_there(start: Start) -> Iterator[PreflightFault]:
    """The tests that the task hides from its agent exist, and stay hidden."""
    if start.hidden_tests_missing:
        yield PreflightFault("tests", start.hidden_tests_missing)


def _is_allowed(
    part: Literal["model", "executor"],
    used: str | None,
    allowed: list[str] | None,
) -> Iterator[PreflightFault]:
    """The task allows the model, or the executor, that is to do the work."""
    if used is None or allowed is None:
        return
    if used not in allowed:
        message = f"{used} is not among those allowed: {listed(allowed)}"
        yield PreflightFault(part, message)

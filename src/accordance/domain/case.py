"""A case: everything a verdict may rest on, in one value. The task, what the agent says, what accordance found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.submit import Submit
from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.context import Context
from accordance.contracts.pins import Pins, normal_path
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.facts import AttemptFacts
from accordance.domain.findings import Finding, Gate
from accordance.domain.roles import Role
from accordance.domain.scope import PathScope

Submission: TypeAlias = Accepted[Submit] | Rejected
Author: TypeAlias = Literal["agent", "accordance"]
_ANSWERS: Final[Mapping[str, Gate]] = MappingProxyType(
    {
        "CONSTITUTION_VIOLATION": Gate.CONSTITUTION,
        "SCOPE_CONFLICT": Gate.SCOPE,
        "BUDGET_EXCEEDED": Gate.BUDGET,
        "TIMEOUT_EXCEEDED": Gate.BUDGET,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the attempt cost, and who made it. None is what nobody measured."""

    tokens: int | None = None
    cost: float | None = None
    duration_ms: int | None = None
    model: str | None = None
    executor: str | None = None
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What it may cost, beside the task's own timeoutMs. None is no limit."""

    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Breach:
    """A breach that was noticed while the attempt ran: its fail code, and what happened."""

    code: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt, ready to be judged."""

    task: TaskInput
    role: Role
    scope: PathScope
    submission: Submission
    facts: AttemptFacts
    usage: Usage = Usage()
    budget: Budget = Budget()
    breaches: tuple[Breach, ...] = ()
    links: Mapping[str, str] = field(
        default_factory=dict
    )  # links in the tree that changed paths may run through
    own_tests: tuple[
        str, ...
    ] = ()  # those the repository's settings name, for tasks that name none
    submitted_by: Author = "agent"  # accordance hands in itself where no agent did

    @property
    def claim(self) -> Submit | None:
        """What the agent says, if it can be read; never a fact."""
        return self.submission.value if isinstance(self.submission, Accepted) else None

    def noticed(self, gate: Gate) -> tuple[Finding, ...]:
        """The breaches that this gate answers for; what no other gate knows is a matter of policy."""
        return tuple(
            Finding(gate, breach.code, breach.what, (breach.what,))
            for breach in self.breaches
            if _ANSWERS.get(breach.code, Gate.POLICY) is gate
        )

    @property
    def tests(self) -> tuple[str, ...]:
        """The commands that must pass."""
        return (*tests_of(self.task, self.own_tests), *self.chosen_tests)

    @property
    def chosen_tests(self) -> tuple[str, ...]:
        """The commands that the agent itself has chosen, because the task names none."""
        known = tests_of(self.task, self.own_tests)
        return tuple(
            command
            for command in chosen_tests(self.task, self.claim)
            if command not in known
        )

    def names(self, path: str) -> bool:
        """Whether the task speaks of exactly this path, as a pin without wildcards or as a file to touch."""
        spoken = (*self.task.pins.allowed_paths, *(self.task.files or ()))
        return normal_path(path) in {
            normal_path(one) for one in spoken if not one.endswith("/")
        }


def tests_of(task: TaskInput, own_tests: Sequence[str]) -> tuple[str, ...]:
    """The commands no agent has a say in: the task's; where it names none, those of the repository's settings."""
    return tuple(dict.fromkeys(task.allowedTests or own_tests))


def chosen_tests(task: TaskInput, claim: Submit | None) -> tuple[str, ...]:
    """The commands a submission says it ran, where the task names none."""
    if task.allowedTests or claim is None:
        return ()
    return tuple(dict.fromkeys(claim.tests.commands))


def scope_of(task: TaskInput, role: Role) -> PathScope:
    """The effective scope: the task's pins, narrowed by the role's policy."""
    return PathScope(
        Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths), role.write
    )


def claim_context(task: TaskInput) -> Context:
    """What a submission is checked against before it is judged: it must be about this task.

    The pins are left out on purpose: whether a path is in scope is asked of the real change, not of what was declared.
    """
    return Context(task_id=task.task_id, allowed_tests=tuple(task.allowedTests or ()))

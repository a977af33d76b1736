"""A case: everything a verdict may rest on.

That is the task, what the agent claims, and the facts that accordance collected.
"""

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
from accordance.domain.roles import AgentRole
from accordance.domain.scope import PathScope
from accordance.domain.test_policy import TestPolicy
from accordance.domain.usage import Budget, Usage

Submission: TypeAlias = Accepted[Submit] | Rejected
Author: TypeAlias = Literal["agent", "accordance"]
_GATE_OF_BREACH: Final[Mapping[str, Gate]] = MappingProxyType(
    {
        "CONSTITUTION_VIOLATION": Gate.CONSTITUTION,
        "SCOPE_CONFLICT": Gate.SCOPE,
        "BUDGET_EXCEEDED": Gate.BUDGET,
        "TIMEOUT_EXCEEDED": Gate.BUDGET,
    }
)


@dataclass(frozen=True, slots=True)
class Breach:
    """A breach noticed while the attempt ran: its fail code, and what happened."""

    code: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An attempt, ready to be judged.

    `links` are those in the tree that changed paths may run through. `own_tests` are
    the tests of the repository's settings, for tasks that name none. Where no agent
    submitted anything, accordance does so itself.
    """

    task: TaskInput
    role: AgentRole
    scope: PathScope
    submission: Submission
    facts: AttemptFacts
    usage: Usage = field(default_factory=Usage)
    budget: Budget = field(default_factory=Budget)
    breaches: tuple[Breach, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    own_tests: tuple[str, ...] = ()
    submitted_by: Author = "agent"
    test_policy: TestPolicy = field(default_factory=TestPolicy)
    is_rebase: bool = False  # a good change, applied to the plan's new head

    @property
    def claim(self) -> Submit | None:
        """What the agent claims, if it can be read; never a fact."""
        if isinstance(self.submission, Rejected):
            return None
        return self.submission.value

    def noticed(self, gate: Gate) -> tuple[Finding, ...]:
        """Return the findings of a gate about breaches.

        A breach that belongs to no other gate is a matter of policy.
        """
        findings = []
        for breach in self.breaches:
            if _GATE_OF_BREACH.get(breach.code, Gate.POLICY) is gate:
                finding = Finding(
                    gate=gate,
                    code=breach.code,
                    message=breach.what,
                    about=(breach.what,),
                )
                findings.append(finding)
        return tuple(findings)

    @property
    def tests(self) -> tuple[str, ...]:
        """The commands that must pass."""
        return (*tests_of(self.task, self.own_tests), *self.chosen_tests)

    @property
    def chosen_tests(self) -> tuple[str, ...]:
        """The commands the agent itself has chosen, because the task names none."""
        known = tests_of(self.task, self.own_tests)
        chosen = chosen_tests(self.task, self.claim)
        return tuple(command for command in chosen if command not in known)

    def names(self, path: str) -> bool:
        """Whether the task names exactly this path, as a pin or as a file to touch."""
        named = (*self.task.pins.allowed_paths, *(self.task.files or ()))
        normal = normal_path(path)
        for pattern in named:
            is_folder = pattern.endswith("/")
            if not is_folder and normal_path(pattern) == normal:
                return True
        return False


def tests_of(task: TaskInput, own_tests: Sequence[str]) -> tuple[str, ...]:
    """Return the test commands that no agent decides about.

    These are the task's; where it names none, those of the repository's settings.
    """
    commands = task.allowedTests or own_tests
    return tuple(dict.fromkeys(commands))


def chosen_tests(task: TaskInput, claim: Submit | None) -> tuple[str, ...]:
    """Return the commands a submission claims to have run, if the task names none."""
    if task.allowedTests or claim is None:
        return ()
    return tuple(dict.fromkeys(claim.tests.commands))


def scope_of(task: TaskInput, role: AgentRole) -> PathScope:
    """Return the effective scope: the task's pins, narrowed by the role's policy."""
    pins = Pins.of(task.pins.allowed_paths, task.pins.forbidden_paths)
    return PathScope(pins, role.write)


def claim_context(task: TaskInput) -> Context:
    """Return what a submission is checked against: it must be about this task.

    The pins are left out on purpose: the scope gate judges the real change, not the
    declared change.
    """
    return Context(task_id=task.task_id, allowed_tests=tuple(task.allowedTests or ()))

"""The environment that the tests of a task run in, by the settings of its base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from threading import Event

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.case import tests_of
from accordance.domain.test_environments import (
    EnvironmentPlan,
    EnvironmentWish,
    Family,
)
from accordance.judging.attempt import AttemptTree, Tell
from accordance.project.policy import JudgingPolicy
from accordance.workspace.base_tree import BaseTree
from accordance.workspace.environments import (
    environment_of_tests,
    planned,
    surroundings_of,
)
from accordance.workspace.errors import EnvironmentBroken, IsolationUnavailable
from accordance.workspace.probing import level_for
from accordance.workspace.test_environment import TestEnvironment

_ANY_PROGRAM = ("make",)
"""Stands for tests that are not known yet: they may need anything."""


def environment_for(
    tree: AttemptTree,
    task: TaskInput,
    gateway: JudgingPolicy,
    *,
    tell: Tell = str,
    stop: Event | None = None,
) -> TestEnvironment:
    """Return the environment of a task's tests, prepared if need be.

    The same for `judge` and for `run`. Raises EnvironmentBroken.
    """
    try:
        level = level_for(gateway.isolation)
    except IsolationUnavailable:
        return TestEnvironment()  # no test will be run, and the verdict says why

    commands = _commands(task, gateway)
    base = _base_of(tree)
    return environment_of_tests(
        base,
        commands,
        gateway.environment,
        level,
        tell=tell,
        stop=stop,
    )


def environment_or_fault(
    tree: AttemptTree,
    task: TaskInput,
    gateway: JudgingPolicy,
    *,
    tell: Tell = str,
    stop: Event | None = None,
) -> TestEnvironment:
    """Return the environment, or a stand-in that says why there is none."""
    try:
        return environment_for(tree, task, gateway, tell=tell, stop=stop)
    except EnvironmentBroken as error:
        return TestEnvironment(broken=str(error))


@dataclass(frozen=True, slots=True)
class EnvironmentExplanation:
    """What would be prepared for which tests, and why."""

    tests: tuple[str, ...]
    plan: EnvironmentPlan
    wish: EnvironmentWish
    active: tuple[str, ...]
    """Virtual environments on the person's search path."""

    @property
    def python(self) -> str:
        """Which Python tests get, in words."""
        steps = self.plan.steps
        if any(step.family is Family.PYTHON for step in steps):
            return "the prepared interpreter"
        if self.wish.python:
            return self.wish.python
        if self.active:
            return self.active[0]
        return "the system's, or an interpreter in which nothing is installed"

    def to_json(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "tests": list(self.tests),
            "python": self.python,
            "steps": [asdict(step) for step in self.plan.steps],
            "reasons": list(self.plan.reasons),
            "folders": dict(self.wish.folders),
            "variables": dict(self.wish.variables),
        }


def explanation_of(
    tree: AttemptTree,
    tests: Sequence[str],
    wish: EnvironmentWish,
) -> EnvironmentExplanation:
    """Return what would be prepared for tests, and why."""
    base = _base_of(tree)
    return EnvironmentExplanation(
        tests=tuple(tests),
        plan=planned(base, tests or _ANY_PROGRAM, wish),
        wish=wish,
        active=surroundings_of(base.stands_at).active,
    )


def _commands(task: TaskInput, gateway: JudgingPolicy) -> Sequence[str]:
    return tests_of(task, gateway.tests) or _ANY_PROGRAM


def _base_of(tree: AttemptTree) -> BaseTree:
    return BaseTree(
        workspace=tree.workspace,
        before=tree.before,
        stands_at=tree.appears_at or tree.workspace.work,
    )

"""The environment that tests run in: the person's, or prepared once at the base."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from accordance.domain.facts import IsolationLevel
from accordance.domain.test_environments import (
    EnvironmentPlan,
    EnvironmentWish,
    Surroundings,
    plan_environment,
)
from accordance.workspace.base_tree import BaseTree
from accordance.workspace.found_environment import found_environment, tool_on_path
from accordance.workspace.judges_python import (
    active_environments,
)
from accordance.workspace.preparing import Preparation
from accordance.workspace.test_environment import TestEnvironment


def surroundings_of(tree: Path) -> Surroundings:
    """Return what is known about this machine and the person who judges."""
    search_path = os.environ.get("PATH", "").split(":")
    active = [
        os.fspath(environment.folder)
        for environment in active_environments(search_path, tree)
    ]
    return Surroundings(has_uv=tool_on_path("uv") is not None, active=tuple(active))


def planned(
    base: BaseTree,
    commands: Sequence[str],
    wish: EnvironmentWish,
) -> EnvironmentPlan:
    """Return what would be prepared for these test commands, and why."""
    surroundings = surroundings_of(base.stands_at)
    return plan_environment(base.files(), commands, wish, surroundings)


def environment_of_tests(
    base: BaseTree,
    commands: Sequence[str],
    wish: EnvironmentWish,
    level: IsolationLevel,
    *,
    tell: Callable[[str], object] = str,
    stop: Event | None = None,
) -> TestEnvironment:
    """Return the environment of these test commands, prepared if need be.

    Raises EnvironmentBroken.
    """
    existing = found_environment(base.stands_at, wish)
    plan = planned(base, commands, wish)
    if not plan.steps:
        return existing

    preparation = Preparation(base, plan, wish, level, tell, stop)
    prepared = preparation.environment()
    return TestEnvironment(
        programs=(*prepared.programs, *existing.programs),
        readable=(*prepared.readable, *existing.readable),
        variables={**prepared.variables, **existing.variables},
        folders={**prepared.folders, **existing.folders},
        generated=prepared.generated,
        source_roots=prepared.source_roots,
    )

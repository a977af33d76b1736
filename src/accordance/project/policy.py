"""The rules that attempts are judged by: `[roles]`, `[tiers]` and `[judge]`.

The settings are read from the base, so what an agent writes into its tree does not
change the rules for its own work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.domain.escalation import MODEL_TIERS
from accordance.domain.roles import ROLES, AgentRole, roles_from
from accordance.domain.test_environments import EnvironmentWish
from accordance.domain.test_policy import Consequence, TestPolicy
from accordance.errors import InvalidSettings
from accordance.project.judge_settings import EnvironmentSettings, Judge
from accordance.project.settings import Settings
from accordance.workspace.isolation import CommandLimits
from accordance.workspace.mutant_runs import MutantPolicy
from accordance.workspace.probing import AUTO, LEVEL_NAMES
from accordance.workspace.reruns import RerunPolicy

LEVELS: Final[Mapping[str, str]] = MappingProxyType(
    {"bubblewrap": "bwrap", **{wish: wish for wish in LEVEL_NAMES}}
)
"""The levels of isolation: as people write them, and their names inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPolicy:
    """The rules that attempts are judged by, and how their tests are run."""

    roles: Mapping[str, AgentRole] = field(default_factory=lambda: ROLES)
    tiers: Mapping[str, int] = field(default_factory=lambda: MODEL_TIERS)
    isolation: str = AUTO
    max_attempts: int = MAX_ATTEMPTS
    repeat_threshold: int = SAME_ERROR_LIMIT
    tests: tuple[str, ...] = ()  # for tasks that name none
    limits: CommandLimits = field(default_factory=CommandLimits)
    readable: tuple[Path, ...] = ()
    carry: tuple[str, ...] = ()
    compares_with_base: bool = True
    environment: EnvironmentWish = field(default_factory=EnvironmentWish)
    test_policy: TestPolicy = field(default_factory=TestPolicy)
    test_reports: tuple[str, ...] = ()
    """Patterns of files with reports in JUnit's XML."""
    reruns: RerunPolicy = field(default_factory=RerunPolicy)
    mutants: MutantPolicy = field(default_factory=MutantPolicy)
    hidden_tests: Path | None = None
    """The folder of all hidden tests."""


def gateway_of(settings: Settings, root: Path) -> JudgingPolicy:
    """Return the gateway these settings describe; paths are relative to `root`."""
    judge = settings.judge
    bubblewrap = LEVELS["bubblewrap"]
    wants_bubblewrap = LEVELS[judge.isolation] == bubblewrap
    return JudgingPolicy(
        roles=roles_from(settings.roles),
        tiers={**MODEL_TIERS, **settings.tiers},
        isolation=bubblewrap if wants_bubblewrap else AUTO,
        max_attempts=judge.max_attempts,
        repeat_threshold=judge.repeat_threshold,
        tests=judge.tests,
        limits=CommandLimits(seconds=judge.seconds, memory_bytes=judge.memory_mb << 20),
        readable=tuple(root / folder for folder in judge.readable),
        carry=judge.carry,
        compares_with_base=judge.compare_with_base,
        environment=_wish_of(judge.environment, root),
        test_policy=_test_policy(judge),
        test_reports=judge.test_reports,
        reruns=RerunPolicy(judge.rerun_failed, judge.may_be_flaky),
        mutants=MutantPolicy(judge.mutants, judge.mutants_within),
        hidden_tests=root / judge.hidden_tests if judge.hidden_tests else None,
    )


def _wish_of(settings: EnvironmentSettings, root: Path) -> EnvironmentWish:
    folders = {
        name: os.fspath(root / place) for name, place in settings.folders.items()
    }
    python = settings.python
    return EnvironmentWish(
        python=os.fspath(root / python) if python else "",
        prepare=settings.prepare,
        inputs=settings.inputs,
        folders=folders,
        variables=settings.variables,
        detect=settings.detect,
    )


def _test_policy(judge: Judge) -> TestPolicy:
    return TestPolicy(
        do_not_tell=Consequence(judge.tests_that_do_not_tell),
        not_reached=Consequence(judge.changed_lines_never_run),
        mutants_survive=Consequence(judge.mutants_that_survive),
    )


def with_isolation(gateway: JudgingPolicy, wish: object) -> JudgingPolicy:
    """Return the gateway with another level of isolation. Raises InvalidSettings."""
    if wish not in LEVELS:
        raise InvalidSettings(f"isolation must be {' or '.join(LEVELS)}, got {wish!r}")
    return replace(gateway, isolation=LEVELS[str(wish)])

"""How the facts about an attempt are collected: the reach of the walk, and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from accordance.workspace.isolation import CommandLimits
from accordance.workspace.mutant_runs import MutantPolicy
from accordance.workspace.probing import AUTO
from accordance.workspace.reruns import RerunPolicy
from accordance.workspace.snapshot import WalkLimits
from accordance.workspace.test_environment import TestEnvironment


@dataclass(frozen=True, slots=True)
class HiddenTestsRequest:
    """Tests that no agent may see: the folder they lie in, and what runs them."""

    folder: Path
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttemptSetting:
    """How facts are collected: how far the walk goes, and how tests are run."""

    isolation: str = AUTO
    limits: CommandLimits = field(default_factory=CommandLimits)
    readable: tuple[Path, ...] = ()
    """Folders that the tests need, read-only."""
    carry: tuple[str, ...] = ()
    """Ignored folders of the workspace that the tests need."""
    appears_at: Path | None = None
    """Where the tests see their copy, for isolation that can move it."""
    environment: TestEnvironment = field(default_factory=TestEnvironment)
    reach: WalkLimits = field(default_factory=WalkLimits)
    test_reports: tuple[str, ...] = ()
    """Patterns of files in which commands leave reports of their own."""
    reruns: RerunPolicy = field(default_factory=RerunPolicy)
    traces_lines: bool = False
    """Whether it is looked at which changed lines the tests run."""
    mutants: MutantPolicy = field(default_factory=MutantPolicy)
    compares_with_base: bool = True
    """Whether the tests run on the base, too."""
    given_tests: tuple[str, ...] = ()
    """Patterns of tests that run as the base has them."""
    hidden_tests: HiddenTestsRequest | None = None
    forbids: Callable[[str], bool] | None = None
    """Paths whose content an agent must not see in the output of tests."""
    stop: Event | None = None
    """Once it is set, tests are ended."""
    tell: Callable[[str], object] = str
    """Called with what is being done."""

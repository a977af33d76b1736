"""What is judged, and how: the tree of an attempt and the options of a judgement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeAlias

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.case import Breach
from accordance.domain.facts import Snapshot
from accordance.domain.usage import Budget, Usage
from accordance.judging.own_submission import Claim
from accordance.project.policy import JudgingPolicy
from accordance.workspace.bundle import bundle_folder
from accordance.workspace.clone import Workspace

Tell: TypeAlias = Callable[[str], object]
"""Called with what is being done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTree:
    """Where an attempt was made.

    The process that ran the attempt may know more about it than a mere judge, and
    passes that on here.
    """

    workspace: Workspace
    before: Snapshot
    private: Path
    """A folder that the agent cannot reach."""
    after: Snapshot | None = None
    """The tree as the agent left it; None where it is still to be read."""
    has_passed_preflight: bool = False
    """Whether the task was checked on this very tree before the agent began."""
    appears_at: Path | None = None
    """Where tests see their copy."""
    git_programs: tuple[str, ...] = ()
    """Programs that git would run in a tree that is not our clone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How an attempt is judged: by which rules, and as which attempt."""

    gateway: JudgingPolicy = field(default_factory=JudgingPolicy)
    attempt: int = 1
    """Its number among the attempts that count."""
    number: int | None = None
    """The number of its bundle, where attempts that do not count came between."""
    earlier: tuple[str, ...] | None = None
    """How earlier attempts failed; None where their bundles tell."""
    usage: Usage = field(default_factory=Usage)
    budget: Budget = field(default_factory=Budget)
    breaches: tuple[Breach, ...] = ()
    is_rebase: bool = False
    """Whether a change that was good is judged again, on the plan's new head."""
    upgrades_at_once: bool = False
    """Whether every failure is followed by the next stronger model, while there is any."""
    claim: Claim | None = None
    """What a model says for which accordance hands in, because it cannot itself."""
    bundles: Path | None = None
    """The folder above artifacts/; None keeps no bundle."""
    owner: str | None = None
    """The owner of a run among several; its bundle gets its name when it counts."""
    attest: Path | None = None
    """The private key to sign the bundle with."""
    forbids: Callable[[str], bool] | None = None
    """Paths whose content must not reach the agent in any way."""
    stop: Event | None = None
    """Once it is set, tests are ended, and the judgement is worth nothing."""
    tell: Tell = str

    @property
    def bundle_number(self) -> int:
        """The number in the name of the bundle."""
        return self.number or self.attempt

    def bundle_of(self, task: TaskInput) -> Path | None:
        """Return where the bundle lies when it counts."""
        if self.bundles is None:
            return None
        return bundle_folder(self.bundles, task.task_id, self.bundle_number)

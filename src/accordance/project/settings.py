"""accordance.toml: a closed model of all settings, with their defaults.

Closed means that an unknown table or key is an error, whatever the command needs:
otherwise a misspelt fuse would be a fuse that is not there. docs/settings.md is written
from this model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    Strict,
    ValidationError,
    model_validator,
)

from accordance.contracts.toml import InvalidToml, read_toml
from accordance.domain.executor_specs import Executors
from accordance.domain.fuses import FuseSettings, fuses_from
from accordance.domain.records import Rules
from accordance.domain.repository_address import (
    RepositoryAddress,
    address_of,
    is_address,
)
from accordance.domain.roles import RolePolicy
from accordance.domain.routing import Route
from accordance.domain.rubric import BEST_SCORE, NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.domain.setting_faults import first_fault
from accordance.domain.setting_tables import Count, Label, SettingTable
from accordance.errors import InvalidRubric, InvalidSettings, IsolationTurnedOff
from accordance.project.blob_settings import BlobSettings
from accordance.project.judge_settings import Judge
from accordance.project.server_settings import ServerSettings
from accordance.project.telemetry_settings import LoggingSettings, TelemetrySettings

SETTINGS: Final = "accordance.toml"
PARALLEL_CHANGES: Final = 4
"""Changes of a plan that are made at once, unless the settings say otherwise."""


def _usable_address(name: str) -> str:
    """Refuse an address that holds a secret or would run a program."""
    if is_address(name):
        address_of(name)
    return name


RepositoryName: TypeAlias = Annotated[str, AfterValidator(_usable_address)]


class WorkspaceSettings(SettingTable):
    """The repository that tasks change."""

    repo: RepositoryName = Field(
        default=".",
        description=(
            "The repository: a path, relative to the project folder, or the URL of a "
            "git remote, without user, password or token."
        ),
        examples=["../app"],
    )
    base: str = Field(
        default="HEAD",
        description="The commit or branch that the first change builds on.",
        examples=["main"],
    )
    parallel_changes: Count = Field(
        default=PARALLEL_CHANGES,
        description=(
            "Changes of a plan that are made at once, in all processes together. "
            "With 1, a change begins when the last has landed."
        ),
        examples=[8],
    )
    cache: str = Field(
        default="",
        description=(
            "The folder for what this machine has of a repository on a remote, "
            "relative to the project folder; `.accordance/repositories` by default."
        ),
        examples=["/var/cache/accordance"],
    )
    remote_seconds: Count = Field(
        default=120,
        description="How long a remote may stay silent before it is given up.",
        examples=[30],
    )

    @property
    def address(self) -> RepositoryAddress | None:
        """The address of the remote; None where the repository is named by a path."""
        return address_of(self.repo) if is_address(self.repo) else None


@dataclass(frozen=True, slots=True)
class AtOnce:
    """How much runs at once, besides the limits of executors. None: no limit."""

    in_worker: int | None = None  # runs of a process
    in_plan: int | None = None  # tasks of a plan, in all processes together


class RunSettings(SettingTable):
    """How much runs at once, besides the limits of executors."""

    concurrency: Count | None = Field(
        default=None,
        description="Runs of one process at the same time; no limit by default.",
        examples=[8],
    )
    plan_concurrency: Count | None = Field(
        default=None,
        description=(
            "Tasks of one plan at the same time, in all processes together; "
            "no limit by default."
        ),
        examples=[20],
    )

    labels: list[Label] = Field(
        default_factory=list,
        description=(
            "What workers of this machine have, that executors and routes may ask for."
        ),
        examples=[["gpu"]],
    )
    drain_seconds: Count = Field(
        default=60,
        description=(
            "How long a worker that is stopped waits for its attempts to end; what is"
            " left is handed back."
        ),
        examples=[300],
    )

    @property
    def at_once(self) -> AtOnce:
        """The limits as the runner takes them."""
        return AtOnce(in_worker=self.concurrency, in_plan=self.plan_concurrency)


class _RubricTable(SettingTable):
    """What a review scores, and the score from which it approves."""

    shipped: ClassVar[Rubric]

    maxima: dict[str, int]
    approve_at: int = Field(
        default=PLAN_RUBRIC.approve_at,
        ge=0,
        le=BEST_SCORE,
        description="The score from which a review approves.",
        examples=[95],
    )

    @property
    def rubric(self) -> Rubric:
        """The rubric, with the shipped dimensions by default. Raises InvalidRubric."""
        maxima = self.maxima or self.shipped.maxima
        return Rubric(self.shipped.name, maxima, self.approve_at)

    @model_validator(mode="after")
    def _adds_up(self) -> _RubricTable:
        try:
            _ = self.rubric
        except InvalidRubric as fault:
            reason = str(fault).removeprefix(f"{self.shipped.name}: ")
            raise ValueError(reason) from None
        return self


class PlanRubric(_RubricTable):
    """How plans are reviewed."""

    shipped = PLAN_RUBRIC

    maxima: dict[str, int] = Field(
        default=dict(PLAN_RUBRIC.maxima),
        description=f"Dimensions with their maximum scores, {BEST_SCORE} in all.",
        examples=[{"Completeness": 60, "Clarity": 40}],
    )


class NodeRubric(_RubricTable):
    """How the products of tasks are reviewed."""

    shipped = NODE_RUBRIC

    maxima: dict[str, int] = Field(
        default=dict(NODE_RUBRIC.maxima),
        description=f"Dimensions with their maximum scores, {BEST_SCORE} in all.",
        examples=[{"Correctness": 70, "Coverage": 30}],
    )


class Rubrics(SettingTable):
    """What reviews score, for plans that are imported from now on."""

    plan: PlanRubric = Field(
        default_factory=PlanRubric.model_construct,
        description="How plans are reviewed.",
    )
    node: NodeRubric = Field(
        default_factory=NodeRubric.model_construct,
        description="How the products of tasks are reviewed.",
    )


class ReviewSettings(SettingTable):
    """Who may review what."""

    own_work: bool = Field(
        default=False,
        description="Whether workers and models may review what they made themselves.",
        examples=[True],
    )


class RetentionSettings(SettingTable):
    """What is kept of plans that are deleted."""

    evidence_days: Count | None = Field(
        default=None,
        description=(
            "Evidence of a deleted plan is removed if nothing has happened in the plan"
            " for so many days; it is always kept unless given."
        ),
        examples=[90],
    )


class Research(SettingTable):
    """Who answers research tasks."""

    agents: str = Field(
        default="",
        description=(
            "The file of research agents in the project folder; "
            "the agents shipped with accordance by default."
        ),
        examples=["agents.toml"],
    )


class Settings(SettingTable):
    """All settings of accordance.toml."""

    ledger: str | None = Field(
        default=None,
        description=(
            "Where the ledger is, as a path or a URL; "
            "`.accordance/ledger.db` by default."
        ),
        examples=["postgresql://user@host/name"],
    )
    workspace: WorkspaceSettings = Field(
        default_factory=WorkspaceSettings.model_construct,
        description="The repository that tasks change.",
    )
    run: RunSettings = Field(default_factory=RunSettings.model_construct)
    executors: Executors = Field(
        default_factory=dict, description="Who can do work, by name."
    )
    routes: Annotated[tuple[Route, ...], Strict(False)] = Field(
        default=(),
        description="Which executor gets which work; the first match counts.",
    )
    fuses: FuseSettings = Field(
        default_factory=FuseSettings.model_construct,
        description=(
            "Limits on what a task or a plan may use. `false` turns a limit on calls,"
            " seconds, tokens or cost off."
        ),
    )
    rubric: Rubrics = Field(default_factory=Rubrics.model_construct)
    review: ReviewSettings = Field(
        default_factory=ReviewSettings.model_construct, description="Who may review."
    )
    retention: RetentionSettings = Field(
        default_factory=RetentionSettings.model_construct,
        description="What is kept of deleted plans.",
    )
    blobs: BlobSettings = Field(
        default_factory=BlobSettings.model_construct,
        description="Where products, evidence, logs and inputs are kept.",
    )
    research: Research = Field(default_factory=Research.model_construct)
    roles: dict[str, RolePolicy] = Field(
        default_factory=dict, description="What roles may do, by name."
    )
    tiers: dict[str, Count] = Field(
        default_factory=dict,
        description=(
            "Models by strength, where 1 is the strongest; "
            "in addition to those that accordance knows."
        ),
        examples=[{"our-large-model": 1}],
    )
    judge: Judge = Field(default_factory=Judge.model_construct)
    server: ServerSettings = Field(default_factory=ServerSettings.model_construct)
    telemetry: TelemetrySettings = Field(
        default_factory=TelemetrySettings.model_construct
    )
    logging: LoggingSettings = Field(default_factory=LoggingSettings.model_construct)

    def rules(self, fuses: Mapping[str, object] | None = None) -> Rules:
        """Return a plan's rules; `fuses` override the file. Raises InvalidFuses."""
        return Rules(
            fuses=fuses_from(self.fuses.for_new_plan(fuses or {})),
            plan_rubric=self.rubric.plan.rubric,
            node_rubric=self.rubric.node.rubric,
        )


def read_settings(tables: Mapping[str, Any], where: str = SETTINGS) -> Settings:
    """Return the settings in these tables.

    Raises InvalidSettings, with the place of the fault and the nearest known name.
    """
    try:
        return Settings.model_validate(tables)
    except IsolationTurnedOff as error:
        raise IsolationTurnedOff(f"{where}: {error}") from None
    except ValidationError as error:
        fault = first_fault(error, Settings, tables)
        raise InvalidSettings(f"{where}: {fault}") from None


@cache
def default_settings() -> Settings:
    """Return what holds where there is no accordance.toml."""
    return Settings.model_construct()


@lru_cache(maxsize=32)
def parse_settings(content: bytes, where: str) -> Settings:
    """Return the settings in an accordance.toml. Raises InvalidSettings.

    The same content is read once: every message that a server takes asks for them.
    """
    try:
        tables = read_toml(content.decode())
    except (InvalidToml, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{where}: {error}") from None
    return read_settings(tables, where)

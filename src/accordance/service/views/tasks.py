"""Tasks."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import State
from accordance.domain.records import ArtifactRecord, ReviewRecord, TaskRecord
from accordance.project.home import Home
from accordance.service.views.base import PageView, View
from accordance.service.views.leases import LeaseView, lease_view
from accordance.service.views.questions import QuestionView
from accordance.service.views.runs import RunView
from accordance.service.views.stories import AttemptStoryView
from accordance.service.views.verdicts import VerdictView
from accordance.work.task_description import describe

_FOR_A_PERSON: Final = ("IN_REVIEW", "RETURNED", "HELD", "PAUSED", "WAITING", "STUCK")
"""The reasons why there is no task that only a person can do something about."""


class TaskView(View):
    """A task and where it stands."""

    task_id: str
    plan_id: str
    node_type: Literal["GOAL", "ACTION", "CHECK"]
    title: str
    goal_statement: str | None
    rationale: str | None
    owner_agent_id: str
    priority: int
    tags: tuple[str, ...]
    state: State
    waiting: str | None
    active: bool
    attempt_count: int
    failures: int
    parse_failures: int
    review_rounds: int
    review_failures: int
    idle_rounds: int
    checks: str | None  # the task whose product it reviews
    artifact: str | None  # the current product, by its hash


class TaskEntryView(TaskView):
    """A task in a list."""

    lease: LeaseView | None
    last_error: str | None
    updated_at: str


class TaskPageView(PageView):
    """A page of tasks."""

    items: tuple[TaskEntryView, ...]


class TaskBriefView(TaskView):
    """A task with all that its plan asks of it."""

    acceptance_criteria: Any
    deliverable_spec: Any
    further: dict[str, Any]


class ArtifactView(View):
    """A version of a product."""

    version: int
    file: str  # in the project
    sha256: str
    approved_at: str | None


class ReviewView(View):
    """A review of a product."""

    score: int
    action: str
    artifact: str  # the product it saw, by its hash
    at: str
    attempt: int | None  # the attempt whose product it saw
    reviewer: str | None  # the executor; None: a person
    summary: str
    asks: tuple[str, ...]  # what it wants to be changed


class TaskEventView(View):
    """Something that happened to a task; the details depend on the event."""

    model_config = ConfigDict(extra="allow")

    seq: int
    at: str
    event: str


class TaskDetailView(TaskBriefView):
    """A task with its attempts, products, reviews, questions, runs and history."""

    plan_title: str
    waits_for: tuple[str, ...]  # in words
    attempts: tuple[AttemptStoryView, ...]
    constraints: dict[str, Any]
    lease: LeaseView | None
    workspace: str | None  # the clone that was lent for the attempt that is going on
    last_error: str | None
    artifacts: tuple[ArtifactView, ...]
    reviews: tuple[ReviewView, ...]
    questions: tuple[QuestionView, ...]
    runs: tuple[RunView, ...]
    events: tuple[TaskEventView, ...]


class PlanBriefView(View):
    """What the worker on a task is shown of its plan."""

    plan_id: str
    title: str
    constraints: dict[str, Any]


class ContractView(View):
    """What the message for a task must honour."""

    scope: str | None
    schema_version: str
    task_id: str
    json_schema: dict[str, Any] = Field(alias="schema")


class AssignmentView(View):
    """Everything needed to do a task; `context` depends on the kind of work."""

    kind: Literal["action", "review"]
    task: TaskBriefView
    change: dict[str, Any] | None = None  # the task of a change of a repository
    research: dict[str, Any] | None = None  # the method of a research agent
    plan: PlanBriefView
    attempt: int
    lease: LeaseView
    contract: ContractView
    context: dict[str, Any]
    workspace: str | None = None  # of a change: the clone that is lent for it
    base: str | None = None  # of a change: the commit that the clone was made of
    tests: tuple[str, ...] = ()  # of a change: what it is judged by
    evidence: str | None = None  # of a change: the folder for evidence, in the clone
    hand_in: tuple[str, ...]


class NothingView(View):
    """Why there is nothing to take up."""

    task: None = None
    why: str
    text: str
    yours: tuple[str, ...] = ()  # tasks that are with the caller already

    @property
    def waits_for_person(self) -> bool:
        """Whether it is a person's turn."""
        return self.why in _FOR_A_PERSON


class StandingView(View):
    """What was decided about a task, and where it stands."""

    task_id: str
    state: State
    waiting: str | None
    attempt: int
    verdicts: tuple[VerdictView, ...]
    questions: tuple[str, ...]


def task_view(task: TaskRecord) -> TaskView:
    """Show a task."""
    return TaskView(**describe(task))


def task_entry_view(task: TaskRecord) -> TaskEntryView:
    """Show a task in a list."""
    return TaskEntryView(
        **describe(task),
        lease=lease_view(task.lease),
        last_error=task.last_error,
        updated_at=task.updated_at,
    )


def review_view(
    review: ReviewRecord,
    *,
    attempt: int | None,
    reviewer: str | None,
    summary: str,
    asks: tuple[str, ...],
) -> ReviewView:
    """Show a review."""
    return ReviewView(
        attempt=attempt,
        reviewer=reviewer,
        summary=summary,
        asks=asks,
        score=review.total_score,
        action=review.action_required,
        artifact=review.product,
        at=review.at,
    )


def task_event_view(entry: ChainEntry) -> TaskEventView:
    """Show what happened to a task."""
    return TaskEventView.model_validate(
        {"seq": entry.seq, "at": entry.at, "event": entry.kind, **entry.payload}
    )


def artifact_path(home: Home, artifact: ArtifactRecord) -> str:
    """Where a product lies in the project."""
    return str(
        (home.artifacts(artifact.task_id) / artifact.file_name).relative_to(home.root)
    )

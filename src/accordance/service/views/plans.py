"""Plans."""

from __future__ import annotations

from typing import Any

from accordance.domain.lifecycle import State
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.service.views.base import PageView, View
from accordance.service.views.leases import LeaseView, lease_view
from accordance.service.views.questions import QuestionView
from accordance.service.views.spending import SpendingView
from accordance.service.views.verdicts import VerdictView
from accordance.store.ledger import Ledger, Transaction
from accordance.work.plan_life import state_of


class PlanView(View):
    """A plan, in its newest revision."""

    plan_id: str
    title: str
    owner_agent_id: str
    root_task_id: str
    state: PlanState
    revision: int
    nodes: int
    imported_at: str
    events: int
    head: str  # the hash of its last event


class PlanEntryView(PlanView):
    """A plan in a list."""

    root: State
    states: dict[State, int] | None = None  # how many tasks are in each
    open_questions: int | None = None
    run_started_at: str | None = None
    tokens: int | None = None  # of models, since the plan began or was resumed
    cost: float | None = None  # as far as prices are known


class PlanPageView(PageView):
    """A page of the plans."""

    items: tuple[PlanEntryView, ...]


class ImportedPlanView(PlanView):
    """A plan that was just imported."""

    is_new: bool
    states: dict[State, int]
    repairs: tuple[dict[str, Any], ...]
    warnings: tuple[dict[str, Any], ...]


class PlanDetailView(PlanView):
    """A plan: its state, its rules, what was decided about it, what it has cost."""

    states: dict[State, int]
    fuses: dict[str, Any]
    rubric: dict[str, int]
    verdicts: tuple[VerdictView, ...]
    open_questions: tuple[str, ...]
    spent: SpendingView
    spent_by_task: dict[
        str, SpendingView
    ]  # under an empty name: on the plan as a whole
    base_moved: str | None = None  # that its base has moved, and the way out


class PlanPreviewView(View):
    """What an import of a plan would begin with."""

    plan_id: str
    nodes: int
    edges: int
    ready: tuple[str, ...]
    repairs: tuple[dict[str, Any], ...]
    warnings: tuple[dict[str, Any], ...]


class MovingTaskView(View):
    """A task of a plan that is being worked on, or that a person has to look after."""

    task_id: str
    title: str
    state: State
    waiting: str | None
    lease: LeaseView | None
    last_error: str | None


class PlanStatusView(View):
    """Where a plan stands."""

    plan_id: str
    title: str
    state: PlanState
    root: State
    nodes: int
    states: dict[State, int]
    moving: tuple[MovingTaskView, ...]
    questions: tuple[QuestionView, ...]
    tokens: int  # of models, since the plan began or was resumed
    cost: float  # as far as prices are known
    base_moved: str | None = None  # that its base has moved, and the way out


class NodeView(View):
    """A task in the drawing of a plan."""

    task_id: str
    title: str
    node_type: str
    state: State
    combine: str | None
    parts: tuple[str, ...]
    prerequisites: tuple[str, ...]
    checks: str | None
    alternatives: tuple[str, ...]


class GraphView(View):
    """A plan as nodes and what ties them together."""

    root: str
    nodes: tuple[NodeView, ...]


class ExportedFileView(View):
    """A product in an export."""

    task_id: str
    path: str
    title: str = ""
    sha256: str = ""
    version: int = 0
    approved_at: str | None = None


class ExportView(View):
    """What was written into a folder, or would be."""

    folder: str
    files: tuple[ExportedFileView, ...]
    plan_id: str = ""
    title: str = ""
    state: State | None = None
    is_complete: bool = False
    head: dict[str, Any] | None = None


def plan_fields(tx: Transaction, plan: PlanRecord) -> dict[str, Any]:
    """What every view of a plan shows."""
    return {
        "plan_id": plan.plan_id,
        "title": plan.title,
        "owner_agent_id": plan.owner_agent_id,
        "root_task_id": plan.root_task_id,
        "state": state_of(tx, plan),
        "revision": plan.revision,
        "nodes": plan.nodes,
        "imported_at": plan.imported_at,
        "events": plan.head.seq,
        "head": plan.head.hash,
    }


def plan_view(ledger: Ledger, plan: PlanRecord) -> PlanView:
    """Show a plan."""
    with ledger.read() as tx:
        return PlanView(**plan_fields(tx, plan))


def moving_task_view(task: TaskRecord) -> MovingTaskView:
    """Show a task that moves."""
    return MovingTaskView(
        task_id=task.task_id,
        title=task.title,
        state=task.progress.state,
        waiting=task.progress.standing.waiting,
        lease=lease_view(task.lease),
        last_error=task.last_error,
    )


class RebasedChangeView(View):
    """A change of a plan, on its new base."""

    task_id: str
    title: str
    before: str  # its commit
    after: str


class RebasedTestView(View):
    """A test that was run on the new head of a plan."""

    task_id: str
    command: str
    exit_code: int | None


class PlanRebaseView(View):
    """A plan that was put on its new base, or would be."""

    plan_id: str
    base: str  # as `[workspace] base` names it
    has_moved: bool  # False: there was nothing to take in
    is_done: bool  # False: nothing was moved
    old_base: str | None
    new_base: str | None
    old_head: str | None
    new_head: str | None
    changes: tuple[RebasedChangeView, ...] = ()
    tests: tuple[RebasedTestView, ...] = ()
    not_published: str | None = None  # why the branch of the plan could not be moved

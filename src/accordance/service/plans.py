"""Plans in the ledger: list, show, watch and export them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from accordance.domain.filters import Subject, Term, Word
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, QuestionRecord
from accordance.domain.spending import total
from accordance.project.home import Home
from accordance.service.listing import ListQuery, filter_for
from accordance.service.project import Project, find_plan
from accordance.service.views.plans import (
    ExportedFileView,
    ExportView,
    PlanDetailView,
    PlanEntryView,
    PlanPageView,
    PlanStatusView,
    moving_task_view,
    plan_fields,
)
from accordance.service.views.questions import question_view
from accordance.service.views.spending import spending_view
from accordance.service.views.verdicts import (
    VerdictListView,
    verdicts_in,
    verdicts_on,
)
from accordance.store.ledger import Ledger, Transaction
from accordance.store.listings import PLAN_LIST
from accordance.work.exporting import deliverables, export_plan
from accordance.work.plan_head import head_of
from accordance.work.plan_life import state_of
from accordance.work.run_log import spent_by_task

_MOST_MOVING: Final = 20
_NOT_ARCHIVED: Final = Term(Word.STATE, PlanState.ARCHIVED, is_wanted=False)
_MOVING: Final = (
    State.IN_PROGRESS,
    State.READY_TO_CHECK,
    State.TO_BE_MODIFY,
    State.BLOCKED,
    State.FAILED,
    State.DEAD_LETTER,
)


def list_plans(
    project: Project,
    query: ListQuery | None = None,
    *,
    with_counts: bool = False,
) -> PlanPageView:
    """Return a page of the plans, the newest first, also with what is counted in them.

    Archived plans are left out, unless the filter names a state.
    """
    query = query or ListQuery()
    with project.ledger.read() as tx:
        wanted = filter_for(tx, query.filter, Subject.PLANS)
        if not wanted.has(Word.STATE):
            wanted = wanted.plus(_NOT_ARCHIVED)
        page = tx.page(PLAN_LIST, wanted, query.request)
        entry = _counted_entry if with_counts else _plan_entry
        items = [entry(tx, plan) for plan in page.items]
    return PlanPageView(items=tuple(items), next=page.next)


def _plan_entry(tx: Transaction, plan: PlanRecord) -> PlanEntryView:
    root = tx.progress(plan.root_task_id)
    return PlanEntryView(**plan_fields(tx, plan), root=root.state)


def _counted_entry(tx: Transaction, plan: PlanRecord) -> PlanEntryView:
    return PlanEntryView(
        **plan_fields(tx, plan),
        root=tx.progress(plan.root_task_id).state,
        states=tx.count_states(plan.plan_id),
        open_questions=tx.count(QuestionRecord, plan_id=plan.plan_id, answered_at=None),
        run_started_at=plan.run_started_at,
        tokens=plan.tokens,
        cost=plan.cost,
    )


def show_plan(project: Project, name: str | None = None) -> PlanDetailView:
    """A plan with all that is known about it as a whole."""
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        spent = spent_by_task(tx, plan.plan_id)
        questions = tx.open_questions(plan_id=plan.plan_id)
        return PlanDetailView(
            **plan_fields(tx, plan),
            states=tx.count_states(plan.plan_id),
            fuses=plan.rules.fuses.model_dump(),
            rubric=dict(plan.rules.node_rubric.maxima),
            verdicts=verdicts_on(tx, plan.plan_id),
            open_questions=tuple(question.question_id for question in questions),
            spent=spending_view(total(spent.values())),
            spent_by_task={
                task_id or "": spending_view(of_task)
                for task_id, of_task in spent.items()
            },
            base_moved=base_moved(tx, project.home, plan),
        )


def plan_status(
    ledger: Ledger,
    plan_id: str,
    home: Home | None = None,
) -> PlanStatusView:
    """Where a plan stands now; with `home`, also whether its base has moved."""
    with ledger.read() as tx:
        plan = tx.plan(plan_id)
        moving = islice(tx.tasks(plan_id, *_MOVING), _MOST_MOVING)
        return PlanStatusView(
            plan_id=plan.plan_id,
            title=plan.title,
            state=state_of(tx, plan),
            root=tx.progress(plan.root_task_id).state,
            nodes=plan.nodes,
            states=tx.count_states(plan_id),
            moving=tuple(moving_task_view(task) for task in moving),
            questions=tuple(
                question_view(asked) for asked in tx.open_questions(plan_id=plan_id)
            ),
            tokens=plan.tokens,
            cost=plan.cost,
            base_moved=base_moved(tx, home, plan) if home else None,
        )


def base_moved(tx: Transaction, home: Home, plan: PlanRecord) -> str | None:
    """Return in a line that the base of a plan has moved, and the way out, if so."""
    if head_of(tx, plan.plan_id) is None:
        return None
    from accordance.changes.moved_base import why_base_moved

    return why_base_moved(tx, home, plan)


class StoredPlan(NamedTuple):
    """The document of a plan, and its revision."""

    plan_id: str
    revision: int
    document: bytes


def plan_document(project: Project, name: str | None) -> StoredPlan:
    """Return a plan as it is kept, normalised."""
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        return StoredPlan(plan.plan_id, plan.revision, tx.blob(plan.document))


def plan_verdicts(project: Project, name: str | None) -> VerdictListView:
    """Return every verdict in a plan, the newest last."""
    with project.ledger.read() as tx:
        return VerdictListView(items=verdicts_in(tx, find_plan(tx, name)))


def title_of(ledger: Ledger, task_id: str) -> str:
    """What a task is called."""
    with ledger.read() as tx:
        return tx.task(task_id).title


def export(
    project: Project,
    name: str | None,
    folder: Path | None,
    *,
    candidates: bool = False,
    dry_run: bool = False,
) -> ExportView:
    """Write the approved products of a plan into a folder.

    A manifest and the plan itself go with them; candidates too, if wanted.
    """
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        to = folder or project.home.root / "deliverables" / safe_name(plan.plan_id)
        if not dry_run:
            manifest = export_plan(tx, plan, to, candidates=candidates)
            return ExportView.model_validate({"folder": str(to), **manifest})
        products = deliverables(tx, plan, candidates=candidates)
    files = tuple(
        ExportedFileView(task_id=made.task_id, path=made.file_name) for made in products
    )
    return ExportView(folder=str(to), files=files)

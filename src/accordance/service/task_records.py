"""Tasks as the ledger knows them, and what was decided about them."""

from __future__ import annotations

from accordance.domain.records import ArtifactRecord, QuestionRecord
from accordance.project.home import Home
from accordance.service.listing import ListQuery, page_of
from accordance.service.project import Project, find_task
from accordance.service.task_stories import attempts_of, reviews_of, waits_for
from accordance.service.views.leases import lease_view
from accordance.service.views.questions import question_view
from accordance.service.views.runs import run_view
from accordance.service.views.tasks import (
    ArtifactView,
    StandingView,
    TaskDetailView,
    TaskPageView,
    artifact_path,
    task_entry_view,
    task_event_view,
)
from accordance.service.views.verdicts import verdicts_on
from accordance.store.listings import TASK_LIST
from accordance.work.lent_clones import loan_under_way
from accordance.work.plan_extras import constraints_of
from accordance.work.run_log import runs_in
from accordance.work.task_description import described


def list_tasks(project: Project, query: ListQuery | None = None) -> TaskPageView:
    """Return a page of tasks, by plan, in the plan's order."""
    with project.ledger.read() as tx:
        page = page_of(tx, TASK_LIST, query or ListQuery())
    items = tuple(task_entry_view(task) for task in page.items)
    return TaskPageView(items=items, next=page.next)


def show_task(project: Project, name: str) -> TaskDetailView:
    """Return a task with all that is known about it."""
    home = project.home
    with project.ledger.read() as tx:
        task = find_task(tx, name)
        task_id = task.task_id
        entries = tx.entries_of(task_id)
        loan = loan_under_way(tx, task)
        products = tx.products(task_id)
        artifacts = [_artifact_view(home, product) for product in products]
        plan = tx.plan(task.plan_id)
        questions = tx.find(QuestionRecord, task_id=task_id)
        return TaskDetailView(
            **described(tx, task),
            plan_title=plan.title,
            waits_for=waits_for(tx, task),
            attempts=attempts_of(tx, home, task),
            constraints=constraints_of(tx, plan),
            lease=lease_view(task.lease),
            workspace=str(loan.place(home)) if loan else None,
            last_error=task.last_error,
            artifacts=tuple(artifacts),
            reviews=reviews_of(tx, task),
            questions=tuple(map(question_view, questions)),
            runs=tuple(map(run_view, runs_in(entries))),
            events=tuple(map(task_event_view, entries)),
        )


def _artifact_view(home: Home, product: ArtifactRecord) -> ArtifactView:
    return ArtifactView(
        version=product.version,
        file=artifact_path(home, product),
        sha256=product.sha256,
        approved_at=product.approved_at,
    )


def standing_of(project: Project, task_id: str) -> StandingView:
    """Every verdict on a task, or on what it reviews, and where that stands."""
    with project.ledger.read() as tx:
        task = tx.task(task_id)
        subject = tx.task(task.checks) if task.checks else task
        standing = subject.progress.standing
        return StandingView(
            task_id=subject.task_id,
            state=subject.progress.state,
            waiting=standing.waiting,
            attempt=standing.counters.attempts,
            verdicts=verdicts_on(tx, subject.task_id),
            questions=tuple(
                question.text for question in tx.open_questions(task_id=task.task_id)
            ),
        )

"""What a plan has come to, on a page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from accordance.domain.answering import question_name
from accordance.domain.findings import with_code
from accordance.domain.lifecycle import Event, State
from accordance.domain.plan_summary import (
    Delivery,
    GivenUpTask,
    PlanSummary,
    WaitingTask,
)
from accordance.domain.records import (
    MessageRecord,
    PlanRecord,
    QuestionRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.spending import Spending
from accordance.rendering.plan_summaries import summary_markdown
from accordance.service.outcomes import outcome_of
from accordance.service.project import Project, plan_id_of
from accordance.store.ledger import Transaction
from accordance.work.lease_times import seconds_between
from accordance.work.plan_life import state_of
from accordance.work.run_log import RAN, spending_of

_MOST_TITLES: Final = 1000


def summary_of(project: Project, plan_id: str, *, rests: str = "") -> PlanSummary:
    """Return what a plan has come to; `rests` says why its run has ended."""
    outcome = outcome_of(project, plan_id)
    with project.ledger.read() as tx:
        plan = tx.plan(plan_id)
        states = tx.count_states(plan_id)
        course = _course_of(tx, plan_id)
        questions = tx.open_questions(plan_id=plan_id)
        finished = islice(tx.tasks(plan_id, State.DONE), _MOST_TITLES)
        return PlanSummary(
            plan_id=plan_id,
            title=plan.title,
            state=state_of(tx, plan),
            root=tx.progress(plan.root_task_id).state,
            done=states.get(State.DONE, 0),
            tasks=plan.nodes - states.get(State.ABANDONED, 0),
            states=tuple((state, states[state]) for state in State if state in states),
            finished=tuple(task.title for task in finished),
            waiting=tuple(_waiting(tx, plan, question) for question in questions),
            given_up=tuple(
                _given_up(tx, task) for task in tx.tasks(plan_id, State.DEAD_LETTER)
            ),
            deliveries=tuple(
                Delivery(title=product.title, path=product.path)
                for product in outcome.deliverables
            ),
            branch=outcome.branch,
            repository=_in_project(project, outcome.repository),
            evidence=_bundles(tx, plan_id),
            tokens=course.spent.tokens,
            calls=course.spent.calls,
            cost=course.spent.cost,
            is_estimated=course.spent.estimated,
            seconds=course.seconds,
            rests=rests,
        )


def markdown_of(project: Project, name: str | None = None) -> str:
    """Return the summary of a plan as Markdown. Raises NotFound or NoPlan."""
    return summary_markdown(summary_of(project, plan_id_of(project, name)))


def _in_project(project: Project, place: str | None) -> str | None:
    """Return a place relative to the project folder, where it lies in it."""
    root = project.home.root
    if place is None or not Path(place).is_relative_to(root):
        return place
    return str(Path(place).relative_to(root))


@dataclass(frozen=True, slots=True)
class _Course:
    """How long a plan has taken, and what it has cost."""

    seconds: float | None
    spent: Spending


def _course_of(tx: Transaction, plan_id: str) -> _Course:
    began_at: str | None = None
    last_at = ""
    spent = Spending()
    for entry in tx.entries(plan_id):
        last_at = entry.at
        if entry.kind == Event.CLAIMED:
            began_at = began_at or entry.at
        elif entry.kind == RAN:
            spent += spending_of(entry.payload)
    seconds = seconds_between(began_at, last_at) if began_at else None
    return _Course(seconds, spent)


def _waiting(
    tx: Transaction,
    plan: PlanRecord,
    question: QuestionRecord,
) -> WaitingTask:
    task_id = question.task_id
    fuse = question.details.get("fuse")
    return WaitingTask(
        title=tx.task(task_id).title if task_id else plan.title,
        question=question.text,
        question_name=question_name(question.question_id, question.number),
        fuse=str(fuse) if fuse else None,
    )


def _given_up(tx: Transaction, task: TaskRecord) -> GivenUpTask:
    verdicts = tx.find(VerdictRecord, subject=task.task_id)
    why = task.last_error or ""
    if verdicts and verdicts[-1].messages:
        last = verdicts[-1]
        why = with_code(last.reason_code, last.messages[0])
    return GivenUpTask(
        title=task.title,
        task_id=task.task_id,
        why=why,
    )


def _bundles(tx: Transaction, plan_id: str) -> tuple[str, ...]:
    """Return where the evidence of the plan's changes lies."""
    submissions = tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION")
    cases = [submission.case for submission in submissions]
    places = [str(case["bundle"]) for case in cases if "bundle" in case]
    return tuple(dict.fromkeys(places))

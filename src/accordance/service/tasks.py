"""Tasks: take them up, hand in messages and reviews, and decide about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from accordance.api import registry
from accordance.changes import outside
from accordance.changes.handing_in import Beside
from accordance.changes.outside import MeantTask, hand_out, task_by_id
from accordance.contracts.catalogue.action import ACTION
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.reading import parse_object
from accordance.domain.access import Identity
from accordance.domain.records import TaskRecord
from accordance.errors import (
    Conflict,
    UnknownContract,
    Unparseable,
)
from accordance.judging.own_submission import Claim
from accordance.service.project import Project, asking_as, task_id_of
from accordance.service.task_access import worked_task
from accordance.service.views.answers import AnswerView, answer_view
from accordance.service.views.dead_letters import CancelledTaskView
from accordance.service.views.leases import LeaseView
from accordance.service.views.tasks import (
    AssignmentView,
    NothingView,
    TaskBriefView,
    TaskView,
    task_view,
)
from accordance.store.ledger import Transaction
from accordance.work import reviewing, taking, tasks
from accordance.work.coding_tasks import coding_task
from accordance.work.input_files import look_at_inputs
from accordance.work.lease_times import LEASE_SECONDS
from accordance.work.offering import for_outside_workers
from accordance.work.project_routes import holding_for, routing_for
from accordance.work.taking import Fits, NoTaskReason, Taken
from accordance.work.task_description import described

__all__ = [
    "LEASE_SECONDS",
    "Assigned",
    "MessageRefused",
    "Taken",
    "WorkRequest",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRequest:
    """Who asks for work, and for which."""

    holder: str
    plan_id: str | None = None  # only of this plan
    kinds: tuple[str, ...] = ()  # only nodes of these types
    seconds: int = LEASE_SECONDS
    any_task: bool = False
    """Whether they also get what the routes give to accordance's own executors."""
    known: Mapping[str, int] | None = None
    """By task, the attempts that they know they hold. Others that they hold are given
    to them again. None where others may ask under the same name."""
    only: tuple[str, ...] = ()
    """The tasks, or the plans, that they may work on; none: any."""


class MessageRefused(Conflict):
    """A message that came too late, or for something else. It is kept."""

    code = "message-refused"


class Assigned(NamedTuple):
    """A task that a worker holds now, and all that the worker hears about it."""

    taken: Taken
    view: AssignmentView


# -- taking up


def take_task(project: Project, request: WorkRequest) -> Assigned | NothingView:
    """Take up a task for a worker, or return why there is none.

    A worker who came back gets the task they had before.
    """
    take = partial(_take, project, request)
    handed = hand_out(project.ledger, project.home, take)
    if isinstance(handed, NoTaskReason):
        return NothingView(task=None, why=handed.name, text=handed.value)
    return Assigned(handed.taken, AssignmentView.model_validate(handed.document))


def _take(project: Project, request: WorkRequest) -> Taken | NoTaskReason:
    resumed = _taken_before(project, request)
    if resumed is not None:
        return resumed
    settings = project.home.settings()
    return taking.take_next(
        project.ledger,
        look_at_inputs(project.ledger, project.home),
        plan_id=request.plan_id,
        holder=request.holder,
        seconds=request.seconds,
        kinds=request.kinds,
        fits=_fits(project, request),
        holding=holding_for(project.home),
        own_work=settings.review.own_work,
        parallel_changes=settings.workspace.parallel_changes,
    )


def _taken_before(project: Project, request: WorkRequest) -> Taken | None:
    """Return a task that the worker holds and does not know of; extend its lease."""
    if request.known is None:
        return None
    for taken in held_tasks(project, request.holder, request.plan_id):
        task_id = taken.task.task_id
        if request.known.get(task_id) == taken.attempt:
            continue
        if not _is_among(request.only, taken.task):
            continue
        with suppress(Conflict):  # it was lost just now
            lease = tasks.extend(
                project.ledger, task_id, attempt=taken.attempt, holder=request.holder
            )
            return replace(taken, lease=lease)
    return None


def _fits(project: Project, request: WorkRequest) -> Fits:
    """Return which tasks are handed out to the worker who asks."""
    fits: Fits = taking.anything
    if not request.any_task:
        fits = for_outside_workers(routing_for(project.home))
    if not request.only:
        return fits

    def fits_and_is_theirs(tx: Transaction, task: TaskRecord) -> bool:
        return _is_among(request.only, task) and fits(tx, task)

    return fits_and_is_theirs


def _is_among(only: tuple[str, ...], task: TaskRecord) -> bool:
    """Whether a task, or its plan, is among those that the caller is bound to."""
    return not only or task.task_id in only or task.plan_id in only


def peek(project: Project, request: WorkRequest) -> list[TaskBriefView]:
    """Return what would be taken up next in each plan, the oldest plan first.

    Nothing is taken up.
    """
    fits = _fits(project, request)
    parallel_changes = project.home.settings().workspace.parallel_changes
    with project.ledger.read() as tx:
        briefs = []
        for plan in reversed(tx.plans()):
            if request.plan_id not in (None, plan.plan_id):
                continue
            offered = taking.handed_out(
                tx, plan.plan_id, request.kinds, fits, parallel_changes
            )
            task = next(offered, None)
            if task is not None:
                briefs.append(_brief_view(tx, task))
        return briefs


def _brief_view(tx: Transaction, task: TaskRecord) -> TaskBriefView:
    return TaskBriefView(**described(tx, task))


def held_tasks(
    project: Project, holder: str, plan_id: str | None = None
) -> list[Taken]:
    """Return the tasks that a worker holds, in one plan or in all."""
    with project.ledger.read() as tx:
        return taking.held_by(tx, holder, plan_id)


def held_task(project: Project, task_id: str, holder: str, attempt: int) -> Taken:
    """Return a task that a worker holds. Raises Conflict if they do not."""
    for taken in held_tasks(project, holder):
        if taken.task.task_id == task_id and taken.attempt == attempt:
            return taken
    raise Conflict(f"task {task_id} is not with {holder} in attempt {attempt}")


# -- handing in


def contract_of_message(raw: bytes | None) -> str:
    """Return the contract that a message names; without a message, that of changes.

    A message that cannot be read, or names none, counts as the contract "unknown".
    """
    if raw is None:
        return SUBMIT.version
    try:
        named = parse_object(raw).get("schema_version")
        return registry.get(str(named)).version
    except (Unparseable, UnknownContract):
        return "unknown"


def submit(
    project: Project,
    raw: bytes | None,
    *,
    task_id: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
    patch: bytes | None = None,
    worker: Identity | None = None,
) -> AnswerView:
    """Hand in the message for a task: the named task, else that in the message.

    A `worker` must be allowed to work on it, and may name it as `worked_task` says. For
    a change, the clone that was lent is judged, after a patch, if there is any, was
    applied to it. Without a message, the submission in its evidence folder counts, or
    accordance makes the message from facts.
    """
    find = task_by_id if worker is None else partial(worked_task, worker)
    answer = outside.submit(
        project.ledger,
        project.home,
        raw,
        MeantTask(task_id, find),
        attempt=attempt,
        holder=holder,
        beside=Beside(patch=patch),
    )
    return answer_view(answer)


def ask_person(
    project: Project, taken: Taken, question: str, *, holder: str
) -> AnswerView:
    """Ask a person, for the holder of a task: the task waits for the answer."""
    task = taken.task
    with project.ledger.read() as tx:
        is_change = coding_task(tx, task) is not None
    message = None
    claim = None
    if is_change:
        claim = Claim(status="NEED_INPUT", summary=question, needs_input=(question,))
    else:
        message = _needs_answer(task.task_id, question)
    answer = outside.submit(
        project.ledger,
        project.home,
        message,
        MeantTask(task.task_id),
        attempt=taken.attempt,
        holder=holder,
        beside=Beside(claim=claim),
    )
    return answer_view(answer)


def _needs_answer(task_id: str, question: str) -> bytes:
    message = {
        "schema_version": ACTION.version,
        "task_id": task_id,
        "result_type": "ERROR",
        "error": {"code": "INPUT_MISSING", "message": question},
    }
    return json.dumps(message, ensure_ascii=False).encode()


def review(
    project: Project,
    raw: bytes,
    *,
    task_id: str | None = None,
    artifact: str | None = None,
    reviewer: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
) -> AnswerView:
    """Hand in a review of the product that the reviewer saw.

    The reviewer is the holder of the task, unless they are named.
    """
    by = reviewer or _holder_of(project, task_id) or asking_as(None)
    not_own_of = None if project.home.settings().review.own_work else by
    answer = reviewing.review(
        project.ledger,
        raw,
        task_id=task_id,
        product=artifact,
        attempt=attempt,
        holder=holder,
        not_own_of=not_own_of,
    )
    return answer_view(outside.published(project.ledger, project.home, answer))


def _holder_of(project: Project, task_id: str | None) -> str | None:
    if task_id is None:
        return None
    with project.ledger.read() as tx:
        lease = tx.task(task_id).lease
    return lease.holder if lease else None


# -- deciding


def retry(
    project: Project, name: str, *, by: str, reason: str | None = None
) -> TaskView:
    """Give a failed or blocked task another chance; its attempts begin anew."""
    task_id = task_id_of(project, name)
    return task_view(tasks.retry(project.ledger, task_id, by=by, reason=reason))


def release(
    project: Project,
    name: str,
    *,
    by: str,
    attempt: int | None = None,
    holder: str | None = None,
) -> TaskView:
    """Put a task down again; that is no failure.

    A clone that was lent is thrown away.
    """
    task_id = task_id_of(project, name)
    task = outside.release(
        project.ledger, project.home, task_id, by=by, attempt=attempt, holder=holder
    )
    return task_view(task)


def extend(
    project: Project,
    name: str,
    *,
    attempt: int,
    seconds: int = LEASE_SECONDS,
    holder: str | None = None,
    report: str | None = None,
) -> LeaseView:
    """Extend the lease of a task, and keep a report of progress if there is one.

    Raises Conflict if it is no longer theirs.
    """
    task_id = task_id_of(project, name)
    lease = tasks.extend(
        project.ledger,
        task_id,
        attempt=attempt,
        seconds=seconds,
        holder=holder,
        report=report,
    )
    return LeaseView(holder=lease.holder, until=lease.until)


def cancel(
    project: Project,
    name: str,
    *,
    by: str,
    excuse: bool = False,
    cascade: bool = False,
    reason: str | None = None,
) -> CancelledTaskView:
    """Cancel a task and what belongs only to it; the root cancels the plan.

    Raises Conflict while other tasks wait for it.
    """
    task_id = task_id_of(project, name)
    along = tasks.cancel(
        project.ledger, task_id, by=by, excuse=excuse, cascade=cascade, reason=reason
    )
    with project.ledger.read() as tx:
        state = tx.progress(task_id).state
    return CancelledTaskView(task_id=task_id, state=state, along=along)

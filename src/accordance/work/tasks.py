"""Taking up work and putting it down: leases, retries, cancelling, the dead letters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Final, Literal, TypeAlias

from accordance.domain.fuses import Spent, blown
from accordance.domain.input_binding import InputFile
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.plan_review import PlanEvent, PlanState
from accordance.domain.progress import left_hanging
from accordance.domain.records import UNSPENT, Lease, PlanRecord, TaskRecord
from accordance.domain.ruling import Ask, QuestionKind, rule_lost_lease
from accordance.errors import Conflict, TasksWait
from accordance.store.ledger import Ledger, Transaction
from accordance.work.coding_tasks import (
    allows_external,
    change_to_make,
    changes_under_way,
    is_change,
)
from accordance.work.contracts_for import Holding, to_actions
from accordance.work.inputs import bind_inputs
from accordance.work.intake import begin_attempt, case_of, not_theirs
from accordance.work.own_work import is_own_work

LEASE_SECONDS: Final = 15 * 60
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


Fits: TypeAlias = Callable[[Transaction, TaskRecord], bool]
Passes: TypeAlias = Callable[
    [Transaction, TaskRecord], bool
]  # a task over: it is not for whoever asks


def anything(_tx: Transaction, _task: TaskRecord) -> bool:
    """Any task will do."""
    return True


class NoTaskReason(StrEnum):
    """Why there is nothing to take up."""

    NO_PLAN = "there is no plan; import one"
    IN_REVIEW = "the plan waits for its review"
    RETURNED = "the plan was returned; import a better one"
    HELD = "the plan is held and waits for a person"
    FINISHED = "the plan is finished"
    BUSY = "everything that can begin is being worked on"
    WAITING = "what is left waits for a person or an input"
    STUCK = "what is left waits for something that was given up or cancelled"
    ELSEWHERE = "what is left waits for somebody who asks for it"
    OWN_WORK = (
        "what is left is to review what you made yourself: another worker does that, or own_work = true under"
        " [review] in accordance.toml allows it"
    )
    CHANGING = "another change of the plan is under way: changes are made one after the other, each on what the one before has come to"
    OTHERS = (
        "there is work, but not for whoever asks so: of other kinds, or for an executor of accordance's own, which"
        " whoever may have any task is given where it allows that"
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """A task somebody has now: to be done, or its product to be reviewed."""

    task: TaskRecord
    kind: Literal["action", "review"]
    lease: Lease

    @property
    def attempt(self) -> int:
        """The number of the attempt; for a review, of the attempt whose product it is."""
        return self.task.progress.standing.counters.attempts


def take_next(  # noqa: PLR0913 - who asks, for what, and what they are held to
    ledger: Ledger,
    files: list[InputFile],
    *,
    plan_id: str | None = None,
    holder: str = "somebody",
    seconds: int = LEASE_SECONDS,
    kinds: tuple[str, ...] = (),
    fits: Fits = anything,
    holding: Holding = to_actions,
    own_work: bool = True,
) -> Taken | NoTaskReason:
    """Take up the next task of a plan, or of the oldest plan that has one. `holding` says which contracts hold.

    Without `own_work` the holder is given no reviews of their own products.
    """
    passes = partial(is_own_work, worker=holder) if not own_work else None
    if plan_id is not None:
        with ledger.write() as tx:
            return take_in(
                tx,
                plan_id,
                files,
                holder,
                seconds,
                kinds=kinds,
                fits=fits,
                holding=holding,
                passes=passes,
            )
    with ledger.read() as tx:  # plans at rest are not worth a transaction each
        plans = [(plan.plan_id, at_rest(tx, plan)) for plan in reversed(tx.plans())]
    nothing = NoTaskReason.FINISHED if plans else NoTaskReason.NO_PLAN
    for name, rests in plans:
        found: Taken | NoTaskReason | None = rests
        if found is None:
            with ledger.write() as tx:
                found = take_in(
                    tx,
                    name,
                    files,
                    holder,
                    seconds,
                    kinds=kinds,
                    fits=fits,
                    holding=holding,
                    passes=passes,
                )
        if isinstance(found, Taken):
            return found
        nothing = found if nothing is NoTaskReason.FINISHED else nothing
    return nothing


def held_by(tx: Transaction, holder: str, plan_id: str | None = None) -> list[Taken]:
    """What a holder has, in one plan or in all."""
    plans = [tx.plan(plan_id)] if plan_id else list(reversed(tx.plans()))
    return [
        Taken(task, "review" if _is_review(task) else "action", task.lease)
        for plan in plans
        if plan.state is PlanState.ACTIVE
        for task in tx.tasks(plan.plan_id, State.IN_PROGRESS, State.READY_TO_CHECK)
        if task.lease is not None
        and task.lease.holder == holder
        and task.lease.until > tx.now
    ]


def _is_review(task: TaskRecord) -> bool:
    return bool(task.checks) or task.progress.state is State.READY_TO_CHECK


def at_rest(tx: Transaction, plan: PlanRecord) -> NoTaskReason | None:
    """Why nothing in a plan can be taken up at all, if so."""
    if tx.progress(plan.root_task_id).state in TERMINAL:
        return NoTaskReason.FINISHED
    return None if plan.state is PlanState.ACTIVE else NoTaskReason[plan.state.name]


def take_in(  # noqa: PLR0913 - the same
    tx: Transaction,
    plan_id: str,
    files: list[InputFile],
    holder: str,
    seconds: int,
    *,
    kinds: tuple[str, ...] = (),
    fits: Fits = anything,
    holding: Holding = to_actions,
    passes: Passes | None = None,
) -> Taken | NoTaskReason:
    """Take up the next task of one plan that fits and is not passed over, in a transaction of the caller's."""
    if rests := may_not_begin(tx, plan_id, files):
        return rests
    is_own = False
    for task in handed_out(tx, plan_id, kinds, fits):
        if passes is None or not passes(tx, task):
            return take_up(tx, task, holder, seconds, holding)
        is_own = True
    if is_own:
        return NoTaskReason.OWN_WORK
    if any(is_change(tx, task) for task in _open_to_others(tx, plan_id, kinds, fits)):
        return NoTaskReason.CHANGING
    return why_nothing(tx, plan_id, for_others=True)


def handed_out(
    tx: Transaction, plan_id: str, kinds: tuple[str, ...] = (), fits: Fits = anything
) -> Iterator[TaskRecord]:
    """What somebody who asks for work may be given now; a change is not while another one of the plan is under way."""
    under_way: set[str] | None = None
    for task in _open_to_others(tx, plan_id, kinds, fits):
        if is_change(tx, task):
            under_way = (
                changes_under_way(tx, plan_id) if under_way is None else under_way
            )
            if under_way - {task.task_id}:
                continue
        yield task


def _open_to_others(
    tx: Transaction, plan_id: str, kinds: tuple[str, ...], fits: Fits
) -> Iterator[TaskRecord]:
    """What is ready and meant for somebody who asks for work."""
    return (
        task
        for task in tx.all_turns(plan_id, kinds)
        if fits(tx, task) and allows_external(change_to_make(tx, task))
    )


def may_not_begin(
    tx: Transaction, plan_id: str, files: list[InputFile] | None
) -> NoTaskReason | None:
    """Why nothing in a plan may begin, if so; the plan is held. Without `files` only the plan itself is looked at."""
    plan = tx.lock(plan_id)
    if rests := at_rest(tx, plan):
        return rests
    if files is not None:
        sweep(tx, plan)
        bind_inputs(tx, plan_id, files)
    if reason := blown(plan.rules.fuses, _spent(plan, tx.now)):
        tx.move_plan(plan_id, PlanEvent.FUSED, {"fuse": reason})
        tx.ask(
            plan_id,
            None,
            Ask(kind=QuestionKind.PLAN, text=f"A fuse has blown: {reason}"),
        )
        return NoTaskReason.HELD
    return None


def why_nothing(
    tx: Transaction, plan_id: str, *, for_others: bool = False
) -> NoTaskReason:
    """Why nothing in a plan that may go on can be taken up; `for_others`: something was passed over."""
    if for_others and tx.next_turn(plan_id) is not None:
        return NoTaskReason.OTHERS
    in_work = tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK)
    if any(task.lease or task.progress.state is State.IN_PROGRESS for task in in_work):
        return NoTaskReason.BUSY
    if tx.open_questions(plan_id=plan_id):
        return NoTaskReason.WAITING
    pending = tx.tasks(plan_id, State.PENDING)
    waits = any(
        task.progress.active and task.progress.missing_inputs for task in pending
    )
    return NoTaskReason.WAITING if waits else NoTaskReason.STUCK


def take_up(
    tx: Transaction,
    task: TaskRecord,
    holder: str,
    seconds: int,
    holding: Holding = to_actions,
) -> Taken:
    """Somebody takes up a task that can be taken up."""
    until = later(tx.now, seconds)
    if task.progress.state is State.READY_TO_CHECK:
        lease = Lease(holder=holder, until=until, product=task.product)
        tx.take(task.task_id, lease)
        return Taken(tx.task(task.task_id), "review", lease)
    begin_attempt(tx, task, holder, {} if task.checks else holding(tx, task))
    product = tx.task(task.checks).product if task.checks else None
    lease = Lease(holder=holder, until=until, product=product)
    tx.take(task.task_id, lease)
    return Taken(tx.task(task.task_id), "review" if task.checks else "action", lease)


def sweep(tx: Transaction, plan: PlanRecord) -> None:
    """Take back what nobody works on any more."""
    for task_id in tx.expired(plan.plan_id):
        task = tx.task(task_id)
        if task.progress.state is State.IN_PROGRESS:
            tx.rule(task_id, rule_lost_lease(case_of(tx, task), plan.rules.fuses), {})
        else:
            tx.save_task(task_id, lease=None)


def extend(
    ledger: Ledger,
    task_id: str,
    *,
    attempt: int,
    holder: str | None = None,
    seconds: int = LEASE_SECONDS,
) -> Lease:
    """Whoever has a task says that they are still there. Raises Conflict if it is not theirs any more."""
    with ledger.write() as tx:
        task = _theirs(tx, task_id, attempt, holder)
        if task.lease is None:
            raise Conflict(f"attempt {attempt} of task {task_id} is over")
        lease = Lease(
            holder=task.lease.holder,
            until=later(tx.now, seconds),
            product=task.lease.product,
        )
        tx.take(task_id, lease)
        return lease


def release(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    attempt: int | None = None,
    holder: str | None = None,
) -> TaskRecord:
    """Put a task down again; nothing is lost and nothing is counted as a failure. Anybody may, unless they name themselves."""
    with ledger.write() as tx:
        task = _theirs(tx, task_id, attempt, holder)
        if task.progress.state is State.READY_TO_CHECK and task.lease is not None:
            tx.save_task(task_id, lease=None)
        else:
            tx.happen(task_id, Event.RELEASED, why={"by": by})
        return tx.task(task_id)


def retry(ledger: Ledger, task_id: str, *, by: str) -> TaskRecord:
    """A person gives a failed or blocked task another chance."""
    with ledger.write() as tx:
        _held(tx, task_id)
        tx.happen(task_id, Event.GRANTED, why={"by": by})
        return tx.task(task_id)


def cancel(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    excuse: bool = False,
    cascade: bool = False,
) -> tuple[str, ...]:
    """A person no longer wants a task, nor what belongs only to it. Returns the tasks that were cancelled along.

    Whatever waits for it would wait for ever, so somebody has to say what becomes of that. Raises Conflict.
    """
    with ledger.write() as tx:
        _held(tx, task_id)
        hanging = left_hanging(tx, task_id)
        if hanging and not (excuse or cascade):
            few = ", ".join(hanging[:3]) + (
                " ..." if len(hanging) > len(hanging[:3]) else ""
            )
            raise TasksWait(
                f"{len(hanging)} tasks wait for {task_id} ({few})",
                way_out="cancel them too, or let them go on without it",
            )
        along = hanging if cascade else ()
        tx.cancel(task_id, excuse=excuse, along=along, why={"by": by})
        return along


def requeue(ledger: Ledger, task_id: str, *, by: str) -> TaskRecord:
    """Take a task out of the dead letters: it gets a new chance."""
    with ledger.write() as tx:
        _held(tx, task_id)
        tx.happen(task_id, Event.REQUEUED, why={"by": by})
        return tx.task(task_id)


def dead_letters(tx: Transaction, plans: Iterable[PlanRecord]) -> list[TaskRecord]:
    """Everything that was given up."""
    return [
        task for plan in plans for task in tx.tasks(plan.plan_id, State.DEAD_LETTER)
    ]


def resume(ledger: Ledger, plan_id: str, *, by: str) -> PlanRecord:
    """A person lets a plan whose fuse has blown go on; its fuses begin anew."""
    with ledger.write() as tx:
        if tx.lock(plan_id).run_started_at is None:
            raise Conflict(f"plan {plan_id} has not begun: there is nothing to resume")
        tx.move_plan(plan_id, PlanEvent.RESUMED, {"by": by})
        tx.save_plan(plan_id, **UNSPENT, run_started_at=tx.now)
        for question in tx.open_questions(plan_id=plan_id, kind=QuestionKind.PLAN):
            tx.replace(
                replace(
                    question,
                    answered_at=tx.now,
                    answer={"closed_by": PlanEvent.RESUMED},
                )
            )
        return tx.plan(plan_id)


def _held(tx: Transaction, task_id: str) -> TaskRecord:
    """The task, with its plan held."""
    tx.lock(tx.task(task_id).plan_id)
    return tx.task(task_id)


def _theirs(
    tx: Transaction, task_id: str, attempt: int | None, holder: str | None
) -> TaskRecord:
    """The task, with its plan held, if it is with whoever says so, in the attempt they name. Raises Conflict."""
    task = _held(tx, task_id)
    if attempt not in (None, task.progress.standing.counters.attempts):
        raise Conflict(f"attempt {attempt} of task {task_id} is over")
    if why_not := not_theirs(task, holder):
        raise Conflict(why_not)
    return task


def _spent(plan: PlanRecord, now: str) -> Spent:
    if plan.run_started_at is None:
        return Spent(calls=0, seconds=0)
    began = dt.datetime.strptime(plan.run_started_at, _TIME)  # noqa: DTZ007
    seconds = (dt.datetime.strptime(now, _TIME) - began).total_seconds()  # noqa: DTZ007
    return Spent(calls=plan.calls, seconds=seconds, tokens=plan.tokens, cost=plan.cost)


def later(now: str, seconds: int) -> str:
    """The moment so many seconds later, as the ledger writes it."""
    return (dt.datetime.strptime(now, _TIME) + dt.timedelta(seconds=seconds)).strftime(  # noqa: DTZ007
        _TIME
    )

"""Taking tasks up: which task is next, why there is none, and who holds them.

The scheduler takes tasks up for accordance's own executors, `take_next` for outside
workers. Both go by the same rules: `why_not_begin` for the plan, `take_up` for the
task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, Literal, TypeAlias

from accordance.domain.fuses import Spent, blown_fuse
from accordance.domain.input_binding import InputFile
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.plan_lifecycle import LETS_WORK_END, PlanEvent, PlanState
from accordance.domain.records import Lease, PlanRecord, TaskRecord
from accordance.domain.ruling import Ask, QuestionKind, rule_lost_lease
from accordance.domain.usage import Budget
from accordance.project.settings import PARALLEL_CHANGES
from accordance.store.ledger import RESERVED, Ledger, Transaction
from accordance.work.coding_tasks import (
    allows_external,
    change_to_make,
    is_change,
)
from accordance.work.contracts_for import Holding, to_actions
from accordance.work.inputs import bind_inputs, has_seen
from accordance.work.intake import begin_attempt, history_of
from accordance.work.landing import REBASES, landing_of
from accordance.work.lease_times import LEASE_SECONDS, later, seconds_between
from accordance.work.own_work import is_own_work
from accordance.work.parallel_changes import ChangeBounds
from accordance.work.plan_life import state_of

Fits: TypeAlias = Callable[[Transaction, TaskRecord], bool]
"""Whether a task may be given to the worker who asks."""
Passes: TypeAlias = Callable[[Transaction, TaskRecord], bool]
"""Whether a task that fits is passed over: it is the worker's own work."""


def anything(_tx: Transaction, _task: TaskRecord) -> bool:
    """Fit any task."""
    return True


class NoTaskReason(StrEnum):
    """Why there is nothing to take up."""

    NO_PLAN = "there is no plan; import a plan"
    IN_REVIEW = "the plan waits for its review"
    RETURNED = "the plan was returned; import a better plan"
    HELD = "the plan is held and waits for a person"
    PAUSED = "the plan is paused"
    FINISHED = "the plan is finished"
    CANCELLED = "the plan was cancelled"
    ARCHIVED = "the plan is archived"
    BUSY = "everything that can begin is being worked on"
    WAITING = "what is left waits for a person or an input"
    STUCK = "what is left waits for something that was given up or cancelled"
    ELSEWHERE = "what is left waits for an outside worker to ask for it"
    OWN_WORK = (
        "what is left is to review what you made yourself; let another worker review"
        " it, or set own_work = true under [review] in accordance.toml"
    )
    CHANGING = (
        "as many changes of the plan are under way as may be made at once"
        " (parallel_changes under [workspace] in accordance.toml), or a change that was"
        " overtaken several times has to land first"
    )
    OTHERS = (
        "there is work, but of other kinds than you asked for, or for any of"
        " accordance's own executors; ask for any task to get what they would do,"
        " where its task allows that"
    )


PLAN_IS_OVER: Final = frozenset(
    (NoTaskReason.FINISHED, NoTaskReason.CANCELLED, NoTaskReason.ARCHIVED)
)
"""The reasons for which nothing will ever be taken up again."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A task that a worker holds: to be done, or its product to be reviewed."""

    task: TaskRecord
    kind: Literal["action", "review"]
    lease: Lease

    @property
    def attempt(self) -> int:
        """The number of the attempt; for a review, of the reviewed attempt."""
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
    parallel_changes: int = PARALLEL_CHANGES,
) -> Taken | NoTaskReason:
    """Take up the next task of a plan, or of the oldest plan that has any.

    `holding` chooses the contracts of actions. Without `own_work` the holder gets no
    reviews of their own products. So many `parallel_changes` of a plan are made at once.
    """
    take = partial(
        take_in,
        files=files,
        holder=holder,
        seconds=seconds,
        kinds=kinds,
        fits=fits,
        holding=holding,
        passes=None if own_work else partial(is_own_work, worker=holder),
        parallel_changes=parallel_changes,
    )
    if plan_id is None:
        return _take_from_any_plan(ledger, take)
    with ledger.write() as tx:
        return take(tx, plan_id)


def _take_from_any_plan(
    ledger: Ledger, take: Callable[[Transaction, str], Taken | NoTaskReason]
) -> Taken | NoTaskReason:
    """Take up a task of the oldest plan that has any.

    If none has, the reason is that of the oldest plan that is not finished.
    """
    with ledger.read() as tx:  # plans at rest are not worth a transaction each
        plans = [(plan.plan_id, why_at_rest(tx, plan)) for plan in reversed(tx.plans())]
    if not plans:
        return NoTaskReason.NO_PLAN

    reason = NoTaskReason.FINISHED
    for plan_id, rest in plans:
        outcome: Taken | NoTaskReason | None = rest
        if outcome is None:
            with ledger.write() as tx:
                outcome = take(tx, plan_id)
        if isinstance(outcome, Taken):
            return outcome
        if reason in PLAN_IS_OVER:
            reason = outcome
    return reason


def held_by(tx: Transaction, holder: str, plan_id: str | None = None) -> list[Taken]:
    """Return the tasks that a worker holds, in a plan or in all."""
    plans = [tx.plan(plan_id)] if plan_id else list(reversed(tx.plans()))
    held = []
    for plan in plans:
        if plan.state not in LETS_WORK_END:
            continue
        for task in tx.tasks(plan.plan_id, State.IN_PROGRESS, State.READY_TO_CHECK):
            lease = task.lease
            if lease and lease.holder == holder and lease.until > tx.now:
                kind = _kind_of(task)
                held.append(Taken(task, kind, lease))
    return held


def is_review(task: TaskRecord) -> bool:
    """Whether the next worker on a task reviews a product."""
    return bool(task.checks) or task.progress.state is State.READY_TO_CHECK


def _kind_of(task: TaskRecord) -> Literal["action", "review"]:
    return "review" if is_review(task) else "action"


def why_at_rest(tx: Transaction, plan: PlanRecord) -> NoTaskReason | None:
    """Return why nothing in a plan can be taken up at all, if so."""
    state = state_of(tx, plan)
    if state is not PlanState.ACTIVE:
        return NoTaskReason[state.name]
    if tx.progress(plan.root_task_id).state in TERMINAL:
        return NoTaskReason.FINISHED
    return None


def while_work_ends(
    tx: Transaction, plan_id: str, reason: NoTaskReason
) -> NoTaskReason:
    """Return why a run of a plan rests.

    A paused plan is busy until the work that has begun comes to its end.
    """
    if reason is NoTaskReason.PAUSED and _is_in_work(tx, plan_id):
        return NoTaskReason.BUSY
    return reason


def _is_in_work(tx: Transaction, plan_id: str) -> bool:
    for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK):
        if task.lease or task.progress.state is State.IN_PROGRESS:
            return True
    return False


def take_in(  # noqa: PLR0913 - as for `take_next`
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
    parallel_changes: int = PARALLEL_CHANGES,
) -> Taken | NoTaskReason:
    """Take up the next task of a plan that fits and is not passed over.

    It happens in a transaction of the caller's.
    """
    reason = why_not_begin(tx, plan_id, files)
    if reason:
        return reason

    is_passed_over = False
    for task in handed_out(tx, plan_id, kinds, fits, parallel_changes):
        if passes is None or not passes(tx, task):
            return take_up(tx, task, holder, seconds, holding)
        is_passed_over = True
    if is_passed_over:
        return NoTaskReason.OWN_WORK

    if any(is_change(tx, task) for task in _open_to_others(tx, plan_id, kinds, fits)):
        return NoTaskReason.CHANGING
    return why_nothing(tx, plan_id, for_others=True)


def handed_out(
    tx: Transaction,
    plan_id: str,
    kinds: tuple[str, ...] = (),
    fits: Fits = anything,
    parallel_changes: int = PARALLEL_CHANGES,
) -> Iterator[TaskRecord]:
    """Yield the tasks that an outside worker may be given now.

    No more than so many changes of the plan are under way at once.
    """
    changes = ChangeBounds(parallel_changes)
    for task in _open_to_others(tx, plan_id, kinds, fits):
        if not is_change(tx, task) or changes.leave_room_for(tx, task):
            yield task


def _open_to_others(
    tx: Transaction, plan_id: str, kinds: tuple[str, ...], fits: Fits
) -> Iterator[TaskRecord]:
    """The tasks that are ready, and open to outside workers."""
    for task in tx.all_turns(plan_id, kinds):
        if fits(tx, task) and allows_external(change_to_make(tx, task)):
            yield task


def why_not_begin(
    tx: Transaction, plan_id: str, files: list[InputFile] | None
) -> NoTaskReason | None:
    """Lock a plan; return why nothing in it may begin, if so.

    With `files`, lost tasks are taken back and inputs bound first. A plan whose fuse
    blows is held.
    """
    plan = tx.lock(plan_id)
    reason = why_at_rest(tx, plan)
    if reason:
        return reason

    if files is not None:
        take_back_lost(tx, plan)
        bind_inputs(tx, plan_id, files)

    fuse = blown_fuse(plan.rules.fuses, _spent(plan, tx.now))
    if not fuse:
        return None
    tx.move_plan(plan_id, PlanEvent.FUSED, {"fuse": fuse})
    name, _, _ = fuse.partition(":")
    text = f"A fuse has blown: {fuse}"
    ask = Ask(kind=QuestionKind.PLAN, text=text, details={"fuse": name})
    tx.ask(plan_id, None, ask)
    return NoTaskReason.HELD


def why_no_look(
    tx: Transaction, plan: PlanRecord, files: list[InputFile]
) -> NoTaskReason | None:
    """Return why a look at a plan would change nothing, if so.

    Many workers look at many plans. Only a look that may change something is worth
    locking the plan, for which attempts wait that are to be settled.
    """
    plan_id = plan.plan_id
    reason = why_at_rest(tx, plan)
    if reason:
        return while_work_ends(tx, plan_id, reason)

    may_change = (
        tx.next_turn(plan_id) is not None
        or tx.expired(plan_id)
        or not has_seen(tx, plan_id, files)
        or blown_fuse(plan.rules.fuses, _spent(plan, tx.now))
    )
    return None if may_change else why_nothing(tx, plan_id)


def why_nothing(
    tx: Transaction, plan_id: str, *, for_others: bool = False
) -> NoTaskReason:
    """Return why nothing in a plan that may go on can be taken up.

    `for_others`: the worker was not offered everything that is ready.
    """
    if for_others and tx.next_turn(plan_id) is not None:
        return NoTaskReason.OTHERS

    if _is_in_work(tx, plan_id):
        return NoTaskReason.BUSY

    if tx.open_questions(plan_id=plan_id):
        return NoTaskReason.WAITING

    for task in tx.tasks(plan_id, State.PENDING):
        if task.progress.active and task.progress.missing_inputs:
            return NoTaskReason.WAITING
    return NoTaskReason.STUCK


def take_up(
    tx: Transaction,
    task: TaskRecord,
    holder: str,
    seconds: int,
    holding: Holding = to_actions,
    reserved: Budget | None = None,
) -> Taken:
    """Give a task that is ready to a worker, who reserves so much of its budget."""
    kind = _kind_of(task)
    reviewed = None
    if kind == "review":
        reviewed = tx.task(task.checks) if task.checks else task

    if task.progress.state is not State.READY_TO_CHECK:
        terms = {} if task.checks else {**holding(tx, task), **_rebases(tx, task)}
        begin_attempt(tx, task, holder, terms)

    lease = Lease(
        holder=holder,
        until=later(tx.now, seconds),
        product=reviewed.product if reviewed else None,
        reserved=reserved,
    )
    tx.take(task.task_id, lease)
    taken = Taken(tx.task(task.task_id), kind, lease)
    if reserved is not None:
        _record_reservation(tx, taken, reserved)
    return taken


def _record_reservation(tx: Transaction, taken: Taken, reserved: Budget) -> None:
    payload = {
        "kind": taken.kind,
        "attempt": taken.attempt,
        "tokens": reserved.tokens,
        "cost": reserved.cost,
    }
    tx.record(taken.task.plan_id, RESERVED, taken.task.task_id, payload)


def _rebases(tx: Transaction, task: TaskRecord) -> dict[str, int]:
    """Name the change that an attempt applies to the plan's new head, if it does."""
    landing = landing_of(tx, task)
    return {} if landing is None else {REBASES: landing.attempt}


def take_back_lost(tx: Transaction, plan: PlanRecord) -> None:
    """Take back the tasks whose lease has expired."""
    for task_id in tx.expired(plan.plan_id):
        task = tx.task(task_id)
        if task.progress.state is not State.IN_PROGRESS:
            tx.put_down(task_id)
        elif landing_of(tx, task) is not None:  # it was not worked on
            tx.happen(task_id, Event.RELEASED, why={"by": "engine"})
        else:
            ruling = rule_lost_lease(history_of(tx, task), plan.rules.fuses)
            tx.rule(task_id, ruling, {})


def _spent(plan: PlanRecord, now: str) -> Spent:
    if plan.run_started_at is None:
        return Spent(calls=0, seconds=0)
    return Spent(
        calls=plan.calls,
        seconds=seconds_between(plan.run_started_at, now),
        tokens=plan.tokens,
        cost=plan.cost,
    )

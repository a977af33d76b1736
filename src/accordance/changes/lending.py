"""Lending a clone to an outside worker who takes up a change."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from accordance.changes.attempt import CodingAttempt
from accordance.changes.commission import Commission
from accordance.changes.remote_faults import outcome_of_remote
from accordance.changes.workshop import Workshop, workshop_of
from accordance.contracts.catalogue.action import ACTION
from accordance.domain.case import tests_of
from accordance.domain.executor_specs import ExternalSpec
from accordance.domain.faults import Fault
from accordance.domain.records import TaskRecord
from accordance.domain.routing import PROMPTS, Choice
from accordance.errors import AccordanceError, Conflict, LedgerError, NoExecutor
from accordance.executors.code_map import code_map
from accordance.judging.judge import AttemptTree
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import not_theirs
from accordance.work.assignment import assignment, with_conflict
from accordance.work.coding_tasks import EXTERNAL, coding_task, wanted_in
from accordance.work.faults import fail_in, report_of
from accordance.work.lent_clones import LENT, Loan, loan_under_way
from accordance.work.project_routes import routing_for
from accordance.work.sweeping import kept_from_sweeping
from accordance.work.taking import Taken
from accordance.workspace.branch import apply_patch, conflicts
from accordance.workspace.clone import discard
from accordance.workspace.errors import (
    EnvironmentBroken,
    ForeignPush,
    RemoteUnavailable,
)
from accordance.workspace.evidence import evidence_folder


def assignment_with_clone(
    ledger: Ledger,
    home: Home,
    taken: Taken,
) -> dict[str, Any] | None:
    """Return the assignment of a worker; a change comes with its clone.

    A change that cannot be begun is settled as a fault, and None is returned.
    """
    with ledger.read() as tx:
        document = assignment(tx, home, taken)
        if "change" not in document:
            return document
        loan = loan_under_way(tx, taken.task)

    try:
        shop = workshop_of(home)
        with ledger.read() as tx:
            job = commission_for(tx, shop, taken.task)
        if loan is None or not loan.is_there(home):
            loan, document = _lend(ledger, shop, job, taken, document)
    except (LedgerError, Conflict):
        raise  # they say nothing about the task
    except (AccordanceError, OSError) as error:
        report = _report_of(error)
        with ledger.write() as tx:
            fail_in(tx, taken.task.task_id, taken.attempt, report)
        return None

    document = {**document, **_about_clone(home, job, loan)}
    return with_conflict(document, loan.conflicts)


def _report_of(error: AccordanceError | OSError) -> dict[str, Any]:
    """The report of a change that could not be begun."""
    if isinstance(error, RemoteUnavailable | ForeignPush):
        outcome = outcome_of_remote(error)
        return outcome.to_json()
    is_environment = isinstance(error, EnvironmentBroken)
    fault = Fault.ENVIRONMENT if is_environment else Fault.UNPREPARED
    return report_of(fault, str(error))


def commission_for(tx: Transaction, shop: Workshop, task: TaskRecord) -> Commission:
    """Return what an attempt at a coding task takes from the ledger."""
    change = coding_task(tx, task)
    if change is None:  # pragma: no cover - only coding tasks come here
        raise Conflict(f"task {task.task_id} changes no repository")
    return shop.commission(tx, task, change)


def outside_choice(executor: str) -> Choice:
    """Return the choice of a route that leads to an outside worker of that name."""
    return Choice(
        executor=executor,
        spec=ExternalSpec(kind="external"),
        model=None,
        tier=None,
        tiers={},
        contract=ACTION.version,
        prompt=PROMPTS["action"],
    )


def _lend(
    ledger: Ledger,
    shop: Workshop,
    job: Commission,
    taken: Taken,
    document: dict[str, Any],
) -> tuple[Loan, dict[str, Any]]:
    """Make a clone, write down that it is lent, and put it in its place.

    Raises PreflightFailed, WorkspaceError.
    """
    with ledger.read() as tx:
        choice = _choice_for(tx, shop.home, taken.task)

    attempt = CodingAttempt(shop, job, choice)
    with kept_from_sweeping(shop.home):
        try:
            tree = attempt.fresh_tree(attempt.place, attempt.base())
            attempt.check_preflight(tree)
            work = tree.workspace.work
            apply_patch(job.start, work)

            loan = _loan(attempt, taken, tree)
            document = _with_map(document, work)
            _record_loan(ledger, taken, loan)
            shop.home.lent.mkdir(mode=0o700, exist_ok=True)
            work.rename(loan.place(shop.home))
        finally:
            discard(attempt.place)
    return loan, document


def _loan(attempt: CodingAttempt, taken: Taken, tree: AttemptTree) -> Loan:
    job = attempt.job
    return Loan(
        task_id=taken.task.task_id,
        attempt=taken.attempt,
        name=attempt.place.name,
        base=tree.workspace.commit,
        role=job.gateway.roles[job.asked.task.role],
        executor=attempt.choice.executor,
        conflicts=conflicts(job.start, tree.workspace.work),
    )


def _choice_for(tx: Transaction, home: Home, task: TaskRecord) -> Choice:
    """The worker as a choice of the routes, under the name they have there, if any."""
    executor = EXTERNAL
    with contextlib.suppress(NoExecutor):
        routed = routing_for(home).choose(wanted_in(tx, task, "action"))
        if routed.spec.kind == EXTERNAL:
            executor = routed.executor
    return outside_choice(executor)


def _record_loan(ledger: Ledger, taken: Taken, loan: Loan) -> None:
    """Write down that a clone is lent, if the worker still has the task.

    Raises Conflict.
    """
    task_id, plan_id = taken.task.task_id, taken.task.plan_id
    with ledger.write() as tx:
        tx.lock(plan_id)
        task = tx.task(task_id)
        is_same_attempt = task.progress.standing.counters.attempts == taken.attempt
        if not is_same_attempt or not_theirs(task, taken.lease.holder):
            raise Conflict(
                f"attempt {taken.attempt} of task {task_id} is over;"
                " take up the next task"
            )
        tx.record(plan_id, LENT, task_id, loan.to_json())


def _with_map(document: dict[str, Any], work: Path) -> dict[str, Any]:
    """The assignment with a map of the code, unless the task brings its own."""
    change = document["change"]
    if "map_summary" in change.get("context", {}):
        return document
    context = {**document["context"], "map_summary": code_map(work, change)}
    return {**document, "context": context}


def _about_clone(home: Home, job: Commission, loan: Loan) -> dict[str, Any]:
    """Where to work, which tests will run, where evidence goes, how to hand in."""
    task = job.asked.task
    options = ["--task", task.task_id, "--attempt", str(loan.attempt)]
    # the clone may hold settings of its own
    options += ["--home", str(home.root)]
    return {
        "workspace": str(loan.place(home)),
        "base": loan.base,
        "tests": list(tests_of(task, job.gateway.tests)),
        "evidence": evidence_folder(task.task_id),
        "hand_in": ["accordance", "task", "submit", "-", *options],
    }

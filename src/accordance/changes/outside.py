"""Changes of a repository that outside workers make.

They take the task up, are lent a clone, and hand it in. The clone is that which an
executor of accordance would get, and the change is judged and settled by the same
functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from accordance.changes.handing_in import NOTHING_BESIDE, Beside, ChangeHandIn
from accordance.changes.landing import (
    is_landing,
    land,
    settle_landing,
    take_landing,
)
from accordance.changes.lending import assignment_with_clone
from accordance.changes.workshop import workshop_of
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.errors import Conflict
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import must_fit, receive
from accordance.work.coding_keys import TAG
from accordance.work.coding_tasks import coding_task
from accordance.work.intake import submit_in
from accordance.work.lent_clones import discard_old_loans, loan_under_way
from accordance.work.plan_head import head_of, replaced_heads
from accordance.work.receipts import Receipt
from accordance.work.taking import NoTaskReason, Taken
from accordance.work.tasks import release as put_down
from accordance.workspace.clone import discard


def task_by_id(tx: Transaction, task_id: str) -> TaskRecord:
    """Return a task by its whole id. Raises NotFound."""
    return tx.task(task_id)


@dataclass(frozen=True, slots=True)
class MeantTask:
    """The task that a worker hands in for."""

    name: str | None = None  # None: the message names it
    find: Callable[[Transaction, str], TaskRecord] = task_by_id
    """Raises for a task that the worker may not work on."""


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A task that a worker holds, with their assignment."""

    taken: Taken
    document: dict[str, Any]


def hand_out(
    ledger: Ledger,
    home: Home,
    take: Callable[[], Taken | NoTaskReason],
) -> HandedOut | NoTaskReason:
    """Take up the next task that can be begun, with its assignment.

    A change comes with its clone. A change that cannot be begun waits for a person, as it
    does in a run, and the next task is taken up. So it is where a good change only had
    to land.
    """
    discard_old_loans(ledger, home)
    while True:
        taken = take()
        if isinstance(taken, NoTaskReason):
            return taken
        if is_landing(ledger, taken):
            published(ledger, home, settle_landing(ledger, home, taken))
            continue
        document = assignment_with_clone(ledger, home, taken)
        if document is not None:
            return HandedOut(taken, document)


def submit(
    ledger: Ledger,
    home: Home,
    raw: bytes | None,
    meant: MeantTask,
    *,
    attempt: int | None = None,
    holder: str | None = None,
    beside: Beside = NOTHING_BESIDE,
) -> Receipt:
    """Hand in for a task: its message, or the change in the clone lent for it.

    A message is looked up, checked and ruled on in a single transaction. A change is
    judged after that transaction, which has then written nothing.

    A change without a message is judged by what lies in the clone's evidence folder. If
    there is nothing, accordance makes the submission from facts, with the claim. The
    same again gets the same answer. Raises Conflict where there must be a message. A
    patch, the change of a worker who has no access to the clone, is applied there first.
    """
    must_fit(beside.patch or b"")
    with receive(ledger, raw or b"", meant.name) as (tx, name):
        task = meant.find(tx, name)
        if coding_task(tx, task) is None:
            _must_be_message(task.task_id, raw, beside)
            return submit_in(tx, home, raw or b"", task.task_id, attempt, holder)

    message = raw if raw and raw.strip() else None
    hand_in = ChangeHandIn(ledger, home, task.task_id, message, attempt, holder, beside)
    return published(ledger, home, hand_in.settle())


def _must_be_message(task_id: str, raw: bytes | None, beside: Beside) -> None:
    """Refuse what only a change can be handed in with. Raises Conflict."""
    if beside.patch is not None:
        raise Conflict(f"task {task_id} changes no repository, so it takes no patch")
    if raw is None:
        raise Conflict(
            f"task {task_id} changes no repository, so it takes a message: hand that in"
        )


def land_task(ledger: Ledger, home: Home, task_id: str) -> None:
    """Land the change of a task at once, if it is good and the plan has overtaken it."""
    taken = take_landing(ledger, home, task_id)
    if taken is not None:
        published(ledger, home, settle_landing(ledger, home, taken))


def published(ledger: Ledger, home: Home, receipt: Receipt) -> Receipt:
    """Move the plan's branch to where the ledger says, once a change is done.

    A good change that the plan has overtaken is landed first. If the branch cannot be
    moved, the receipt says why.
    """
    receipt = land(ledger, home, receipt)
    if receipt.content.get("state") != State.DONE:
        return receipt

    with ledger.read() as tx:
        task = tx.task(str(receipt.content["task_id"]))
        head = None
        if TAG in task.tags:
            head = head_of(tx, task.plan_id)
        replaced = replaced_heads(tx, task.plan_id)
    if head is None:
        return receipt

    problem = workshop_of(home).publish(task.plan_id, head, replaced)
    if problem is None:
        return receipt
    content = {**receipt.content, "not_published": problem}
    return replace(receipt, content=content)


def release(
    ledger: Ledger,
    home: Home,
    task_id: str,
    *,
    by: str,
    attempt: int | None = None,
    holder: str | None = None,
) -> TaskRecord:
    """Put a task down again, and throw away the clone lent for it. Raises Conflict."""
    with ledger.read() as tx:
        loan = loan_under_way(tx, tx.task(task_id))
    task = put_down(
        ledger,
        task_id,
        by=by,
        attempt=attempt,
        holder=holder,
    )
    if loan is not None:
        discard(loan.place(home))
    return task

"""Landing a good change that the plan has overtaken, outside of a run.

In a run it is the next attempt at its task. Where an outside worker hands in or reviews
a change, it lands at once: no worker may come to ask for it again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from accordance.changes.keeping import with_kept_evidence
from accordance.changes.lending import commission_for, outside_choice
from accordance.changes.settling import change_in
from accordance.changes.workshop import workshop_of
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.ruling import BEHIND
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import RunOutcome
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.work.coding_tasks import EXTERNAL
from accordance.work.faults import fail_in
from accordance.work.kept_evidence import JudgedRun
from accordance.work.landing import landing_of
from accordance.work.parallel_changes import ChangeBounds
from accordance.work.receipts import Receipt
from accordance.work.sweeping import kept_from_sweeping
from accordance.work.taking import Taken, take_up, why_not_begin

LANDING_SECONDS: Final = 3600
"""How long a change that lands is kept from others, while its tests run."""
_HOLDER: Final = "accordance"
_OF_THE_MESSAGE: Final = ("status", "violations")
"""What an answer says of the message itself, whatever becomes of the change."""


def land(ledger: Ledger, home: Home, receipt: Receipt) -> Receipt:
    """Land the change of a receipt, if the plan has overtaken it.

    The receipt then says what has become of it. A change is left alone where a run, or
    another process, has it already. A message that is only sent again lands what a kill
    has left behind.
    """
    while receipt.content.get("reason_code") == BEHIND:
        taken = take_landing(ledger, home, str(receipt.content["task_id"]))
        if taken is None:
            return receipt
        landed = settle_landing(ledger, home, taken)
        receipt = _with_landing(ledger, receipt, landed)
    return receipt


def take_landing(ledger: Ledger, home: Home, task_id: str) -> Taken | None:
    """Take a change up that has to land; None if that is not possible now."""
    most = home.settings().workspace.parallel_changes
    with ledger.write() as tx:
        plan_id = tx.task(task_id).plan_id
        if why_not_begin(tx, plan_id, None):
            return None
        task = tx.task(task_id)
        if task.progress.state is not State.READY or landing_of(tx, task) is None:
            return None
        if not ChangeBounds(most).leave_room_for(tx, task):
            return None
        return take_up(tx, task, _HOLDER, LANDING_SECONDS)


def is_landing(ledger: Ledger, taken: Taken) -> bool:
    """Whether the attempt of a worker needs no work: a good change has to land."""
    if taken.kind != "action":
        return False
    with ledger.read() as tx:
        return landing_of(tx, taken.task) is not None


def settle_landing(ledger: Ledger, home: Home, taken: Taken) -> Receipt:
    """Apply a good change to the plan's new head, and let the verdict take effect."""
    task_id, attempt = taken.task.task_id, taken.attempt
    run = JudgedRun(
        plan_id=taken.task.plan_id,
        task_id=task_id,
        attempt=attempt,
    )
    produced = _rebased(ledger, home, taken)
    produced = with_kept_evidence(ledger, home.root, run, produced)
    with ledger.write() as tx:
        tx.lock(taken.task.plan_id)
        if produced.raw is None or produced.judged is None:
            return fail_in(tx, task_id, attempt, produced.to_json())
        return change_in(tx, home, produced.raw, task_id, attempt, produced.judged)


def _rebased(ledger: Ledger, home: Home, taken: Taken) -> RunOutcome:
    """Apply and judge the change, while no transaction is open."""
    try:
        shop = workshop_of(home)
        with ledger.read() as tx:
            job = commission_for(tx, shop, taken.task)
    except LedgerError:
        raise  # it says nothing about the task
    except AccordanceError as error:
        return RunOutcome(fault=Fault.UNPREPARED, text=str(error))
    with kept_from_sweeping(home):
        return shop.carry_out(job, outside_choice(EXTERNAL), _no_agent)


def _no_agent(_work: Path, _judge: Callable[[bytes], Opinion]) -> RunOutcome:
    return RunOutcome(fault=Fault.STOPPED, text="the change does not have to land")


def _with_landing(ledger: Ledger, receipt: Receipt, landed: Receipt) -> Receipt:
    """The receipt of a message, with what has become of its change."""
    content: dict[str, Any] = {**receipt.content, **landed.content}
    for name in _OF_THE_MESSAGE:
        content[name] = receipt.content[name]
    check_id = content.get("check")
    if check_id is not None:
        with ledger.read() as tx:
            content["check_state"] = tx.progress(str(check_id)).state
    return Receipt(content)

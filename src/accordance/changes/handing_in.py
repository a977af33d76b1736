"""Handing in a change from a lent clone: whether it may be, its verdict, its effect.

An outside worker is not watched. So only the tree itself is taken from the clone: the
base, the withheld files and the tree before are made anew, from the commit and the role
that the ledger has.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from accordance.changes.attempt import CodingAttempt
from accordance.changes.commission import Commission
from accordance.changes.concluding import Conclusion
from accordance.changes.lending import commission_for, outside_choice
from accordance.changes.settling import change_in
from accordance.changes.workshop import Workshop, workshop_of
from accordance.domain.findings import listed
from accordance.domain.lifecycle import State
from accordance.domain.records import Lease, MessageRecord, TaskRecord
from accordance.errors import Conflict
from accordance.judging.own_submission import Claim
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
    not_now,
    not_theirs,
)
from accordance.work.intake import (
    refuse,
    repeated_answer,
)
from accordance.work.kept_evidence import JudgedRun, keep_evidence
from accordance.work.lease_times import later
from accordance.work.lent_clones import Loan, loan_under_way
from accordance.work.receipts import Receipt
from accordance.work.sweeping import kept_from_sweeping
from accordance.workspace.branch import apply_patch, conflicts, is_applied
from accordance.workspace.clone import discard
from accordance.workspace.editing import Draft
from accordance.workspace.errors import WorkspaceError

JUDGING_SECONDS: Final = 3600
"""A worker who has handed in keeps the task at least so long, while tests run."""
_NOT_LENT: Final = (
    "no clone was lent for the attempt of task {0} that is under way: an executor of"
    " `accordance run` makes it, or `task next` was cut off; then put it down with"
    " `accordance task release {0}`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a worker hands in beside the message about a change."""

    claim: Claim | None = None  # for the submission that is made where there is none
    patch: bytes | None = (
        None  # the change itself, of a worker who cannot reach the clone
    )


NOTHING_BESIDE: Final = Beside()


@dataclass(frozen=True, slots=True)
class ChangeHandIn:
    """A change that an outside worker hands in."""

    ledger: Ledger
    home: Home
    task_id: str
    message: bytes | None
    attempt: int | None
    holder: str | None
    beside: Beside

    def settle(self) -> Receipt:
        """Judge the change, and let the verdict take effect.

        Raises Conflict while the same clone is being handed in already, AccordanceError
        if it cannot be judged.
        """
        shop = workshop_of(self.home)
        with self._alone_with_clone():
            opened = self._open(shop)
            if isinstance(opened, Receipt):
                return opened
            loan, job = opened
            self._bring_patch(loan)
            return self._settle(shop, loan, job)

    @contextlib.contextmanager
    def _alone_with_clone(self) -> Iterator[None]:
        """A clone is judged once at a time. Raises Conflict."""
        with self.ledger.read() as tx:
            loan = loan_under_way(tx, tx.task(self.task_id))
        if loan is None or not loan.is_there(self.home):
            yield
            return
        with _locked(loan.place(self.home)):
            yield

    def _open(self, shop: Workshop) -> tuple[Loan, Commission] | Receipt:
        """Keep the task while it is judged; return its clone and its commission.

        A change that is not judged gets its answer at once.
        """
        with self.ledger.write() as tx:
            arrived = arrive(tx, self.task_id, "SUBMISSION", self.message or b"")
            repeated = self._repeated(tx, arrived)
            if repeated is not None:
                return repeated

            loan = loan_under_way(tx, arrived.task)
            refusal = self._why_not(arrived, loan)
            if refusal is not None:
                return refuse(tx, arrived, refusal)
            if loan is None:
                return refuse(tx, arrived, _NOT_LENT.format(self.task_id))

            _keep_while_judged(tx, arrived.task)
            return loan, commission_for(tx, shop, arrived.task)

    def _bring_patch(self, loan: Loan) -> None:
        """Apply the worker's patch to the clone, unless it has been. Raises Conflict."""
        patch = self.beside.patch
        if patch is None:
            return
        work = loan.place(self.home)
        if is_applied(patch, work) or apply_patch(patch, work):
            return
        files = listed(list(conflicts(patch, work))) or "any file"
        raise Conflict(
            f"the patch does not fit the clone in {files}; nothing of it was taken:"
            " send the output of git diff against what the clone has now"
        )

    def _repeated(self, tx: Transaction, arrived: ArrivedMessage) -> Receipt | None:
        """The answer that the same message got before.

        Without a message, it is the answer that the attempt got.
        """
        if self.message is not None:
            return repeated_answer(tx, arrived, self.attempt)

        attempt = arrived.attempt if self.attempt is None else self.attempt
        messages = tx.find(
            MessageRecord,
            subject=self.task_id,
            kind="SUBMISSION",
            attempt=attempt,
        )
        judged = [message for message in messages if "bundle" in message.case]
        return Receipt(judged[-1].answer, repeated=True) if judged else None

    def _why_not(self, arrived: ArrivedMessage, loan: Loan | None) -> str | None:
        """Why the change is not taken, if so."""
        task = arrived.task
        refusal = not_now(arrived, self.attempt) or not_theirs(task, self.holder)
        if refusal is not None:
            return refusal

        if task.progress.state is not State.IN_PROGRESS:
            return (
                f"task {task.task_id} changes a repository: take it up with"
                " `accordance task next`, which lends you a clone to work in,"
                " and hand that in"
            )
        if loan is not None and not loan.is_there(self.home):
            return (
                f"the clone of attempt {loan.attempt} is not in"
                f" {loan.place(self.home)}: put the task down"
                f" (`accordance task release {task.task_id}`) and take it up again"
            )
        return None

    def _settle(self, shop: Workshop, loan: Loan, job: Commission) -> Receipt:
        raw, change = self._conclude(shop, loan, job)
        document = change.to_json()
        self.ledger.stage(raw)
        with self.ledger.read() as tx:
            plan_id = tx.task(self.task_id).plan_id
        run = JudgedRun(
            plan_id=plan_id,
            task_id=self.task_id,
            attempt=loan.attempt,
        )
        evidence = self.home.root / (change.written or change.bundle)
        keep_evidence(self.ledger, evidence, run)
        with self.ledger.write() as tx:
            receipt = change_in(
                tx, self.home, raw, self.task_id, loan.attempt, document
            )
        if receipt.status != "refused":
            discard(loan.place(self.home))  # it is no longer needed
        return receipt

    def _conclude(self, shop: Workshop, loan: Loan, job: Commission) -> Conclusion:
        """Judge the clone against its base, made anew. Raises AccordanceError.

        Nothing is counted if that fails.
        """
        roles = {**job.gateway.roles, loan.role.name: loan.role}
        job = replace(job, gateway=replace(job.gateway, roles=roles))
        attempt = CodingAttempt(shop, job, outside_choice(loan.executor))
        judge = attempt.judge
        options = replace(judge.options(), claim=self.beside.claim)

        work = loan.place(self.home)
        with kept_from_sweeping(self.home):
            try:
                tree = attempt.fresh_tree(attempt.place, loan.base)
                tree = replace(tree, workspace=replace(tree.workspace, work=work))
                return judge.conclude(tree, Draft(work), self.message, options)
            except OSError as error:
                raise WorkspaceError(
                    f"the change could not be judged: {error};"
                    " nothing was counted, hand it in again"
                ) from error
            finally:
                discard(attempt.place)


def _keep_while_judged(tx: Transaction, task: TaskRecord) -> None:
    """Extend the lease, so that the worker keeps the task while it is judged."""
    lease = task.lease
    if lease is None:
        return
    until = max(lease.until, later(tx.now, JUDGING_SECONDS))
    extended = Lease(
        holder=lease.holder,
        until=until,
        product=lease.product,
    )
    tx.take(task.task_id, extended)


@contextlib.contextmanager
def _locked(clone: Path) -> Iterator[None]:
    """Keep others from judging a clone while the block runs.

    Raises Conflict if it is being judged already.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(clone, flags)
    try:
        if not _lock_alone(folder):
            raise Conflict(
                "the clone is being judged just now; hand it in again to get the result"
            )
        yield
    finally:
        os.close(folder)


def _lock_alone(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the disk knows no locks
        return True
    return True

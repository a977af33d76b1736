"""Changes of a repository that somebody elsewhere makes: they take the task up, are lent a clone, and hand it in.

The clone is the one an executor of accordance's own would get, and what comes of it is judged and settled by the same
functions. Between the two nobody watches. So only the tree itself is taken from the clone when it is judged: the base, what
was withheld and the tree before are made anew, from the commit and the role that the ledger has.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from accordance.changes.attempt import (
    CodingAttempt,
    Commission,
    Concluded,
    Workshop,
    workshop_of,
)
from accordance.changes.settling import change_in
from accordance.contracts.catalogue.action import ACTION
from accordance.domain.case import tests_of
from accordance.domain.executor_specs import ExternalSpec
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import Lease, MessageRecord, TaskRecord
from accordance.domain.routing import PROMPTS, Choice
from accordance.errors import AccordanceError, Conflict, LedgerError, NoExecutor
from accordance.executors.code_map import code_map
from accordance.judging.own_submission import Claim
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.assignment import assignment, with_conflict
from accordance.work.coding_tasks import EXTERNAL, TAG, coding_task, wanted_in
from accordance.work.faults import fail_in, report_of
from accordance.work.intake import (
    ArrivedMessage,
    arrive,
    must_fit,
    named_task,
    not_now,
    not_theirs,
    refuse,
    repeated_answer,
)
from accordance.work.intake import submit as submit_message
from accordance.work.landing import head_of
from accordance.work.lent_clones import LENT, Loan, loan_under_way, sweep_loans
from accordance.work.project_routes import routing_for
from accordance.work.receipts import Receipt
from accordance.work.sweeping import kept_from_sweeping
from accordance.work.tasks import NoTaskReason, Taken, later
from accordance.work.tasks import release as put_down
from accordance.workspace.branch import conflicts, lay
from accordance.workspace.clone import discard
from accordance.workspace.editing import Draft
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.evidence import evidence_folder

JUDGING_SECONDS: Final = (
    3600  # whoever has handed in keeps the task at least so long, while tests run
)


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A task that somebody has now, with all that they are told."""

    taken: Taken
    document: dict[str, Any]


# -- taking up


def hand_out(
    ledger: Ledger, home: Home, take: Callable[[], Taken | NoTaskReason]
) -> HandedOut | NoTaskReason:
    """Take up the next task that can be begun, and tell all about it; a change comes with its clone.

    A change that cannot be begun as it is waits for a person, as it does in a run, and the next task is taken up.
    """
    sweep_loans(ledger, home)
    while True:
        taken = take()
        if isinstance(taken, NoTaskReason):
            return taken
        document = tell_about(ledger, home, taken)
        if document is not None:
            return HandedOut(taken, document)


def tell_about(ledger: Ledger, home: Home, taken: Taken) -> dict[str, Any] | None:
    """The assignment; None for a change that could not be begun, which is settled then."""
    with ledger.read() as tx:
        document = assignment(tx, home, taken)
        if "change" not in document:
            return document
        loan = loan_under_way(tx, taken.task)
    try:
        shop = workshop_of(home)
        with ledger.read() as tx:
            job = _commission(tx, shop, taken.task)
        if loan is None or not loan.is_there(home):
            loan, document = _lent(ledger, shop, job, taken, document)
    except (LedgerError, Conflict):
        raise  # they say nothing about the task
    except (AccordanceError, OSError) as error:
        with ledger.write() as tx:
            fail_in(
                tx,
                taken.task.task_id,
                taken.attempt,
                report_of(Fault.UNPREPARED, str(error)),
            )
        return None
    return with_conflict({**document, **_about_clone(home, job, loan)}, loan.conflicts)


def _commission(tx: Transaction, shop: Workshop, task: TaskRecord) -> Commission:
    change = coding_task(tx, task)
    if (
        change is None
    ):  # pragma: no cover - only tasks that change a repository come here
        raise Conflict(f"task {task.task_id} changes no repository")
    return shop.commission(tx, task, change)


def _lent(
    ledger: Ledger,
    shop: Workshop,
    job: Commission,
    taken: Taken,
    document: dict[str, Any],
) -> tuple[Loan, dict[str, Any]]:
    """Make a clone, write down that it is lent, and put it where it stays. Raises PreflightFailed, WorkspaceError."""
    with ledger.read() as tx:
        choice = _routed_as(tx, shop.home, taken.task)
    attempt = CodingAttempt(shop, job, choice)
    with kept_from_sweeping(shop.home):
        try:
            ground = attempt.ground(attempt.place, attempt.base())
            attempt.look_at(ground)
            work = ground.workspace.work
            lay(job.start, work)
            loan = Loan(
                task_id=taken.task.task_id,
                attempt=taken.attempt,
                name=attempt.place.name,
                base=ground.workspace.commit,
                role=job.gateway.roles[job.asked.task.role],
                executor=choice.executor,
                conflicts=conflicts(job.start, work),
            )
            document = _with_map(document, work)
            _write_down(ledger, taken, loan)
            shop.home.lent.mkdir(mode=0o700, exist_ok=True)
            work.rename(loan.place(shop.home))
        finally:
            discard(attempt.place)
    return loan, document


def _routed_as(tx: Transaction, home: Home, task: TaskRecord) -> Choice:
    """Whoever asks, as a choice of the routes: under the name they have there, if they lead to somebody elsewhere."""
    name = EXTERNAL
    with contextlib.suppress(NoExecutor):
        routed = routing_for(home).choose(wanted_in(tx, task, "action"))
        name = routed.executor if routed.spec.kind == EXTERNAL else EXTERNAL
    return _elsewhere(name)


def _elsewhere(name: str) -> Choice:
    return Choice(
        executor=name,
        spec=ExternalSpec(kind="external"),
        model=None,
        tier=None,
        tiers={},
        contract=ACTION.version,
        prompt=PROMPTS["action"],
    )


def _write_down(ledger: Ledger, taken: Taken, loan: Loan) -> None:
    """Note that a clone is lent, if the task is still with whoever took it up. Raises Conflict."""
    task = taken.task
    with ledger.write() as tx:
        tx.lock(task.plan_id)
        now = tx.task(task.task_id)
        is_same_attempt = now.progress.standing.counters.attempts == taken.attempt
        if not is_same_attempt or not_theirs(now, taken.lease.holder):
            raise Conflict(
                f"attempt {taken.attempt} of task {task.task_id} is over; take up the next task"
            )
        tx.record(task.plan_id, LENT, task.task_id, loan.to_json())


def _with_map(document: dict[str, Any], work: Path) -> dict[str, Any]:
    """What is told, with a map of the code that may be changed; a map of the task's own is enough."""
    if "map_summary" in document["change"].get("context", {}):
        return document
    return {
        **document,
        "context": {
            **document["context"],
            "map_summary": code_map(work, document["change"]),
        },
    }


def _about_clone(home: Home, job: Commission, loan: Loan) -> dict[str, Any]:
    """Where to work, what will be run, where evidence goes, how to hand in."""
    task = job.asked.task
    hand_in = [
        "accordance",
        "task",
        "submit",
        "-",
        "--task",
        task.task_id,
        "--attempt",
        str(loan.attempt),
    ]
    return {
        "workspace": str(loan.place(home)),
        "tests": list(tests_of(task, job.gateway.tests)),
        "evidence": evidence_folder(task.task_id),
        "hand_in": [
            *hand_in,
            "--home",
            str(home.root),
        ],  # the clone may hold settings of its own
    }


# -- handing in


def submit(
    ledger: Ledger,
    home: Home,
    raw: bytes | None,
    *,
    task_id: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
    claim: Claim | None = None,
) -> Receipt:
    """Hand in for a task: its message, or the change in the clone that was lent for it.

    Without a message, what lies in the clone's evidence folder counts for a change; where nothing does, accordance hands in
    from facts, with the `claim` if there is one. The same again gets the same answer. Raises Conflict where there must be
    a message.
    """
    must_fit(raw or b"")
    named = task_id or named_task(raw or b"")
    with ledger.read() as tx:
        is_change = coding_task(tx, tx.task(named)) is not None
    if is_change:
        message = raw if raw and raw.strip() else None
        return _HandingIn(ledger, home, named, message, attempt, holder, claim).go()
    if raw is None:
        raise Conflict(
            f"task {named} changes no repository, so it takes a message: hand one in"
        )
    return submit_message(
        ledger, home, raw, task_id=named, attempt=attempt, holder=holder
    )


@dataclass(frozen=True, slots=True)
class _HandingIn:
    """A change that is handed in: whether it may be, what is found out about it, what becomes of it."""

    ledger: Ledger
    home: Home
    task_id: str
    message: bytes | None
    attempt: int | None
    holder: str | None
    claim: Claim | None

    def go(self) -> Receipt:
        """Hand in. Raises Conflict while somebody else hands in the same clone, AccordanceError if it cannot be judged."""
        shop = workshop_of(self.home)
        with self._alone_with_clone():
            opened = self._opened(shop)
            answer = (
                opened if isinstance(opened, Receipt) else self._settled(shop, *opened)
            )
        return published(self.ledger, self.home, answer)

    @contextlib.contextmanager
    def _alone_with_clone(self) -> Iterator[None]:
        """A clone is judged once at a time. Raises Conflict."""
        with self.ledger.read() as tx:
            loan = loan_under_way(tx, tx.task(self.task_id))
        with contextlib.ExitStack() as end:
            if loan is not None and loan.is_there(self.home):
                end.enter_context(_locked(loan.place(self.home)))
            yield

    def _opened(self, shop: Workshop) -> tuple[Loan, Commission] | Receipt:
        """The clone and what it is judged by, with the task kept for as long as that takes; or the answer at once."""
        with self.ledger.write() as tx:
            arrived = arrive(tx, self.task_id, "SUBMISSION", self.message or b"")
            if (repeated := self._repeated(tx, arrived)) is not None:
                return repeated
            loan = loan_under_way(tx, arrived.task)
            why_not = self._why_not(arrived, loan)
            if why_not is not None or loan is None:
                return refuse(tx, arrived, why_not or _NOT_LENT.format(self.task_id))
            _keep_while_judged(tx, arrived.task)
            return loan, _commission(tx, shop, arrived.task)

    def _repeated(self, tx: Transaction, arrived: ArrivedMessage) -> Receipt | None:
        """The answer that this very hand-in got before; without a message, the one that its attempt got."""
        if self.message is not None:
            return repeated_answer(tx, arrived, self.attempt)
        number = arrived.attempt if self.attempt is None else self.attempt
        messages = tx.find(
            MessageRecord, subject=self.task_id, kind="SUBMISSION", attempt=number
        )
        judged = [message for message in messages if "bundle" in message.case]
        return Receipt(judged[-1].answer, repeated=True) if judged else None

    def _why_not(self, arrived: ArrivedMessage, loan: Loan | None) -> str | None:
        """Why nothing is taken from whoever hands in, if so."""
        task = arrived.task
        if (
            why_not := not_now(arrived, self.attempt) or not_theirs(task, self.holder)
        ) is not None:
            return why_not
        if task.progress.state is not State.IN_PROGRESS:
            return (
                f"task {task.task_id} changes a repository: take it up with `accordance task next`, which lends you a clone"
                " to work in, and hand that in"
            )
        if loan is not None and not loan.is_there(self.home):
            return (
                f"the clone of attempt {loan.attempt} is not in {loan.place(self.home)}: put the task down"
                f" (`accordance task release {task.task_id}`) and take it up again"
            )
        return None

    def _concluded(self, shop: Workshop, loan: Loan, job: Commission) -> Concluded:
        """Judge the clone against its base, made anew; nothing is counted if that cannot be done. Raises AccordanceError."""
        roles = {**job.gateway.roles, loan.role.name: loan.role}
        held = replace(job, gateway=replace(job.gateway, roles=roles))
        attempt = CodingAttempt(shop, held, _elsewhere(loan.executor))
        work = loan.place(self.home)
        with kept_from_sweeping(self.home):
            try:
                fresh = attempt.ground(attempt.place, loan.base)
                ground = replace(fresh, workspace=replace(fresh.workspace, work=work))
                return attempt.conclude(
                    ground,
                    Draft(work),
                    self.message,
                    replace(attempt.how(), claim=self.claim),
                )
            except OSError as error:
                raise WorkspaceError(
                    f"the change could not be judged: {error}; nothing was counted, hand it in again"
                ) from error
            finally:
                discard(attempt.place)

    def _settled(self, shop: Workshop, loan: Loan, job: Commission) -> Receipt:
        """Judge the change, and let the verdict take effect; the clone has done its duty then."""
        concluded = self._concluded(shop, loan, job)
        judged = concluded.change.to_json()
        with self.ledger.write() as tx:
            answer = change_in(
                tx, self.home, concluded.raw, self.task_id, loan.attempt, judged
            )
        if answer.status != "refused":
            discard(loan.place(self.home))
        return answer


_NOT_LENT: Final = (
    "no clone was lent for the attempt of task {0} that is under way: an executor of `accordance run` makes it, or `task next` was"
    " cut off; then put it down with `accordance task release {0}`"
)


def _keep_while_judged(tx: Transaction, task: TaskRecord) -> None:
    """Whoever has handed in does not lose the task to somebody else while it is judged."""
    if task.lease is None:
        return
    until = max(task.lease.until, later(tx.now, JUDGING_SECONDS))
    tx.take(
        task.task_id,
        Lease(holder=task.lease.holder, until=until, product=task.lease.product),
    )


@contextlib.contextmanager
def _locked(clone: Path) -> Iterator[None]:
    """Nobody else has this clone judged as long as the block runs. Raises Conflict if somebody does."""
    folder = os.open(clone, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not _holds_alone(folder):
            raise Conflict(
                "the clone is being judged just now; hand it in again to hear what came of that"
            )
        yield
    finally:
        os.close(folder)


def _holds_alone(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the disk knows no locks
        return True
    return True


# -- afterwards


def published(ledger: Ledger, home: Home, answer: Receipt) -> Receipt:
    """The answer, once the plan's branch stands where the ledger says; if it cannot be moved, the answer says why."""
    if answer.content.get("state") != State.DONE:
        return answer
    with ledger.read() as tx:
        task = tx.task(str(answer.content["task_id"]))
        head = head_of(tx, task.plan_id) if TAG in task.tags else None
    why_not = workshop_of(home).publish(task.plan_id, head) if head else None
    return (
        answer
        if why_not is None
        else replace(answer, content={**answer.content, "not_published": why_not})
    )


def release(
    ledger: Ledger,
    home: Home,
    task_id: str,
    *,
    by: str,
    attempt: int | None = None,
    holder: str | None = None,
) -> TaskRecord:
    """Put a task down again; the clone that was lent for it is thrown away. Raises Conflict."""
    with ledger.read() as tx:
        loan = loan_under_way(tx, tx.task(task_id))
    task = put_down(ledger, task_id, by=by, attempt=attempt, holder=holder)
    if loan is not None:
        discard(loan.place(home))
    return task

"""Messages as they arrive: bounded, bound to their task, refused if not due."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from accordance.contracts.limits import LIMITS
from accordance.contracts.reading import parse_object
from accordance.domain.lifecycle import CLAIMABLE, State
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.errors import AccordanceError, Unparseable
from accordance.store.ledger import Ledger, Transaction
from accordance.work.message_kinds import Kind

_NAME_IT: Final = "say which task it is for"


class TaskUnnamed(AccordanceError):
    """A message that does not tell which task it is for."""

    code = "task-unnamed"


class MessageTooLarge(AccordanceError):
    """A message that is too large for any contract: it is not even kept."""

    code = "message-too-large"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedMessage:
    """A message whose bytes are kept and whose task is known, not yet judged."""

    plan: PlanRecord
    task: TaskRecord
    kind: Kind
    raw: bytes
    sha256: str
    copies: int = 0
    """How often the same words came before and counted as a message of their own."""

    @property
    def attempt(self) -> int:
        """The attempt the message is for: the current attempt of its task."""
        return self.task.progress.standing.counters.attempts

    @property
    def message_id(self) -> str:
        """The id of the message in the current attempt."""
        return self.id_in(self.attempt)

    def id_in(self, attempt: int) -> str:
        """Return the id that the message has in an attempt."""
        again = f":{self.copies}" if self.copies else ""
        return f"{self.task.task_id}:{self.kind}:{attempt}:{self.sha256}{again}"


@contextmanager
def receive(
    ledger: Ledger, raw: bytes, task_id: str | None
) -> Iterator[tuple[Transaction, str]]:
    """Open the transaction in which a message is handed in for a task.

    Yields it with the id of the task, which the message names itself where the caller
    does not. Raises MessageTooLarge, TaskUnnamed, BlobError.
    """
    must_fit(raw)
    named = task_id or named_task(raw)
    ledger.stage(raw)
    with ledger.write() as tx:
        yield tx, named


def must_fit(raw: bytes) -> None:
    """Refuse a message that is too large, before anything of it is stored.

    Raises MessageTooLarge.
    """
    if len(raw) <= LIMITS.max_bytes:
        return
    limit = LIMITS.max_bytes >> 20
    raise MessageTooLarge(
        f"the message is larger than {limit} MiB; nothing of it was stored and no"
        " attempt was counted; hand in a smaller message"
    )


def named_task(raw: bytes) -> str:
    """Return the task that a message names. Raises TaskUnnamed."""
    try:
        task_id = parse_object(raw).get("task_id")
    except Unparseable as flaw:
        raise TaskUnnamed(
            f"the message cannot be read ({flaw})", way_out=_NAME_IT
        ) from None
    if not isinstance(task_id, str):
        raise TaskUnnamed("the message names no task_id", way_out=_NAME_IT)
    return task_id


def arrive(tx: Transaction, task_id: str, kind: Kind, raw: bytes) -> ArrivedMessage:
    """Keep the bytes of a message, lock the plan, and see where the task stands."""
    sha256 = tx.keep(raw)
    plan = tx.lock(tx.task(task_id).plan_id)
    task = tx.task(task_id)
    return ArrivedMessage(plan=plan, task=task, kind=kind, raw=raw, sha256=sha256)


def not_now(arrived: ArrivedMessage, attempt: int | None) -> str | None:
    """Return why a task takes no message now, or none for that attempt, if so."""
    task, plan = arrived.task, arrived.plan
    state = task.progress.state
    if state not in CLAIMABLE and state is not State.IN_PROGRESS:
        return f"task {task.task_id} is {state} and takes no action now"

    if plan.state is not PlanState.ACTIVE and state in CLAIMABLE:
        return f"plan {plan.plan_id} is {plan.state}: nothing in it may begin"

    is_under_way = state is State.IN_PROGRESS
    current = arrived.attempt if is_under_way else arrived.attempt + 1
    if attempt is not None and attempt != current:
        return (
            f"attempt {attempt} of task {task.task_id} is over;"
            f" the current attempt is {current}"
        )
    return None


def not_theirs(task: TaskRecord, holder: str | None) -> str | None:
    """Return why nothing is taken from a worker who does not hold the task, if so."""
    if holder is None:
        return None
    if task.lease is None:
        return f"task {task.task_id} is not with {holder} now"
    if task.lease.holder == holder:
        return None
    return f"task {task.task_id} is not with {holder} now; {task.lease.holder} has it"

"""What the parts of the runtime know of each other: a small protocol for each.

    Scheduling     which ready tasks begin now           scheduler.Scheduler
    Router         which queue a task goes into          attempt_runner.ProjectAttempts
    AttemptRunner  a run of an executor                  attempt_runner.ProjectAttempts
    Workflows      durable steps, transactional queue    workflow.WorkflowEngine
    AttemptSteps   what the workflow of an attempt does  attempt_path.AttemptPath
    Listener       reports to the caller's interface     passed in by it
    Branches       the branches of changed plans         publishing.Publishing

`attempt_path` depends on these alone, so that the path of an attempt can be read
without knowing any of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.chain import Payload
from accordance.domain.records import TaskRecord
from accordance.domain.usage import Budget
from accordance.executors.protocol import RunOutcome
from accordance.runtime.offers import Offers, QueuedAttempt, TakenUp
from accordance.runtime.slots import Bound
from accordance.store.ledger import Transaction
from accordance.telemetry.tracing import Span

VERSION: Final = "2"
"""Of the queue and what is kept in it; raised when an old attempt could not be resumed.

Version 1 kept its queue in tables of DBOS (`earlier_release`)."""
LOCAL: Final = "local"
"""The worker that has a SQLite ledger to itself."""


@dataclass(frozen=True, slots=True)
class TaskAttempt:
    """An attempt at a task. Its fields are columns of its row in the queue."""

    task_id: str
    kind: str  # action or review
    number: int
    product: str | None = None  # what a review is about
    plan_id: str = ""
    queue: str = ""
    lease: str | None = None  # when its lease ends


class QueueingTransaction(Protocol):
    """A ledger transaction that can also queue attempts.

    A task is taken up and queued, or neither.
    """

    @property
    def tx(self) -> Transaction:
        """The ledger's part of it."""

    def enqueue(self, taken_up: Sequence[TakenUp]) -> list[QueuedAttempt]:
        """Queue attempts that were just taken up.

        They are announced to the workflows after the commit.
        """


@dataclass(frozen=True, slots=True)
class Settled:
    """An attempt that was settled: its answer, and what could begin because of it."""

    answer: JsonObject
    queued: Sequence[QueuedAttempt] = ()
    ended: frozenset[str] = frozenset()
    """The tasks that are over because of it, as far as they are watched."""


class Router(Protocol):
    """Knows the executors' queues, and which of them a task goes into."""

    def queues(self) -> Mapping[str, Bound]:
        """Return the queues that are served here, and what each may use."""

    def queue_of(self, task: TaskRecord, change: bytes | None) -> str | None:
        """Return the queue of a task; None if an outside worker will fetch it.

        `change` is the scc.task.v1 to be carried out, where a repository is changed.
        Raises NoExecutor.
        """

    def share(
        self, tx: Transaction, task: TaskRecord, queue: str, change: bytes | None
    ) -> Budget | str | None:
        """Return what an attempt reserves of its plan's budget, or why it has to wait.

        None if it reserves nothing.
        """

    def holding(self, tx: Transaction, task: TaskRecord) -> Payload:
        """Return the record of the contract for an attempt that begins now."""


class AttemptRunner(Protocol):
    """Runs executors."""

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """Run the executor of an attempt once; it ends early when `stop` is set."""


class Attempts(Router, AttemptRunner, Protocol):
    """Everything the runtime needs to know about the executors of a project."""


class Scheduling(Protocol):
    """Decides which ready tasks begin now."""

    def take_up_all(self, unit: QueueingTransaction, plan_id: str) -> Offers:
        """Take up as many tasks of a plan as there is room for."""

    def take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """Do the same after an attempt was settled: fast, however many are ready."""


class Workflows(Protocol):
    """Durable execution, as an attempt uses it."""

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more may begin in this process."""

    def transaction(self) -> AbstractContextManager[QueueingTransaction]:
        """Open a transaction in which attempts are taken up and queued."""

    def execute_once(
        self, workflow: str, execute: Callable[[], JsonObject]
    ) -> JsonObject:
        """Do the first step of a workflow.

        Its result is kept; once it has returned, it is not repeated after a kill.
        """

    def settle_once(
        self,
        workflow: str,
        settle: Callable[[QueueingTransaction], Settled],
        take_up: Callable[[QueueingTransaction], list[QueuedAttempt]],
    ) -> Settled:
        """Do the second step.

        The ledger, the attempts that `take_up` begins because of it and the end of this
        one commit together. So may other attempts of the plan; then only one of them
        returns what was taken up.
        """

    def expect(self, queued: Sequence[QueuedAttempt]) -> None:
        """Count attempts that were queued, so that nothing else gets their room."""

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """Begin attempts that were queued, and whatever waits for a slot of `freed`."""


class AttemptSteps(Protocol):
    """What the workflow of an attempt does."""

    def carry_out(self, workflow: str, attempt: TaskAttempt) -> JsonObject:
        """Carry an attempt out, or resume it after a kill; return its answer.

        Raises TakenOver if another worker has it now.
        """


class Listener(Protocol):
    """Receives reports on a run.

    Called from any thread. An error it raises is reported as a notice and changes
    nothing.
    """

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Take the answer of an attempt that was settled."""

    def notice(self, text: str) -> None:
        """Take a line for the person who watches."""


class Branches(Protocol):
    """Keeps the branches of changed repositories where the ledger says."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Move the plan's branch, if the attempt has landed a change."""

    def catch_up(self) -> None:
        """Check all branches, unless that was done a moment ago."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A listener that ignores everything."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Ignore it."""

    def notice(self, text: str) -> None:
        """Ignore it."""


@dataclass(frozen=True, slots=True)
class NoBranches:
    """The branches of plans that change no repository."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Do nothing: there is no branch to move."""

    def catch_up(self) -> None:
        """Do nothing: there is no branch to check."""


@dataclass(frozen=True, slots=True)
class ThreadSignals:
    """How the threads of a process signal each other."""

    stop: threading.Event = field(default_factory=threading.Event)  # begin nothing more
    wake: threading.Event = field(default_factory=threading.Event)  # look for work now


class Watch(Protocol):
    """Records what happens to attempts, for traces and logs. Nothing decides by it."""

    def attempt(self, attempt: TaskAttempt) -> AbstractContextManager[Span]:
        """Record an attempt around a block."""

    def over(self, tx: Transaction, attempt: TaskAttempt) -> frozenset[str]:
        """Return which tasks that the attempt may end are over now."""

    def settled(self, span: Span, attempt: TaskAttempt, settled: Settled) -> None:
        """Record what came of it, once it is committed."""


class Unwatched:
    """Records nothing."""

    def attempt(self, _attempt: TaskAttempt) -> AbstractContextManager[Span]:
        """Return a block around which nothing is recorded."""
        return nullcontext(Span())

    def over(self, tx: Transaction, attempt: TaskAttempt) -> frozenset[str]:
        """Return nothing."""
        del tx, attempt
        return frozenset()

    def settled(self, span: Span, attempt: TaskAttempt, settled: Settled) -> None:
        """Record nothing."""

"""What the parts of the runtime know of each other: one small protocol for each, and the values they hand over.

    Scheduling     which ready tasks begin now                    scheduler.Scheduler
    Router         whose queue a task goes into                   attempt_runner.ProjectAttempts
    AttemptRunner  one run of one executor                        attempt_runner.ProjectAttempts
    Workflows      steps that survive a kill, queues that commit  workflow.WorkflowEngine
    AttemptSteps   what the workflow of an attempt does           attempt_path.AttemptPath
    Listener       what the person or program at the face hears   given by the face
    Branches       where the branches of changed plans stand      publishing.Publishing

`attempt_path` is written against these alone, so that the way of an attempt can be read without knowing any of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.chain import Payload
from accordance.domain.records import TaskRecord
from accordance.executors.protocol import Produced
from accordance.runtime.offers import Offers, QueuedAttempt
from accordance.runtime.slots import Bound
from accordance.store.ledger import Transaction
from accordance.work.tasks import Taken

VERSION: Final = "1"  # of what is kept between steps; raised when an old workflow could not be gone on with
LOCAL: Final = "local"  # the worker that has a SQLite ledger to itself


@dataclass(frozen=True, slots=True)
class TaskAttempt:
    """One attempt. Its fields, in this order, are what its workflow is queued with: an old queue must still be readable."""

    task_id: str
    kind: str  # action or review
    number: int
    product: str | None = None  # what a review is about
    plan_id: str = ""
    queue: str = ""
    lease: str | None = None  # until when it has the task


class QueueingTransaction(Protocol):
    """A transaction of the ledger that can also queue attempts: a task is taken up and queued, or neither."""

    @property
    def tx(self) -> Transaction:
        """The ledger's part of it."""

    def enqueue(self, queue: str, taken: Taken) -> QueuedAttempt:
        """Queue an attempt that was just taken up; once all is committed it is announced to the workflows."""


class Router(Protocol):
    """Knows the executors: their queues, and which one a task goes into."""

    def queues(self) -> Mapping[str, Bound]:
        """The queues that are served here, and what each may use."""

    def queue_of(self, task: TaskRecord, change: bytes | None) -> str | None:
        """The queue of a task; None if it waits for an outside worker to ask for it. Raises NoExecutor.

        `change` is the scc.task.v1 to be carried out, where a repository is changed.
        """

    def holding(self, tx: Transaction, task: TaskRecord) -> Payload:
        """Which contract an attempt that begins now is held to, as it is written down."""


class AttemptRunner(Protocol):
    """Runs executors."""

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> Produced:
        """Let the executor of an attempt run once; when `stop` is set it ends early."""


class Attempts(Router, AttemptRunner, Protocol):
    """Everything the runtime has to know about the executors of a project."""


class Scheduling(Protocol):
    """Decides which ready tasks begin now."""

    def take_up_all(self, unit: QueueingTransaction, plan_id: str) -> Offers:
        """Take up as many tasks of a plan as there is room for."""

    def take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """The same after an attempt was settled: quickly, however many tasks are ready."""


class Workflows(Protocol):
    """Durable execution, as an attempt uses it."""

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more shall begin in this process."""

    def transaction(self) -> AbstractContextManager[QueueingTransaction]:
        """A transaction in which attempts are taken up and queued."""

    def execute_once(self, execute: Callable[[], JsonObject]) -> JsonObject:
        """The first step of a workflow. What it returns is kept; after a kill it is not run again once it has returned."""

    def settle_once(
        self, settle: Callable[[QueueingTransaction], JsonObject]
    ) -> JsonObject:
        """The second step. The ledger, the queues and the mark that the step is done commit together."""

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """What was queued is committed, or a slot of the queue `freed` is free: attempts may begin."""

    def await_ledger(self) -> None:
        """Wait while the database is away."""


class AttemptSteps(Protocol):
    """What the workflow of one attempt does."""

    def carry_out(self, workflow: str, attempt: TaskAttempt) -> JsonObject:
        """Carry an attempt out, or go on with it after a kill; the answer it got."""


class Listener(Protocol):
    """What a face hears of a run. Called from any thread; what it raises is reported as a notice and changes nothing."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """An attempt was settled, with this answer."""

    def notice(self, text: str) -> None:
        """Something that whoever watches should know."""


class Branches(Protocol):
    """Keeps the branches of changed repositories where the ledger says."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Move the plan's branch, if the attempt has landed a change."""

    def catch_up(self) -> None:
        """Look at all branches, unless that was done a moment ago."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A listener that listens to nothing."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Nobody wants to know."""

    def notice(self, text: str) -> None:
        """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class NoBranches:
    """For plans that change no repository."""

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """There is nothing to move."""

    def catch_up(self) -> None:
        """There is nothing to look at."""


@dataclass(frozen=True, slots=True)
class Signals:
    """How the threads of one process call each other."""

    stop: threading.Event = field(default_factory=threading.Event)  # begin nothing more
    wake: threading.Event = field(default_factory=threading.Event)  # look for work now

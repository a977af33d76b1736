"""What still keeps a blocked task from beginning: looked up now, never remembered.

One probe for each fault whose cause lies outside the task (`domain/faults`). A task is
probed with the executor that the routes give it today.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from accordance.changes.remote_faults import RemoteCauses
from accordance.domain.executor_specs import AgentSpec, CommandSpec, LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.outside_causes import OutsideCause
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice
from accordance.errors import AccordanceError, BlobError, NoExecutor
from accordance.executors.catalogue import executor_for
from accordance.executors.endpoints import is_reachable
from accordance.judging.task_input import PreflightFailed
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.budgets import budget_left, priced_budget
from accordance.runtime.scheduler import EXTERNAL_NOT_ALLOWED
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import allows_external, coding_task, wanted_for
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.probing import level_for

_LEAST_SPACE: Final = 16 << 20  # bytes


@dataclass(frozen=True, slots=True)
class _Work:
    """The work that a task waits to begin, and who would do it."""

    tx: Transaction
    task: TaskRecord
    change: bytes | None
    choice: Choice


_Probe: TypeAlias = Callable[["Obstacles", OutsideCause, _Work], str | None]


@dataclass(frozen=True)
class Obstacles:
    """Looks for what keeps tasks from beginning on this machine."""

    attempts: ProjectAttempts
    _seen: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """What was found for a cause and an executor: several tasks share it."""

    def obstacle(
        self, tx: Transaction, task: TaskRecord, cause: OutsideCause, *, of_review: bool
    ) -> str | None:
        """Say what keeps a task from beginning; None if nothing does any more."""
        is_review = of_review or task.checks is not None
        kind = "review" if is_review else "action"
        change = None if is_review else coding_task(tx, task)
        try:
            request = wanted_for(task, kind, change)  # type: ignore[arg-type]
            choice = self.attempts.routing.choose(request)
        except NoExecutor as error:
            return str(error)

        work = _Work(tx, task, change, choice)
        if cause.fault is Fault.UNPREPARED:
            return self._preparation(work)
        if cause.fault is Fault.NO_EXECUTOR:
            missing = sorted(choice.labels - self.attempts.labels)
            return f"this worker lacks the label {missing[0]}" if missing else None

        key = (cause.key, choice.executor)
        if key not in self._seen:
            self._seen[key] = _PROBES[cause.fault](self, cause, work)
        return self._seen[key]

    def _preparation(self, work: _Work) -> str | None:
        """Prepare the attempt again, up to its executor."""
        task = work.task
        is_external = executor_for(work.choice.spec, self.attempts.home.root) is None
        if is_external and not allows_external(work.change):
            return EXTERNAL_NOT_ALLOWED

        fuses = work.tx.plan(task.plan_id).rules.fuses
        budget = budget_left(work.tx, task.task_id, fuses)
        if isinstance(budget, str):
            return budget
        priced = priced_budget(work.choice, budget, fuses)
        if isinstance(priced, str):
            return priced
        if work.change is None:
            return None
        try:
            self.attempts.workshop.commission(work.tx, task, work.change)
        except AccordanceError as error:
            return str(error)
        return None

    def _executor(self, cause: OutsideCause, work: _Work) -> str | None:
        """Ask the executor whether it lacks the same kind of thing."""
        executor = executor_for(work.choice.spec, self.attempts.home.root)
        lacking = executor.why_not_start() if executor else None
        if lacking is None or lacking.fault is not cause.fault:
            return None
        return lacking.text

    def _isolation(self, cause: OutsideCause, work: _Work) -> str | None:  # noqa: ARG002 - there is only one kind
        spec = work.choice.spec
        try:
            if isinstance(spec, CommandSpec | AgentSpec):
                level_for(spec.isolation)
            elif isinstance(spec, LlmSpec):
                level_for()
            if work.change is not None:
                shop = self.attempts.workshop
                job = shop.commission(work.tx, work.task, work.change)
                level_for(job.gateway.isolation)
        except (IsolationUnavailable, PreflightFailed) as error:
            return str(error)
        return None

    def _endpoint(self, cause: OutsideCause, work: _Work) -> str | None:  # noqa: ARG002 - the address is all
        if is_reachable(cause.lacks):
            return None
        return f"nothing answers at {cause.lacks}"

    def _remote(self, cause: OutsideCause, work: _Work) -> str | None:
        causes = RemoteCauses(self.attempts.workshop)
        return causes.obstacle(work.tx, work.task, cause)

    def _space(self, cause: OutsideCause, work: _Work) -> str | None:  # noqa: ARG002 - the disk of the project
        free = shutil.disk_usage(self.attempts.home.root).free
        if free >= _LEAST_SPACE:
            return None
        return f"only {free:,} bytes are free on the disk"

    def _store(self, cause: OutsideCause, work: _Work) -> str | None:  # noqa: ARG002 - there is only one store
        try:
            self.attempts.ledger.check_store()
        except BlobError as error:
            return str(error)
        return None


_PROBES: Final[Mapping[Fault, _Probe]] = {
    Fault.KEY_MISSING: Obstacles._executor,  # noqa: SLF001 - the table of this class
    Fault.NOT_INSTALLED: Obstacles._executor,  # noqa: SLF001
    Fault.NOT_ISOLATED: Obstacles._isolation,  # noqa: SLF001
    Fault.UNAVAILABLE: Obstacles._endpoint,  # noqa: SLF001
    Fault.NO_SPACE: Obstacles._space,  # noqa: SLF001
    Fault.STORE_AWAY: Obstacles._store,  # noqa: SLF001
    Fault.REMOTE_AWAY: Obstacles._remote,  # noqa: SLF001
    Fault.FOREIGN_PUSH: Obstacles._remote,  # noqa: SLF001
}

"""The workshop of a project: where the changes of its plans are made."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from accordance.changes.attempt import CodingAttempt, Do
from accordance.changes.commission import Commission, patch_to_begin_with
from accordance.changes.project_repository import repository_of
from accordance.changes.rebasing import RebaseAttempt
from accordance.changes.remote_faults import outcome_of_remote
from accordance.domain.faults import Fault
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.programs import no_space, not_isolated
from accordance.executors.protocol import Memory, NoMemory, RunOutcome
from accordance.judging.task_input import read_task
from accordance.project.home import Home
from accordance.project.policy import JudgingPolicy, gateway_of, with_isolation
from accordance.store.ledger import Transaction
from accordance.work.landing import landing_of
from accordance.work.plan_head import head_of, replaced_heads
from accordance.workspace.branch import Branch
from accordance.workspace.errors import (
    EnvironmentBroken,
    ForeignPush,
    IsolationUnavailable,
    RemoteUnavailable,
    WorkspaceError,
)
from accordance.workspace.plan_repository import PlanRepository
from accordance.workspace.remote_branch import RemoteBranch
from accordance.workspace.repository_cache import RepositoryCache


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where the changes of a project's plans are made."""

    home: Home
    repository: Path
    base: str
    isolation: str | None = None
    """Isolation of tests, where a person asks for another than the settings do."""
    cache: RepositoryCache | None = None
    """What this machine has of a repository that lives on a remote."""

    def commission(
        self,
        tx: Transaction,
        task: TaskRecord,
        change: bytes,
    ) -> Commission:
        """Return what an attempt takes from the ledger.

        `change` is the scc.task.v1 of the task. Raises PreflightFailed,
        InvalidSettings.
        """
        gateway = self._gateway(tx, task)
        standing = task.progress.standing
        failures = standing.used.failures + standing.used.parse_failures
        return Commission(
            asked=read_task(change, gateway),
            title=task.title,
            number=standing.counters.attempts,
            attempt=failures + 1,
            earlier=(task.last_error or "",) * task.same_errors,
            head=head_of(tx, task.plan_id),
            start=patch_to_begin_with(tx, self.home.root, task),
            branch=self.branch(task.plan_id, replaced_heads(tx, task.plan_id)),
            gateway=gateway,
            landing=landing_of(tx, task),
        )

    def _gateway(self, tx: Transaction, task: TaskRecord) -> JudgingPolicy:
        """The gateway of the project, within the fuses of the plan."""
        gateway = gateway_of(self.home.settings(), self.home.root)
        if self.isolation is not None:
            gateway = with_isolation(gateway, self.isolation)

        fuses = tx.plan(task.plan_id).rules.fuses
        return replace(
            gateway,
            max_attempts=min(gateway.max_attempts, fuses.attempts),
            repeat_threshold=min(gateway.repeat_threshold, fuses.same_error),
        )

    def carry_out(
        self,
        job: Commission,
        choice: Choice,
        do: Do,
        memory: Memory | None = None,
    ) -> RunOutcome:
        """Make the attempt, judge it, and write its commit.

        What the agent has left is kept in the memory before it is judged; work that is
        there already is only judged. A good change that the plan has overtaken is only
        applied and judged. An attempt that cannot begin ends with a fault.
        """
        attempt = CodingAttempt(self, job, choice, memory or NoMemory())
        try:
            if job.landing is not None:
                return RebaseAttempt(attempt, job.landing).run()
            return attempt.run(do)
        except LedgerError:
            raise  # it says nothing about the task
        except IsolationUnavailable as error:
            return not_isolated(error)
        except EnvironmentBroken as error:
            return RunOutcome(fault=Fault.ENVIRONMENT, text=str(error))
        except (RemoteUnavailable, ForeignPush) as error:
            return outcome_of_remote(error)
        except (AccordanceError, OSError) as error:
            unprepared = RunOutcome(fault=Fault.UNPREPARED, text=str(error))
            return no_space(error) or unprepared

    @property
    def source(self) -> PlanRepository:
        """The repository, with its remote, if any."""
        return PlanRepository(self.repository, self.base, self.cache)

    def branch(self, plan_id: str, replaced: tuple[str, ...] = ()) -> Branch:
        """Return the branch of a plan; `replaced` are heads it had on another base."""
        return self.source.branch(plan_id, replaced)

    def publish(
        self,
        plan_id: str,
        head: str,
        replaced: tuple[str, ...] = (),
    ) -> str | None:
        """Move the plan's branch to its last commit; return why not, if it cannot."""
        branch = self.branch(plan_id, replaced)
        try:
            branch.move_to(head)
        except (WorkspaceError, OSError) as error:
            return str(error)
        return None

    def forget(self, plan_id: str) -> None:
        """Delete what a remote keeps of a plan beside its branch, if it can be reached.

        What no name leads to, git removes some day.
        """
        branch = self.branch(plan_id)
        if isinstance(branch, RemoteBranch):
            with suppress(WorkspaceError, OSError):
                self.source.refresh()
                branch.forget_all()


def workshop_of(home: Home, isolation: str | None = None) -> Workshop:
    """Return the workshop of a project, by `[workspace]`. Raises InvalidSettings."""
    source = repository_of(home)
    return Workshop(home, source.place, source.base, isolation, source.cache)

"""Carrying plans out: a runner, or a worker beside others, as the settings say."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from accordance.changes.workshop import Workshop
from accordance.domain.capabilities import asked_labels, must_be_asked_for
from accordance.domain.fuses import Fuses
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.plan_summary import PlanSummary
from accordance.domain.records import PlanRecord
from accordance.errors import AccordanceError
from accordance.project.settings import AtOnce
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.fitness import capabilities_here, lacking_executors
from accordance.runtime.going_on import go_on
from accordance.runtime.obstacles import Obstacles
from accordance.runtime.ports import LOCAL, TaskAttempt
from accordance.runtime.publishing import Publishing
from accordance.runtime.runner import Runner, WorkerTerms
from accordance.runtime.staffing import make_runner
from accordance.runtime.workers import DEAD_AFTER_SECONDS, worker_name, working_on
from accordance.service.observing import LogFormat, observed
from accordance.service.outcomes import outcome_of
from accordance.service.plan_summaries import summary_of
from accordance.service.plans import base_moved, plan_status
from accordance.service.project import Project, find_plan, plan_id_of
from accordance.service.views.answers import answer_view
from accordance.service.views.runs import AttemptView, CauseView, PlanRunView
from accordance.work.coding_tasks import coding_tasks
from accordance.work.own_work import must_have_others_review
from accordance.work.plan_life import resume
from accordance.work.project_routes import routing_for
from accordance.work.sweeping import swept
from accordance.work.taking import PLAN_IS_OVER
from accordance.workspace.errors import WorkspaceError

__all__ = [
    "DEAD_AFTER_SECONDS",
    "Listener",
    "NotShared",
    "PlanRun",
    "PreparedRun",
    "RunEnd",
    "RunOptions",
    "WorkerOptions",
]

Listener: TypeAlias = Callable[[AttemptView], None]
Warn: TypeAlias = Callable[[str], None]
_RESUMED: Final = (PlanState.HELD, PlanState.PAUSED)
"""The states out of which a run can be asked to resume a plan."""


class NotShared(AccordanceError):
    """A SQLite ledger belongs to one process; workers share one on PostgreSQL."""

    code = "ledger-not-shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a plan is carried out, where it is not as the settings say."""

    executor: str | None = None  # does everything, whatever the routes say
    model: str | None = None
    isolation: str | None = None
    resume_as: str | None = None  # lets a held or paused plan go on, in that name


class RunEnd(NamedTuple):
    """How a run has ended."""

    view: PlanRunView
    summary: PlanSummary
    why: str | None  # it rests, in words; None: it was stopped
    is_finished: bool


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A plan that no other process carries out, and everything needed to do so."""

    project: Project
    plan_id: str
    name: str  # of this process
    attempts: ProjectAttempts
    publishing: Publishing
    fuses: Fuses  # of the plan
    causes: tuple[CauseView, ...] = ()
    """What tasks were waiting for outside: gone, so that they go on, or not."""

    def begin(self, listener: Listener) -> PlanRun:
        """Return the run; `listener` is called with each attempt that has ended."""
        place = str(self.project.place)
        bounds = self.project.home.settings().run.at_once
        face = _Face(listener, self.publishing.warn)
        runner = make_runner(
            self.attempts, self.publishing, place, self.name, face, bounds
        )
        return PlanRun(self, runner)


@dataclass(frozen=True, slots=True)
class PlanRun:
    """A plan being carried out."""

    prepared: PreparedRun
    runner: Runner

    def stop(self) -> None:
        """Begin nothing more, and end. May be called from a signal handler."""
        self.runner.stop()

    @property
    def is_clean(self) -> bool:
        """Whether nothing was left behind, after the end."""
        return self.runner.is_clean

    def until_it_rests(self, *, wait: bool = False) -> RunEnd:
        """Run until nothing moves without a person.

        Raises NoExecutor if no executor is configured for some task.
        """
        with observed(self.prepared.project.home):
            reason = self.runner.until_it_rests(wait=wait)
        project, plan_id = self.prepared.project, self.prepared.plan_id
        not_published = self.prepared.publishing.publish(plan_id)
        status = plan_status(project.ledger, plan_id, project.home)
        outcome = outcome_of(project, plan_id)
        view = PlanRunView(
            **dict(status),
            **dict(outcome),
            rests=reason.name if reason else "STOPPED",
            not_published=not_published,
        )
        why = reason.value if reason else None
        summary = summary_of(project, plan_id, rests=why or "the run was stopped")
        is_finished = reason in PLAN_IS_OVER
        return RunEnd(view, summary, why, is_finished=is_finished)


@contextmanager
def prepare_run(
    project: Project,
    plan: str | None,
    options: RunOptions,
    warn: Warn,
) -> Iterator[PreparedRun]:
    """Prepare to carry a plan out.

    `warn` is called with the reason why a branch cannot be moved, and where the base of
    the plan has moved. Raises Conflict where
    another process carries the plan out, and OwnWork if a worker would review their own
    products.
    """
    with (
        working_on(project.place) as name,
        swept(project.ledger, project.home, is_alone=name == LOCAL),
    ):
        with project.ledger.read() as tx:
            record = find_plan(tx, plan)
        if options.resume_as and record.state in _RESUMED:
            resume(project.ledger, record.plan_id, by=options.resume_as)
        routing = routing_for(project.home, options.executor, options.model)
        settings = project.home.settings()
        labels = frozenset(settings.run.labels)
        attempts = ProjectAttempts(
            project.ledger, project.home, routing, options.isolation, labels
        )
        if not settings.review.own_work:
            with project.ledger.read() as tx:
                must_have_others_review(tx, record.plan_id, routing)
        _look_at_base(project, record, attempts.workshop, warn)
        publishing = Publishing(project.ledger, attempts.workshop, record.plan_id, warn)
        causes = _let_go_on(project, attempts, record.plan_id, by="accordance run")
        yield PreparedRun(
            project,
            record.plan_id,
            name,
            attempts,
            publishing,
            record.rules.fuses,
            causes,
        )


def _look_at_base(
    project: Project,
    record: PlanRecord,
    workshop: Workshop,
    warn: Warn,
) -> None:
    """Look at a remote again if the plan changes code, and warn of a moved base."""
    with project.ledger.read() as tx:
        changes_repository = bool(coding_tasks(tx, record))
    if changes_repository:
        try:
            workshop.source.refresh()
        except WorkspaceError as error:
            warn(str(error))
    with project.ledger.read() as tx:
        moved = base_moved(tx, project.home, record)
    if moved:
        warn(moved)


def _let_go_on(
    project: Project,
    attempts: ProjectAttempts,
    plan_id: str | None,
    *,
    by: str,
) -> tuple[CauseView, ...]:
    """Let tasks go on whose cause outside is gone; return all such causes."""
    causes = go_on(project.ledger, Obstacles(attempts), plan_id, by=by)
    return tuple(
        CauseView(
            fault=waiting.cause.fault,
            lacks=waiting.cause.lacks,
            mend=waiting.cause.mend,
            is_gone=waiting.is_gone,
            obstacle=waiting.obstacle,
            tasks=waiting.tasks,
        )
        for waiting in causes
    )


@dataclass(frozen=True, slots=True)
class Worker:
    """Another process that works on a shared ledger."""

    name: str
    project: Project
    runner: Runner
    causes: tuple[CauseView, ...] = ()
    """What tasks were waiting for outside: gone, so that they go on, or not."""
    log_format: LogFormat | None = None  # None: as the settings say

    def stop(self) -> None:
        """Take up nothing more, and end. May be called from a signal's handler.

        What runs has a while to end; then it is handed back.
        """
        self.runner.drain()

    @property
    def is_clean(self) -> bool:
        """Whether nothing was left behind, after the end."""
        return self.runner.is_clean

    def until_stopped(self) -> None:
        """Work on whatever comes."""
        home = self.project.home
        with (
            observed(home, log_format=self.log_format),
            swept(self.project.ledger, home, is_alone=False),
        ):
            spare_what_is_loaded()
            self.runner.until_stopped()


def spare_what_is_loaded() -> None:
    """Let the garbage collector leave alone what this process keeps anyway.

    Looking through all of it takes 40 ms each time, and others may wait meanwhile for
    a plan that this process has locked.
    """
    gc.collect()
    gc.freeze()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """How a worker works, where it is not as the settings say."""

    plan: str | None = None  # None: it works on all
    concurrency: int | None = None
    isolation: str | None = None
    labels: tuple[str, ...] = ()  # beside those of the settings
    drain_seconds: int | None = None
    alive_file: Path | None = None
    log_format: LogFormat | None = None


def must_be_shared(project: Project) -> None:
    """Raise NotShared on a SQLite ledger."""
    if not str(project.place).startswith("postgresql"):
        raise NotShared(
            "workers share a PostgreSQL ledger; a SQLite ledger has one process"
        )


def prepare_worker(
    project: Project,
    options: WorkerOptions,
    *,
    listener: Listener,
    warn: Warn,
) -> Worker:
    """A worker on one plan, or on all. Raises NotShared or UnknownLabel."""
    must_be_shared(project)
    settings = project.home.settings().run
    routing = routing_for(project.home)
    labels = frozenset((*settings.labels, *options.labels))
    asked = asked_labels(routing.executors.values(), routing.routes)
    must_be_asked_for(options.labels, asked)

    lacking = lacking_executors(routing, project.home.root)
    plan_id = plan_id_of(project, options.plan) if options.plan else None
    attempts = ProjectAttempts(
        project.ledger, project.home, routing, options.isolation, labels, lacking
    )
    publishing = Publishing(project.ledger, attempts.workshop, plan_id, warn)
    concurrency = options.concurrency or settings.concurrency
    name = worker_name()
    runner = make_runner(
        attempts,
        publishing,
        str(project.place),
        name,
        _Face(listener, warn),
        AtOnce(concurrency, settings.plan_concurrency),
        terms=WorkerTerms(
            can=capabilities_here(labels, concurrency, lacking),
            drain_seconds=options.drain_seconds or settings.drain_seconds,
            alive_file=options.alive_file,
        ),
    )
    causes = _let_go_on(project, attempts, plan_id, by=f"worker {name}")
    return Worker(name, project, runner, causes, options.log_format)


@dataclass(frozen=True, slots=True)
class _Face:
    """What a face hears of a run: attempts as views, notices as warnings."""

    listener: Listener
    warn: Warn

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """An attempt was settled."""
        view = AttemptView(
            task_id=attempt.task_id,
            kind=attempt.kind,
            attempt=attempt.number,
            answer=answer_view(answer),
        )
        self.listener(view)

    def notice(self, text: str) -> None:
        """Something that the people who watch should know."""
        self.warn(text)

"""Carrying plans out in the process of a server: asked for, one after the other.

The engine of a process is one, so that runs wait for each other; tasks of one run are
carried out side by side as ever. On PostgreSQL, more processes are more runs at once.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from accordance.errors import AccordanceError, Conflict, NotFound
from accordance.service.listing import ListQuery
from accordance.service.plans import list_plans
from accordance.service.project import Project, plan_id_of
from accordance.service.views.hosted_runs import HostedRunListView, HostedRunView
from accordance.service.views.runs import AttemptView
from accordance.store.clock import now

log: Final = logging.getLogger("accordance.server")
_KEPT: Final = 100  # runs that are remembered
_SHOWN: Final = 20  # attempts of each
_LOOK_SECONDS: Final = 1.0
State: TypeAlias = Literal["waiting", "running", "rests", "stopped", "failed"]


@dataclass(slots=True)
class HostedRun:
    """A plan to be carried out, and what has come of it."""

    project: Project
    plan_id: str
    asked_by: str
    run_id: str = field(default_factory=lambda: f"run-{secrets.token_hex(5)}")
    asked_at: str = field(default_factory=now)
    state: State = "waiting"
    started_at: str | None = None
    ended_at: str | None = None
    attempts: int = 0
    last: deque[AttemptView] = field(default_factory=lambda: deque(maxlen=_SHOWN))
    warnings: deque[str] = field(default_factory=lambda: deque(maxlen=_SHOWN))
    rests: str | None = None
    error: str | None = None
    stop: Callable[[], None] | None = None
    is_to_stop: bool = False

    def heard(self, attempt: AttemptView) -> None:
        """Note an attempt that has ended."""
        self.attempts += 1
        self.last.append(attempt)

    def view(self) -> HostedRunView:
        """Show it."""
        return HostedRunView(
            run_id=self.run_id,
            plan_id=self.plan_id,
            state=self.state,
            asked_by=self.asked_by,
            asked_at=self.asked_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
            attempts=self.attempts,
            last=tuple(self.last),
            rests=self.rests,
            error=self.error,
            warnings=tuple(self.warnings),
        )


@dataclass(slots=True)
class HostedRuns:
    """The runs of a server process."""

    stopping: threading.Event = field(default_factory=threading.Event)
    _runs: list[HostedRun] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)
    _thread: threading.Thread | None = None
    _always: list[Project] = field(default_factory=list)
    _rested: dict[tuple[str, str], str] = field(default_factory=dict)
    """By project and plan, the head of the chain when its last run ended."""

    # -- asking

    def ask(self, project: Project, plan: str | None, *, by: str) -> HostedRunView:
        """Have a plan carried out. Raises NotFound, and Conflict if it is under way."""
        plan_id = plan_id_of(project, plan)
        run = HostedRun(project, plan_id, by)
        with self._news:
            for other in self._runs:
                is_same = (
                    other.plan_id == plan_id and other.project.place == project.place
                )
                if is_same and other.ended_at is None:
                    raise Conflict(f"{other.run_id} carries plan {plan_id} out already")
            self._add(run)
        self._begin()
        return run.view()

    def work_on(self, project: Project) -> None:
        """Carry out every plan of a project, whenever something can be done in it."""
        with self._news:
            self._always.append(project)
            self._news.notify_all()
        self._begin()

    def stop_run(self, project: Project, run_id: str) -> HostedRunView:
        """Stop a run; what is under way is ended or handed back. Raises NotFound."""
        with self._news:
            run = self._run(project, run_id)
            run.is_to_stop = True
            if run.state == "waiting":
                run.state = "stopped"
                run.ended_at = now()
            stop = run.stop
        if stop is not None:
            stop()
        return run.view()

    def show(self, project: Project, run_id: str) -> HostedRunView:
        """Return a run. Raises NotFound."""
        with self._news:
            return self._run(project, run_id).view()

    def list(self, project: Project) -> HostedRunListView:
        """Return the runs of a project, the newest first."""
        with self._news:
            runs = [run for run in self._runs if run.project.place == project.place]
            views = [run.view() for run in reversed(runs)]
            return HostedRunListView(items=tuple(views))

    @property
    def is_well(self) -> bool:
        """Whether the thread that carries runs out is alive, if there is any."""
        return self._thread is None or self._thread.is_alive()

    def close(self, seconds: float = 30.0) -> bool:
        """Stop everything; return whether it has come to an end."""
        self.stopping.set()
        with self._news:
            stops = [run.stop for run in self._runs if run.stop is not None]
            self._news.notify_all()
        for stop in stops:
            stop()
        if self._thread is not None:
            self._thread.join(timeout=seconds)
            return not self._thread.is_alive()
        return True

    def _run(self, project: Project, run_id: str) -> HostedRun:
        for run in self._runs:
            if run.run_id == run_id and run.project.place == project.place:
                return run
        known = [run.run_id for run in self._runs if run.project.place == project.place]
        raise NotFound("run", run_id, known)

    def _add(self, run: HostedRun) -> None:
        self._runs.append(run)
        ended = [each for each in self._runs if each.ended_at is not None]
        for old in ended[: max(0, len(self._runs) - _KEPT)]:
            self._runs.remove(old)
        self._news.notify_all()

    # -- carrying out

    def _begin(self) -> None:
        with self._news:
            if self._thread is None and not self.stopping.is_set():
                self._thread = threading.Thread(
                    target=self._work,
                    name="accordance runs",
                    daemon=True,
                )
                self._thread.start()

    def _work(self) -> None:
        while not self.stopping.is_set():
            run = self._next_asked() or self._next_found()
            if run is None:
                with self._news:
                    self._news.wait(_LOOK_SECONDS)
                continue
            _carry_out(run)
            self._note_rest(run)

    def _next_asked(self) -> HostedRun | None:
        with self._news:
            waiting = [run for run in self._runs if run.state == "waiting"]
            return waiting[0] if waiting else None

    def _next_found(self) -> HostedRun | None:
        """Return a plan in which something has happened since its last run."""
        for project in self._always:
            try:
                page = list_plans(project, ListQuery(filter="state:active", limit=1000))
            except AccordanceError as error:
                log.warning("plans cannot be read: %s", error)
                continue
            for plan in page.items:
                if self._rested.get((str(project.place), plan.plan_id)) == plan.head:
                    continue
                run = HostedRun(project, plan.plan_id, "accordance serve --run")
                with self._news:
                    self._add(run)
                return run
        return None

    def _note_rest(self, run: HostedRun) -> None:
        """Remember where the plan stood, so that it is not run again for nothing."""
        try:
            with run.project.ledger.read() as tx:
                head = tx.plan(run.plan_id).head.hash
        except AccordanceError:
            return
        self._rested[str(run.project.place), run.plan_id] = head


def _carry_out(run: HostedRun) -> None:
    """Carry a plan out until it rests; whatever goes wrong is noted."""
    from accordance.service.runs import RunOptions, prepare_run

    run.state = "running"
    run.started_at = now()
    try:
        warn = run.warnings.append
        with prepare_run(run.project, run.plan_id, RunOptions(), warn) as prepared:
            carried = prepared.begin(run.heard)
            run.stop = carried.stop
            if run.is_to_stop:
                carried.stop()
            end = carried.until_it_rests()
        run.rests = end.why
        run.state = "rests" if end.why is not None else "stopped"
    except AccordanceError as error:
        run.error = str(error)
        run.state = "failed"
    except Exception as error:
        log.exception("run %s of plan %s failed", run.run_id, run.plan_id)
        run.error = f"{type(error).__name__}: {error}"
        run.state = "failed"
    finally:
        run.stop = None
        run.ended_at = now()

"""Having a model write a plan, and another review it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from accordance.project.home import Home, write_file
from accordance.project.policy import gateway_of
from accordance.runtime.consulting import Consultation, ConsultingStep
from accordance.runtime.planning import Planner, PlanningResult, plan_name
from accordance.service.project import Project
from accordance.service.views.planning import PlannedView, UnansweredView
from accordance.service.views.spending import spending_view
from accordance.store.clock import now
from accordance.store.ledger import Ledger
from accordance.store.memory import MemoryLedger
from accordance.work.project_routes import routing_for


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWriting:
    """A goal for which a plan is written, and who writes it."""

    goal: str
    executor: str | None = None
    model: str | None = None
    rounds: int = 3  # so often it is written again with the suggestions of its review
    stopping: threading.Event = field(default_factory=threading.Event)
    watch: Callable[[ConsultingStep], None] = lambda _: None

    def stop(self) -> None:
        """Come to an end. May be called from a signal's handler."""
        self.stopping.set()

    def create(self, project: Project) -> PlannedView:
        """Have the plan written, checked, imported and reviewed. Raises NoExecutor.

        It is also written into the project.
        """
        planned = self._write(project.ledger, project.home)
        document = _document(project.ledger, planned)
        if document is not None:
            write_file(project.home.plan_file, document)
        return _planned_view(planned)

    def try_out(self, home: Home) -> PlannedView:
        """The same, but nothing is kept: the plan is in the view."""
        ledger = MemoryLedger(now)
        planned = self._write(ledger, home)
        document = _document(ledger, planned)
        view = _planned_view(planned)
        if document is None:
            return view
        return view.model_copy(update={"document": document.decode()})

    def _write(self, ledger: Ledger, home: Home) -> PlanningResult:
        routing = routing_for(home, self.executor, self.model)
        rules = home.settings().rules()
        roles = gateway_of(home.settings(), home.root).roles
        name = plan_name(self.goal)
        consultation = Consultation(
            ledger,
            home,
            routing,
            name,
            rules.fuses,
            self.stopping,
            watch=self.watch,
        )
        return Planner(self.goal, rules, consultation, roles).create(self.rounds)


def _document(ledger: Ledger, planned: PlanningResult) -> bytes | None:
    if planned.plan is None:
        return None
    with ledger.read() as tx:
        return tx.blob(planned.plan.document)


def _planned_view(planned: PlanningResult) -> PlannedView:
    plan, run = planned.plan, planned.unanswered
    unanswered = None
    if run:
        unanswered = UnansweredView(code=run.code, text=run.text)
    return PlannedView(
        plan_id=planned.plan_id,
        title=plan.title if plan else None,
        state=plan.state if plan else None,
        revision=plan.revision if plan else None,
        nodes=plan.nodes if plan else None,
        written=planned.written,
        faults=planned.faults,
        reviews=tuple(map(dict, planned.reviews)),
        unanswered=unanswered,
        spent=spending_view(planned.spent),
    )

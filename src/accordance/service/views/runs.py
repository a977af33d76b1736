"""Runs of executors."""

from __future__ import annotations

from typing import Any

from accordance.domain.spending import Spending
from accordance.service.views.answers import AnswerView
from accordance.service.views.base import View
from accordance.service.views.plans import PlanStatusView
from accordance.service.views.spending import SpendingView, spending_view
from accordance.service.views.verdicts import VerdictView
from accordance.work.run_log import RunRecord, spending_of


class RunView(View):
    """A run of an executor, as the ledger knows it."""

    kind: str
    attempt: int
    began_at: str
    executor: str | None
    model: str | None
    prompt: str | None  # the recipe of its prompt; None: there was no prompt
    trims: tuple[str, ...]
    ran: dict[str, Any] | None  # how it ended; None: it still runs, or was cut off

    @property
    def spent(self) -> SpendingView:
        """What it cost."""
        return spending_view(Spending() if self.ran is None else spending_of(self.ran))


class PromptMessageView(View):
    """A message of a call of a model."""

    role: str
    content: str


class PromptView(RunView):
    """The prompt of an executor in a run, word for word."""

    task_id: str | None = None
    plan_id: str | None = None
    recipe: dict[str, Any]
    system: str
    user: str
    calls: int
    messages: tuple[PromptMessageView, ...] = ()

    @property
    def text(self) -> str:
        """All of it together."""
        return "\n\n".join(part for part in (self.system, self.user) if part)


class AttemptView(View):
    """An attempt that has ended, and what came of it."""

    task_id: str
    kind: str  # action or review
    attempt: int
    answer: AnswerView


class CauseView(View):
    """A cause outside that tasks waited for when a run started."""

    fault: str
    lacks: str
    mend: str
    is_gone: bool  # then its tasks go on
    obstacle: str | None  # what still stands in their way
    tasks: tuple[str, ...]


class DeliverableView(View):
    """An approved product."""

    title: str
    path: str


class OutcomeView(View):
    """What a plan has produced, what was decided, and where to look."""

    deliverables: tuple[DeliverableView, ...]
    verdicts: tuple[VerdictView, ...]
    branch: str | None
    repository: str | None


class PlanRunView(PlanStatusView, OutcomeView):
    """Where a plan stands after a run, and what it has come to."""

    rests: str  # why the run has ended
    not_published: str | None  # why the branch of the plan could not be moved


def run_fields(run: RunRecord) -> dict[str, Any]:
    """What every view of a run shows."""
    return run.to_json()


def run_view(run: RunRecord) -> RunView:
    """Show a run."""
    return RunView(**run_fields(run))

"""Statistics of a project."""

from __future__ import annotations

from accordance.service.views.base import View


class FailureCountView(View):
    """How often messages of an executor broke a contract at a field."""

    agent: str | None  # the executor or worker; null: unknown
    model: str | None
    kind: str
    code: str  # of the violation
    path: str  # without the numbers of items
    count: int


class SpendingByView(View):
    """What the runs of an executor have cost."""

    agent: str | None
    model: str | None
    runs: int
    tokens: int
    cost: float | None
    seconds: float


class TimesView(View):
    """How long things took, in seconds."""

    what: str
    count: int
    mean: float
    median: float
    p95: float
    longest: float


class OutcomeCountView(View):
    """How often a verdict was reached."""

    agent: str | None
    model: str | None
    outcome: str
    reason_code: str
    count: int


class StatisticsView(View):
    """Failures by agent, model and field; verdicts; cost; times."""

    plans: int
    messages: int
    rejected: int
    failures: tuple[FailureCountView, ...]
    outcomes: tuple[OutcomeCountView, ...]
    spending: tuple[SpendingByView, ...]
    times: tuple[TimesView, ...]

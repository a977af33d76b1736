"""What linting a plan shows."""

from __future__ import annotations

from accordance.service.views.base import View


class LintFindingView(View):
    """Something about a plan that a person should know before it runs."""

    rule: str
    severity: str
    task_id: str | None
    title: str | None
    line: int | None  # of a short plan
    message: str


class CostView(View):
    """What a plan can use up before a person is asked; null: unbounded."""

    tasks: int
    calls: int | None
    tokens: int | None
    seconds: int | None
    money: float | None
    models: tuple[str, ...]  # executors that ask models; without any, tokens are free


class LintView(View):
    """A plan that was linted."""

    plan_id: str
    title: str
    errors: int
    warnings: int
    findings: tuple[LintFindingView, ...]
    cost: CostView

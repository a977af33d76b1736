"""Linting a plan: what will never begin, who does nothing, what it costs at most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from accordance.changes.project_repository import why_remote_not_usable
from accordance.contracts.catalogue.plan import Plan
from accordance.domain.executor_specs import AgentSpec, LlmSpec
from accordance.domain.fuses import Fuses
from accordance.domain.plan_lint.case import LintCase, LintFinding
from accordance.domain.plan_lint.cost import cost_at_most
from accordance.domain.plan_lint.rules import lint
from accordance.domain.routing import Choice, Kind
from accordance.domain.spending import Spending
from accordance.errors import NoExecutor
from accordance.executors.pricing import pricing
from accordance.project.home import Home
from accordance.service.drawings import stored_plan
from accordance.service.plan_files import PlanFile, plan_of
from accordance.service.project import Project, find_plan
from accordance.service.views.linting import CostView, LintFindingView, LintView
from accordance.work.project_routes import routing_for

_MILLION = 1_000_000


def lint_file(home: Home, file: PlanFile) -> LintView:
    """Lint the plan of a file that was accepted, with the fuses of the settings."""
    rules = home.settings().rules()
    case = _case(home, plan_of(file), rules.fuses)
    return _view(case, file)


def lint_stored(project: Project, name: str | None = None) -> LintView:
    """Lint a plan of the ledger, with the fuses that were kept with it."""
    with project.ledger.read() as tx:
        record = find_plan(tx, name)
        plan = stored_plan(tx, record)
    return _view(_case(project.home, plan, record.rules.fuses), None)


def _case(home: Home, plan: Plan, fuses: Fuses) -> LintCase:
    settings = home.settings()
    case = LintCase(
        plan=plan,
        routing=routing_for(home),
        fuses=fuses,
        own_work=settings.review.own_work,
        has_own_tests=bool(settings.judge.tests),
    )
    if not any(case.change(node) for node in plan.nodes):
        return case
    return replace(case, repository_problem=why_remote_not_usable(home))


def _view(case: LintCase, file: PlanFile | None) -> LintView:
    findings = lint(case)
    places = {task: f"$.nodes[{at}]" for at, task in enumerate(case.nodes)}
    shown = []
    for finding in findings:
        place = places.get(finding.task_id or "", "")
        shown.append(_finding(finding, file.line_of(place) if file else 0))
    head = case.plan.plan
    errors = sum(finding.severity == "error" for finding in findings)
    return LintView(
        plan_id=head.plan_id,
        title=head.title,
        errors=errors,
        warnings=len(findings) - errors,
        findings=tuple(shown),
        cost=_cost(case),
    )


def _finding(finding: LintFinding, line: int) -> LintFindingView:
    return LintFindingView(
        rule=finding.rule,
        severity=finding.severity,
        task_id=finding.task_id,
        title=finding.title,
        line=line or None,
        message=finding.message,
    )


# -- cost


def _cost(case: LintCase) -> CostView:
    choices = {(choice.executor, choice.model): choice for choice in _choices(case)}
    models = {
        executor
        for (executor, _), choice in choices.items()
        if isinstance(choice.spec, AgentSpec | LlmSpec)
    }
    tasks = sum(1 for _ in case.work())
    limits = cost_at_most(case.fuses, tasks, _dearest(choices.values()))
    return CostView(
        tasks=limits.tasks,
        calls=limits.calls,
        tokens=limits.tokens,
        seconds=limits.seconds,
        money=limits.money,
        models=tuple(sorted(models)),
    )


def _choices(case: LintCase) -> Iterator[Choice]:
    """Yield everybody whom the routes choose for the plan."""
    for node in case.makers():
        wanted: list[tuple[str, Kind]] = [(node.task_id, "action")]
        wanted += [(check.task_id, "review") for check in case.reviewers(node)]
        for task_id, kind in wanted:
            try:
                yield case.choose(case.nodes[task_id], kind)
            except NoExecutor:
                continue


def _dearest(choices: Iterable[Choice]) -> float | None:
    """Return what a million tokens cost at most; None where a price is unknown."""
    prices = [0.0]
    for choice in choices:
        spec = choice.spec
        if not isinstance(spec, AgentSpec | LlmSpec):
            continue  # a program asks no model
        add_cost = pricing(spec, choice.model)
        if add_cost is None:
            return None
        for spent in (Spending(read=_MILLION), Spending(written=_MILLION)):
            prices.append(add_cost(spent).cost or 0.0)
    return max(prices)

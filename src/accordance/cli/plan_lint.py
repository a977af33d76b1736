"""`accordance plan lint`: what a person should know about a plan before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.plan_import import (
    from_option,
    is_plan_file,
    read_plan,
    report_rejected_plan,
)
from accordance.cli.showing import print_line
from accordance.contracts.violation import Rejected
from accordance.rendering.amounts import counted
from accordance.rendering.durations import duration_text

if TYPE_CHECKING:
    from accordance.domain.short_plans.file_names import PlanFormat
    from accordance.service.views.linting import CostView, LintView

_UNBOUNDED = "unbounded"


@click.command()
@click.argument("source", metavar="FILE|-|PLAN", required=False)
@from_option
@ledger_options
@json_option
def lint(
    where: Where,
    source: str | None,
    stated: PlanFormat | None,
    as_json: bool,
) -> int:
    """Say what will go wrong with a plan, and what it costs at most, before it runs.

    FILE is checked with the settings of the project; PLAN is a plan of the ledger, by
    default the newest. Exit code 1: a task can never begin, or has no executor or no
    reviewer; 0: there are warnings at most.
    """
    from accordance.project.home import find_home
    from accordance.service.linting import lint_file, lint_stored

    if source is not None and is_plan_file(source):
        home = find_home(where.home)
        plan_file = read_plan(source, stated, home)
        if isinstance(plan_file.result, Rejected):
            return report_rejected_plan(plan_file)
        view = lint_file(home, plan_file)
    else:
        with opened(where) as project:
            view = lint_stored(project, source)

    if as_json:
        print_json(view.to_json())
    else:
        _print(view)
    return Exit.REJECTED if view.errors else Exit.OK


def _print(view: LintView) -> None:
    for finding in view.findings:
        place = f"line {finding.line}: " if finding.line else ""
        subject = f"{finding.title}: " if finding.title else ""
        print_line(f"{finding.severity:<7}  {place}{subject}{finding.message}")
    errors = counted(view.errors, "error")
    warnings = counted(view.warnings, "warning")
    print_line(f"{view.title}: {errors}, {warnings}")
    print_line(f"at most: {_cost_text(view.cost)}")


def _cost_text(cost: CostView) -> str:
    """What a plan may use up before a person is asked."""
    tasks = counted(cost.tasks, "task")
    calls = f"{_limit(cost.calls)} calls for {tasks}"
    time = "unbounded time" if cost.seconds is None else duration_text(cost.seconds)
    if not cost.models:
        return f"{calls}, {time}; no model is asked"

    money = "unknown cost"
    if cost.money is not None:
        money = f"cost {cost.money:.2f}"
    elif cost.tokens is None:
        money = "unbounded cost"
    models = ", ".join(cost.models)
    return f"{calls}, {time}, {_limit(cost.tokens)} tokens, {money} ({models})"


def _limit(number: int | None) -> str:
    return _UNBOUNDED if number is None else f"{number:,}"

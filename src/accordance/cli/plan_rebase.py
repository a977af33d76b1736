"""`accordance plan rebase`: take a base that has moved into a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.views.plans import PlanRebaseView

_SHORT_ID = 12


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option(
    "--dry-run", is_flag=True, help="Replay and test the changes; move nothing."
)
@by_option
@ledger_options
@json_option
def rebase(
    where: Where,
    plan: str | None,
    dry_run: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Put the changes of a plan on top of its base, if that has moved.

    Every change that has landed is replayed on the new base, and the tests of every
    task run on the result. If a change does not apply or a test fails, nothing is moved
    (exit code 6).
    """
    from accordance.service.plan_rebasing import rebase_plan
    from accordance.service.project import asking_as

    with opened(where) as project:
        view = rebase_plan(project, plan, by=asking_as(by), dry_run=dry_run)
    if as_json:
        print_json(view.to_json())
    else:
        _print_rebase(view)
    return Exit.OK


def _print_rebase(view: PlanRebaseView) -> None:
    if not view.has_moved:
        print_line(f"{view.base} has not moved since the plan began")
        return

    moved = f"{_short(view.old_base)} -> {_short(view.new_base)}"
    result = "are on it now" if view.is_done else "would fit; nothing was moved"
    print_line(f"{view.base} {moved}: the plan's changes {result}")
    for change in view.changes:
        print_line(f"  {_short(change.after)}  {change.title}")
    for run in view.tests:
        print_line(f"  passed        {run.command}")
    if view.not_published is not None:
        print_line(f"  the changes are in the ledger, but {view.not_published}")


def _short(commit: str | None) -> str:
    return (commit or "")[:_SHORT_ID]

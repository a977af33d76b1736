"""`accordance plan create`: have a model write a plan, and another review it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, one_line
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.showing import tell
from accordance.cli.spent import spent_text
from accordance.cli.stopping import stoppable

if TYPE_CHECKING:
    from accordance.service.views.planning import PlannedView


@click.command()
@click.argument("goal")
@click.option(
    "--executor",
    help="Have this executor write and review it, whatever the routes say.",
)
@click.option("--model", help="With --executor: the model.")
@click.option(
    "--rounds",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="So often it is written again with the suggestions of its review.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan instead of importing it; nothing is kept.",
)
@ledger_options
@json_option
def create(
    where: Where,
    goal: str,
    executor: str | None,
    model: str | None,
    rounds: int,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Have a plan written for a GOAL, checked, imported and reviewed; it may begin once the review approves it.

    The routes of kind `plan` and `review` in accordance.toml say who writes and who reviews. Exit code 1: no plan, or none
    that the review approves; 3: a person is asked; 4: a key is missing or not taken.
    """
    from accordance.project.home import find_home
    from accordance.service.planning import PlanWriting

    writing = PlanWriting(goal=goal, executor=executor, model=model, rounds=rounds)
    if dry_run:
        with stoppable(writing.stop) as stopped:
            planned = writing.try_out(find_home(where.home))
    else:
        with opened(where, create=True) as project, stoppable(writing.stop) as stopped:
            planned = writing.create(project)
    if planned.document and not as_json:
        click.echo(planned.document, nl=False)
    elif as_json:
        say(planned.to_json())
    else:
        _print(planned)
    code = _exit_of(planned)
    return stopped.exit_code if stopped.by is not None and code != Exit.OK else code


def _print(planned: PlannedView) -> None:
    if planned.state is not None:
        size = f"{planned.nodes} nodes, revision {planned.revision}"
        tell(f"{planned.plan_id}  {planned.title}: {size}, {planned.state}")
    for review in planned.reviews:
        is_read = "total_score" in review
        score = (
            f"{review['total_score']} {review['action_required']}"
            if is_read
            else "unreadable"
        )
        tell(f"  review  {score}  {' '.join(review['messages'])}")
    if planned.spent.calls:
        tell(f"  spent   {spent_text(planned.spent)}")
    if why := _why_not(planned):
        one_line(why)


def _why_not(planned: PlannedView) -> str | None:
    """Why there is no plan that may begin, if so."""
    run = planned.unanswered
    ended = f"{run.code}: {run.text}" if run else None
    match planned.state:
        case None:
            return f"no plan: {ended or (planned.faults[0] if planned.faults else 'nothing was said')}"
        case "ACTIVE":
            return None
        case "IN_REVIEW":
            return f"the plan waits for its review (accordance plan review): {ended}"
        case "HELD":
            return "the plan is not approved; a person is asked (accordance inbox list)"
    return f"the plan is not approved: {ended or 'the rounds are used up'}; see its last review"


def _exit_of(planned: PlannedView) -> int:
    if (
        planned.unanswered is not None
        and planned.unanswered.code == "PERMISSION_DENIED"
    ):
        return Exit.AUTH
    if planned.state == "ACTIVE":
        return Exit.OK
    return Exit.WAITING if planned.state in ("IN_REVIEW", "HELD") else Exit.REJECTED

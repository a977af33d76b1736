"""`accordance plan create`: have a model write a plan, and another review it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, print_error
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.planning_progress import watching
from accordance.cli.showing import print_line
from accordance.cli.spent import spent_text
from accordance.cli.stopping import stoppable

if TYPE_CHECKING:
    from accordance.service.views.planning import PlannedView


@click.command()
@click.argument("goal")
@click.option(
    "--executor",
    help="The executor that writes and reviews the plan, instead of the routes.",
)
@click.option("--model", help="The model, with --executor.")
@click.option(
    "--rounds",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Maximum number of rewrites after a review.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan instead of importing it; keep nothing.",
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
    """Have a model write a plan for a GOAL, and another review it.

    The plan is checked and imported, and may begin once its review approves it. The
    routes of kind `plan` and `review` in accordance.toml name the writer and the
    reviewer.

    Exit code 1: no plan, or not approved; 3: a person must answer; 4: a key is missing
    or was rejected.
    """
    from accordance.project.home import find_home
    from accordance.service.planning import PlanWriting

    with ExitStack() as stack:
        watch = stack.enter_context(watching(is_quiet=as_json))
        writing = PlanWriting(
            goal=goal,
            executor=executor,
            model=model,
            rounds=rounds,
            watch=watch,
        )
        stopped = stack.enter_context(stoppable(writing.stop))
        if dry_run:
            planned = writing.try_out(find_home(where.home))
        else:
            project = stack.enter_context(opened(where, create=True))
            planned = writing.create(project)

    if planned.document and not as_json:
        click.echo(planned.document, nl=False)
    elif as_json:
        print_json(planned.to_json())
    else:
        _print(planned)

    code = _exit_of(planned)
    was_stopped = stopped.by is not None
    if was_stopped and code != Exit.OK:
        return stopped.exit_code
    return code


def _print(planned: PlannedView) -> None:
    if planned.state is not None:
        size = f"{planned.nodes} nodes, revision {planned.revision}"
        print_line(f"{planned.plan_id}  {planned.title}: {size}, {planned.state}")
    for review in planned.reviews:
        score = "unreadable"
        if "total_score" in review:
            score = f"{review['total_score']} {review['action_required']}"
        messages = " ".join(review["messages"])
        print_line(f"  review  {score}  {messages}")
    if planned.spent.calls:
        print_line(f"  spent   {spent_text(planned.spent)}")

    reason = _why_not(planned)
    if reason is not None:
        print_error(reason)


def _why_not(planned: PlannedView) -> str | None:
    """Why there is no plan that may begin; None if a plan may."""
    run = planned.unanswered
    error = f"{run.code}: {run.text}" if run else None

    if planned.state is None:
        first_fault = planned.faults[0] if planned.faults else "there was no answer"
        return f"no plan: {error or first_fault}"
    if planned.state == "ACTIVE":
        return None
    if planned.state == "IN_REVIEW":
        return f"the plan waits for its review (accordance plan approve): {error}"
    if planned.state == "HELD":
        return "the plan is not approved; a person is asked (accordance inbox list)"

    reason = error or "the rounds are used up"
    return f"the plan is not approved: {reason}; see its last review"


def _exit_of(planned: PlannedView) -> int:
    run = planned.unanswered
    if run is not None and run.code == "PERMISSION_DENIED":
        return Exit.AUTH
    if planned.state == "ACTIVE":
        return Exit.OK
    if planned.state in ("IN_REVIEW", "HELD"):
        return Exit.WAITING
    return Exit.REJECTED

"""`accordance plan approve` and `plan return`: a person reviews a plan."""

from __future__ import annotations

import click

from accordance.cli.completing import complete_plan
from accordance.cli.confirming import is_on_terminal
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option("--note", help="A remark that is kept with the approval.")
@by_option
@ledger_options
@json_option
def approve(
    where: Where,
    plan: str | None,
    note: str | None,
    by: str | None,
    as_json: bool,
) -> int:
    """Approve a plan that waits for its review: its tasks may begin.

    PLAN is an id or its beginning; the newest plan unless given. You may approve a
    plan that you wrote yourself.
    """
    from accordance.service import plan_life
    from accordance.service.project import asking_as

    person = asking_as(by)
    with opened(where) as project:
        view = plan_life.approve_plan(project, plan, by=person, note=note)
    if as_json:
        print_json(view.to_json())
    else:
        print_line(f"{view.plan_id} is {view.state}, approved by {person}")
        print_line("`accordance run` carries it out")
    return Exit.OK


@click.command(name="return")
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    help="What has to change; may be given more than once.",
)
@by_option
@ledger_options
@json_option
def return_(
    where: Where,
    plan: str | None,
    reasons: tuple[str, ...],
    by: str | None,
    as_json: bool,
) -> int:
    """Return a plan that waits for its review: a better plan has to be imported.

    PLAN is an id or its beginning; the newest plan unless given. On a terminal you are
    asked for the reasons that you do not give.
    """
    from accordance.service import plan_life
    from accordance.service.project import asking_as

    reasons = tuple(reason for reason in reasons if reason.strip()) or _asked_reasons()
    with opened(where) as project:
        view = plan_life.return_plan(project, plan, by=asking_as(by), reasons=reasons)
    if as_json:
        print_json(view.to_json())
    else:
        print_line(f"{view.plan_id} is {view.state}")
        print_line("import a better plan with `accordance plan import FILE`")
    return Exit.OK


def _asked_reasons() -> tuple[str, ...]:
    """The reasons that a person types, a line each. Raises Failure."""
    if not is_on_terminal():
        raise Failure("say what has to change with --reason TEXT", Exit.USAGE)

    reasons = []
    while True:
        prompt = "What has to change? (an empty line ends it)"
        reason = click.prompt(prompt, default="", show_default=False).strip()
        if not reason:
            break
        reasons.append(reason)
    if not reasons:
        raise Failure("nothing was changed: there is no reason", Exit.USAGE)
    return tuple(reasons)

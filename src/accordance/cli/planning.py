"""`accordance plan create`: have a model write a plan, and another review it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.desk import Where, at_desk, json_option, ledger_options, say
from accordance.cli.exits import Exit, one_line
from accordance.cli.showing import tell
from accordance.cli.spent import one_json, spent_text
from accordance.cli.stopping import Stopped, stoppable

if TYPE_CHECKING:
    from accordance.project.home import Home
    from accordance.runtime.planning import Planned
    from accordance.store.ledger import Ledger


@click.command()
@click.argument("goal")
@click.option("--executor", help="Have this executor write and review it, whatever the routes say.")
@click.option("--model", help="With --executor: the model.")
@click.option(
    "--rounds",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="So often it is written again with the suggestions of its review.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan instead of importing it; nothing is kept.")
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
    from accordance.project.home import find_home, write_file

    if dry_run:
        from accordance.store.memory import MemoryLedger
        from accordance.store.opening import now

        ledger = MemoryLedger(now)
        planned, stopped = _plan(ledger, find_home(where.home), goal, executor, model, rounds)
        document = _document(ledger, planned)
    else:
        with at_desk(where, create=True) as desk:
            planned, stopped = _plan(desk.ledger, desk.home, goal, executor, model, rounds)
            document = _document(desk.ledger, planned)
            if document is not None:
                write_file(desk.home.plan_file, document)
    if dry_run and document is not None and not as_json:
        click.echo(document.decode(), nl=False)
    elif as_json:
        told = planned_json(planned)
        say({**told, "document": document.decode()} if dry_run and document is not None else told)
    else:
        _print(planned)
    code = _exit_of(planned)
    return stopped.exit_code if stopped.by is not None and code != Exit.OK else code


def _plan(
    ledger: Ledger, home: Home, goal: str, executor: str | None, model: str | None, rounds: int
) -> tuple[Planned, Stopped]:
    from accordance.project.policy import gateway_of
    from accordance.runtime.consulting import Consultation
    from accordance.runtime.planning import Planner, plan_name
    from accordance.work.project_routes import routing_for

    routing = routing_for(home, executor, model)
    rules = home.settings().rules()
    stop = threading.Event()
    asking = Consultation(ledger, home, routing, plan_name(goal), rules.fuses, stop)
    with stoppable(stop.set) as stopped:
        planned = Planner(goal, rules, asking, gateway_of(home.settings(), home.root).roles).create(rounds)
    return planned, stopped


def _document(ledger: Ledger, planned: Planned) -> bytes | None:
    if planned.plan is None:
        return None
    with ledger.read() as tx:
        return tx.blob(planned.plan.document)


def planned_json(planned: Planned) -> dict[str, Any]:
    """What came of it, as plain JSON."""
    plan, run = planned.plan, planned.unanswered
    return {
        "plan_id": planned.plan_id,
        "title": plan.title if plan else None,
        "state": plan.state if plan else None,
        "revision": plan.revision if plan else None,
        "nodes": plan.nodes if plan else None,
        "written": planned.written,
        "faults": list(planned.faults),
        "reviews": [dict(one) for one in planned.reviews],
        "unanswered": {"code": run.code, "text": run.text} if run else None,
        "spent": one_json(planned.spent),
    }


def _print(planned: Planned) -> None:
    plan = planned.plan
    if plan is not None:
        tell(f"{plan.plan_id}  {plan.title}: {plan.nodes} nodes, revision {plan.revision}, {plan.state}")
    for one in planned.reviews:
        score = f"{one['total_score']} {one['action_required']}" if "total_score" in one else "unreadable"
        tell(f"  review  {score}  {' '.join(one['messages'])}")
    if planned.spent.calls:
        tell(f"  spent   {spent_text(one_json(planned.spent))}")
    if why := _why_not(planned):
        one_line(why)


def _why_not(planned: Planned) -> str | None:
    """Why there is no plan that may begin, if so."""
    run = planned.unanswered
    ended = f"{run.code}: {run.text}" if run and run.fault else None
    if planned.plan is None:
        return f"no plan: {ended or (planned.faults[0] if planned.faults else 'nothing was said')}"
    match planned.plan.state:
        case "ACTIVE":
            return None
        case "IN_REVIEW":
            return f"the plan waits for its review (accordance plan review): {ended}"
        case "HELD":
            return "the plan is not approved; a person is asked (accordance inbox list)"
    return f"the plan is not approved: {ended or 'the rounds are used up'}; see its last review"


def _exit_of(planned: Planned) -> int:
    run = planned.unanswered
    if run is not None and run.code == "PERMISSION_DENIED":
        return Exit.AUTH
    state = planned.plan.state if planned.plan else None
    if state == "ACTIVE":
        return Exit.OK
    return Exit.WAITING if state in ("IN_REVIEW", "HELD") else Exit.REJECTED

"""`accordance worker`: one more process that works on a PostgreSQL ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.desk import (
    Where,
    at_desk,
    find_plan,
    isolation_option,
    json_option,
    ledger_options,
    ledger_place,
    say,
)
from accordance.cli.exits import Exit, Failure, one_line
from accordance.cli.showing import tell
from accordance.cli.stopping import leave, stoppable

if TYPE_CHECKING:
    from accordance.runtime.ports import Attempt


@click.command(name="worker")
@click.option("--plan", help="Only this plan.")
@click.option("--concurrency", type=click.IntRange(1), help="Runs at once, whatever the executors allow.")
@isolation_option
@ledger_options
@json_option
def command(
    where: Where, plan: str | None, concurrency: int | None, isolation: str | None, as_json: bool
) -> int:
    """Work on whatever comes, until stopped; any number of workers share a PostgreSQL ledger.

    What a worker leaves behind that dies, the others go on with, within seconds. SIGTERM or Ctrl-C: what runs is ended or
    handed back, then it leaves.
    """
    from accordance.project.settings import AtOnce, at_once
    from accordance.runtime.attempt_runner import ProjectAttempts
    from accordance.runtime.publishing import Publishing
    from accordance.runtime.staffing import runner_of
    from accordance.runtime.workers import DEAD_AFTER_SECONDS, worker_name
    from accordance.work.project_routes import routing_for
    from accordance.work.sweeping import swept

    with at_desk(where) as desk:
        place = str(ledger_place(desk.home, where))
        if not place.startswith("postgresql"):
            raise Failure(
                "workers share a PostgreSQL ledger; on SQLite `accordance run` is the one process", Exit.USAGE
            )
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id if plan else None
        attempts = ProjectAttempts(desk.ledger, desk.home, routing_for(desk.home), isolation)
        publishing = Publishing(desk.ledger, attempts.workshop, plan_id, one_line)
        bounds = at_once(desk.home.settings())
        bounds = AtOnce(concurrency or bounds.in_worker, bounds.in_plan)
        name, heard = worker_name(), _tell_json if as_json else _tell
        runner = runner_of(attempts, publishing, place, name, heard, bounds)
        if not as_json:
            tell(f"{name} works; the others take over {DEAD_AFTER_SECONDS:.0f} s after its last sign of life")
        with swept(desk.ledger, desk.home, is_alone=False), stoppable(runner.stop):
            runner.until_stopped()
    return leave(Exit.OK, is_clean=runner.is_clean)


def _tell(one: Attempt, answer: Mapping[str, Any]) -> None:
    """One line for each attempt that has ended here."""
    decided = answer.get("outcome") or answer["status"]
    said = (one.task_id, f"{one.kind} {one.number}", decided, answer.get("reason_code"), answer.get("state"))
    tell("  ".join(str(part) for part in said if part))


def _tell_json(one: Attempt, answer: Mapping[str, Any]) -> None:
    say({"task_id": one.task_id, "kind": one.kind, "attempt": one.number, "answer": dict(answer)})

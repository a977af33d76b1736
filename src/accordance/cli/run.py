"""`accordance run`: carry a plan out."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

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
from accordance.cli.exits import Exit, one_line
from accordance.cli.showing import tell
from accordance.cli.stopping import leave, stoppable

if TYPE_CHECKING:
    from accordance.cli.telling import Outcomes
    from accordance.cli.watching import Status
    from accordance.project.home import Home
    from accordance.work.tasks import Nothing


@click.command(name="run")
@click.argument("plan", required=False)
@click.option("--executor", help="Give everything to this executor, whatever the routes say.")
@click.option("--model", help="With --executor: the model.")
@click.option(
    "--resume", is_flag=True, help="Let a held plan go on first; what was begun is gone on with anyway."
)
@click.option(
    "--wait", is_flag=True, help="Wait for those who ask for work elsewhere (`accordance task next`), too."
)
@isolation_option
@ledger_options
@json_option
def command(
    where: Where,
    plan: str | None,
    executor: str | None,
    model: str | None,
    resume: bool,
    wait: bool,
    isolation: str | None,
    as_json: bool,
) -> int:
    """Carry a plan out: executors do the tasks, every message is judged, until nothing moves without a person.

    A run that was killed is gone on with by the next one; nothing that was paid for and kept is paid for again. Exit code
    0: done; 1: something is in the dead letters; 3: a person is asked, or what is left waits for somebody who asks for it;
    130 or 143: it was stopped by Ctrl-C or SIGTERM.
    """
    from accordance.cli.telling import outcomes_of, telling
    from accordance.cli.watching import status_of
    from accordance.project.settings import allows_own_work, at_once
    from accordance.runtime.attempt_runner import ProjectAttempts
    from accordance.runtime.ports import LOCAL
    from accordance.runtime.publishing import Publishing
    from accordance.runtime.staffing import runner_of
    from accordance.runtime.workers import working_on
    from accordance.work.own_work import must_have_others_review
    from accordance.work.project_routes import routing_for
    from accordance.work.sweeping import swept
    from accordance.work.tasks import Nothing
    from accordance.work.tasks import resume as let_go_on

    with at_desk(where) as desk, contextlib.ExitStack() as held:
        place = ledger_place(desk.home, where)
        name = held.enter_context(working_on(place))
        held.enter_context(swept(desk.ledger, desk.home, is_alone=name == LOCAL))
        with desk.ledger.read() as tx:
            record = find_plan(tx, plan)
        if resume and record.state == "HELD":
            let_go_on(desk.ledger, record.plan_id, by="accordance run --resume")
        attempts = ProjectAttempts(desk.ledger, desk.home, routing_for(desk.home, executor, model), isolation)
        if not allows_own_work(desk.home.settings()):
            with desk.ledger.read() as tx:
                must_have_others_review(tx, record.plan_id, attempts.routing)
        publishing = Publishing(desk.ledger, attempts.workshop, record.plan_id, one_line)
        heard = (lambda *_: None) if as_json else held.enter_context(telling(desk.ledger, record.plan_id))
        bounds = at_once(desk.home.settings())
        runner = runner_of(attempts, publishing, str(place), name, heard, bounds)
        with stoppable(runner.stop) as stopped:
            rests = runner.until_it_rests(wait=wait)
        not_published = publishing.publish(record.plan_id)
        with desk.ledger.read() as tx:
            status = status_of(tx, tx.plan(record.plan_id))
            outcomes = outcomes_of(tx, desk.home, status.plan)
    exit_code: int = status.exit_code or (Exit.OK if rests is Nothing.FINISHED else Exit.WAITING)
    if rests is None:
        exit_code = stopped.exit_code
    if as_json:
        why = rests.name if rests else "STOPPED"
        say({**status.to_json(), "rests": why, **outcomes.to_json(), "not_published": not_published})
    else:
        _print(status, outcomes, rests, not_published, desk.home)
    return leave(exit_code, is_clean=runner.is_clean)


def _print(
    status: Status, outcomes: Outcomes, rests: Nothing | None, not_published: str | None, home: Home
) -> None:
    from accordance.cli.telling import print_outcomes
    from accordance.cli.watching import print_status

    if not sys.stdout.isatty():
        print_status(status)
    tell(rests.value if rests else "stopped; `accordance run` goes on with it")
    if not_published:
        tell(f"the changes are in the ledger, but {not_published}")
    print_outcomes(outcomes, home)

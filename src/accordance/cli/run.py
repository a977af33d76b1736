"""`accordance run`: carry a plan out."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, one_line
from accordance.cli.ledger_commands import (
    Where,
    isolation_option,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.showing import tell
from accordance.cli.stopping import leave, stoppable
from accordance.cli.ways_out import why_nothing

if TYPE_CHECKING:
    from accordance.project.home import Home
    from accordance.service.runs import Listener, RunEnd
    from accordance.service.views.runs import AttemptView


@click.command(name="run")
@click.argument("plan", required=False)
@click.option(
    "--executor", help="Give everything to this executor, whatever the routes say."
)
@click.option("--model", help="With --executor: the model.")
@click.option(
    "--resume",
    is_flag=True,
    help="Let a held plan go on first; what was begun is gone on with anyway.",
)
@click.option(
    "--wait",
    is_flag=True,
    help="Wait for those who ask for work elsewhere (`accordance task next`), too.",
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
    from accordance.cli.plan_status import exit_of_status
    from accordance.cli.run_output import telling
    from accordance.service.runs import RunOptions, prepare_run

    options = RunOptions(
        executor=executor,
        model=model,
        isolation=isolation,
        resume_as="accordance run --resume" if resume else None,
    )
    with opened(where) as project, contextlib.ExitStack() as stack:
        prepared = stack.enter_context(prepare_run(project, plan, options, one_line))
        listener: Listener = _silent
        if not as_json:
            listener = stack.enter_context(telling(project.ledger, prepared.plan_id))
        running = prepared.begin(listener)
        with stoppable(running.stop) as stopped:
            end = running.until_it_rests(wait=wait)
    exit_code = exit_of_status(end.view) or (
        Exit.OK if end.is_finished else Exit.WAITING
    )
    if end.why is None:
        exit_code = stopped.exit_code
    if as_json:
        say(end.view.to_json())
    else:
        _print(end, project.home)
    return leave(exit_code, is_clean=running.is_clean)


def _silent(attempt: AttemptView) -> None:
    """With --json, only the end is told."""


def _print(end: RunEnd, home: Home) -> None:
    from accordance.cli.plan_status import print_status
    from accordance.cli.run_output import print_outcome

    if not sys.stdout.isatty():
        print_status(end.view)
    if end.why is None:
        tell("stopped; `accordance run` goes on with it")
    else:
        tell(why_nothing(end.view.rests, end.why))
    if end.view.not_published:
        tell(f"the changes are in the ledger, but {end.view.not_published}")
    print_outcome(end.view, home)

"""`accordance run`: carry a plan out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.causes import print_causes
from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit, print_error
from accordance.cli.ledger_commands import (
    Where,
    isolation_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.cli.step_summary import append_to_step_summary
from accordance.cli.stopping import leave, stoppable
from accordance.cli.ways_out import why_nothing
from accordance.cli.writing import write_output
from accordance.rendering.fuse_text import fuses_text
from accordance.rendering.plan_summaries import summary_markdown

if TYPE_CHECKING:
    from accordance.project.home import Home
    from accordance.service.runs import Listener, RunEnd
    from accordance.service.views.runs import AttemptView


@click.command(name="run")
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option(
    "--executor", help="Give every task to this executor, instead of the routes."
)
@click.option("--model", help="The model, with --executor.")
@click.option(
    "--resume",
    is_flag=True,
    help="Resume a held plan first. Work that was begun goes on in any case.",
)
@click.option(
    "--wait",
    is_flag=True,
    help="Also wait for tasks that are done elsewhere (`accordance task next`).",
)
@click.option(
    "--summary",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a summary of the plan to this file at the end, as Markdown.",
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
    summary: Path | None,
    isolation: str | None,
    as_json: bool,
) -> int:
    """Carry out a plan: executors do its tasks, and every message is judged.

    It ends when nothing can go on without a person. The next run resumes a killed run;
    answers that are in the ledger are not paid for again. In a job of GitHub Actions the
    summary is added to the page of the job.

    Tasks that were blocked by a cause outside (a missing key, program or route, an
    endpoint that is away, a full disk) go on by themselves once it is gone.

    Exit code 0: done; 1: there are dead letters; 3: a person must answer, or the tasks
    that are left are done elsewhere; 4: all that is left waits for a key; 130 or 143:
    stopped by Ctrl-C or SIGTERM.
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
        prepared = stack.enter_context(prepare_run(project, plan, options, print_error))
        print_causes(prepared.causes)
        listener: Listener = _silent
        if not as_json:
            print_line(fuses_text(prepared.fuses))
            listener = stack.enter_context(telling(project.ledger, prepared.plan_id))
        running = prepared.begin(listener)
        with stoppable(running.stop) as stopped:
            end = running.until_it_rests(wait=wait)

    if as_json:
        print_json(end.view.to_json())
    else:
        _print(end, project.home)
    _write_summary(end, summary)

    exit_code = exit_of_status(end.view)
    was_stopped = end.why is None
    if was_stopped:
        exit_code = stopped.exit_code
    elif exit_code == Exit.OK and not end.is_finished:
        exit_code = Exit.WAITING
    return leave(exit_code, is_clean=running.is_clean)


def _silent(attempt: AttemptView) -> None:
    """With --json, only the end of the run is printed."""


def _write_summary(end: RunEnd, file: Path | None) -> None:
    """Write the summary as Markdown: to a file, and to the page of the CI's job."""
    markdown = summary_markdown(end.summary)
    if file is not None:
        write_output(file, markdown.encode("utf-8", "replace"))
    append_to_step_summary(markdown)


def _print(end: RunEnd, home: Home) -> None:
    from accordance.cli.run_output import print_outcome

    if end.why is None:
        print_line("stopped; `accordance run` resumes it")
    else:
        print_line(why_nothing(end.view.rests, end.why))
    if end.view.not_published:
        print_line(f"the changes are in the ledger, but {end.view.not_published}")
    print_outcome(end.summary, end.view, home)

"""`accordance worker`: a process among others that share a PostgreSQL ledger."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.causes import print_causes
from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit, Failure, print_error
from accordance.cli.ledger_commands import (
    Where,
    isolation_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.cli.stopping import leave, stoppable
from accordance.cli.worker_output import print_fleet, print_worker

if TYPE_CHECKING:
    from accordance.service.observing import LogFormat
    from accordance.service.views.runs import AttemptView


@click.group(name="worker", invoke_without_command=True)
@click.option("--plan", shell_complete=complete_plan, help="Work on this plan only.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    help="Maximum number of attempts at once, whatever the executors allow.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    help="A label of this machine, beside `labels` of [run]; may be repeated.",
)
@click.option(
    "--drain-seconds",
    type=click.IntRange(1),
    help="How long attempts may take to end on SIGTERM, instead of `drain_seconds`.",
)
@click.option(
    "--alive-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Touch this file every few seconds, for a liveness probe.",
)
@click.option(
    "--log-format",
    type=click.Choice(["auto", "json", "text"]),
    help="How logs are written to standard error, instead of `format` of [logging].",
)
@isolation_option
@ledger_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    where: Where,
    plan: str | None,
    concurrency: int | None,
    labels: tuple[str, ...],
    drain_seconds: int | None,
    alive_file: Path | None,
    log_format: LogFormat | None,
    isolation: str | None,
    as_json: bool,
) -> int:
    """Carry out tasks until stopped; any number of workers share a PostgreSQL ledger.

    If a worker dies, others take over its attempts within seconds. On SIGTERM, Ctrl-C
    or `worker drain` it starts nothing new, gives its attempts `drain_seconds` to
    finish, hands back the rest and exits: with 0 if nothing was left behind, with 1 if
    something did not stop (others take it over). A second signal exits at once.
    """
    if context.invoked_subcommand is not None:
        return Exit.OK
    from accordance.service.runs import (
        DEAD_AFTER_SECONDS,
        WorkerOptions,
        prepare_worker,
    )

    options = WorkerOptions(
        plan=plan,
        concurrency=concurrency,
        isolation=isolation,
        labels=labels,
        drain_seconds=drain_seconds,
        alive_file=alive_file,
        log_format=log_format,
    )
    listener = _print_json if as_json else _print
    with opened(where) as project, _needs_a_shared_ledger():
        worker = prepare_worker(project, options, listener=listener, warn=print_error)
        print_causes(worker.causes)
        if not as_json:
            seconds = f"{DEAD_AFTER_SECONDS:.0f} s"
            print_line(
                f"{worker.name} works; if it dies, the others take over after {seconds}"
            )
        with stoppable(worker.stop):
            worker.until_stopped()
    code = Exit.OK if worker.is_clean else Exit.REJECTED
    return leave(code, is_clean=worker.is_clean)


@contextlib.contextmanager
def _needs_a_shared_ledger() -> Iterator[None]:
    """Say what to use in place of a worker where a single process may run."""
    from accordance.service.runs import NotShared

    try:
        yield
    except NotShared:
        text = "workers need a PostgreSQL ledger; on SQLite use `accordance run`"
        raise Failure(text, Exit.USAGE) from None


@command.command(name="list")
@ledger_options
@json_option
def list_command(where: Where, as_json: bool) -> int:
    """List the workers: which are alive, what each runs and can do, what waits."""
    from accordance.service.workers import list_workers

    with opened(where) as project, _needs_a_shared_ledger():
        fleet = list_workers(project)
    if as_json:
        print_json(fleet.to_json())
    else:
        print_fleet(fleet)
    return Exit.OK


@command.command(name="show")
@click.argument("name")
@ledger_options
@json_option
def show_command(name: str, where: Where, as_json: bool) -> int:
    """Show a worker and the attempts it carries out now."""
    from accordance.service.workers import show_worker

    with opened(where) as project, _needs_a_shared_ledger():
        worker = show_worker(project, name)
    if as_json:
        print_json(worker.to_json())
    else:
        print_worker(worker)
    return Exit.OK


@command.command(name="drain")
@click.argument("name")
@ledger_options
@json_option
def drain_command(name: str, where: Where, as_json: bool) -> int:
    """Let a worker start nothing new, finish or hand back its attempts, and exit."""
    from accordance.service.workers import drain_worker

    with opened(where) as project, _needs_a_shared_ledger():
        worker = drain_worker(project, name)
    if as_json:
        print_json(worker.to_json())
    else:
        print_line(
            f"{worker.worker_id} drains: {worker.running} of its attempts may still end"
        )
    return Exit.OK


def _print(attempt: AttemptView) -> None:
    """Print a line about an attempt of this worker that has ended."""
    answer = attempt.answer
    columns = (
        attempt.task_id,
        f"{attempt.kind} {attempt.attempt}",
        answer.outcome or answer.status,
        answer.reason_code,
        answer.state,
    )
    print_line("  ".join(column for column in columns if column))


def _print_json(attempt: AttemptView) -> None:
    print_json(attempt.to_json())

"""`accordance dlq`: the dead letters, tasks that were given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from accordance.cli.bulk import Many, act_on, bulk_options, is_for_many
from accordance.cli.completing import complete_task
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.list_options import list_options, tell_of_more
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.dead_letters import DeadLetterPageView, MovedTaskView


@click.group(name="dlq")
def command() -> None:
    """List, requeue or drop what was given up."""


@command.command(name="list")
@list_options
@ledger_options
@json_option
def list_letters(where: Where, query: ListQuery, as_json: bool) -> int:
    """List what was given up, and why. Exit code 1 if there is anything.

    With --json: the `items`, and the `next` cursor.
    """
    from accordance.service import dead_letters

    with opened(where) as project:
        page = dead_letters.list_dead_letters(project, query)
    if as_json:
        print_json(page.to_json())
    else:
        _print_letters(page)
    return Exit.REJECTED if page.items else Exit.OK


def _print_letters(page: DeadLetterPageView) -> None:
    for letter in page.items:
        reason = letter.reason_code or letter.last_error or "given up"
        print_line(f"{letter.task_id}  {letter.title}  {reason}")
    if not page.items:
        print_line("no dead letters")
    tell_of_more(page)


@command.command()
@click.argument("task", shell_complete=complete_task, required=False)
@bulk_options
@by_option
@ledger_options
@json_option
def requeue(
    task: str | None,
    many: Many,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Retry a task of the dead letters; what waited for it goes on.

    With --filter: every match, after a preview; what has changed meanwhile is skipped.
    """
    from accordance.service import bulk, dead_letters
    from accordance.service.project import asking_as

    decider = asking_as(by)
    with opened(where) as project:
        if is_for_many(task, many):
            preview = bulk.preview_dead_letters(project, many.query)
            return act_on(
                preview,
                lambda: bulk.requeue_all(
                    project,
                    preview,
                    by=decider,
                    reason=many.reason,
                ),
                verb="requeue",
                many=many,
                as_json=as_json,
            )
        requeued = dead_letters.requeue(
            project,
            task or "",
            by=decider,
            reason=many.reason,
        )
    return _print_moved(requeued, as_json)


@command.command()
@click.argument("task", shell_complete=complete_task, required=False)
@click.option("--excuse", is_flag=True, help="Tasks that wait for it go on without it.")
@click.option(
    "--cascade", is_flag=True, help="Tasks that wait for it are cancelled too."
)
@bulk_options
@by_option
@ledger_options
@json_option
def drop(
    task: str | None,
    excuse: bool,
    cascade: bool,
    many: Many,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Accept that a task will not be done. Its goal goes on without it; its records stay.

    With --filter: every match, after a preview; what has changed meanwhile is skipped.
    """
    from accordance.service import bulk, dead_letters
    from accordance.service.project import asking_as

    decision: dict[str, Any] = {
        "by": asking_as(by),
        "excuse": excuse,
        "cascade": cascade,
        "reason": many.reason,
    }
    with opened(where) as project:
        if is_for_many(task, many):
            preview = bulk.preview_dead_letters(project, many.query)
            return act_on(
                preview,
                lambda: bulk.cancel_all(project, preview, **decision),
                verb="drop",
                many=many,
                as_json=as_json,
            )
        try:
            dropped = dead_letters.drop(project, task or "", **decision)
        except dead_letters.NotADeadLetter as error:
            raise Failure(f"{error}; see `task cancel`", Exit.CONFLICT) from None
    return _print_moved(dropped, as_json)


def _print_moved(task: MovedTaskView, as_json: bool) -> int:
    if as_json:
        print_json(task.to_json())
    else:
        print_line(f"{task.task_id} is {task.state}")
    return Exit.OK

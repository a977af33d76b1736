"""`accordance dlq`: the dead letters, tasks that were given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
    from accordance.service.views.dead_letters import DeadLetterPageView


@click.group(name="dlq")
def command() -> None:
    """Handle the dead letters."""


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
@click.argument("task")
@by_option
@ledger_options
@json_option
def requeue(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Retry a task of the dead letters; what waited for it goes on."""
    from accordance.service import dead_letters
    from accordance.service.project import asking_as

    with opened(where) as project:
        requeued = dead_letters.requeue(project, task, by=asking_as(by))

    if as_json:
        print_json(requeued.to_json())
    else:
        print_line(f"{requeued.task_id} is {requeued.state}")
    return Exit.OK


@command.command()
@click.argument("task")
@click.option("--excuse", is_flag=True, help="Tasks that wait for it go on without it.")
@click.option(
    "--cascade", is_flag=True, help="Tasks that wait for it are cancelled too."
)
@by_option
@ledger_options
@json_option
def drop(
    task: str,
    excuse: bool,
    cascade: bool,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Accept that a task will not be done. Its goal goes on without it; its records stay."""
    from accordance.service import dead_letters
    from accordance.service.project import asking_as

    with opened(where) as project:
        try:
            dropped = dead_letters.drop(
                project, task, by=asking_as(by), excuse=excuse, cascade=cascade
            )
        except dead_letters.NotADeadLetter as error:
            raise Failure(f"{error}; see `task cancel`", Exit.CONFLICT) from None

    if as_json:
        print_json(dropped.to_json())
    else:
        print_line(f"{dropped.task_id} is {dropped.state}")
    return Exit.OK

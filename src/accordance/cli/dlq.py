"""`accordance dlq`: the dead letters."""

from __future__ import annotations

from typing import Any

import click

from accordance.cli.desk import (
    Where,
    at_desk,
    by_option,
    find_task,
    json_option,
    ledger_options,
    say,
    whoever,
)
from accordance.cli.exits import Exit
from accordance.cli.showing import tell


@click.group(name="dlq")
def command() -> None:
    """Look after the dead letters."""


@command.command(name="list")
@ledger_options
@json_option
def list_letters(where: Where, as_json: bool) -> int:
    """List what was given up, and why. Exit code 1 if there is anything."""
    from accordance.domain.records import VerdictRecord
    from accordance.work.tasks import dead_letters

    found: list[dict[str, Any]] = []
    with at_desk(where) as desk, desk.ledger.read() as tx:
        for task in dead_letters(tx, tx.plans()):
            verdicts = tx.find(VerdictRecord, subject=task.task_id)
            last = verdicts[-1] if verdicts else None
            found.append(
                {
                    "task_id": task.task_id,
                    "plan_id": task.plan_id,
                    "title": task.title,
                    "attempts": task.progress.standing.counters.attempts,
                    "last_error": task.last_error,
                    "outcome": last.outcome if last else None,
                    "reason_code": last.reason_code if last else None,
                    "messages": list(last.messages) if last else [],
                    "since": task.updated_at,
                }
            )
    if as_json:
        say(found)
    else:
        for one in found:
            tell(f"{one['task_id']}  {one['title']}  {one['reason_code'] or one['last_error'] or 'given up'}")
        if not found:
            tell("no dead letters")
    return Exit.REJECTED if found else Exit.OK


@command.command()
@click.argument("task")
@by_option
@ledger_options
@json_option
def requeue(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Take a task out of the dead letters: it gets a new chance, and what waited for it goes on."""
    from accordance.work.tasks import requeue as take_out

    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            name = find_task(tx, task).task_id
        record = take_out(desk.ledger, name, by=whoever(by))
    state = record.progress.state
    say({"task_id": name, "state": state}) if as_json else tell(f"{name} is {state}")
    return Exit.OK


@command.command()
@click.argument("task")
@click.option("--excuse", is_flag=True, help="Whatever waits for it goes on without it.")
@click.option("--cascade", is_flag=True, help="Whatever waits for it is cancelled too.")
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
    """Accept that a task will not be done: its goal goes on without it. Its records stay."""
    from accordance.domain.lifecycle import State
    from accordance.errors import Conflict
    from accordance.work.tasks import cancel

    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            record = find_task(tx, task)
        if record.progress.state is not State.DEAD_LETTER:
            raise Conflict(
                f"task {record.task_id} is {record.progress.state}, not a dead letter; see `task cancel`"
            )
        along = cancel(desk.ledger, record.task_id, by=whoever(by), excuse=excuse, cascade=cascade)
    if as_json:
        say({"task_id": record.task_id, "state": State.ABANDONED, "along": list(along)})
    else:
        tell(f"{record.task_id} is {State.ABANDONED}")
    return Exit.OK

"""`accordance task`: take up tasks, hand in messages and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from accordance.cli.bulk import Many, act_on, bulk_options, is_for_many
from accordance.cli.clock import now
from accordance.cli.completing import complete_plan, complete_task
from accordance.cli.exits import Exit, print_error
from accordance.cli.lazy_group import LazyGroup
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.list_options import (
    and_words,
    list_options,
    tell_of_more,
    word,
)
from accordance.cli.showing import print_line
from accordance.cli.task_output import print_assignment
from accordance.cli.task_story import print_story
from accordance.cli.ways_out import why_nothing
from accordance.rendering.durations import left

if TYPE_CHECKING:
    from accordance.service.listing import ListQuery
    from accordance.service.views.tasks import NothingView, TaskBriefView, TaskView


@click.group(name="task", cls=LazyGroup)
def command() -> None:
    """Show, take up, hand in, review, retry and cancel tasks."""


for module, names in {
    "prompts": {"prompt": "prompt"},
    "task_messages": {"submit": "submit", "review": "review"},
    "task_files": {
        "diff": "diff",
        "log": "log",
        "open": "open_",
    },
}.items():
    command.defer(f"accordance.cli.{module}", names)


@command.command(name="list")
@click.option("--plan", shell_complete=complete_plan, help="Only of this plan.")
@list_options
@ledger_options
@json_option
def list_tasks(where: Where, plan: str | None, query: ListQuery, as_json: bool) -> int:
    """List tasks by plan, in the plan's order.

    With --json: the `items`, and the `next` cursor.
    """
    from accordance.service import task_records

    if plan:
        query = and_words(query, word("plan", plan))
    with opened(where) as project:
        page = task_records.list_tasks(project, query)
    if as_json:
        print_json(page.to_json())
        return Exit.OK
    for task in page.items:
        note = task.lease.holder if task.lease else task.last_error or ""
        row = f"{task.task_id}  {task.state:<14}  {task.title}  {note}"
        print_line(row.rstrip())
    if not page.items:
        print_line("no tasks")
    tell_of_more(page)
    return Exit.OK


@command.command(name="next")
@ledger_options
@json_option
@click.option("--plan", shell_complete=complete_plan, help="Only tasks of this plan.")
@click.option(
    "--worker", default=None, help="Who takes the task up.  [default: the user's name]"
)
@click.option(
    "--lease",
    "seconds",
    type=click.IntRange(1),
    default=900,
    show_default=True,
    help="Seconds until the task may be handed out again.",
)
@click.option(
    "--type",
    "kinds",
    multiple=True,
    type=click.Choice(["GOAL", "ACTION", "CHECK"]),
    help="Only nodes of this type; may be given more than once.",
)
@click.option(
    "--any",
    "any_task",
    is_flag=True,
    help="Also tasks that are routed to accordance's own executors.",
)
@click.option(
    "--peek", "only_look", is_flag=True, help="Show what is next; take nothing up."
)
def take(
    where: Where,
    as_json: bool,
    plan: str | None,
    worker: str | None,
    seconds: int,
    kinds: tuple[str, ...],
    any_task: bool,
    only_look: bool,
) -> int:
    """Take up the next task: all that is needed to do it, its contract and context included.

    Returned work comes first, then products to review, then new work by priority.
    A task that changes a repository comes with a clone to work in.

    Where executors are configured, only tasks routed to an external executor, or to none,
    are handed out; --any hands out everything that may be done elsewhere.

    Exit code 3: what is left waits for a person; 5: there is nothing to take up.
    """
    from accordance.service.project import asking_as, plan_id_of
    from accordance.service.tasks import Assigned, WorkRequest, peek, take_task

    with opened(where) as project:
        plan_id = None
        if plan:
            plan_id = plan_id_of(project, plan)

        request = WorkRequest(
            holder=asking_as(worker),
            plan_id=plan_id,
            kinds=kinds,
            seconds=seconds,
            any_task=any_task,
        )
        if only_look:
            return _print_turns(peek(project, request), as_json)
        handout = take_task(project, request)

    if not isinstance(handout, Assigned):
        return _print_nothing(handout, as_json)

    if as_json:
        print_json(handout.view.to_json())
    else:
        print_assignment(handout.view)
    return Exit.OK


def _print_turns(turns: list[TaskBriefView], as_json: bool) -> int:
    """Print the tasks that could be taken up, in the order of their turns."""
    if as_json:
        print_json([task.to_json() for task in turns])
    else:
        for task in turns:
            print_line(f"{task.task_id}  {task.title}")

    return Exit.OK if turns else Exit.NOT_FOUND


def _print_nothing(nothing: NothingView, as_json: bool) -> int:
    """Print why there is nothing to take up."""
    text = why_nothing(nothing.why, nothing.text)
    if as_json:
        print_json({**nothing.to_json(), "text": text})
    else:
        print_error(f"nothing to take up: {text}")

    return Exit.WAITING if nothing.waits_for_person else Exit.NOT_FOUND


@command.command()
@click.argument("task", shell_complete=complete_task)
@click.option("--events", is_flag=True, help="Also every event.")
@click.option("--hashes", is_flag=True, help="Also the hashes of products.")
@ledger_options
@json_option
def show(task: str, events: bool, hashes: bool, where: Where, as_json: bool) -> int:
    """Tell the story of a task: its state, attempts, reviews, questions and products."""
    from accordance.service.task_records import show_task

    with opened(where) as project:
        view = show_task(project, task)

    if as_json:
        print_json(view.to_json())
    else:
        print_story(view, events=events, hashes=hashes)
    return Exit.OK


@command.command()
@click.argument("task", shell_complete=complete_task, required=False)
@bulk_options
@by_option
@ledger_options
@json_option
def retry(
    task: str | None,
    many: Many,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Retry a failed or blocked task; its attempts are counted from 1 again.

    With --filter: every match, after a preview; what has changed meanwhile is skipped.
    """
    from accordance.service import bulk, tasks
    from accordance.service.project import asking_as

    decider = asking_as(by)
    with opened(where) as project:
        if is_for_many(task, many):
            preview = bulk.preview_retries(project, many.query)
            return act_on(
                preview,
                lambda: bulk.retry_all(
                    project,
                    preview,
                    by=decider,
                    reason=many.reason,
                ),
                verb="retry",
                many=many,
                as_json=as_json,
            )
        retried = tasks.retry(project, task or "", by=decider, reason=many.reason)
    return _print_state(retried, as_json)


@command.command()
@click.argument("task", shell_complete=complete_task)
@by_option
@ledger_options
@json_option
def release(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Give a task back that was taken up with `task next`.

    This does not count as a failure. A clone that came with the task is deleted.
    """
    from accordance.service import tasks
    from accordance.service.project import asking_as

    with opened(where) as project:
        released = tasks.release(project, task, by=asking_as(by))
    return _print_state(released, as_json)


def _print_state(task: TaskView, as_json: bool) -> int:
    if as_json:
        print_json(task.to_json())
    else:
        print_line(f"{task.task_id} is {task.state}")
    return Exit.OK


@command.command()
@click.argument("task", shell_complete=complete_task)
@click.option(
    "--attempt",
    type=click.IntRange(1),
    required=True,
    help="The attempt that is still being worked on.",
)
@click.option(
    "--lease",
    "seconds",
    type=click.IntRange(1),
    default=900,
    show_default=True,
    help="New length of the lease, in seconds from now.",
)
@ledger_options
@json_option
def extend(task: str, attempt: int, seconds: int, where: Where, as_json: bool) -> int:
    """Extend the lease of a task that is still being worked on."""
    from accordance.service import tasks

    with opened(where) as project:
        lease = tasks.extend(project, task, attempt=attempt, seconds=seconds)

    if as_json:
        print_json(lease.to_json())
    else:
        print_line(left(lease.until, now()))
    return Exit.OK


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
def cancel(
    task: str | None,
    excuse: bool,
    cascade: bool,
    many: Many,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Cancel a task and what belongs only to it. Cancelling the root cancels the plan.

    With --filter: every match, after a preview; what has changed meanwhile is skipped.
    """
    from accordance.service import bulk, tasks
    from accordance.service.project import asking_as

    decision: dict[str, Any] = {
        "by": asking_as(by),
        "excuse": excuse,
        "cascade": cascade,
        "reason": many.reason,
    }
    with opened(where) as project:
        if is_for_many(task, many):
            preview = bulk.preview_cancels(project, many.query)
            return act_on(
                preview,
                lambda: bulk.cancel_all(project, preview, **decision),
                verb="cancel",
                many=many,
                as_json=as_json,
            )
        cancelled = tasks.cancel(project, task or "", **decision)

    if as_json:
        print_json(cancelled.to_json())
        return Exit.OK

    line = f"{cancelled.task_id} is {cancelled.state}"
    if cancelled.along:
        line += f", with {len(cancelled.along)} that waited for it"
    print_line(line)
    return Exit.OK

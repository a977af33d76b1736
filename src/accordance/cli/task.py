"""`accordance task`: take up tasks, hand in messages and reviews."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.exits import Exit, one_line
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.list_options import (
    and_words,
    list_options,
    tell_of_more,
    word,
)
from accordance.cli.prompts import prompt, run_line
from accordance.cli.reading import read_bounded
from accordance.cli.receipts import exit_of, print_answer
from accordance.cli.showing import tell
from accordance.cli.ways_out import why_nothing

if TYPE_CHECKING:
    from accordance.project.home import Home
    from accordance.service.listing import ListQuery
    from accordance.service.views.answers import AnswerView
    from accordance.service.views.tasks import (
        AssignmentView,
        NothingView,
        TaskBriefView,
        TaskDetailView,
        TaskView,
    )

_COUNTERS = (
    "attempt_count",
    "failures",
    "parse_failures",
    "review_rounds",
    "review_failures",
    "idle_rounds",
)


@click.group(name="task")
def command() -> None:
    """Take up tasks, hand in messages and reviews."""


command.add_command(prompt)


@command.command(name="list")
@click.option("--plan", help="Only of this plan.")
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
        say(page.to_json())
        return Exit.OK
    for task in page.items:
        note = task.lease.holder if task.lease else task.last_error or ""
        tell(f"{task.task_id}  {task.state:<14}  {task.title}  {note}".rstrip())
    tell_of_more(page)
    return Exit.OK


@command.command(name="next")
@ledger_options
@json_option
@click.option("--plan", help="Only from this plan.")
@click.option(
    "--worker", default=None, help="Who takes it up.  [default: the user's name]"
)
@click.option(
    "--lease",
    "seconds",
    type=click.IntRange(1),
    default=900,
    show_default=True,
    help="Seconds it is theirs.",
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
    help="Also what the routes give to an executor of accordance's own.",
)
@click.option(
    "--peek", "only_look", is_flag=True, help="Only look: nothing is taken up."
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

    Where executors are configured, only what is routed to an external one, or to none, is handed out; --any hands out
    everything that may be done elsewhere. Whoever changes a repository is lent a clone to work in. Returned work comes first, then products to review, then new work by priority. Exit code 3: what is left waits for a
    person; 5: there is nothing to take up.
    """
    from accordance.service.project import asking_as, plan_id_of
    from accordance.service.tasks import Assigned, WorkRequest, peek, take_task

    with opened(where) as project:
        request = WorkRequest(
            holder=asking_as(worker),
            plan_id=plan_id_of(project, plan) if plan else None,
            kinds=kinds,
            seconds=seconds,
            any_task=any_task,
        )
        if only_look:
            return _tell_turns(peek(project, request), as_json)
        handed = take_task(project, request)
    if not isinstance(handed, Assigned):
        return _tell_nothing(handed, as_json)
    if as_json:
        say(handed.view.to_json())
    else:
        _print_assignment(handed.view)
    return Exit.OK


def _tell_turns(turns: list[TaskBriefView], as_json: bool) -> int:
    if as_json:
        say([task.to_json() for task in turns])
    else:
        for task in turns:
            tell(f"{task.task_id}  {task.title}")
    return Exit.OK if turns else Exit.NOT_FOUND


def _tell_nothing(nothing: NothingView, as_json: bool) -> int:
    text = why_nothing(nothing.why, nothing.text)
    if as_json:
        say({**nothing.to_json(), "text": text})
    else:
        one_line(f"nothing to take up: {text}")
    return Exit.WAITING if nothing.waits_for_person else Exit.NOT_FOUND


def _print_assignment(told: AssignmentView) -> None:
    task, context = told.task, told.context
    tell(f"{task.title}  {task.node_type}, attempt {told.attempt}")
    tell(f"  task      {task.task_id}")
    if task.goal_statement:
        tell(f"  goal      {task.goal_statement}")
    for line in (*_wish_lines(task, told.plan.constraints), *_change_lines(told)):
        tell(f"  {line}")
    contract = told.contract
    tell(
        f"  contract  {contract.scope or contract.schema_version} for task_id {contract.task_id}"
    )
    for line in _context_lines(context):
        tell(f"  {line}")
    tell(f"  until     {told.lease.until}")
    tell(f"  hand in   {' '.join(told.hand_in)}")


def _context_lines(context: Mapping[str, Any]) -> Iterator[str]:
    """What came before, what lies there, and what is to be mended."""
    for dependency in context["dependencies"]:
        artifact = dependency["artifact"]
        yield f"after     {dependency['title']}: {artifact['path'] if artifact else 'no artifact'}"
    for given in context["inputs"]:
        yield f"input     {given['name']}: {given['reference']}"
    if context.get("product"):
        yield f"product   {context['product']['path']}"
    last_review = context["last_review"] or {}
    for suggestion in last_review.get("suggestions", []):
        yield f"change    {suggestion['priority']}: {suggestion['change']}"
    for error in context.get("last_errors", []):
        yield f"mend      {error}"


def _change_lines(told: AssignmentView) -> Iterator[str]:
    """Where a repository is changed, within which bounds, and by what the change is judged."""
    if told.workspace is None or told.change is None:
        return
    pins = told.change["pins"]
    yield f"clone     {told.workspace}"
    yield f"may       {', '.join(pins['allowed_paths'])}"
    if forbidden := pins.get("forbidden_paths"):
        yield f"may not   {', '.join(forbidden)}"
    for test in told.tests:
        yield f"test      {test}"
    yield f"evidence  {told.evidence}/ in the clone: report.md, selftest.log, patch.diff, submit.json, evidence/"


def _wish_lines(task: TaskBriefView, constraints: Mapping[str, Any]) -> Iterator[str]:
    """What the plan asks of a task beyond its goal, a line each."""
    criteria = task.acceptance_criteria
    for criterion in (
        criteria if isinstance(criteria, list) else filter(None, [criteria])
    ):
        yield f"accept    {_in_a_line(criterion)}"
    if task.deliverable_spec:
        yield f"deliver   {_in_a_line(task.deliverable_spec)}"
    for key, value in {**constraints, **task.further}.items():
        yield f"{key}: {_in_a_line(value)}"


def _in_a_line(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


@command.command()
@click.argument("task")
@ledger_options
@json_option
def show(task: str, where: Where, as_json: bool) -> int:
    """Show a task: where it stands, its products, reviews, questions, runs and history."""
    from accordance.service.task_records import show_task

    with opened(where) as project:
        view = show_task(project, task)
    if as_json:
        say(view.to_json())
    else:
        _print_task(view)
    return Exit.OK


def _print_task(task: TaskDetailView) -> None:
    waiting = f" ({task.waiting})" if task.waiting else ""
    tell(f"{task.title}  {task.node_type}  {task.state}{waiting}")
    tell(f"  task      {task.task_id}")
    if task.goal_statement:
        tell(f"  goal      {task.goal_statement}")
    for line in _wish_lines(task, task.constraints):
        tell(f"  {line}")
    if task.workspace:
        tell(f"  clone     {task.workspace}")
    tell(
        "  counters  "
        + ", ".join(f"{name} {getattr(task, name)}" for name in _COUNTERS)
    )
    for line in _record_lines(task):
        tell(f"  {line}")


def _record_lines(task: TaskDetailView) -> Iterator[str]:
    """What has become of a task so far."""
    for made in task.artifacts:
        mark = "approved" if made.approved_at else "not approved"
        yield f"product   {made.file}  {made.sha256[:12]}  {mark}"
    for reviewed in task.reviews:
        yield f"review    {reviewed.score} {reviewed.action} of {reviewed.artifact[:12]}"
    for question in task.questions:
        mark = "open" if question.is_open else "answered"
        yield f"question  {question.question_id}  {question.text}  {mark}"
    for run in task.runs:
        yield f"run       {run_line(run)}"
    for event in task.events:
        details = event.model_extra or {}
        moved = f"  {details['from']} -> {details['to']}" if "from" in details else ""
        yield f"{event.at[:19]}  {event.event}{moved}"


@command.command()
@click.argument(
    "file", metavar="[FILE|-]", required=False, type=click.Path(allow_dash=True)
)
@click.option("--task", "task", help="The task it is for.  [default: the one it names]")
@click.option(
    "--attempt",
    type=click.IntRange(1),
    help="The attempt it belongs to: a later one refuses it.",
)
@ledger_options
@json_option
def submit(
    file: str | None, task: str | None, attempt: int | None, where: Where, as_json: bool
) -> int:
    """Hand in an executor's message for a task (xiaobo_action_v1, or what its route names).

    For a task that changes a repository (scc.submit.v1) the clone of `task next` is judged as it is now. Without FILE the
    submit.json in its evidence folder counts; where there is none, accordance hands in from facts.

    The same message again gets the same answer and changes nothing; once the task was returned or given another chance, it
    is refused as unchanged. Without --attempt it counts for the attempt that is going
    on, whoever has it, or begins one. Exit code 1: it does not honour its contract, or the change did not pass, 3: a
    person is asked, 6: it comes too late or for something else.
    """
    from accordance.service import tasks
    from accordance.service.project import task_id_of

    if file is None and task is None:
        raise click.UsageError(
            "name a FILE, or with --task the change whose clone is handed in"
        )
    raw = None if file is None else read_bounded(file)
    with opened(where) as project, _rescued(project.home, file, raw):
        task_id = task_id_of(project, task) if task else None
        answer = tasks.submit(project, raw, task_id=task_id, attempt=attempt)
    return _tell(answer, as_json)


@command.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option(
    "--task",
    "task",
    help="The reviewed task, or the CHECK that reviews it.  [default: the one it names]",
)
@click.option(
    "--artifact",
    metavar="SHA256",
    help="The product the reviewer saw; at least 8 digits of its hash.",
)
@click.option(
    "--worker",
    default=None,
    help="Who reviews.  [default: whoever took the review up with `task next`, else the user's name]",
)
@ledger_options
@json_option
def review(
    file: str,
    task: str | None,
    artifact: str | None,
    worker: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Hand in a review of a task's product (xiaojing_review_v1).

    It counts for the product it saw: named with --artifact, in the message as artifact_sha256, or known from the lease of
    `task next`. A review of an older product is refused with exit code 6; so is one by the worker who made the product,
    unless [review] own_work = true in accordance.toml allows it.
    """
    from accordance.service import tasks
    from accordance.service.project import task_id_of

    raw = read_bounded(file)
    with opened(where) as project, _rescued(project.home, file, raw):
        task_id = task_id_of(project, task) if task else None
        answer = tasks.review(
            project, raw, task_id=task_id, artifact=artifact, reviewer=worker
        )
    return _tell(answer, as_json)


def _rescued(
    home: Home, file: str | None, raw: bytes | None
) -> contextlib.AbstractContextManager[None]:
    """A message that came through a pipe cannot be read again: it is kept if the ledger cannot store it."""
    from accordance.service.tasks import rescued

    return (
        rescued(home, raw)
        if file == "-" and raw is not None
        else contextlib.nullcontext()
    )


def _tell(answer: AnswerView, as_json: bool) -> int:
    if as_json:
        say(answer.to_json())
    else:
        print_answer(answer)
    return exit_of(answer)


@command.command()
@click.argument("task")
@by_option
@ledger_options
@json_option
def retry(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Give a failed or blocked task another chance; its attempts begin anew."""
    from accordance.service import tasks
    from accordance.service.project import asking_as

    with opened(where) as project:
        return _tell_state(tasks.retry(project, task, by=asking_as(by)), as_json)


@command.command()
@click.argument("task")
@by_option
@ledger_options
@json_option
def release(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Put a task down again that was taken up with `task next`. Nothing counts as a failure; a clone that was lent is thrown away."""
    from accordance.service import tasks
    from accordance.service.project import asking_as

    with opened(where) as project:
        return _tell_state(tasks.release(project, task, by=asking_as(by)), as_json)


def _tell_state(task: TaskView, as_json: bool) -> int:
    if as_json:
        say(task.to_json())
    else:
        tell(f"{task.task_id} is {task.state}")
    return Exit.OK


@command.command()
@click.argument("task")
@click.option(
    "--attempt",
    type=click.IntRange(1),
    required=True,
    help="The attempt that is still going on.",
)
@click.option(
    "--lease",
    "seconds",
    type=click.IntRange(1),
    default=900,
    show_default=True,
    help="Seconds from now.",
)
@ledger_options
@json_option
def extend(task: str, attempt: int, seconds: int, where: Where, as_json: bool) -> int:
    """Say that somebody still works on a task: its lease runs longer."""
    from accordance.service import tasks

    with opened(where) as project:
        lease = tasks.extend(project, task, attempt=attempt, seconds=seconds)
    if as_json:
        say(lease.to_json())
    else:
        tell(f"until {lease.until}")
    return Exit.OK


@command.command()
@click.argument("task")
@click.option(
    "--excuse", is_flag=True, help="Whatever waits for it goes on without it."
)
@click.option("--cascade", is_flag=True, help="Whatever waits for it is cancelled too.")
@by_option
@ledger_options
@json_option
def cancel(
    task: str,
    excuse: bool,
    cascade: bool,
    by: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Cancel a task and what belongs only to it. The root cancels the plan."""
    from accordance.service import tasks
    from accordance.service.project import asking_as

    with opened(where) as project:
        cancelled = tasks.cancel(
            project, task, by=asking_as(by), excuse=excuse, cascade=cascade
        )
    if as_json:
        say(cancelled.to_json())
    else:
        along = len(cancelled.along)
        with_others = f", with {along} that waited for it" if along else ""
        tell(f"{cancelled.task_id} is {cancelled.state}{with_others}")
    return Exit.OK

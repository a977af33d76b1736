"""`accordance task`: take up tasks, hand in messages and reviews."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.desk import (
    Desk,
    Where,
    at_desk,
    by_option,
    find_plan,
    find_task,
    fits_whoever_asks,
    json_option,
    ledger_options,
    say,
    whoever,
)
from accordance.cli.exits import Exit, one_line
from accordance.cli.prompts import prompt, run_line
from accordance.cli.reading import read_bounded
from accordance.cli.showing import tell
from accordance.cli.ways_out import why_nothing

if TYPE_CHECKING:
    from accordance.work.answers import Answer


@click.group(name="task")
def command() -> None:
    """Take up tasks, hand in messages and reviews."""


command.add_command(prompt)


@command.command(name="next")
@ledger_options
@json_option
@click.option("--plan", help="Only from this plan.")
@click.option("--worker", default=None, help="Who takes it up.  [default: the user's name]")
@click.option(
    "--lease", "seconds", type=click.IntRange(1), default=900, show_default=True, help="Seconds it is theirs."
)
@click.option(
    "--type",
    "kinds",
    multiple=True,
    type=click.Choice(["GOAL", "ACTION", "CHECK"]),
    help="Only nodes of this type; may be given more than once.",
)
@click.option(
    "--any", "any_task", is_flag=True, help="Also what the routes give to an executor of accordance's own."
)
@click.option("--peek", is_flag=True, help="Only look: nothing is taken up.")
def take(
    where: Where,
    as_json: bool,
    plan: str | None,
    worker: str | None,
    seconds: int,
    kinds: tuple[str, ...],
    any_task: bool,
    peek: bool,
) -> int:
    """Take up the next task: all that is needed to do it, its contract and context included.

    Where executors are configured, only what is routed to an external one, or to none, is handed out; --any hands out
    everything that may be done elsewhere. Whoever changes a repository is lent a clone to work in. Returned work comes first, then products to review, then new work by priority. Exit code 3: what is left waits for a
    person; 5: there is nothing to take up.
    """
    from functools import partial

    from accordance.changes.outside import hand_out
    from accordance.work.assignment import described
    from accordance.work.inputs import look_at_inputs
    from accordance.work.project_routes import holding_for
    from accordance.work.tasks import Nothing, handed_out, take_next

    with at_desk(where) as desk:
        fits = fits_whoever_asks(desk, any_task=any_task)
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id if plan else None
            if peek:
                turns = [
                    next(handed_out(tx, one.plan_id, kinds, fits), None)
                    for one in reversed(tx.plans())
                    if plan_id in (None, one.plan_id)
                ]
                found = [described(tx, task) for task in turns if task is not None]
                if as_json:
                    say(found)
                else:
                    for one in found:
                        tell(f"{one['task_id']}  {one['title']}")
                return Exit.OK if found else Exit.NOT_FOUND
        files = look_at_inputs(desk.ledger, desk.home)
        take_one = partial(
            take_next,
            desk.ledger,
            files,
            plan_id=plan_id,
            holder=whoever(worker),
            seconds=seconds,
            kinds=kinds,
            fits=fits,
            holding=holding_for(desk.home),
            own_work=desk.home.settings().review.own_work,
        )
        given = hand_out(desk.ledger, desk.home, take_one)
        if isinstance(given, Nothing):
            if as_json:
                say({"task": None, "why": given.name, "text": given.value})
            else:
                one_line(f"nothing to take up: {why_nothing(given.name, given.value)}")
            waits = given in (
                Nothing.IN_REVIEW,
                Nothing.RETURNED,
                Nothing.HELD,
                Nothing.WAITING,
                Nothing.STUCK,
            )
            return Exit.WAITING if waits else Exit.NOT_FOUND
    if as_json:
        say(given.document)
    else:
        _print_assignment(given.document)
    return Exit.OK


def _print_assignment(told: dict[str, Any]) -> None:
    task, context = told["task"], told["context"]
    tell(f"{task['title']}  {task['node_type']}, attempt {told['attempt']}")
    tell(f"  task      {task['task_id']}")
    if task["goal_statement"]:
        tell(f"  goal      {task['goal_statement']}")
    for line in _wish_lines(task, told["plan"]["constraints"]):
        tell(f"  {line}")
    for line in _change_lines(told):
        tell(f"  {line}")
    contract = told["contract"]
    tell(f"  contract  {contract['scope'] or contract['schema_version']} for task_id {contract['task_id']}")
    for one in context["dependencies"]:
        where = one["artifact"]["path"] if one["artifact"] else "no artifact"
        tell(f"  after     {one['title']}: {where}")
    for one in context["inputs"]:
        tell(f"  input     {one['name']}: {one['reference']}")
    if context.get("product"):
        tell(f"  product   {context['product']['path']}")
    for one in (context["last_review"] or {}).get("suggestions", []):
        tell(f"  change    {one['priority']}: {one['change']}")
    for one in context.get("last_errors", []):
        tell(f"  mend      {one}")
    tell(f"  until     {told['lease']['until']}")
    tell(f"  hand in   {' '.join(told['hand_in'])}")


def _change_lines(told: dict[str, Any]) -> Iterator[str]:
    """Where a repository is changed, within which bounds, and by what the change is judged."""
    if "workspace" not in told:
        return
    pins = told["change"]["pins"]
    yield f"clone     {told['workspace']}"
    yield f"may       {', '.join(pins['allowed_paths'])}"
    if forbidden := pins.get("forbidden_paths"):
        yield f"may not   {', '.join(forbidden)}"
    for command in told["tests"]:
        yield f"test      {command}"
    yield f"evidence  {told['evidence']}/ in the clone: report.md, selftest.log, patch.diff, submit.json, evidence/"


def _wish_lines(task: dict[str, Any], constraints: dict[str, Any]) -> Iterator[str]:
    """What the plan asks of a task beyond its goal, a line each."""
    criteria = task["acceptance_criteria"]
    for criterion in criteria if isinstance(criteria, list) else filter(None, [criteria]):
        yield f"accept    {_in_a_line(criterion)}"
    if task["deliverable_spec"]:
        yield f"deliver   {_in_a_line(task['deliverable_spec'])}"
    for key, value in {**constraints, **task["further"]}.items():
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
    from accordance.domain.records import QuestionRecord, ReviewRecord
    from accordance.work.assignment import described
    from accordance.work.loans import loan_under_way
    from accordance.work.run_log import runs_in
    from accordance.work.wishes import constraints_of

    with at_desk(where) as desk, desk.ledger.read() as tx:
        record = find_task(tx, task)
        name = record.task_id
        loan = loan_under_way(tx, record)
        told = {
            **described(tx, record),
            "constraints": constraints_of(tx, tx.plan(record.plan_id)),
            "lease": {"holder": record.lease.holder, "until": record.lease.until} if record.lease else None,
            "workspace": str(loan.place(desk.home)) if loan else None,
            "last_error": record.last_error,
            "artifacts": [
                {
                    "version": one.version,
                    "file": str((desk.home.artifacts(name) / one.file_name).relative_to(desk.home.root)),
                    "sha256": one.sha256,
                    "approved_at": one.approved_at,
                }
                for one in tx.products(name)
            ],
            "reviews": [
                {
                    "score": one.total_score,
                    "action": one.action_required,
                    "artifact": one.product,
                    "at": one.at,
                }
                for one in tx.find(ReviewRecord, subject=name)
            ],
            "questions": [
                {
                    "question_id": one.question_id,
                    "kind": one.kind,
                    "text": one.text,
                    "answered_at": one.answered_at,
                }
                for one in tx.find(QuestionRecord, task_id=name)
            ],
            "runs": [run.to_json() for run in runs_in(tx.entries_of(name))],
            "events": [
                {"seq": one.seq, "at": one.at, "event": one.kind, **one.payload}
                for one in tx.entries_of(name)
            ],
        }
    if as_json:
        say(told)
    else:
        _print_task(told)
    return Exit.OK


def _print_task(told: dict[str, Any]) -> None:
    state = told["state"] + (f" ({told['waiting']})" if told["waiting"] else "")
    tell(f"{told['title']}  {told['node_type']}  {state}")
    tell(f"  task      {told['task_id']}")
    if told["goal_statement"]:
        tell(f"  goal      {told['goal_statement']}")
    for line in _wish_lines(told, told["constraints"]):
        tell(f"  {line}")
    if told["workspace"]:
        tell(f"  clone     {told['workspace']}")
    counts = (
        "attempt_count",
        "failures",
        "parse_failures",
        "review_rounds",
        "review_failures",
        "idle_rounds",
    )
    tell("  counters  " + ", ".join(f"{name} {told[name]}" for name in counts))
    for one in told["artifacts"]:
        mark = "approved" if one["approved_at"] else "not approved"
        tell(f"  product   {one['file']}  {one['sha256'][:12]}  {mark}")
    for one in told["reviews"]:
        tell(f"  review    {one['score']} {one['action']} of {one['artifact'][:12]}")
    for one in told["questions"]:
        tell(
            f"  question  {one['question_id']}  {one['text']}  {'answered' if one['answered_at'] else 'open'}"
        )
    for one in told["runs"]:
        tell(f"  run       {run_line(one)}")
    for one in told["events"]:
        moved = f"  {one['from']} -> {one['to']}" if "from" in one else ""
        tell(f"  {one['at'][:19]}  {one['event']}{moved}")


@command.command()
@click.argument("file", metavar="[FILE|-]", required=False, type=click.Path(allow_dash=True))
@click.option("--task", "task", help="The task it is for.  [default: the one it names]")
@click.option("--attempt", type=click.IntRange(1), help="The attempt it belongs to: a later one refuses it.")
@ledger_options
@json_option
def submit(file: str | None, task: str | None, attempt: int | None, where: Where, as_json: bool) -> int:
    """Hand in an executor's message for a task (xiaobo_action_v1, or what its route names).

    For a task that changes a repository (scc.submit.v1) the clone of `task next` is judged as it is now. Without FILE the
    submit.json in its evidence folder counts; where there is none, accordance hands in from facts.

    The same message again gets the same answer and changes nothing; once the task was returned or given another chance, it
    is refused as unchanged. Without --attempt it counts for the attempt that is going
    on, whoever has it, or begins one. Exit code 1: it does not honour its contract, or the change did not pass, 3: a
    person is asked, 6: it comes too late or for something else.
    """
    from accordance.changes.outside import submit as hand_in

    if file is None and task is None:
        raise click.UsageError("name a FILE, or with --task the change whose clone is handed in")
    raw = None if file is None else read_bounded(file)
    with at_desk(where) as desk, _rescued(desk, file or "", raw or b""):
        name = _named(desk, task)
        return _tell(hand_in(desk.ledger, desk.home, raw, task_id=name, attempt=attempt), as_json)


@command.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option(
    "--task", "task", help="The reviewed task, or the CHECK that reviews it.  [default: the one it names]"
)
@click.option(
    "--artifact", metavar="SHA256", help="The product the reviewer saw; at least 8 digits of its hash."
)
@click.option(
    "--worker",
    default=None,
    help="Who reviews.  [default: whoever took the review up with `task next`, else the user's name]",
)
@ledger_options
@json_option
def review(
    file: str, task: str | None, artifact: str | None, worker: str | None, where: Where, as_json: bool
) -> int:
    """Hand in a review of a task's product (xiaojing_review_v1).

    It counts for the product it saw: named with --artifact, in the message as artifact_sha256, or known from the lease of
    `task next`. A review of an older product is refused with exit code 6; so is one by the worker who made the product,
    unless [review] own_work = true in accordance.toml allows it.
    """
    from accordance.changes.outside import published
    from accordance.work.reviewing import review as hand_in

    raw = read_bounded(file)
    with at_desk(where) as desk, _rescued(desk, file, raw):
        name = _named(desk, task)
        reviewer = worker or _has_it(desk, name) or whoever(None)
        not_own_of = None if desk.home.settings().review.own_work else reviewer
        answer = hand_in(desk.ledger, raw, task_id=name, product=artifact, not_own_of=not_own_of)
        return _tell(published(desk.ledger, desk.home, answer), as_json)


def _has_it(desk: Desk, task: str | None) -> str | None:
    """Whoever has a task now."""
    if task is None:
        return None
    with desk.ledger.read() as tx:
        lease = tx.task(task).lease
    return lease.holder if lease else None


def _named(desk: Desk, task: str | None) -> str | None:
    if task is None:
        return None
    with desk.ledger.read() as tx:
        return find_task(tx, task).task_id


@contextlib.contextmanager
def _rescued(desk: Desk, file: str, raw: bytes) -> Iterator[None]:
    """A message that came through a pipe and could not be stored is not lost."""
    import hashlib

    from accordance.errors import LedgerError
    from accordance.project.home import write_file

    try:
        yield
    except LedgerError as error:
        if file == "-":
            path = desk.home.unsent / f"{hashlib.sha256(raw).hexdigest()[:16]}.json"
            with contextlib.suppress(LedgerError):
                write_file(path, raw)
                raise type(error)(f"{error}; the message is kept in {path}") from error
        raise


def _tell(answer: Answer, as_json: bool) -> int:
    told = answer.to_json()
    if as_json:
        say(told)
    else:
        print_answer(told)
    return exit_of(told)


def exit_of(told: dict[str, Any]) -> int:
    """The exit code of an answer."""
    if told["status"] == "refused":
        return Exit.CONFLICT
    if told["outcome"] == "ESCALATE":
        return Exit.WAITING
    is_change_refused = "bundle" in told and told["outcome"] != "DONE"
    return Exit.REJECTED if told["status"] == "rejected" or is_change_refused else Exit.OK


def print_answer(told: dict[str, Any]) -> None:
    """Tell a person what came of a message."""
    if told["status"] == "refused":
        one_line(told["why"])
        return
    again = "  (as before)" if told["repeated"] else ""
    waiting = f", {told['waiting']}" if told.get("waiting") else ""
    decided = f"  {told['outcome']}" if told["outcome"] else ""
    subject = told.get("task_id") or told.get("plan_id")
    tell(f"{told['status']}  {subject} is {told['state']}{waiting}{decided}  {told['reason_code']}{again}")
    for line in told["messages"]:
        tell(f"  {line}")
    if "artifact" in told:
        tell(f"  {told['artifact']['path']}  {told['artifact']['sha256'][:12]}")
    if "bundle" in told:
        tell(f"  {told['bundle']}")
    if "not_published" in told:
        tell(f"  the change is in the ledger, but {told['not_published']}")
    if "question" in told:
        tell(f"  asked as {told['question']} (accordance inbox list)")


@command.command()
@click.argument("task")
@by_option
@ledger_options
@json_option
def retry(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Give a failed or blocked task another chance; its attempts begin anew."""
    from accordance.work.tasks import retry as give_chance

    return _act(task, where, as_json, lambda desk, name: give_chance(desk.ledger, name, by=whoever(by)))


@command.command()
@click.argument("task")
@by_option
@ledger_options
@json_option
def release(task: str, by: str | None, where: Where, as_json: bool) -> int:
    """Put a task down again that was taken up with `task next`. Nothing counts as a failure; a clone that was lent is thrown away."""
    from accordance.changes.outside import release as put_down

    return _act(
        task, where, as_json, lambda desk, name: put_down(desk.ledger, desk.home, name, by=whoever(by))
    )


@command.command()
@click.argument("task")
@click.option("--attempt", type=click.IntRange(1), required=True, help="The attempt that is still going on.")
@click.option(
    "--lease", "seconds", type=click.IntRange(1), default=900, show_default=True, help="Seconds from now."
)
@ledger_options
@json_option
def extend(task: str, attempt: int, seconds: int, where: Where, as_json: bool) -> int:
    """Say that somebody still works on a task: its lease runs longer."""
    from accordance.work.tasks import extend as keep

    with at_desk(where) as desk:
        lease = keep(desk.ledger, _named(desk, task) or task, attempt=attempt, seconds=seconds)
    say({"until": lease.until, "holder": lease.holder}) if as_json else tell(f"until {lease.until}")
    return Exit.OK


@command.command()
@click.argument("task")
@click.option("--excuse", is_flag=True, help="Whatever waits for it goes on without it.")
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
    from accordance.work.tasks import cancel as give_up

    with at_desk(where) as desk:
        name = _named(desk, task) or task
        along = give_up(desk.ledger, name, by=whoever(by), excuse=excuse, cascade=cascade)
        with desk.ledger.read() as tx:
            state = tx.progress(name).state
    if as_json:
        say({"task_id": name, "state": state, "along": list(along)})
    else:
        tell(f"{name} is {state}" + (f", with {len(along)} that waited for it" if along else ""))
    return Exit.OK


def _act(task: str, where: Where, as_json: bool, act: Any) -> int:
    from accordance.work.assignment import describe

    with at_desk(where) as desk:
        record = act(desk, _named(desk, task) or task)
    if as_json:
        say(describe(record))
    else:
        tell(f"{record.task_id} is {record.progress.state}")
    return Exit.OK

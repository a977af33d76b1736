"""`accordance plan`: import, review, watch, draw and export plans."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.desk import (
    Where,
    at_desk,
    by_option,
    find_plan,
    json_option,
    ledger_options,
    say,
    whoever,
)
from accordance.cli.exits import Exit, Failure
from accordance.cli.planning import create
from accordance.cli.prompts import plan_prompt
from accordance.cli.reading import is_file, read_bounded
from accordance.cli.showing import shown, tell
from accordance.cli.writing import write_output
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.drawing import FORMATS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from accordance.contracts.catalogue.plan import Plan
    from accordance.domain.lifecycle import State
    from accordance.domain.records import PlanRecord, Rules
    from accordance.project.home import Home
    from accordance.store.ledger import Transaction

_LARGEST = 1 << 30  # a person's own file may be larger than what a model may send
_SHOWN = 10  # repairs and warnings; the rest is counted
_MANY = 2000  # nodes, from which an import shows how far it is


@click.group(name="plan")
def command() -> None:
    """Import, review, watch, draw and export plans."""


@command.command(name="import")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option("--no-review", is_flag=True, help="Take the plan as it is: it may begin at once.")
@click.option(
    "--fuse",
    "fuses",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Set a fuse of this plan; may be given more than once.",
)
@click.option("--dry-run", is_flag=True, help="Only check it, and say what would begin.")
@by_option
@ledger_options
@json_option
def import_(
    where: Where,
    file: str,
    no_review: bool,
    fuses: tuple[str, ...],
    dry_run: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Bring a plan into the ledger, and write it, normalised, to tasks/plan.json.

    The same plan again changes nothing. Nothing in it begins before it is reviewed (`plan review`), unless --no-review.
    A plan that does not honour its contract is reported as `accordance check` would, with exit code 1.
    """
    from accordance.domain.plan import plan_graph
    from accordance.domain.progress import begin
    from accordance.project.home import find_home, write_file
    from accordance.project.policy import gateway_of
    from accordance.work.importing import Source, import_plan, missing_inputs

    home = find_home(where.home)
    roles = gateway_of(home.settings(), home.root).roles
    read = _read_plan(file, roles)
    if read is None:
        return Exit.REJECTED
    raw, result = read
    plan = result.value
    rules = _rules(home, fuses)
    if dry_run:
        at = begin(plan_graph(plan), missing_inputs(plan)).at
        ready = [task for task, one in at.items() if one.state == "READY"]
        told = {
            "plan_id": plan.plan.plan_id,
            "nodes": len(plan.nodes),
            "edges": len(plan.edges),
            "ready": ready,
            **_reading_json(result),
        }
        if as_json:
            say(told)
        else:
            tell(f"{plan.plan.title}: {len(plan.nodes)} nodes, {len(ready)} could begin")
            _show_reading(result)
        return Exit.OK
    with at_desk(where, create=True) as desk, _bar(len(plan.nodes), as_json) as advance:
        done = import_plan(
            desk.ledger,
            plan,
            rules,
            source=Source(raw, result.repairs, result.warnings),
            waived_by=whoever(by) if no_review else None,
            roles=roles,
            watch=advance,
        )
        write_file(desk.home.plan_file, done.document)
        with desk.ledger.read() as tx:
            counts = tx.count_states(done.plan.plan_id)
    told = {**_plan_json(done.plan), "is_new": done.is_new, "states": counts, **_reading_json(result)}
    if as_json:
        say(told)
    else:
        again = "" if done.is_new else "  (as before)"
        tell(f"{done.plan.plan_id}  {done.plan.title}: {done.plan.nodes} nodes, {done.plan.state}{again}")
        _show_reading(result)
    return Exit.OK


def _reading_json(result: Accepted[Plan]) -> dict[str, Any]:
    """What was repaired and what is worth knowing."""
    return {
        "repairs": [repair.to_json() for repair in result.repairs],
        "warnings": [warning.to_json() for warning in result.warnings],
    }


def _show_reading(result: Accepted[Plan]) -> None:
    """The same for people: the first few of each."""
    for name, found in (("repaired", result.repairs), ("warning", result.warnings)):
        for one in found[:_SHOWN]:
            tell(f"  {name}: {one}")
        if len(found) > _SHOWN:
            tell(f"  {name}: and {len(found) - _SHOWN} more (--json shows all)")


def _read_plan(file: str, roles: Collection[str] | None = None) -> tuple[bytes, Accepted[Plan]] | None:
    """The bytes and the plan in them, if it honours its contract; with `roles`, also each task in it that changes a repository. Else it is reported."""
    from accordance.api import check_value
    from accordance.cli.checked import Checked
    from accordance.cli.report import as_text
    from accordance.contracts.limits import Limits
    from accordance.contracts.reading import parse_object
    from accordance.contracts.violation import Violation
    from accordance.errors import Unparseable

    raw = read_bounded(file, _LARGEST)
    gc.disable()  # a large plan is millions of objects that all stay; looking through them again and again takes longer than the check
    result: Accepted[Any] | Rejected
    try:
        message = parse_object(raw, Limits(max_bytes=_LARGEST))
    except Unparseable as flaw:
        fault = Violation(flaw.code, flaw.path, flaw.expected, flaw.actual, offset=flaw.offset)
        result = Rejected((fault,), 1, "PLAN_GEN")
    else:
        result = check_value(message, "PLAN_GEN")
    if isinstance(result, Accepted) and roles is not None:
        from accordance.work.coding_tasks import check_tasks

        faults = check_tasks(result.value, roles)
        result = Rejected(faults, len(faults), "PLAN_GEN") if faults else result
    if isinstance(result, Rejected):
        as_text([Checked(file, raw, result)])
        return None
    return raw, result


def _rules(home: Home, fuses: tuple[str, ...]) -> Rules:
    """What the plan is held to: the command's fuses over those of accordance.toml, and the rubrics there."""
    chosen: dict[str, object] = {}
    for one in fuses:
        name, _, value = one.partition("=")
        try:
            chosen[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise Failure(f"--fuse {one}: write it as NAME=NUMBER", Exit.USAGE) from None
    return home.settings().rules(chosen)


class _bar:  # noqa: N801 - reads as a function
    """How far a long import is, on a terminal only."""

    def __init__(self, total: int, as_json: bool) -> None:
        self._shown = total >= _MANY and sys.stderr.isatty() and not as_json
        self._total = total

    def __enter__(self) -> Any:
        if not self._shown:
            return lambda _: None
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._progress.start()
        task = self._progress.add_task("importing", total=self._total)
        return lambda count: self._progress.advance(task, count)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._progress.stop()


def _plan_json(plan: PlanRecord) -> dict[str, Any]:
    return {
        "plan_id": plan.plan_id,
        "title": plan.title,
        "owner_agent_id": plan.owner_agent_id,
        "root_task_id": plan.root_task_id,
        "state": plan.state,
        "revision": plan.revision,
        "nodes": plan.nodes,
        "imported_at": plan.imported_at,
        "events": plan.head.seq,
        "head": plan.head.hash,
    }


command.add_command(create)
command.add_command(plan_prompt)


@command.command(name="list")
@ledger_options
@json_option
def list_plans(where: Where, as_json: bool) -> int:
    """List the plans, the newest first."""
    with at_desk(where) as desk, desk.ledger.read() as tx:
        found = [(plan, tx.progress(plan.root_task_id).state) for plan in tx.plans()]
    if as_json:
        say([{**_plan_json(plan), "root": state} for plan, state in found])
    else:
        for plan, state in found:
            tell(f"{plan.plan_id}  {plan.state:<9}  {state:<14}  {plan.nodes:>6} nodes  {plan.title}")
    return Exit.OK


@command.command()
@click.argument("plan", required=False)
@ledger_options
@json_option
def show(where: Where, plan: str | None, as_json: bool) -> int:
    """Show a plan: how it stands, its fuses, its rubric, the last review of it, what it has cost."""
    from accordance.cli.spent import spent_json, spent_text
    from accordance.domain.records import VerdictRecord
    from accordance.work.run_log import spent_by_task

    with at_desk(where) as desk, desk.ledger.read() as tx:
        record = find_plan(tx, plan)
        verdicts = tx.find(VerdictRecord, subject=record.plan_id)
        told = {
            **_plan_json(record),
            "states": tx.count_states(record.plan_id),
            "fuses": record.rules.fuses.model_dump(),
            "rubric": dict(record.rules.node_rubric.maxima),
            "verdicts": [
                {
                    "outcome": one.outcome,
                    "reason_code": one.reason_code,
                    "messages": list(one.messages),
                    "at": one.at,
                }
                for one in verdicts
            ],
            "open_questions": [one.question_id for one in tx.open_questions(plan_id=record.plan_id)],
            **spent_json(spent_by_task(tx, record.plan_id)),
        }
    if as_json:
        say(told)
        return Exit.OK
    tell(f"{told['title']}  {told['state']}")
    for name in ("plan_id", "root_task_id", "revision", "nodes", "imported_at", "events", "head"):
        tell(f"  {name:<14} {told[name]}")
    tell("  states         " + ", ".join(f"{count} {state}" for state, count in told["states"].items()))
    if told["spent"]["calls"]:
        tell(f"  spent          {spent_text(told['spent'])}")
    for verdict in told["verdicts"]:
        tell(f"  review         {verdict['outcome']} {' '.join(verdict['messages'])}")
    for question in told["open_questions"]:
        tell(f"  asks           {question}")
    return Exit.OK


@command.command()
@click.argument("plan", required=False)
@click.option("--once", is_flag=True, help="Print it once, also on a terminal.")
@ledger_options
@json_option
def status(where: Where, plan: str | None, once: bool, as_json: bool) -> int:
    """Show where a plan stands; on a terminal, as it moves.

    Exit code 0: done, or on its way; 1: something is in the dead letters; 3: a person is asked.
    """
    from accordance.cli.watching import print_status, status_of, watch

    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id
        if sys.stdout.isatty() and not (once or as_json):
            found = watch(desk.ledger, plan_id)
        else:
            with desk.ledger.read() as tx:
                found = status_of(tx, tx.plan(plan_id))
    if as_json:
        say(found.to_json())
    elif once or not sys.stdout.isatty():
        print_status(found)
    return found.exit_code


@command.command()
@click.argument("source", metavar="FILE|-|PLAN", required=False)
@click.option(
    "--format",
    "picture",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="What to draw.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it to a file.")
@ledger_options
@click.option("--json", "as_json", is_flag=True, help="Print nodes, edges of each kind, and states, as JSON.")
def graph(where: Where, source: str | None, picture: str, output: Path | None, as_json: bool) -> int:
    """Draw a plan: one in the ledger as it stands, or one in a file (- is standard input) with what could begin.

    A plan that does not honour its contract is reported as `accordance check` would, with exit code 1.
    """
    from accordance.domain.plan import plan_graph
    from accordance.domain.progress import begin

    if source is not None and (source == "-" or is_file(source) or source.endswith(".json")):
        read = _read_plan(source)
        if read is None:
            return Exit.REJECTED
        plan = read[1].value
        states = {task: at.state for task, at in begin(plan_graph(plan)).at.items()}
    else:
        with at_desk(where) as desk, desk.ledger.read() as tx:
            record = find_plan(tx, source)
            plan = _stored_plan(tx, record)
            states = {task.task_id: task.progress.state for task in tx.tasks(record.plan_id)}
    drawn = plan_graph(plan)
    labels = {node.task_id: shown(node.title) for node in plan.nodes}
    if as_json:
        say({"root": drawn.root, "nodes": list(_rows(plan, states))})
        return Exit.OK
    text = FORMATS[picture](drawn, labels, states)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text.encode())
    return Exit.OK


def _rows(plan: Plan, states: dict[str, State]) -> Iterator[dict[str, Any]]:
    from accordance.domain.plan import plan_graph

    drawn = plan_graph(plan)
    for node in plan.nodes:
        task = node.task_id
        yield {
            "task_id": task,
            "title": node.title,
            "node_type": drawn[task].kind,
            "state": states[task],
            "combine": drawn[task].combine if drawn[task].parts else None,
            "parts": drawn[task].parts,
            "prerequisites": drawn[task].prerequisites,
            "checks": drawn[task].checks,
            "alternatives": drawn[task].rivals,
        }


def _stored_plan(tx: Transaction, record: PlanRecord) -> Plan:
    from accordance.api import check_value
    from accordance.contracts.limits import Limits
    from accordance.contracts.reading import parse_object

    message = parse_object(tx.blob(record.document), Limits(max_bytes=_LARGEST))
    result = check_value(message, "PLAN_GEN")
    if isinstance(result, Rejected):
        raise Failure("the stored plan is damaged; see `accordance verify`", Exit.REJECTED)
    plan: Plan = result.value
    return plan


@command.command()
@click.argument("plan", required=False)
@click.option(
    "--to", type=click.Path(file_okay=False, path_type=Path), help="The folder.  [default: deliverables/PLAN]"
)
@click.option("--include-candidates", is_flag=True, help="Products that nobody has approved, too.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@ledger_options
@json_option
def export(
    where: Where, plan: str | None, to: Path | None, include_candidates: bool, dry_run: bool, as_json: bool
) -> int:
    """Write the approved products of a plan into a folder, with a manifest of their hashes, and the plan itself."""
    from accordance.domain.naming import safe_name
    from accordance.work.exporting import deliverables, export_plan

    with at_desk(where) as desk, desk.ledger.read() as tx:
        record = find_plan(tx, plan)
        folder = to or desk.home.root / "deliverables" / safe_name(record.plan_id)
        if dry_run:
            found = deliverables(tx, record, candidates=include_candidates)
            told: dict[str, Any] = {
                "files": [{"task_id": one.task_id, "path": one.file_name} for one in found]
            }
        else:
            told = export_plan(tx, record, folder, candidates=include_candidates)
    if as_json:
        say({"folder": str(folder), **told})
    else:
        tell(f"{folder}: {len(told['files'])} files" + (" would be written" if dry_run else ""))
        for one in told["files"]:
            tell(f"  {one['path']}")
    return Exit.OK


@command.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option("--plan", help="The plan.  [default: the newest]")
@ledger_options
@json_option
def review(where: Where, file: str, plan: str | None, as_json: bool) -> int:
    """Hand in a review of a plan (xiaojing_review_v1, review_target PLAN, task_id = the plan's id).

    APPROVE lets it begin, MODIFY wants a better one to be imported, REQUEST_EXTERNAL_INPUT asks a person.
    """
    from accordance.cli.task import exit_of, print_answer
    from accordance.work.reviewing import review_plan

    raw = read_bounded(file)
    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id
        told = review_plan(desk.ledger, raw, plan_id).to_json()
    if as_json:
        say(told)
    else:
        print_answer(told)
    return exit_of(told)


@command.command()
@click.argument("plan", required=False)
@by_option
@ledger_options
@json_option
def resume(where: Where, plan: str | None, by: str | None, as_json: bool) -> int:
    """Let a plan whose fuse has blown go on; its fuses begin anew."""
    from accordance.work.tasks import resume as go_on

    with at_desk(where) as desk:
        with desk.ledger.read() as tx:
            plan_id = find_plan(tx, plan).plan_id
        record = go_on(desk.ledger, plan_id, by=whoever(by))
    say(_plan_json(record)) if as_json else tell(f"{record.plan_id} is {record.state}")
    return Exit.OK

"""`accordance plan`: import, review, watch, draw, rebase and export plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.list_options import list_options, tell_of_more
from accordance.cli.plan_import import import_, report_rejected_plan
from accordance.cli.plan_rebase import rebase
from accordance.cli.planning import create
from accordance.cli.prompts import plan_prompt
from accordance.cli.reading import is_file, read_bounded
from accordance.cli.receipts import exit_of, print_answer
from accordance.cli.showing import print_line, shown
from accordance.cli.spent import spent_text
from accordance.cli.writing import write_output
from accordance.contracts.violation import Rejected
from accordance.rendering.drawing import FORMATS

if TYPE_CHECKING:
    from accordance.service.drawings import Drawing
    from accordance.service.listing import ListQuery
    from accordance.service.views.plans import PlanDetailView

_PLAN_FIELDS = (
    "plan_id",
    "root_task_id",
    "revision",
    "nodes",
    "imported_at",
    "events",
    "head",
)


@click.group(name="plan")
def command() -> None:
    """Import, review, watch, draw, rebase and export plans."""


command.add_command(import_)
command.add_command(create)
command.add_command(plan_prompt)
command.add_command(rebase)


@command.command(name="list")
@list_options
@ledger_options
@json_option
def list_plans(where: Where, query: ListQuery, as_json: bool) -> int:
    """List the plans, the newest first. With --json: the `items`, and the `next` cursor."""
    from accordance.service import plans

    with opened(where) as project:
        page = plans.list_plans(project, query)
    if as_json:
        print_json(page.to_json())
        return Exit.OK
    for plan in page.items:
        states = f"{plan.state:<9}  {plan.root:<14}"
        print_line(f"{plan.plan_id}  {states}  {plan.nodes:>6} nodes  {plan.title}")
    tell_of_more(page)
    return Exit.OK


@command.command()
@click.argument("plan", required=False)
@ledger_options
@json_option
def show(where: Where, plan: str | None, as_json: bool) -> int:
    """Show a plan: its state, fuses, rubric, last review and cost."""
    from accordance.service import plans

    with opened(where) as project:
        view = plans.show_plan(project, plan)
    if as_json:
        print_json(view.to_json())
    else:
        _print_plan(view)
    return Exit.OK


def _print_plan(plan: PlanDetailView) -> None:
    print_line(f"{plan.title}  {plan.state}")
    for name in _PLAN_FIELDS:
        print_line(f"  {name:<14} {getattr(plan, name)}")

    counts = [f"{count} {state}" for state, count in plan.states.items()]
    print_line(f"  states         {', '.join(counts)}")

    if plan.spent.calls:
        print_line(f"  spent          {spent_text(plan.spent)}")
    if plan.base_moved:
        print_line(f"  base           {plan.base_moved}")
    for verdict in plan.verdicts:
        messages = " ".join(verdict.messages)
        print_line(f"  review         {verdict.outcome} {messages}")
    for question in plan.open_questions:
        print_line(f"  asks           {question}")


@command.command()
@click.argument("plan", required=False)
@click.option("--once", is_flag=True, help="Print the state once, even on a terminal.")
@ledger_options
@json_option
def status(where: Where, plan: str | None, once: bool, as_json: bool) -> int:
    """Show the state of a plan; on a terminal, keep it up to date.

    Exit code 0: done, or on its way; 1: it has dead letters; 3: a person must answer.
    """
    from accordance.cli.plan_status import exit_of_status, print_status, watch
    from accordance.service.plans import plan_status
    from accordance.service.project import plan_id_of

    is_live = sys.stdout.isatty() and not (once or as_json)
    with opened(where) as project:
        plan_id = plan_id_of(project, plan)
        if is_live:
            view = watch(project, plan_id)
        else:
            view = plan_status(project.ledger, plan_id, project.home)

    if as_json:
        print_json(view.to_json())
    elif not is_live:
        print_status(view)
    return exit_of_status(view)


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
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the drawing to this file.",
)
@ledger_options
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the nodes, the edges of each kind and the states as JSON.",
)
def graph(
    where: Where, source: str | None, picture: str, output: Path | None, as_json: bool
) -> int:
    """Draw a plan of the ledger with its states, or a plan in a file (- is standard input).

    A plan that breaks its contract is reported as by `accordance check`, with exit
    code 1.
    """
    from accordance.service.drawings import draw_new_plan, draw_plan
    from accordance.service.plan_intake import LARGEST_PLAN, check_plan

    if source is not None and _is_plan_file(source):
        raw = read_bounded(source, LARGEST_PLAN)
        result = check_plan(raw)
        if isinstance(result, Rejected):
            return report_rejected_plan(source, raw, result)
        drawing = draw_new_plan(result.value)
    else:
        with opened(where) as project:
            drawing = draw_plan(project, source)

    if as_json:
        print_json(drawing.view().to_json())
        return Exit.OK

    text = _picture(drawing, picture)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text.encode())
    return Exit.OK


def _is_plan_file(source: str) -> bool:
    """Whether a source is meant as a file, even one that is not there."""
    return source == "-" or is_file(source) or source.endswith(".json")


def _picture(drawing: Drawing, name: str) -> str:
    labels = {node.task_id: shown(node.title) for node in drawing.plan.nodes}
    draw = FORMATS[name]
    return draw(drawing.graph, labels, drawing.states)


@command.command()
@click.argument("plan", required=False)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder.  [default: deliverables/PLAN]",
)
@click.option(
    "--include-candidates",
    is_flag=True,
    help="Also export products that are not approved.",
)
@click.option(
    "--dry-run", is_flag=True, help="List what would be written; write nothing."
)
@ledger_options
@json_option
def export(
    where: Where,
    plan: str | None,
    to: Path | None,
    include_candidates: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Write the approved products of a plan into a folder.

    The folder also gets the plan itself and a manifest of all hashes.
    """
    from accordance.service import plans

    with opened(where) as project:
        view = plans.export(
            project, plan, to, candidates=include_candidates, dry_run=dry_run
        )

    if as_json:
        print_json(view.to_json())
        return Exit.OK

    would_be = " would be written" if dry_run else ""
    print_line(f"{view.folder}: {len(view.files)} files{would_be}")
    for file in view.files:
        print_line(f"  {file.path}")
    return Exit.OK


@command.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option("--plan", help="The plan.  [default: the newest]")
@ledger_options
@json_option
def review(where: Where, file: str, plan: str | None, as_json: bool) -> int:
    """Hand in a review of a plan (xiaojing_review_v1, review_target PLAN, task_id = the plan's id).

    APPROVE lets the plan begin, MODIFY asks for a better plan to be imported,
    REQUEST_EXTERNAL_INPUT asks a person.
    """
    from accordance.service import plan_intake

    raw = read_bounded(file)
    with opened(where) as project:
        answer = plan_intake.review_plan(project, raw, plan)
    if as_json:
        print_json(answer.to_json())
    else:
        print_answer(answer)
    return exit_of(answer)


@command.command()
@click.argument("plan", required=False)
@by_option
@ledger_options
@json_option
def resume(where: Where, plan: str | None, by: str | None, as_json: bool) -> int:
    """Resume a plan that was held because a fuse blew; its fuses start from zero."""
    from accordance.service import plan_intake
    from accordance.service.project import asking_as

    with opened(where) as project:
        view = plan_intake.resume_plan(project, plan, by=asking_as(by))
    if as_json:
        print_json(view.to_json())
    else:
        print_line(f"{view.plan_id} is {view.state}")
    return Exit.OK

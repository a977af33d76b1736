"""`accordance plan`: import, approve, amend, watch, draw, rebase and export plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit
from accordance.cli.lazy_group import LazyGroup
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.list_options import list_options, tell_of_more
from accordance.cli.reading import read_bounded
from accordance.cli.receipts import exit_of, print_answer
from accordance.cli.showing import print_line, tell_document
from accordance.cli.spent import spent_text
from accordance.domain.fuses import fuses_from
from accordance.rendering.fuse_text import fuses_text

if TYPE_CHECKING:
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


@click.group(name="plan", cls=LazyGroup)
def command() -> None:
    """Import, approve, amend, pause, watch, draw, rebase and export plans."""


for module, names in {
    "plan_import": {"import": "import_"},
    "plan_convert": {"convert": "convert"},
    "plan_lint": {"lint": "lint"},
    "planning": {"create": "create"},
    "prompts": {"prompt": "plan_prompt"},
    "plan_graph": {"graph": "graph"},
    "plan_approval": {"approve": "approve", "return": "return_"},
    "plan_amend": {"amend": "amend"},
    "plan_life": {
        "pause": "pause",
        "resume": "resume",
        "cancel": "cancel",
        "archive": "archive",
        "delete": "delete",
    },
    "plan_rebase": {"rebase": "rebase"},
}.items():
    command.defer(f"accordance.cli.{module}", names)


@command.command(name="list")
@list_options
@ledger_options
@json_option
def list_plans(where: Where, query: ListQuery, as_json: bool) -> int:
    """List the plans, the newest first. With --json: the `items`, and the `next` cursor.

    Archived plans are left out; --filter state:archived shows them.
    """
    from accordance.service import plans

    with opened(where) as project:
        page = plans.list_plans(project, query)
    if as_json:
        print_json(page.to_json())
        return Exit.OK
    for plan in page.items:
        states = f"{plan.state:<9}  {plan.root:<14}"
        size = f"{plan.nodes:>6} nodes"
        print_line(f"{plan.plan_id}  {states}  {size}  {plan.title}")
    if not page.items:
        print_line("no plans")
    tell_of_more(page)
    return Exit.OK


@command.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="markdown: what the plan has come to, as `run --summary` writes it.",
)
@ledger_options
@json_option
def show(where: Where, plan: str | None, form: str, as_json: bool) -> int:
    """Show a plan: its state, fuses, rubric, last review and cost."""
    from accordance.service import plans

    with opened(where) as project:
        if form == "markdown" and not as_json:
            from accordance.service import plan_summaries

            tell_document(plan_summaries.markdown_of(project, plan))
            return Exit.OK
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

    print_line(f"  {fuses_text(fuses_from(plan.fuses)).replace(':', '         ', 1)}")
    rubric = [f"{name} {points}" for name, points in plan.rubric.items()]
    print_line(f"  rubric         {', '.join(rubric)}")
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
@click.argument("plan", shell_complete=complete_plan, required=False)
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
@click.argument("plan", shell_complete=complete_plan, required=False)
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
            project,
            plan,
            to,
            candidates=include_candidates,
            dry_run=dry_run,
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
@click.option(
    "--plan", shell_complete=complete_plan, help="The plan.  [default: the newest]"
)
@ledger_options
@json_option
def review(where: Where, file: str, plan: str | None, as_json: bool) -> int:
    """Hand in a review of a plan (xiaojing_review_v1, review_target PLAN, task_id = the plan's id).

    For agents; a person approves with `plan approve`, or returns with `plan return`.
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

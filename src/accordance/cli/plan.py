"""`accordance plan`: import, review, watch, draw and export plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.list_options import list_options, tell_of_more
from accordance.cli.planning import create
from accordance.cli.prompts import plan_prompt
from accordance.cli.reading import is_file, read_bounded
from accordance.cli.receipts import exit_of, print_answer
from accordance.cli.showing import shown, tell
from accordance.cli.spent import spent_text
from accordance.cli.writing import write_output
from accordance.contracts.violation import Accepted, Rejected
from accordance.rendering.drawing import FORMATS

if TYPE_CHECKING:
    from accordance.contracts.catalogue.plan import Plan
    from accordance.service.drawings import Drawing
    from accordance.service.listing import ListQuery
    from accordance.service.views.plans import PlanDetailView

_SHOWN = 10  # repairs and warnings; the rest is counted
_MANY = 2000  # nodes, from which an import shows how far it is


@click.group(name="plan")
def command() -> None:
    """Import, review, watch, draw and export plans."""


@command.command(name="import")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option(
    "--no-review", is_flag=True, help="Take the plan as it is: it may begin at once."
)
@click.option(
    "--fuse",
    "fuses",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Set a fuse of this plan; may be given more than once.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only check it, and say what would begin."
)
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
    from accordance.project.home import find_home
    from accordance.service import plan_intake
    from accordance.service.project import asking_as

    home = find_home(where.home)
    raw = read_bounded(file, plan_intake.LARGEST_PLAN)
    result = plan_intake.check_plan(raw, home)
    if isinstance(result, Rejected):
        return _report(file, raw, result)
    rules = plan_intake.rules_for(home, _fuses(fuses))
    plan = result.value
    if dry_run:
        preview = plan_intake.preview_import(result)
        if as_json:
            say(preview.to_json())
        else:
            tell(
                f"{plan.plan.title}: {preview.nodes} nodes, {len(preview.ready)} could begin"
            )
            _show_reading(result)
        return Exit.OK
    waived_by = asking_as(by) if no_review else None
    with (
        opened(where, create=True) as project,
        _bar(len(plan.nodes), as_json) as advance,
    ):
        view = plan_intake.import_plan(
            project, raw, result, rules, waived_by=waived_by, watch=advance
        )
    if as_json:
        say(view.to_json())
    else:
        again = "" if view.is_new else "  (as before)"
        tell(f"{view.plan_id}  {view.title}: {view.nodes} nodes, {view.state}{again}")
        _show_reading(result)
    return Exit.OK


def _report(file: str, raw: bytes, result: Rejected) -> int:
    """Say what is wrong with a plan, as `accordance check` would."""
    from accordance.cli.checked_file import Checked
    from accordance.cli.report import as_text

    as_text([Checked(file, raw, result)])
    return Exit.REJECTED


def _show_reading(result: Accepted[Plan]) -> None:
    """The first few repairs and warnings."""
    for name, notes in (("repaired", result.repairs), ("warning", result.warnings)):
        for note in notes[:_SHOWN]:
            tell(f"  {name}: {note}")
        if len(notes) > _SHOWN:
            tell(f"  {name}: and {len(notes) - _SHOWN} more (--json shows all)")


def _fuses(options: tuple[str, ...]) -> dict[str, object]:
    """The fuses that were set by options."""
    chosen: dict[str, object] = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            chosen[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            raise Failure(
                f"--fuse {option}: write it as NAME=NUMBER", Exit.USAGE
            ) from None
    return chosen


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


command.add_command(create)
command.add_command(plan_prompt)


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
        say(page.to_json())
        return Exit.OK
    for plan in page.items:
        states = f"{plan.state:<9}  {plan.root:<14}"
        tell(f"{plan.plan_id}  {states}  {plan.nodes:>6} nodes  {plan.title}")
    tell_of_more(page)
    return Exit.OK


@command.command()
@click.argument("plan", required=False)
@ledger_options
@json_option
def show(where: Where, plan: str | None, as_json: bool) -> int:
    """Show a plan: how it stands, its fuses, its rubric, the last review of it, what it has cost."""
    from accordance.service import plans

    with opened(where) as project:
        view = plans.show_plan(project, plan)
    if as_json:
        say(view.to_json())
    else:
        _print_plan(view)
    return Exit.OK


def _print_plan(plan: PlanDetailView) -> None:
    tell(f"{plan.title}  {plan.state}")
    for name in (
        "plan_id",
        "root_task_id",
        "revision",
        "nodes",
        "imported_at",
        "events",
        "head",
    ):
        tell(f"  {name:<14} {getattr(plan, name)}")
    tell(
        "  states         "
        + ", ".join(f"{count} {state}" for state, count in plan.states.items())
    )
    if plan.spent.calls:
        tell(f"  spent          {spent_text(plan.spent)}")
    for verdict in plan.verdicts:
        tell(f"  review         {verdict.outcome} {' '.join(verdict.messages)}")
    for question in plan.open_questions:
        tell(f"  asks           {question}")


@command.command()
@click.argument("plan", required=False)
@click.option("--once", is_flag=True, help="Print it once, also on a terminal.")
@ledger_options
@json_option
def status(where: Where, plan: str | None, once: bool, as_json: bool) -> int:
    """Show where a plan stands; on a terminal, as it moves.

    Exit code 0: done, or on its way; 1: something is in the dead letters; 3: a person is asked.
    """
    from accordance.cli.plan_status import exit_of_status, print_status, watch
    from accordance.service.plans import plan_status
    from accordance.service.project import plan_id_of

    moves = sys.stdout.isatty() and not (once or as_json)
    with opened(where) as project:
        plan_id = plan_id_of(project, plan)
        view = (
            watch(project.ledger, plan_id)
            if moves
            else plan_status(project.ledger, plan_id)
        )
    if as_json:
        say(view.to_json())
    elif not moves:
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
    help="Write it to a file.",
)
@ledger_options
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print nodes, edges of each kind, and states, as JSON.",
)
def graph(
    where: Where, source: str | None, picture: str, output: Path | None, as_json: bool
) -> int:
    """Draw a plan: one in the ledger as it stands, or one in a file (- is standard input) with what could begin.

    A plan that does not honour its contract is reported as `accordance check` would, with exit code 1.
    """
    from accordance.service.drawings import draw_new_plan, draw_plan
    from accordance.service.plan_intake import LARGEST_PLAN, check_plan

    if source is not None and (
        source == "-" or is_file(source) or source.endswith(".json")
    ):
        raw = read_bounded(source, LARGEST_PLAN)
        result = check_plan(raw)
        if isinstance(result, Rejected):
            return _report(source, raw, result)
        drawing = draw_new_plan(result.value)
    else:
        with opened(where) as project:
            drawing = draw_plan(project, source)
    if as_json:
        say(drawing.view().to_json())
        return Exit.OK
    text = _picture(drawing, picture)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text.encode())
    return Exit.OK


def _picture(drawing: Drawing, name: str) -> str:
    labels = {node.task_id: shown(node.title) for node in drawing.plan.nodes}
    return FORMATS[name](drawing.graph, labels, drawing.states)


@command.command()
@click.argument("plan", required=False)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder.  [default: deliverables/PLAN]",
)
@click.option(
    "--include-candidates", is_flag=True, help="Products that nobody has approved, too."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
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
    """Write the approved products of a plan into a folder, with a manifest of their hashes, and the plan itself."""
    from accordance.service import plans

    with opened(where) as project:
        view = plans.export(
            project, plan, to, candidates=include_candidates, dry_run=dry_run
        )
    if as_json:
        say(view.to_json())
    else:
        tell(
            f"{view.folder}: {len(view.files)} files"
            + (" would be written" if dry_run else "")
        )
        for file in view.files:
            tell(f"  {file.path}")
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
    from accordance.service import plan_intake

    raw = read_bounded(file)
    with opened(where) as project:
        answer = plan_intake.review_plan(project, raw, plan)
    if as_json:
        say(answer.to_json())
    else:
        print_answer(answer)
    return exit_of(answer)


@command.command()
@click.argument("plan", required=False)
@by_option
@ledger_options
@json_option
def resume(where: Where, plan: str | None, by: str | None, as_json: bool) -> int:
    """Let a plan whose fuse has blown go on; its fuses begin anew."""
    from accordance.service import plan_intake
    from accordance.service.project import asking_as

    with opened(where) as project:
        view = plan_intake.resume_plan(project, plan, by=asking_as(by))
    if as_json:
        say(view.to_json())
    else:
        tell(f"{view.plan_id} is {view.state}")
    return Exit.OK

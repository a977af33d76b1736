"""`accordance plan import`: bring a plan into the ledger."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from accordance.cli.reading import is_file, read_bounded
from accordance.cli.showing import print_line
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.short_plans.file_names import FORMATS, format_of

if TYPE_CHECKING:
    from accordance.contracts.catalogue.plan import Plan
    from accordance.domain.short_plans.file_names import PlanFormat
    from accordance.project.home import Home
    from accordance.service.plan_files import PlanFile
    from accordance.service.views.plans import ImportedPlanView, PlanPreviewView

_SHOWN_NOTES = 10  # repairs and warnings; the rest is counted
_MANY_NODES = 2000  # an import of more nodes shows its progress
_OFF = "off"  # a fuse without a limit

from_option = click.option(
    "--from",
    "stated",
    type=click.Choice(FORMATS),
    help="The format of FILE.  [default: by its name, else json]",
)


@click.command(name="import")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@from_option
@click.option(
    "--no-review",
    is_flag=True,
    help="Import the plan without a review: it may begin at once.",
)
@click.option(
    "--fuse",
    "fuses",
    multiple=True,
    metavar="NAME=NUMBER|off",
    help="Set a fuse of this plan; may be given more than once.",
)
@click.option(
    "--dry-run", is_flag=True, help="Check the plan and show what could begin."
)
@click.option(
    "--show",
    is_flag=True,
    help="Print the plan with every default, as JSON; import nothing.",
)
@by_option
@ledger_options
@json_option
def import_(
    where: Where,
    file: str,
    stated: PlanFormat | None,
    no_review: bool,
    fuses: tuple[str, ...],
    dry_run: bool,
    show: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Bring a plan into the ledger, and write it, normalised, to tasks/plan.json.

    FILE is a short plan (.yaml, .toml or .md; docs/plan-files.md) or plan_json_v1.
    Importing the same plan again changes nothing. No task begins before the plan is
    approved (`plan approve`, or `plan review` by an agent), unless --no-review is given.
    A plan that breaks its contract is reported as by `accordance check`, with exit code 1.
    """
    from accordance.project.home import find_home
    from accordance.service import plan_intake
    from accordance.service.plan_files import plan_document
    from accordance.service.project import asking_as

    home = find_home(where.home)
    plan_file = read_plan(file, stated, home)
    result = plan_file.result
    if isinstance(result, Rejected):
        return report_rejected_plan(plan_file)
    if show:
        print_json(plan_document(plan_file))
        return Exit.OK

    rules = plan_intake.rules_for(home, fuses_from_options(fuses))
    if dry_run:
        _print_preview(plan_intake.preview_import(result), result, as_json)
        return Exit.OK

    node_count = len(result.value.nodes)
    waived_by = asking_as(by) if no_review else None
    with (
        opened(where, create=True) as project,
        _progress_bar(node_count, as_json) as advance,
    ):
        view = plan_intake.import_plan(
            project,
            plan_file.raw,
            result,
            rules,
            waived_by=waived_by,
            watch=advance,
        )
    _print_imported(view, result, as_json)
    return Exit.OK


def is_plan_file(source: str) -> bool:
    """Whether a source is meant as a file, even if the file is not there."""
    return source == "-" or is_file(source) or format_of(source) is not None


def read_plan(
    file: str,
    stated: PlanFormat | None = None,
    home: Home | None = None,
) -> PlanFile:
    """Read a plan file of any format; with a project, its tasks are checked for it."""
    from accordance.service.plan_files import read_plan_file
    from accordance.service.plan_intake import LARGEST_PLAN

    raw = read_bounded(file, LARGEST_PLAN)
    return read_plan_file(file, raw, home, stated)


def report_rejected_plan(plan_file: PlanFile) -> int:
    """Print the violations of a plan.

    Of JSON as `accordance check` does; of a short form each with the line it is from.
    """
    from accordance.cli.checked_file import Checked
    from accordance.cli.report import as_text

    result = plan_file.result
    if plan_file.compiled is None or not isinstance(result, Rejected):
        as_text([Checked(plan_file.name, plan_file.raw, result)])
        return Exit.REJECTED
    for violation in result.violations:
        line = plan_file.line_of(violation.path)
        print_line(f"{plan_file.name}:{line}: {violation}")
    return Exit.REJECTED


def fuses_from_options(options: tuple[str, ...]) -> dict[str, object]:
    """The fuses that were set by options. Raises Failure."""
    fuses: dict[str, object] = {}
    for option in options:
        name, _, value = option.partition("=")
        if value == _OFF:
            fuses[name] = None
            continue
        try:
            fuses[name] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            text = f"--fuse {option}: write it as NAME=NUMBER or NAME=off"
            raise Failure(text, Exit.USAGE) from None
    return fuses


def _print_preview(
    preview: PlanPreviewView,
    result: Accepted[Plan],
    as_json: bool,
) -> None:
    if as_json:
        print_json(preview.to_json())
        return

    title = result.value.plan.title
    ready_count = len(preview.ready)
    print_line(f"{title}: {preview.nodes} nodes, {ready_count} could begin")
    _print_notes(result)


def _print_imported(
    view: ImportedPlanView,
    result: Accepted[Plan],
    as_json: bool,
) -> None:
    if as_json:
        print_json(view.to_json())
        return

    again = "" if view.is_new else "  (as before)"
    print_line(f"{view.plan_id}  {view.title}: {view.nodes} nodes, {view.state}{again}")
    _print_notes(result)
    if view.state is PlanState.IN_REVIEW:
        print_line("  next: `accordance plan approve`, or `plan return --reason TEXT`")


def _print_notes(result: Accepted[Plan]) -> None:
    """Print the first repairs and warnings of a plan, and count the others."""
    _print_first("repaired", result.repairs)
    _print_first("warning", result.warnings)


def _print_first(label: str, notes: Sequence[object]) -> None:
    for note in notes[:_SHOWN_NOTES]:
        print_line(f"  {label}: {note}")

    further = len(notes) - _SHOWN_NOTES
    if further > 0:
        print_line(f"  {label}: and {further} more (--json shows all)")


@contextmanager
def _progress_bar(total: int, as_json: bool) -> Iterator[Callable[[int], None]]:
    """Show the progress of a long import, on a terminal only."""
    is_shown = total >= _MANY_NODES and sys.stderr.isatty() and not as_json
    if not is_shown:
        yield lambda _count: None
        return

    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("importing", total=total)
        yield lambda count: progress.advance(bar, count)

"""`accordance export`: a run in a single file."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, ledger_options, opened
from accordance.cli.showing import print_line
from accordance.cli.writing import write_output

FORMATS = ("html", "zip")


@click.command(name="export")
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="A page that opens from disk, or an archive of the products.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file.  [default: PLAN.html or PLAN.zip]",
)
@ledger_options
def command(where: Where, plan: str | None, kind: str, output: Path | None) -> int:
    """Write a run into a single file: its picture, tasks, verdicts, changes, events.

    The page needs no server and no other file. `plan export` writes the products into a
    folder.
    """
    from accordance.service.downloads import plan_archive
    from accordance.service.pages.plan_export import plan_page

    with opened(where) as project:
        make = plan_page if kind == "html" else plan_archive
        file = make(project, plan)
    target = output or Path(file.name)
    write_output(target, file.content)
    print_line(f"{target}: {len(file.content):,} bytes")
    return Exit.OK

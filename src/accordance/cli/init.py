"""`accordance init`: begin a project."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import json_option, print_json
from accordance.cli.reading import must_be_a_name
from accordance.cli.showing import print_line
from accordance.domain.templates import TASK, TEMPLATES

if TYPE_CHECKING:
    from accordance.service.views.beginning import BeginningView

_ABOUT = "; ".join(f"{name}: {template.about}" for name, template in TEMPLATES.items())


@click.command(name="init")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="minimal",
    show_default=True,
    help=f"What to begin with. {_ABOUT}.",
)
@click.option(
    "--dry-run", is_flag=True, help="List what would be written; write nothing."
)
@json_option
def command(folder: Path, template: str, dry_run: bool, as_json: bool) -> int:
    """Begin a project in FOLDER: settings, a plan, and small programs that carry it out.

    Nothing is overwritten. The commands that are printed at the end work as they are.
    """
    from accordance.service.beginning import begin_project

    must_be_a_name(str(folder))
    view = begin_project(folder, template, dry_run=dry_run)
    commands = next_commands(template)
    if as_json:
        print_json({**view.to_json(), "next": commands})
    else:
        _print(view, commands)
    return Exit.OK


def next_commands(template: str) -> list[str]:
    """What to do next in the folder. Every command works as it is printed."""
    plan = TEMPLATES[template].plan
    if plan is not None:
        return [
            f"accordance plan lint {plan}",
            f"accordance plan import {plan} --no-review",
            "accordance run",
        ]
    return [
        f"accordance check {TASK} --contract task",
        f"accordance pins explain src/greet.py --task {TASK}",
        "accordance contract show submit",
    ]


def _print(view: BeginningView, commands: list[str]) -> None:
    verb = "written" if view.written else "would be written"
    print_line(f"{view.folder}: {len(view.files)} files {verb}")
    for file in view.files:
        print_line(f"  {file}")
    if not view.written:
        return

    print_line("")
    print_line("Next:")
    if view.folder != ".":
        print_line(f"  cd {shlex.quote(view.folder)}")
    for line in commands:
        print_line(f"  {line}")

"""`accordance plan convert`: a plan in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import json_option, print_json
from accordance.cli.plan_import import from_option, read_plan, report_rejected_plan
from accordance.cli.showing import print_line
from accordance.cli.writing import write_output
from accordance.contracts.violation import Rejected
from accordance.domain.short_plans.file_names import FORMATS, format_of

if TYPE_CHECKING:
    from accordance.domain.short_plans.file_names import PlanFormat


@click.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@from_option
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="The format to convert to.  [default: by the name of --output, else json]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the plan to this file.",
)
@json_option
def convert(
    file: str,
    stated: PlanFormat | None,
    to: PlanFormat | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Convert a plan between plan_json_v1 and the short forms: YAML, TOML, Markdown.

    As JSON, every default is written out. A plan that says something the other format
    cannot say is refused; nothing is dropped. With --json: the `format` and the `text`.
    """
    from accordance.service.plan_files import converted

    plan_file = read_plan(file, stated)
    if isinstance(plan_file.result, Rejected):
        return report_rejected_plan(plan_file)

    if output is not None and _is_same_file(output, file):
        text = f"{output} is the plan itself; name another file with -o"
        raise Failure(text, Exit.USAGE)

    wanted = to or (format_of(output.name) if output else None) or "json"
    text = converted(plan_file, wanted, stated)
    if output is not None:
        write_output(output, text.encode())
    if as_json:
        place = str(output) if output else None
        print_json(
            {
                "format": wanted,
                "output": place,
                "text": text,
            }
        )
    elif output is None:
        click.echo(text, nl=False)
    else:
        print_line(f"{output}: written as {wanted}")
    return Exit.OK


def _is_same_file(output: Path, file: str) -> bool:
    """Whether a plan would be written over itself, without its comments."""
    try:
        return output.samefile(file)
    except OSError:  # a file is missing, or its name is no file name
        return False

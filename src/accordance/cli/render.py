"""`accordance render`: show a judgement again, from its bundle of evidence."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.judgement_output import (
    Output,
    format_option,
    outputs_of,
    write_judgement,
)
from accordance.cli.reading import must_be_a_name


@click.command(name="render")
@click.argument("bundle", metavar="BUNDLE")
@format_option
@click.option(
    "--task",
    "task_file",
    default="task.json",
    show_default=True,
    metavar="PATH",
    help="The task's path in the repository: findings about no file are shown there.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the whole judgement: --format json."
)
def command(
    bundle: str,
    formats: tuple[Output, ...],
    task_file: str,
    as_json: bool,
) -> int:
    """Show a judgement again, in any format, from the BUNDLE that it has left.

    The verdict is recomputed from the facts in the bundle, and the bundle is verified
    first: a changed bundle is refused. No repository is needed, and nothing is judged
    anew: exit code 0 says that it was shown, not that the work is done.
    """
    from accordance.service.bundles import fetched
    from accordance.service.judgements import judgement_in
    from accordance.workspace.errors import BundleBroken

    must_be_a_name(bundle)
    outputs = outputs_of(formats, as_json=as_json)
    folder = Path(bundle)
    if not fetched(folder):
        text = f"{bundle}: has no manifest.json, so it is not a bundle of evidence"
        raise Failure(text, Exit.NOT_FOUND)
    try:
        judgement = judgement_in(folder)
    except BundleBroken as error:
        raise Failure(str(error), Exit.REJECTED) from None
    write_judgement(judgement, outputs, task_file)
    return Exit.OK

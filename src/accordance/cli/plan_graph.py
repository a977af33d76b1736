"""`accordance plan graph`: draw a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, ledger_options, opened, print_json
from accordance.cli.plan_import import is_plan_file, read_plan, report_rejected_plan
from accordance.cli.showing import shown
from accordance.cli.writing import write_output
from accordance.contracts.violation import Rejected
from accordance.rendering.drawing import FORMATS
from accordance.rendering.picture import draw_svg
from accordance.rendering.plans.themes import THEMES, ThemeName

if TYPE_CHECKING:
    from accordance.service.drawings import Drawing


@click.command(name="graph")
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
@click.option(
    "--fold",
    "folded",
    multiple=True,
    metavar="GOAL",
    help="SVG: leave out the parts of this goal, by its id or title. May be repeated.",
)
@click.option(
    "--depth",
    type=click.IntRange(0),
    metavar="N",
    help="SVG: show this many levels below the top.  [default: as many as are readable]",
)
@click.option(
    "--theme",
    type=click.Choice(THEMES),
    default="auto",
    show_default=True,
    help="SVG: the colours; auto follows the reader's setting.",
)
@ledger_options
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the nodes, the edges of each kind and the states as JSON.",
)
def graph(
    where: Where,
    source: str | None,
    picture: str,
    output: Path | None,
    folded: tuple[str, ...],
    depth: int | None,
    theme: ThemeName,
    as_json: bool,
) -> int:
    """Draw a plan of the ledger with its states, or a plan in a file (- is standard input).

    Goals of an SVG picture can be folded; a large plan is folded automatically.

    A plan that breaks its contract is reported as by `accordance check`, with exit
    code 1.
    """
    from accordance.service.drawings import draw_new_plan, draw_plan

    if picture != "svg" and (folded or depth is not None):
        raise click.UsageError("--fold and --depth need --format svg")
    if source is not None and is_plan_file(source):
        plan_file = read_plan(source)
        if isinstance(plan_file.result, Rejected):
            return report_rejected_plan(plan_file)
        drawing = draw_new_plan(plan_file.result.value)
    else:
        with opened(where) as project:
            drawing = draw_plan(project, source)

    if as_json:
        print_json(drawing.view().to_json())
        return Exit.OK

    text = _picture(drawing, picture, folded, depth, theme)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text.encode())
    return Exit.OK


def _picture(
    drawing: Drawing,
    name: str,
    folded: tuple[str, ...],
    depth: int | None,
    theme: ThemeName,
) -> str:
    nodes = drawing.plan.nodes
    labels = {node.task_id: shown(node.title) for node in nodes}
    if name != "svg":
        return FORMATS[name](drawing.graph, labels, drawing.states)
    return draw_svg(
        drawing.graph,
        labels,
        drawing.states,
        fold=[drawing.goal(goal) for goal in folded],
        depth=depth,
        theme=theme,
    )

"""`accordance plan graph`."""

from __future__ import annotations

import json

import click

from accordance.api import check
from accordance.cli.checked import Checked
from accordance.cli.exits import Exit
from accordance.cli.reading import read_bounded
from accordance.cli.report import as_text
from accordance.contracts.violation import Rejected
from accordance.domain.drawing import FORMATS
from accordance.domain.plan import plan_graph
from accordance.domain.progress import begin


@click.group(name="plan")
def command() -> None:
    """Look at plans."""


@command.command()
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "picture",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="What to draw.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print nodes, edges of each kind, and what is ready, as JSON."
)
def graph(file: str, picture: str, as_json: bool) -> int:
    """Draw the plan in FILE (- is standard input), with what could begin at once.

    A plan that does not honour its contract is reported as `accordance check` would, with exit code 1.
    """
    raw = read_bounded(file)
    result = check(raw, "PLAN_GEN")
    if isinstance(result, Rejected):
        as_text([Checked(file, raw, result)])
        return Exit.REJECTED
    drawn = plan_graph(result.value)
    labels = {node.task_id: node.title for node in result.value.nodes}
    states = {task: at.state for task, at in begin(drawn).at.items()}
    if as_json:
        rows = [
            {
                "task_id": task,
                "title": labels[task],
                "node_type": drawn[task].kind,
                "state": states[task],
                "combine": drawn[task].combine if drawn[task].parts else None,
                "parts": drawn[task].parts,
                "prerequisites": drawn[task].prerequisites,
                "checks": drawn[task].checks,
                "alternatives": drawn[task].rivals,
            }
            for task in drawn
        ]
        click.echo(json.dumps({"root": drawn.root, "nodes": rows}, indent=2, ensure_ascii=False))
    else:
        click.echo(FORMATS[picture](drawn, labels, states), nl=False)
    return Exit.OK

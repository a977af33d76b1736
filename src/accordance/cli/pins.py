"""`accordance pins`."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import json_option, say
from accordance.cli.reading import read_bounded
from accordance.cli.showing import tell


@click.group(name="pins")
def command() -> None:
    """Ask which paths a task may touch."""


@command.command(name="explain")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--task",
    required=True,
    metavar="FILE|-",
    type=click.Path(allow_dash=True),
    help="The task with the pins: scc.task.v1.",
)
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project folder whose accordance.toml says what roles may do.  [default: the nearest one upwards]",
)
@json_option
def explain(paths: tuple[str, ...], task: str, home: Path | None, as_json: bool) -> int:
    """Say which pattern decides about each PATH, by the task's pins and by its role. Exit code 1 if one is not allowed."""
    from accordance.domain.case import scope_of
    from accordance.judging.task_input import read_task
    from accordance.project.home import find_home
    from accordance.project.policy import gateway_of

    found_home = find_home(home)
    gateway = gateway_of(found_home.settings(), found_home.root)
    asked = read_task(read_bounded(task), gateway).task
    role = gateway.roles[asked.role]
    scope = scope_of(asked, role)
    found = [scope.explain(path) for path in paths]
    if as_json:
        policy = role.policy()
        say(
            {
                "paths": [
                    one._asdict() | {"allowed": one.rule == "allowed"} for one in found
                ],
                "pins": {
                    "allowed": scope.pins.allowed,
                    "forbidden": scope.pins.forbidden,
                },
                "role": {"name": role.name, "write": policy["write"]},
            }
        )
    else:
        for one in found:
            tell(f"{'✓' if one.rule == 'allowed' else '✗'} {one}")
        tell(
            f"  pins: {_patterns(scope.pins.allowed)}; never {_patterns(scope.pins.forbidden)}"
        )
        tell(
            f"  role: {role.name} may write {_patterns(role.write.allowed)}; never {_patterns(role.write.forbidden)}"
        )
    return Exit.OK if all(one.rule == "allowed" for one in found) else Exit.REJECTED


def _patterns(patterns: tuple[str, ...]) -> str:
    return ", ".join(patterns) or "nothing"

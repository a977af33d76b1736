"""`accordance pins`: which paths a task may touch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import json_option, print_json
from accordance.cli.reading import read_bounded
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.contracts.pins import Explanation
    from accordance.domain.roles import AgentRole
    from accordance.domain.scope import PathScope


@click.group(name="pins")
def command() -> None:
    """Show which paths a task may touch."""


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
    help="The project folder whose accordance.toml defines the roles.  [default: the nearest folder upwards with accordance.toml]",
)
@json_option
def explain(paths: tuple[str, ...], task: str, home: Path | None, as_json: bool) -> int:
    """Show which pattern of the task's pins or its role decides about each PATH.

    Exit code 1: a path is not allowed.
    """
    from accordance.domain.case import scope_of
    from accordance.judging.task_input import read_task
    from accordance.project.home import find_home
    from accordance.project.policy import gateway_of

    project_home = find_home(home)
    gateway = gateway_of(project_home.settings(), project_home.root)
    request = read_task(read_bounded(task), gateway)
    role = gateway.roles[request.task.role]
    scope = scope_of(request.task, role)

    decisions = [scope.explain(path) for path in paths]
    if as_json:
        print_json(_as_json(decisions, scope, role))
    else:
        _print_decisions(decisions, scope, role)

    is_allowed = all(_is_allowed(decision) for decision in decisions)
    return Exit.OK if is_allowed else Exit.REJECTED


def _is_allowed(decision: Explanation) -> bool:
    return decision.rule == "allowed"


def _as_json(
    decisions: list[Explanation],
    scope: PathScope,
    role: AgentRole,
) -> dict[str, object]:
    rows = [
        {**decision._asdict(), "allowed": _is_allowed(decision)}
        for decision in decisions
    ]
    return {
        "paths": rows,
        "pins": {"allowed": scope.pins.allowed, "forbidden": scope.pins.forbidden},
        "role": {"name": role.name, "write": role.policy()["write"]},
    }


def _print_decisions(
    decisions: list[Explanation],
    scope: PathScope,
    role: AgentRole,
) -> None:
    for decision in decisions:
        mark = "✓" if _is_allowed(decision) else "✗"
        print_line(f"{mark} {decision}")

    allowed = _patterns(scope.pins.allowed)
    forbidden = _patterns(scope.pins.forbidden)
    print_line(f"  pins: {allowed}; never {forbidden}")

    allowed = _patterns(role.write.allowed)
    forbidden = _patterns(role.write.forbidden)
    print_line(f"  role: {role.name} may write {allowed}; never {forbidden}")


def _patterns(patterns: tuple[str, ...]) -> str:
    return ", ".join(patterns) or "nothing"

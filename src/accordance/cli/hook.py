"""`accordance hook`: coding agents and git ask for a judgement before work is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from accordance.cli.exits import Exit, Failure, print_error
from accordance.cli.ledger_commands import json_option, print_json
from accordance.cli.reading import must_be_a_name, read_bounded
from accordance.cli.showing import print_line, tell_document
from accordance.cli.stopping import tidied_up
from accordance.cli.ways_out import line_of
from accordance.domain.hooks.kinds import HookKind
from accordance.domain.hooks.stopping import MOST_ROUNDS, ROUNDS

if TYPE_CHECKING:
    from accordance.service.views.hooks import HookView

_LONGEST_EVENT: Final = 16 << 20
_MOST_NAMED: Final = 5

_ABOUT: Final = {
    HookKind.CLAUDE: "Let Claude Code stop only when its work is judged DONE.",
    HookKind.CODEX: "Let codex stop only when its work is judged DONE.",
    HookKind.OPENCODE: "Let opencode stop only when its work is judged DONE.",
    HookKind.GIT: "Let git commit only what is judged DONE.",
    HookKind.PRE_COMMIT: "Let the pre-commit framework judge what is committed.",
}
_HELP: Final = {
    HookKind.CLAUDE: "Adds a Stop hook to .claude/settings.json.",
    HookKind.CODEX: "Adds a Stop hook to .codex/hooks.json.",
    HookKind.OPENCODE: "Writes the plugin .opencode/plugins/accordance.js.",
    HookKind.GIT: (
        "Writes the pre-commit hook, where core.hooksPath says. A hook that is there "
        "already is kept and runs first."
    ),
    HookKind.PRE_COMMIT: "Adds a local hook to .pre-commit-config.yaml.",
}
_BEGINNING: Final = (
    "The agent begins with the tree as it is now: call it before the agent starts, and "
    "again for the next task. The task is copied to a place outside the repository."
)


@click.group(name="hook")
def command() -> None:
    """Have work judged before a coding agent may stop, or git may commit.

    An agent that claims to be done too early gets the reasons and goes on, a limited
    number of times. A hook can be bypassed: judge again where the agent cannot
    interfere, with `accordance judge` or `accordance ci`.
    """


def _installer(kind: HookKind) -> click.Command:
    """Return the command that puts a hook in, shows it or takes it out."""

    def put_in_or_take_out(
        task: str | None,
        repo: str,
        rounds: int | None,
        removes: bool,
        shows: bool,
        as_json: bool,
    ) -> int:
        from accordance.service.hooks.installing import HookRequest, put_in, take_out

        must_be_a_name(repo)
        if removes and (task is not None or rounds is not None):
            raise click.UsageError("--remove takes neither --task nor --rounds")
        if removes:
            view = take_out(kind, Path(repo), dry_run=shows)
        else:
            source = read_bounded(task) if task == "-" else Path(task) if task else None
            request = HookRequest(kind, Path(repo), source, rounds)
            view = put_in(request, dry_run=shows)
        if as_json:
            print_json(view.to_json())
        else:
            _print(view)
        return Exit.OK

    put_in_or_take_out.__doc__ = f"{_ABOUT[kind]}\n\n{_HELP[kind]} {_BEGINNING}"
    for option in reversed(_options(kind)):
        put_in_or_take_out = option(put_in_or_take_out)
    return click.command(name=kind.value)(put_in_or_take_out)


def _options(
    kind: HookKind,
) -> Sequence[Callable[[Callable[..., int]], Callable[..., int]]]:
    return (
        click.option(
            "--task",
            metavar="FILE|-",
            type=click.Path(allow_dash=True),
            help="The task to judge by: scc.task.v1.  [default: that of the last hook]",
        ),
        click.option(
            "--repo",
            default=".",
            show_default=True,
            metavar="DIR",
            type=click.Path(),
            help="The repository.",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(1, MOST_ROUNDS),
            hidden=not kind.is_agent,
            help=f"How often the agent is sent back before it may stop anyway.  [default: {ROUNDS}]",
        ),
        click.option(
            "--remove",
            "removes",
            is_flag=True,
            help="Remove the hook, and nothing else.",
        ),
        click.option(
            "--show",
            "shows",
            is_flag=True,
            help="Show what would be written; write nothing.",
        ),
        json_option,
    )


for _kind in HookKind:
    command.add_command(_installer(_kind))


@command.command(name="run")
@click.argument("kind", type=click.Choice([kind.value for kind in HookKind]))
@click.option("--repo", metavar="DIR", type=click.Path(), help="The repository.  [default: the current folder]")  # fmt: skip
def run_hook(kind: str, repo: str | None) -> int:
    """Judge now, and answer in the format of KIND. Hooks call this.

    For an agent, reads the agent's JSON on standard input, prints why the agent must go
    on (or nothing), and exits with 0. For git and pre-commit, exits with 1 if the work
    is not DONE.
    """
    root = Path(repo or ".")
    must_be_a_name(str(root))
    with tidied_up():
        if HookKind(kind).is_agent:
            return _answer_agent(root)
        return _answer_git(root)


def _answer_agent(root: Path) -> int:
    """Answer on standard output.

    Never with exit code 2: for an agent, that means that it must go on.
    """
    from accordance.service.hooks.stopping import (
        StopEventUnreadable,
        answer_agent,
        as_hook_output,
        read_stop_event,
    )

    try:
        event = read_stop_event(read_bounded("-", _LONGEST_EVENT))
    except StopEventUnreadable as error:
        raise Failure(str(error), Exit.REJECTED) from None
    answer = answer_agent(root, event)
    click.echo(json.dumps(as_hook_output(answer)))
    return Exit.OK


def _answer_git(root: Path) -> int:
    from accordance.domain.hooks.stopping import WorkStanding
    from accordance.service.hooks.state import HookNotSet
    from accordance.service.hooks.stopping import answer_commit

    try:
        judged = answer_commit(root)
    except HookNotSet as error:
        print_error(f"nothing was judged: {line_of(error)}")
        return Exit.OK
    if judged.standing is WorkStanding.DONE:
        print_error(judged.headline)
        return Exit.OK
    print_error(f"the commit is refused. {judged.headline}")
    click.echo(judged.reasons, err=True)
    return Exit.REJECTED


def _print(view: HookView) -> None:
    for file in view.files:
        if view.carried_out or not file.difference:
            print_line(f"{file.path}  {file.change}")
        else:
            tell_document(file.difference)
    if not view.files:
        print_line(f"{view.repository} has no such hook")
    if not view.carried_out:
        return

    if view.task_id is not None:
        print_line(f"task {view.task_id}")
    if view.begins_at is not None:
        print_line(f"begins at {view.begins_at}{_own_changes(view)}")
    if view.rounds is not None:
        times = "once" if view.rounds == 1 else f"up to {view.rounds} times"
        print_line(f"the agent is sent back {times}")
    for note in view.notes:
        print_line(f"note: {note}")


def _own_changes(view: HookView) -> str:
    """Name what the tree holds beyond its commit: it will not count as the agent's."""
    changed = view.already_changed
    if not changed:
        return ""
    names = ", ".join(changed[:_MOST_NAMED])
    more = ""
    left = len(changed) - _MOST_NAMED
    if left > 0:
        more = f" and {left} more"
    return f", with what is not committed yet: {names}{more}"

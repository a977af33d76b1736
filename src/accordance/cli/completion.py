"""`accordance completion`: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from accordance.cli.exits import Exit, Failure


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    For bash: eval "$(accordance completion bash)"
    """
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise Failure(f"no completion for {shell}", Exit.NOT_FOUND)

    app = ctx.find_root().command
    completion = completion_class(app, {}, "accordance", "_ACCORDANCE_COMPLETE")
    click.echo(completion.source())

"""`accordance baseline`: record the tree an agent starts from."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.exits import Exit, Failure, print_error
from accordance.cli.reading import must_be_a_name
from accordance.cli.writing import write_output


@click.command(name="baseline")
@click.option("--repo", default=".", show_default=True, metavar="DIR", type=click.Path(), help="The repository, before the agent begins.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="A file outside the repository.  [default: standard output]")  # fmt: skip
def command(repo: str, output: str | None) -> int:
    """Record what an agent starts from: the commit, its tree, and git's settings.

    Run it before the agent starts, and keep the file where the agent cannot write.
    `accordance judge --baseline FILE` then counts changes from that commit, wherever
    HEAD has moved, and reports changes to git's settings (hooks, filters, ...).
    """
    from accordance.domain.findings import listed
    from accordance.judging.judge import top_of
    from accordance.workspace.baseline import (
        already_changed,
        must_be_out_of_reach,
        record_baseline,
    )
    from accordance.workspace.git import git_directory

    must_be_a_name(repo)
    root = top_of(Path(repo))
    if git_directory(root) is None:
        way_out = "keep a copy of it and judge it against that copy (--base COPY)"
        text = f"{root} is not a git repository; {way_out}"
        raise Failure(text, Exit.USAGE)
    if output is not None:
        must_be_out_of_reach(Path(output), root)

    baseline = record_baseline(root)
    changed = already_changed(root, baseline)
    text = baseline.model_dump_json(indent=1)
    if output is None:
        click.echo(text)
    else:
        write_output(output, f"{text}\n".encode())

    if changed:
        print_error(
            "the tree already differs from its commit, and this will count as the "
            f"agent's change; commit or stash it first: {listed(changed)}"
        )
    return Exit.OK

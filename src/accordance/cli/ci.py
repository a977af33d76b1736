"""`accordance ci`: judge the changes of agents where they are proposed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.judge import exit_code
from accordance.cli.judgement_output import (
    Output,
    append_step_summary,
    format_option,
    outputs_of,
    write_judgement,
)
from accordance.cli.ledger_commands import isolation_option
from accordance.cli.reading import must_be_a_name
from accordance.cli.stopping import tidied_up
from accordance.cli.writing import write_output

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\[\]-]*")
_FOLDER = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


@click.group(name="ci")
def command() -> None:
    """Judge the pull and merge requests of coding agents."""


def _writing(default_file: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of writing a CI file."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        options = (
            click.option(
                "--agent",
                "agents",
                multiple=True,
                metavar="LOGIN",
                help="The login of an agent: its changes are judged whatever its branch is called. May be repeated.",
            ),
            click.option(
                "--tasks",
                default="tasks",
                show_default=True,
                metavar="DIR",
                help="The folder of the base with TASK_ID.json for each task.",
            ),
            click.option(
                "-o",
                "--output",
                default=default_file,
                show_default=True,
                metavar="FILE|-",
                help="The file to write; - is standard output.",
            ),
            click.option(
                "--force",
                is_flag=True,
                help="Replace a file that is already there.",
            ),
        )
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@command.command(name="github")
@_writing(".github/workflows/accordance.yml")
def github(agents: tuple[str, ...], tasks: str, output: str, force: bool) -> int:
    """Write a GitHub workflow that judges every pull request of an agent.

    Versions are pinned: accordance to this version, actions to a commit. Make the job
    `judge` a required check afterwards.
    """
    return _write("github", agents, tasks, output, force=force)


@command.command(name="gitlab")
@_writing(".gitlab/accordance.yml")
def gitlab(agents: tuple[str, ...], tasks: str, output: str, force: bool) -> int:
    """Write a GitLab job that judges every merge request of an agent.

    Include the file from .gitlab-ci.yml (`include: {local: FILE}`).
    """
    return _write("gitlab", agents, tasks, output, force=force)


def _write(
    forge: str,
    agents: tuple[str, ...],
    tasks: str,
    output: str,
    *,
    force: bool,
) -> int:
    from accordance.rendering.ci_files import ci_file
    from accordance.shipped import shipped

    for login in agents:
        if not _LOGIN.fullmatch(login):
            raise click.UsageError(f"--agent {login!r} is not a login")
    if not _FOLDER.fullmatch(tasks) or ".." in tasks:
        raise click.UsageError(f"--tasks {tasks!r} is not a folder of the repository")

    text = ci_file(shipped(f"ci/{forge}.yml"), agents=agents, tasks=tasks)
    if output == "-":
        click.echo(text, nl=False)
        return Exit.OK

    must_be_a_name(output)
    file = Path(output)
    if file.exists() and not force:
        raise Failure(f"{output} exists; --force replaces it", Exit.CONFLICT)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_output(output, text.encode())
    click.echo(
        f"{output}  judges changes from branches agent/TASK_ID by {tasks}/TASK_ID.json"
    )
    return Exit.OK


@command.command(name="judge")
@click.option("--branch", required=True, metavar="NAME", help="The branch of the change: agent/TASK_ID.")  # fmt: skip
@click.option("--author", required=True, metavar="LOGIN", help="Who proposed the change.")  # fmt: skip
@click.option("--agents", default="", metavar="LOGINS", help="The logins of agents, separated by spaces.")  # fmt: skip
@click.option("--repo", default=".", show_default=True, metavar="DIR", type=click.Path(), help="The result of merging the change.")  # fmt: skip
@click.option("--base", required=True, metavar="COMMIT", help="The full id of the commit it is merged into.")  # fmt: skip
@click.option("--tasks", default="tasks", show_default=True, metavar="DIR", help="The folder of the base with TASK_ID.json for each task.")  # fmt: skip
@click.option("--attempt", default=1, show_default=True, type=click.IntRange(1), help="The number of the attempt, counted from 1.")  # fmt: skip
@isolation_option
@click.option("--artifacts", metavar="DIR", type=click.Path(), help="Where artifacts/TASK_ID/attempt-N/ is written.  [default: the repository]")  # fmt: skip
@click.option("--attest", metavar="KEY", type=click.Path(), help="Sign the evidence with this private key (PEM, Ed25519).")  # fmt: skip
@format_option
def judge_change(
    branch: str,
    author: str,
    agents: str,
    repo: str,
    base: str,
    tasks: str,
    attempt: int,
    isolation: str | None,
    artifacts: str | None,
    attest: str | None,
    formats: tuple[Output, ...],
) -> int:
    """Judge a proposed change by the task its branch names.

    The task and all rules are read from the base. A change that is not an agent's is
    not judged, and passes. Exit codes are those of `accordance judge`. In a GitHub job
    the judgement is also added to the summary of the job.
    """
    from accordance.domain.proposed_changes import ProposedChange, task_of
    from accordance.judging.judge import judge
    from accordance.judging.proposals import must_not_merge_evidence, task_at_base

    for name in (repo, base, artifacts):
        must_be_a_name(name or ".")

    outputs = outputs_of(formats)

    change = ProposedChange(branch, author)
    task_id = task_of(change, agents.split())
    if task_id is None:
        click.echo(f"{branch} is a person's change ({author}); nothing to judge")
        return Exit.OK

    repository = Path(repo)
    task = task_at_base(repository, base, tasks, task_id)
    must_not_merge_evidence(repository, base, task_id)
    with tidied_up():
        judgement = judge(
            task,
            repo=repo,
            base=base,
            attempt=attempt,
            isolation=isolation,
            artifacts=artifacts,
            attest=attest,
        )
    task_file = f"{tasks}/{task_id}.json"
    append_step_summary(judgement, task_file)
    write_judgement(judgement, outputs, task_file)
    return exit_code(judgement)

"""`accordance check`: check messages against their contracts."""

from __future__ import annotations

from collections.abc import Iterator

import click

from accordance.api import check, registry
from accordance.cli.checked_file import Checked
from accordance.cli.completing import complete_contract
from accordance.cli.exits import Exit, Failure, print_error
from accordance.cli.reading import read_bounded
from accordance.cli.report import FORMATS
from accordance.contracts.context import NO_CONTEXT, Context


@click.command(name="check")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...|-",
    type=click.Path(allow_dash=True),
)
@click.option(
    "--contract",
    "-c",
    metavar="NAME",
    shell_complete=complete_contract,
    help="The contract of the messages.  [default: what each names as schema_version]",
)
@click.option(
    "--scope",
    "-s",
    metavar="SCOPE",
    shell_complete=complete_contract,
    help="The contract by its scope: TASK_ACTION, PLAN_REVIEW, TASK_CHECK, PLAN_GEN.",
)
@click.option(
    "--context",
    "context_file",
    metavar="FILE",
    type=click.Path(),
    help="JSON with task_id, plan_id, threshold, profile, pins, allowed_tests or a whole task.",
)
@click.option(
    "--tolerant",
    is_flag=True,
    help="Recover the object from fences, prose and small slips; every repair is listed.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="The same as --output-format json."
)
@click.option("--output-format", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="For people, programs, GitHub annotations, or code scanning.")  # fmt: skip
def command(
    files: tuple[str, ...],
    contract: str | None,
    scope: str | None,
    context_file: str | None,
    tolerant: bool,
    as_json: bool,
    output_format: str,
) -> int:
    """Check messages in FILEs (- is standard input) against their contract.

    Exit code 0: all are accepted; 1: any is rejected; 5: a file or contract
    does not exist; 2: any other error.
    """
    if contract and scope:
        raise click.UsageError(
            "--contract and --scope name the same thing; give either of them, not both"
        )
    name = contract or scope
    if name:
        registry.get(name)  # an unknown name is an error before anything is read

    context = NO_CONTEXT
    if context_file:
        from accordance.contracts.context_file import read_context

        context = read_context(read_bounded(context_file))

    unreadable: list[Failure] = []
    checked = _check_all(files, name, context, tolerant, unreadable)
    report = FORMATS["json" if as_json else output_format]
    accepted_all = report(checked)

    if unreadable:
        return max(failure.code for failure in unreadable)
    return Exit.OK if accepted_all else Exit.REJECTED


def _check_all(
    files: tuple[str, ...],
    name: str | None,
    context: Context,
    tolerant: bool,
    unreadable: list[Failure],
) -> Iterator[Checked]:
    """Check each file. If a file cannot be read, report it and check the next."""
    reader = None
    if tolerant:
        from accordance.contracts.tolerant import read_tolerant

        reader = read_tolerant
    for file in files:
        try:
            raw = read_bounded(file)
        except Failure as failure:
            print_error(str(failure))
            unreadable.append(failure)
            continue
        result = check(raw, name, context, reader=reader)
        yield Checked(file, raw, result)

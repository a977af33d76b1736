"""`--format FORMAT[=FILE]`: the formats of a judgement, and where each is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from accordance.cli.step_summary import append_to_step_summary
from accordance.cli.writing import write_output
from accordance.errors import CannotWrite

if TYPE_CHECKING:
    from accordance.judging.judgement import Judgement

FORMATS: Final = (
    "text",
    "markdown",
    "github",
    "gitlab",
    "junit",
    "sarif",
    "json",
    "003",
    "004",
)
FOR_PEOPLE: Final = frozenset(("text", "markdown", "github"))
"""Formats that can follow each other on standard output; the others are documents."""

STDOUT: Final = "-"
_STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "dim": "dim",
        "good": "green",
        "bad": "red",
        "done": "bold green",
        "asking": "bold yellow",
        "refused": "bold red",
    }
)
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Output(NamedTuple):
    """A format, and the file it goes to."""

    format: str
    file: str = STDOUT


def _read_outputs(
    ctx: click.Context,
    param: click.Parameter,
    values: Sequence[str],
) -> tuple[Output, ...]:
    """Read `FORMAT` or `FORMAT=FILE`, as often as it was given."""
    outputs = []
    for value in values:
        name, equals, file = value.partition("=")
        if name not in FORMATS:
            text = f"{name!r} is not among {', '.join(FORMATS)}."
            raise click.BadParameter(text, ctx, param)
        if equals and not file:
            text = f"{value!r} names no file; - is standard output."
            raise click.BadParameter(text, ctx, param)
        outputs.append(Output(name, file or STDOUT))
    return tuple(outputs)


def format_option(command: _Command) -> _Command:
    """Give a command the option `--format`."""
    option = click.option(
        "--format",
        "formats",
        callback=_read_outputs,
        multiple=True,
        metavar="FORMAT[=FILE]",
        help=(
            f"{', '.join(FORMATS)}; 003 is scc.outcome.v1, 004 is scc.verdict.v1. "
            "May be repeated, with a file for each.  [default: text]"
        ),
    )
    return option(command)


def outputs_of(formats: Sequence[Output], *, as_json: bool = False) -> list[Output]:
    """Return what is to be written where.

    Raises click.UsageError where two formats would spoil each other, or a file could
    not be written: before anything is judged, since judging takes long.
    """
    outputs = [*formats, Output("json")] if as_json else [*formats]
    if not outputs:
        return [Output("text")]

    files = [output.file for output in outputs]
    for output in outputs:
        if output.file == STDOUT:
            _must_get_along(output, files)
        else:
            _must_be_writable(output, files)
    return outputs


def _must_get_along(output: Output, files: Sequence[str]) -> None:
    is_alone = files.count(STDOUT) == 1
    if output.format not in FOR_PEOPLE and not is_alone:
        raise click.UsageError(
            f"{output.format} must be alone on standard output; "
            f"give it a file: --format {output.format}=FILE"
        )


def _must_be_writable(output: Output, files: Sequence[str]) -> None:
    if files.count(output.file) > 1:
        raise click.UsageError(f"two formats would be written to {output.file}")
    place = Path(output.file)
    if place.is_dir():
        raise click.UsageError(f"{output.file} is a folder; name a file in it")
    for folder in place.parents:
        if folder.exists() and not folder.is_dir():
            text = f"{folder} is not a folder, so {output.file} cannot be written"
            raise click.UsageError(text)


def write_judgement(
    judgement: Judgement,
    outputs: Sequence[Output],
    task_file: str,
) -> None:
    """Write a judgement in every format that was asked for.

    Raises CannotWrite, after everything else is written. Nothing is lost: the judgement
    can be rendered again from its bundle.
    """
    from accordance.service.judgements import render

    failure: CannotWrite | None = None
    for output in outputs:
        if output.format == "text" and output.file == STDOUT:
            click.echo(_on_terminal(judgement))
            continue

        text = render(judgement, output.format, task_file).rstrip("\n")
        if output.file == STDOUT:
            click.echo(text)
            continue
        try:
            write_output(output.file, f"{text}\n".encode())
        except CannotWrite as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _on_terminal(judgement: Judgement) -> str:
    """The lines for people, coloured where standard output is a terminal."""
    from rich.console import Console
    from rich.text import Text

    from accordance.rendering.judgements.text import text_lines
    from accordance.service.judgements import judged_attempt

    console = Console(highlight=False, soft_wrap=True)
    with console.capture() as output:
        for line in text_lines(judged_attempt(judgement)):
            pieces = [(piece.text, _STYLES.get(piece.tone, "")) for piece in line]
            console.print(Text.assemble(*pieces))
    return output.get().rstrip("\n")


def append_step_summary(judgement: Judgement, task_file: str) -> None:
    """Add the judgement to the summary of a GitHub job, if this is a job."""
    from accordance.service.judgements import render

    append_to_step_summary(render(judgement, "markdown", task_file))

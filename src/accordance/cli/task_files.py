"""`accordance task diff | log | open`: what an attempt has left behind."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line, shown
from accordance.cli.streams import reader_is_gone

if TYPE_CHECKING:
    from accordance.service.project import Project
    from accordance.service.views.stories import AttemptPatchView

_FOLLOW_SECONDS: Final = 0.5
_READ_AT_ONCE: Final = 1 << 16
_COLOURS: Final = {
    "+": "green",
    "-": "red",
    "@": "cyan",
}
_HEADS: Final = ("diff ", "index ", "--- ", "+++ ", "new file ", "deleted file ")

_attempt_option = click.option(
    "--attempt",
    type=click.IntRange(1),
    help="The attempt.  [default: the last]",
)


# -- the change


@click.command()
@click.argument("task")
@_attempt_option
@click.option(
    "--since-start",
    is_flag=True,
    help="With the changes of the plan that it builds on.",
)
@ledger_options
@json_option
def diff(
    task: str,
    attempt: int | None,
    since_start: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Show what an attempt changed, from its evidence.

    Paths that the task may not touch are marked with ✗.
    """
    from accordance.service.attempt_files import attempt_patch

    with opened(where) as project:
        view = attempt_patch(project, task, attempt, since_start=since_start)
    if as_json:
        print_json(view.to_json())
        return Exit.OK
    _print_patch(view)
    return Exit.OK


def _print_patch(view: AttemptPatchView) -> None:
    for path in view.paths:
        line = f"✓ {path.path}"
        if not path.is_allowed:
            line = f"✗ {path.path}  out of scope: {path.why}"
        print_line(line)
    if not view.patch.strip():
        print_line(f"attempt {view.attempt} changed nothing")
        return
    print_line("")
    for line in view.patch.removesuffix("\n").split("\n"):
        click.echo(_coloured(line))
    if view.is_cut:
        print_line(f"the change is longer: see {view.evidence}/patch.diff")


def _coloured(line: str) -> str:
    """A line of a patch; click takes the colours off where there is no terminal."""
    text = shown(line.expandtabs())
    if line.startswith(_HEADS):
        return click.style(text, bold=True)
    colour = _COLOURS.get(line[:1])
    return click.style(text, fg=colour) if colour else text


# -- logs


@click.command()
@click.argument("task")
@_attempt_option
@click.option(
    "--test",
    metavar="NAME",
    help="What this test printed: a part of its name, or of its command.",
)
@click.option("-n", "--lines", type=click.IntRange(1), help="Only the last lines.")
@click.option(
    "-f", "--follow", is_flag=True, help="Follow the log while the attempt runs."
)
@ledger_options
@json_option
def log(
    task: str,
    attempt: int | None,
    test: str | None,
    lines: int | None,
    follow: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Show what the executor of an attempt, or a test, printed."""
    from accordance.service.attempt_logs import attempt_log

    if follow and (test or as_json):
        raise click.UsageError(
            "--follow shows the executor's log: leave out --test and --json"
        )
    with opened(where) as project:
        if follow:
            for text in _followed(project, task, attempt):
                _print_text(text)
            return Exit.OK
        view = attempt_log(project, task, attempt, test=test)

    kept = view.text.splitlines()
    if lines:
        kept = kept[-lines:]
    if as_json:
        print_json({**view.to_json(), "text": "\n".join(kept)})
        return Exit.OK
    if view.is_cut and not lines:
        print_line(f"(only the end of it; all of it is in {view.file})")
    for line in kept:
        print_line(line.expandtabs())
    return Exit.OK


def _print_text(text: str) -> None:
    for line in text.splitlines():
        print_line(line.expandtabs())


def _followed(project: Project, task: str, attempt: int | None) -> Iterator[str]:
    """The log of an attempt as it grows, until it is over."""
    from accordance.service.attempt_logs import is_running, log_files

    places: dict[Path, int] = {}
    while True:
        goes_on = is_running(project, task, attempt)
        for file in log_files(project, task, attempt):
            while (grown := _grown(file, places.get(file, 0))).text:
                places[file] = grown.place
                yield grown.text
        if not goes_on or reader_is_gone():
            return
        time.sleep(_FOLLOW_SECONDS)


class _Grown(NamedTuple):
    text: str
    place: int


def _grown(file: Path, place: int) -> _Grown:
    """What a log has gained behind a place, in whole lines, and the place behind it."""
    with file.open("rb") as log:
        log.seek(place)
        raw = log.read(_READ_AT_ONCE)
    end = raw.rfind(b"\n") + 1 or len(raw)
    return _Grown(raw[:end].decode("utf-8", "replace"), place + end)


# -- places


@click.command(name="open")
@click.argument("task")
@_attempt_option
@click.option("--print", "only_print", is_flag=True, help="Only print where it is.")
@ledger_options
@json_option
def open_(
    task: str,
    attempt: int | None,
    only_print: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Open the evidence of an attempt, or its product.

    With $VISUAL or $EDITOR, else with xdg-open; without any of them, or where there is
    no terminal, its path is printed.
    """
    from accordance.service.attempt_files import attempt_place

    with opened(where) as project:
        view = attempt_place(project, task, attempt)
    if as_json:
        print_json(view.to_json())
        return Exit.OK
    opener = None
    if sys.stdout.isatty() and not only_print:
        opener = _opener()
    if opener is None:
        print_line(view.path)
        return Exit.OK
    return _open_with(opener, view.path)


def _opener() -> list[str] | None:
    """The command that opens files for this user."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if named:
        return shlex.split(named)
    program = shutil.which("xdg-open")
    return [program] if program else None


def _open_with(opener: list[str], path: str) -> int:
    command = shlex.join(opener)
    try:
        done = subprocess.run([*opener, path], check=False)  # noqa: S603 - the user's own editor
    except OSError as error:
        reason = error.strerror or str(error)
        raise Failure(
            f"{command}: {reason}; open {path} yourself", Exit.USAGE
        ) from None
    if done.returncode:
        raise Failure(f"{command} ended with {done.returncode}", Exit.USAGE)
    return Exit.OK

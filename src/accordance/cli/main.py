"""`accordance`: the entry point. Commands are loaded when they are called, so that starting costs next to nothing."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from accordance._version import __version__
from accordance.cli.exits import EXITS, Exit, Failure, one_line
from accordance.cli.stopping import tidied_up
from accordance.cli.streams import open_streams
from accordance.cli.ways_out import line_of
from accordance.errors import AccordanceError, CannotWrite, Category, UnknownName

COMMANDS = {
    "check": ("accordance.cli.check", "Check messages against their contract."),
    "judge": (
        "accordance.cli.judge",
        "Find out what an agent really did, and judge it.",
    ),
    "baseline": (
        "accordance.cli.baseline",
        "Record what an agent begins with, for `judge`.",
    ),
    "pins": ("accordance.cli.pins", "Ask which paths a task may touch."),
    "contract": ("accordance.cli.contract", "List, show and compare contracts."),
    "research": (
        "accordance.cli.research",
        "Research agents, their answers, handoffs and runs.",
    ),
    "plan": ("accordance.cli.plan", "Import, review, watch, draw and export plans."),
    "run": ("accordance.cli.run", "Carry a plan out."),
    "worker": ("accordance.cli.worker", "Work on a PostgreSQL ledger, beside others."),
    "task": ("accordance.cli.task", "Take up tasks, hand in messages and reviews."),
    "inbox": ("accordance.cli.inbox", "See and answer what only a person can say."),
    "dlq": ("accordance.cli.dlq", "Look after the dead letters."),
    "events": ("accordance.cli.events", "Show what happened."),
    "verify": (
        "accordance.cli.verify",
        "Recompute what was decided: a ledger's or a bundle's.",
    ),
    "anchor": (
        "accordance.cli.anchor",
        "Write down where every chain ends, to be kept elsewhere.",
    ),
    "mcp": (
        "accordance.cli.mcp",
        "Serve tasks to an agent over MCP, on standard input and output.",
    ),
    "doctor": (
        "accordance.cli.doctor",
        "Say what this machine and this ledger can do.",
    ),
    "schema": (
        "accordance.cli.schema",
        "Print a contract's schema, for people or for a provider.",
    ),
    "explain": ("accordance.cli.explain", "Explain a violation, warning or fail code."),
    "completion": (
        "accordance.cli.completion",
        "Print the completion script for a shell.",
    ),
}


_EXTRAS = {
    "sqlalchemy": "runtime",
    "alembic": "runtime",
    "psycopg": "runtime",
    "dbos": "runtime",
    "anyio": "mcp",
    "mcp": "mcp",
    "mcp_types": "mcp",
}
_ALSO = {"mcp": "mcp,runtime"}  # who serves tasks over MCP needs a ledger, too


INTERRUPTED = 130  # what a shell expects after Ctrl-C

_SELDOM = (100_000, 20, 100)
"""Collect garbage less often: nearly all that a command makes are modules and models, which stay. It halves their cost."""


class LazyGroup(click.Group):
    """Knows the names and one-line helps of its commands; imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise click.UsageError(str(_UnknownCommand(args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


class _UnknownCommand(UnknownName):
    """No command of that name."""

    code = "unknown-command"
    category = Category.USAGE
    kind = "command"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="accordance")
def app() -> None:
    """Check what agents say against versioned contracts, and let what they do move plans.

    Exit codes: 0 ok, 1 rejected or findings, 2 usage, or something that cannot be read or written, 3 waiting for a
    person, 4 auth, 5 not found, 6 conflict, 70 internal error, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit. Whatever goes wrong is one line on standard error."""
    gc.set_threshold(*_SELDOM)
    open_streams()
    try:
        with tidied_up():
            code = run(argv)
    except KeyboardInterrupt:
        code = _fail("interrupted", INTERRUPTED)
    gc.freeze()  # the process ends: nothing is looked through once more
    sys.exit(code)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. What it printed has arrived."""
    code = _run(argv)
    try:
        sys.stdout.flush()
    except CannotWrite as error:
        return _fail(str(error), code or Exit.USAGE)
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        outcome: Any = app.main(
            args=None if argv is None else list(argv),
            prog_name="accordance",
            standalone_mode=False,
        )
    except click.UsageError as error:
        usage = f"{error.ctx.command_path} --help" if error.ctx else "accordance --help"
        return _fail(f"{error.format_message().rstrip('.')} (see {usage})", Exit.USAGE)
    except click.Abort as error:
        by_signal = isinstance(error.__cause__, KeyboardInterrupt)
        return _fail("interrupted", INTERRUPTED if by_signal else Exit.USAGE)
    except Failure as failure:
        return _fail(str(failure), failure.code)
    except AccordanceError as error:
        return _fail(line_of(error), EXITS[error.category])
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            return _internal(error)
        wanted = _ALSO.get(extra, extra)
        return _fail(
            f"this needs the extra {extra}: pip install 'accordance[{wanted}]'",
            Exit.USAGE,
        )
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said about it
        return _internal(error)
    return outcome if isinstance(outcome, int) else Exit.OK


def _internal(error: Exception) -> int:
    if os.environ.get("ACCORDANCE_DEBUG"):
        raise error
    text = f"internal error: {type(error).__name__}: {error} (ACCORDANCE_DEBUG=1 shows where; please report it)"
    return _fail(text, Exit.INTERNAL)


def _fail(message: str, code: int) -> int:
    one_line(message)
    return int(code)


if __name__ == "__main__":
    main()

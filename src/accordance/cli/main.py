"""The entry point of `accordance`.

A command is imported when it is called, so that starting costs next to nothing.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from accordance._version import __version__
from accordance.cli.exits import EXITS, Exit, Failure, print_error
from accordance.cli.stopping import tidied_up
from accordance.cli.streams import open_streams
from accordance.cli.ways_out import line_of
from accordance.errors import AccordanceError, CannotWrite, Category, UnknownName

COMMANDS = {
    "init": ("accordance.cli.init", "Begin a project: settings, a plan, small agents."),
    "check": ("accordance.cli.check", "Check messages against their contract."),
    "judge": (
        "accordance.cli.judge",
        "Find out what an agent really did, and judge it.",
    ),
    "baseline": (
        "accordance.cli.baseline",
        "Record the tree an agent starts from, for `judge`.",
    ),
    "ci": (
        "accordance.cli.ci",
        "Judge the pull and merge requests of coding agents.",
    ),
    "hook": (
        "accordance.cli.hook",
        "Let coding agents and git ask for a judgement.",
    ),
    "eval": ("accordance.cli.eval", "Measure an agent on tasks with hidden tests."),
    "pins": ("accordance.cli.pins", "Show which paths a task may touch."),
    "contract": ("accordance.cli.contract", "List, show and compare contracts."),
    "research": (
        "accordance.cli.research",
        "Research agents, their answers, handoffs and runs.",
    ),
    "plan": (
        "accordance.cli.plan",
        "Import, approve, amend, watch, draw and export plans.",
    ),
    "run": ("accordance.cli.run", "Carry a plan out."),
    "worker": (
        "accordance.cli.worker",
        "Carry out plans of a PostgreSQL ledger, beside other workers.",
    ),
    "task": (
        "accordance.cli.task",
        "Show, take up, hand in, review, retry and cancel tasks.",
    ),
    "inbox": ("accordance.cli.inbox", "List and answer the questions to people."),
    "dlq": ("accordance.cli.dlq", "List, requeue or drop what was given up."),
    "events": ("accordance.cli.events", "Show what happened."),
    "export": ("accordance.cli.export", "Write a run into a single HTML file."),
    "render": (
        "accordance.cli.render",
        "Show a judgement again, from its bundle of evidence.",
    ),
    "blobs": (
        "accordance.cli.blobs",
        "Show, verify and tidy up the store of large blobs.",
    ),
    "verify": (
        "accordance.cli.verify",
        "Recompute every decision of a ledger or a bundle.",
    ),
    "anchor": (
        "accordance.cli.anchor",
        "Record where every event chain ends, to be kept elsewhere.",
    ),
    "serve": (
        "accordance.cli.serve",
        "Serve the HTTP API of a project, or of several.",
    ),
    "key": ("accordance.cli.key", "Make, list and revoke keys for the server."),
    "mcp": (
        "accordance.cli.mcp",
        "Serve tasks to an agent over MCP, on standard input and output.",
    ),
    "doctor": (
        "accordance.cli.doctor",
        "Check this machine and this ledger.",
    ),
    "schema": (
        "accordance.cli.schema",
        "Print a contract's schema, for people or for a provider.",
    ),
    "explain": ("accordance.cli.explain", "Explain any word that accordance prints."),
    "completion": (
        "accordance.cli.completion",
        "Print the completion script for a shell.",
    ),
}


_EXTRAS = {
    "sqlalchemy": "runtime",
    "alembic": "runtime",
    "psycopg": "runtime",
    "yaml": "runtime",
    "anyio": "mcp",
    "authlib": "server",
    "fastapi": "server",
    "httpx": "client",
    "starlette": "server",
    "uvicorn": "server",
    "mcp": "mcp",
    "mcp_types": "mcp",
}
_EXTRAS_TO_INSTALL = {  # serving needs a ledger, too
    "mcp": "mcp,runtime",
    "client": "client,runtime",
    "server": "server,runtime",
}


INTERRUPTED = 130  # what a shell expects after Ctrl-C

GC_THRESHOLDS = (200_000, 20, 100)
"""Collect garbage less often.

Nearly everything a short command allocates are modules and models, which stay until the
end: about 120,000 objects, so that it ends without a single collection.
"""


class CommandGroup(click.Group):
    """A group that knows the names and summaries of its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self,
        ctx: click.Context,
        args: list[str],
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
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="accordance")
def app() -> None:
    """Check what agents say against versioned contracts, and carry out plans with them.

    Exit codes: 0 ok, 1 rejected or findings, 2 usage, or something cannot be read or
    written, 3 waiting for a person, 4 auth, 5 not found, 6 conflict, 70 internal error,
    130 stopped by Ctrl-C, 143 stopped by SIGTERM.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit. Every error is a line on standard error."""
    gc.set_threshold(*GC_THRESHOLDS)
    # otherwise pydantic reads the entry points of every installed package
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    open_streams()
    try:
        with tidied_up():
            code = run(argv)
    except KeyboardInterrupt:
        code = _fail("interrupted", INTERRUPTED)
    gc.freeze()  # the process ends: no last collection
    sys.exit(code)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line, flush its output, and return the exit code."""
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
        command = error.ctx.command_path if error.ctx else "accordance"
        message = error.format_message().rstrip(".")
        return _fail(f"{message} (see {command} --help)", Exit.USAGE)
    except click.Abort as error:
        by_signal = isinstance(error.__cause__, KeyboardInterrupt)
        return _fail("interrupted", INTERRUPTED if by_signal else Exit.USAGE)
    except Failure as failure:
        return _fail(str(failure), failure.code)
    except AccordanceError as error:
        return _fail(line_of(error), EXITS[error.category])
    except ModuleNotFoundError as error:
        return _missing_module(error)
    except Exception as error:  # noqa: BLE001 - the last place that can report it
        return _internal(error)
    return outcome if isinstance(outcome, int) else Exit.OK


def _missing_module(error: ModuleNotFoundError) -> int:
    """Name the extra that installs a missing module."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    if extra is None:
        return _internal(error)

    to_install = _EXTRAS_TO_INSTALL.get(extra, extra)
    text = f"this needs the extra {extra}: pip install 'accordance[{to_install}]'"
    return _fail(text, Exit.USAGE)


def _internal(error: Exception) -> int:
    if os.environ.get("ACCORDANCE_DEBUG"):
        raise error
    what = f"internal error: {type(error).__name__}: {error}"
    return _fail(
        f"{what} (ACCORDANCE_DEBUG=1 shows where; please report it)", Exit.INTERNAL
    )


def _fail(message: str, code: int) -> int:
    print_error(message)
    return int(code)


if __name__ == "__main__":
    main()

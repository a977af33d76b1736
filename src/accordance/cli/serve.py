"""`accordance serve`: the HTTP API and the dashboard of a project, or of several."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit
from accordance.cli.showing import print_line

if TYPE_CHECKING:
    from accordance.service.observing import LogFormat


@click.command(name="serve")
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port; 0 takes a free one.  [default: 8420]",
)
@click.option(
    "--home",
    "homes",
    multiple=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A project folder; may be given more than once.  [default: the nearest"
    " folder upwards with .accordance or accordance.toml]",
)
@click.option(
    "--ledger",
    "place",
    envvar="ACCORDANCE_LEDGER",
    metavar="PATH|URL",
    help="The ledger of the first project.  [default: .accordance/ledger.db]",
)
@click.option(
    "--run", "runs", is_flag=True, help="Also carry plans out, in this process."
)
@click.option(
    "--no-token",
    is_flag=True,
    help="Print no key; only keys made beforehand are valid.",
)
@click.option(
    "--insecure",
    is_flag=True,
    help="Listen for other machines without TLS. Keys travel unencrypted.",
)
@click.option("--open", "opens", is_flag=True, help="Open the dashboard in a browser.")
@click.option(
    "--log-format",
    type=click.Choice(["auto", "json", "text"]),
    help="How logs are written to standard error, instead of `format` of [logging].",
)
def command(
    host: str | None,
    port: int | None,
    homes: tuple[Path, ...],
    place: str | None,
    runs: bool,
    no_token: bool,
    insecure: bool,
    log_format: LogFormat | None,
    opens: bool,
) -> int:
    """Serve the HTTP API and the dashboard until Ctrl-C or SIGTERM.

    Listens on 127.0.0.1 and prints a key that is valid until the server stops; make
    permanent keys with `accordance key make`. Repeat --home to serve several projects: a
    key opens the project it was made in. Agents get work at /mcp (needs the extra mcp).
    """
    from accordance.cli.doors import open_doors
    from accordance.server.serving import ServeOptions, serve

    options = ServeOptions(
        homes=homes or (None,),
        ledger=place,
        host=host,
        port=port,
        insists=insecure,
        runs=runs,
        has_token=not no_token,
        log_format=log_format,
        opens=opens,
        mounts=open_doors(_tell),
    )
    serve(options, _tell)
    return Exit.OK


def _tell(line: str) -> None:
    print_line(line)
    sys.stdout.flush()  # a program that waits for the address reads from a pipe

"""`accordance anchor`: record where every event chain of the ledger ends."""

from __future__ import annotations

from pathlib import Path

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.writing import write_output


@click.command(name="anchor")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.  [default: standard output]",
)
@click.option(
    "--sign",
    "private",
    metavar="KEY",
    type=click.Path(path_type=Path),
    help="Sign the anchor with this private key (PEM, Ed25519).",
)
@ledger_options
@json_option
def command(
    where: Where,
    output: Path | None,
    private: Path | None,
    as_json: bool,
) -> int:
    """Record the number of events of every plan, the last hash, and a hash of it all.

    Keep the file where those who can write the ledger cannot. `accordance verify
    --anchor FILE` detects later whether a chain was rewritten, cut short or removed.
    """
    from accordance.service.verification import write_anchor

    with opened(where) as project:
        written = write_anchor(project, private)

    if output is None:
        click.echo(written.text, nl=False)
        return Exit.OK

    write_output(output, written.text.encode())
    anchor = written.view
    if as_json:
        print_json({"file": output, **anchor.to_json()})
    else:
        signed = "signed" if private else "not signed"
        root = anchor.root[:12]
        click.echo(f"{output}  {anchor.plans} plans, root {root}, {signed}")
    return Exit.OK

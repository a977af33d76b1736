"""`accordance research record | collapse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, ledger_options, opened
from accordance.cli.reading import read_bounded
from accordance.cli.research_answers import exit_code, print_checks
from accordance.cli.research_reading import (
    acknowledgement_of,
    acknowledgement_option,
    agents_of,
    agents_option,
    document_option,
    json_option,
    language_option,
    needed_request_option,
    optional_request,
    print_json,
    request_of,
    request_option,
)
from accordance.cli.showing import print_line, tell_document
from accordance.rendering.words import Language

if TYPE_CHECKING:
    from accordance.domain.research.runs import StoredRun

_SHORT_DIGEST: Final = 12


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="ANSWER...|-",
    type=click.Path(allow_dash=True),
)
@needed_request_option
@agents_option
@acknowledgement_option
@ledger_options
@json_option
def record(
    where: Where,
    files: tuple[str, ...],
    request_file: str,
    agents_file: str | None,
    acknowledgement_file: str | None,
    as_json: bool,
) -> int:
    """Check ANSWERs to a request and keep them in the ledger, all or none.

    Exit codes as for check: 1 if any is rejected, 3 if a person must acknowledge a
    selection first.
    """
    from accordance.service.research.ledger_runs import keep_answers, prepare_answers

    registry = agents_of(agents_file)
    request = request_of(request_file)
    consent = acknowledgement_of(acknowledgement_file)
    raws = [read_bounded(file) for file in files]

    prepared = prepare_answers(raws, request, registry, consent)
    if prepared.checked.refused:
        print_checks(files, raws, prepared.checked, as_json=as_json)
        return exit_code(prepared.checked)

    with opened(where, create=True) as project:
        keep_answers(project, prepared.stored)
    runs = [answer.run for answer in prepared.stored]
    _print_runs(files, runs, as_json=as_json)
    return Exit.OK


def _print_runs(
    files: Sequence[str],
    runs: Sequence[StoredRun],
    *,
    as_json: bool,
) -> None:
    rows = []
    for file, run in zip(files, runs, strict=True):
        rows.append({"file": file, **run.group._asdict(), "at": run.at})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        digest = row["request"][:_SHORT_DIGEST]
        print_line(f"✓ {row['file']}  {row['agent_id']}  request {digest}")


@click.command()
@click.option("--agent", metavar="ID", help="Only the answers of this agent.")
@request_option
@agents_option
@language_option
@document_option
@ledger_options
@json_option
def collapse(
    where: Where,
    agent: str | None,
    request_file: str | None,
    agents_file: str | None,
    language: Language | None,
    form: str,
    as_json: bool,
) -> int:
    """Find agents that always give the same answer to the same request.

    Counts the answers kept by `accordance research record`. Exit code 1 if an agent has
    collapsed.
    """
    from accordance.service.research.ledger_runs import collapse_in_ledger

    agent_id = agents_of(agents_file).get(agent).id if agent else None
    request = optional_request(request_file)
    with opened(where) as project:
        summary = collapse_in_ledger(project, agent_id, request, language)

    if as_json:
        print_json(summary.to_json())
    else:
        tell_document(summary.text(form))
    return Exit.REJECTED if summary.has_collapsed else Exit.OK


COMMANDS: Final = (record, collapse)

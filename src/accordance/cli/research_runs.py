"""`accordance research record | collapse`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import click

from accordance.cli.checked_file import Checked
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import Where, ledger_options, opened
from accordance.cli.reading import read_bounded
from accordance.cli.report import FORMATS
from accordance.cli.research_answers import acknowledgement_option, asked_of
from accordance.cli.research_reading import (
    accepted,
    agents_of,
    agents_option,
    document_option,
    json_option,
    language_for,
    language_option,
    needed_request_option,
    print_json,
    request_of,
    request_option,
)
from accordance.cli.showing import tell, tell_document
from accordance.contracts.catalogue.answer import ANSWER, AgentAnswer
from accordance.domain.research.answers import awaits_a_person, check_answer
from accordance.domain.research.runs import (
    StoredRun,
    collapse_by_group,
    request_digest,
    stored_answer,
)
from accordance.rendering.documents import WRITERS
from accordance.rendering.reports import collapse_blocks
from accordance.rendering.words import Language


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
    acknowledged: str | None,
    as_json: bool,
) -> int:
    """Check ANSWERs to a request and keep them in the ledger. If one is refused, none is kept.

    Exit codes as of check: 1 if one is rejected, 3 if a person must acknowledge a selection first.
    """
    from accordance.service.research import kept_answers

    request = request_of(request_file)
    asked = replace(asked_of(None, None, agents_file, acknowledged), request=request)
    checked = []
    for file in files:
        raw = read_bounded(file)
        checked.append(Checked(file, raw, check_answer(raw, asked)))
    refused = [one.result for one in checked if not one.result]
    if refused:
        FORMATS["json" if as_json else "text"](checked)
        return Exit.WAITING if all(map(awaits_a_person, refused)) else Exit.REJECTED
    answers: list[AgentAnswer] = [
        accepted(one.file, ANSWER, one.result) for one in checked
    ]
    stored = [
        stored_answer(one, asked.registry.get(one.agent_id), request) for one in answers
    ]
    with opened(where, create=True) as project:
        kept_answers(project).add(stored)
    runs = [(file, one.run) for file, one in zip(files, stored, strict=True)]
    if as_json:
        print_json(
            [{"file": file, **run.group._asdict(), "at": run.at} for file, run in runs]
        )
    else:
        for file, run in runs:
            tell(f"✓ {file}  {run.group.agent_id}  request {run.group.request[:12]}")
    return Exit.OK


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
    """Say whether agents, asked the same again and again, always say the same. Exit code 1 if one does.

    From the answers that `accordance research record` has kept.
    """
    from accordance.service.research import kept_answers

    agent_id = agents_of(agents_file).get(agent).id if agent else None
    request = request_of(request_file) if request_file else None
    digest = request_digest(request) if request else None
    selected: set[str] = set()
    with opened(where) as project:
        runs = kept_answers(project).runs(agent_id, digest)
        reports = collapse_by_group(_heard(runs, selected))
    if as_json:
        print_json(
            [
                {**group._asdict(), **report.to_json()}
                for group, report in sorted(reports.items())
            ]
        )
    else:
        spoken = language_for(language, request, " ".join(selected))
        tell_document(WRITERS[form](list(collapse_blocks(reports, spoken)), spoken))
    return (
        Exit.REJECTED
        if any(one.status == "collapsed" for one in reports.values())
        else Exit.OK
    )


def _heard(runs: Iterable[StoredRun], selected: set[str]) -> Iterator[StoredRun]:
    """The same runs, and on the way the names they have selected."""
    for run in runs:
        selected.add(run.selected)
        yield run


COMMANDS: Final = (record, collapse)

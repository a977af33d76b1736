"""`accordance research check | acknowledge | report | plot`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import click

from accordance.cli.checked_file import Checked
from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import read_bounded
from accordance.cli.report import FORMATS
from accordance.cli.research_reading import (
    Profile,
    accepted,
    agents_of,
    agents_option,
    answer_of,
    document_option,
    json_option,
    language_for,
    language_option,
    print_json,
    request_of,
    request_option,
)
from accordance.cli.showing import tell_document
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.checking import Checker
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.reading import read
from accordance.contracts.registry import Registry
from accordance.domain.research.answers import (
    AnswerExpectations,
    awaits_a_person,
    check_answer,
)
from accordance.domain.research.floors import ACKNOWLEDGEMENT, Acknowledgement
from accordance.domain.research.quality import part
from accordance.errors import Unparseable
from accordance.rendering.documents import WRITERS, Block
from accordance.rendering.plots import t_score_svg, t_score_text
from accordance.rendering.reports import (
    run_report,
    self_critique_blocks,
    t_score_table,
    validation_report,
)
from accordance.rendering.words import Language

_checker: Final = Checker(Registry())
acknowledgement_option: Final = click.option(
    "--acknowledgement",
    "acknowledged",
    metavar="FILE",
    type=click.Path(),
    help="A person's word on a selection below the T-score floor (see acknowledge).",
)


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="ANSWER...|-",
    type=click.Path(allow_dash=True),
)
@request_option
@click.option(
    "--agent",
    metavar="ID",
    help="Who was asked; an answer of another agent is refused.",
)
@agents_option
@acknowledgement_option
@click.option(
    "--profile",
    type=click.Choice(["strict", "seed"]),
    default="strict",
    show_default=True,
    help="seed: exactly the errors and warnings of the seed's own validator.",
)
@json_option
def check(
    files: tuple[str, ...],
    request_file: str | None,
    agent: str | None,
    agents_file: str | None,
    acknowledged: str | None,
    profile: Profile,
    as_json: bool,
) -> int:
    """Check answers: contract, agent, level, request, self-critique, provenance, T-score floor.

    Exit code 0 if all are accepted, 1 if one is rejected, 3 if the only thing missing is a person's acknowledgement of a
    selection below its floor.
    """
    asked = asked_of(request_file, agent, agents_file, acknowledged)
    checked = []
    for file in files:
        raw = read_bounded(file)
        checked.append(Checked(file, raw, check_answer(raw, asked, profile)))
    FORMATS["json" if as_json else "text"](checked)
    refused = [one.result for one in checked if not one.result]
    if not refused:
        return Exit.OK
    return Exit.WAITING if all(map(awaits_a_person, refused)) else Exit.REJECTED


def asked_of(
    request_file: str | None,
    agent: str | None,
    agents_file: str | None,
    acknowledged: str | None,
) -> AnswerExpectations:
    """What answers are held against."""
    registry = agents_of(agents_file)
    return AnswerExpectations(
        registry=registry,
        request=request_of(request_file) if request_file else None,
        agent=registry.get(agent).id if agent else None,
        acknowledgement=_acknowledgement(acknowledged) if acknowledged else None,
    )


def _acknowledgement(file: str) -> Acknowledgement:
    return accepted(
        file, ACKNOWLEDGEMENT, _checker.check(read_bounded(file), ACKNOWLEDGEMENT)
    )


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option("--by", required=True, metavar="NAME", help="Who says so.")
@click.option(
    "--reason", required=True, metavar="TEXT", help="Why it is wanted all the same."
)
@click.option("--at", "moment", metavar="TIME", help="When; else now.")
@json_option
def acknowledge(
    file: str,
    by: str,
    reason: str,
    moment: str | None,
    as_json: bool,  # noqa: ARG001
) -> None:
    """Say, as a person, that the selection of ANSWER is wanted although it is below the T-score floor.

    Prints the acknowledgement, which holds for this very selection: keep it and give it to check and record.
    """
    answer = answer_of(file)
    selection = answer.vs_metadata.final_selection
    task = {"task_id": answer.task_id} if answer.task_id is not None else {}
    said: JsonObject = {
        "schema_version": ACKNOWLEDGEMENT.version,
        "agent_id": answer.agent_id,
        **task,
        "option": selection.option,
        "t_score": selection.t_score,
        "acknowledged_by": by,
        "acknowledged_at": moment or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": reason,
    }
    accepted(
        "the acknowledgement",
        ACKNOWLEDGEMENT,
        _checker.check_value(said, ACKNOWLEDGEMENT),
    )
    print_json(said)


def _t_scores(answer: AgentAnswer, language: Language) -> Iterable[Block]:
    return [t_score_table(answer.vs_metadata.t_scores, language)]


def _critique(answer: AgentAnswer, language: Language) -> Iterable[Block]:
    if answer.self_critique is None:
        raise Failure("the answer has no self_critique to report", Exit.NOT_FOUND)
    return self_critique_blocks(answer.self_critique, language)


_KINDS: Final[Mapping[str, Callable[[AgentAnswer, Language], Iterable[Block]]]] = {
    "run": run_report,
    "t-scores": _t_scores,
    "self-critique": _critique,
}


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option(
    "--kind",
    type=click.Choice([*_KINDS, "validation"]),
    default="run",
    show_default=True,
    help="What to tell of it.",
)
@request_option
@agents_option
@language_option
@document_option
@json_option
def report(
    file: str,
    kind: str,
    request_file: str | None,
    agents_file: str | None,
    language: Language | None,
    form: str,
    as_json: bool,
) -> int:
    """Write a report on an answer. A validation report of a rejected answer ends with exit code 1."""
    request = request_of(request_file) if request_file else None
    code = Exit.OK
    if kind == "validation":
        raw = read_bounded(file)
        spoken = language_for(language, request, _summary_in(raw))
        result: Any = check_answer(
            raw, AnswerExpectations(registry=agents_of(agents_file), request=request)
        )
        code = Exit.OK if result else Exit.REJECTED
        blocks = validation_report(result, file, spoken)
    else:
        answer = answer_of(file)
        spoken = language_for(language, request, answer.content.summary)
        blocks = iter(_KINDS[kind](answer, spoken))
    text = WRITERS[form](list(blocks), spoken)
    if as_json:
        print_json(
            {
                "file": file,
                "kind": kind,
                "language": spoken,
                "format": form,
                "text": text,
            }
        )
    else:
        tell_document(text)
    return code


def _summary_in(raw: bytes) -> str:
    """The summary of an answer that may be anything."""
    try:
        summary = part(read(raw), "content").get("summary")
    except Unparseable:
        return ""
    return summary if isinstance(summary, str) else ""


_PLOTS: Final = {"text": t_score_text, "svg": t_score_svg}


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_PLOTS)),
    default="text",
    show_default=True,
    help="What to draw.",
)
@request_option
@language_option
@json_option
def plot(
    file: str,
    form: str,
    request_file: str | None,
    language: Language | None,
    as_json: bool,
) -> None:
    """Draw the T-scores of an answer."""
    answer = answer_of(file)
    request = request_of(request_file) if request_file else None
    text = _PLOTS[form](answer, language_for(language, request, answer.content.summary))
    if as_json:
        scores = [
            {"option": one.option, "score": one.score, "probability": one.probability}
            for one in answer.vs_metadata.t_scores
        ]
        selected = answer.vs_metadata.final_selection.option
        print_json(
            {"selected": selected, "t_scores": scores, "format": form, "text": text}
        )
    else:
        tell_document(text)


COMMANDS: Final = (check, acknowledge, report, plot)

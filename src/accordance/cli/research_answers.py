"""`accordance research check | acknowledge | report | plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from accordance.cli.checked_file import Checked
from accordance.cli.exits import Exit
from accordance.cli.reading import read_bounded
from accordance.cli.report import FORMATS
from accordance.cli.research_reading import (
    accepted,
    acknowledgement_of,
    acknowledgement_option,
    agents_of,
    agents_option,
    answer_of,
    document_option,
    json_option,
    language_option,
    optional_request,
    print_json,
    request_option,
)
from accordance.cli.showing import tell_document
from accordance.contracts.serialising import dump
from accordance.rendering.words import Language
from accordance.service.research.answers import (
    PLOTS,
    REPORTS,
    AnswerReport,
    CheckedAnswers,
    Profile,
    acknowledge_selection,
    check_answers,
    expected_answers,
    plot_t_scores,
    report_on_answer,
    report_on_check,
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
    help="The agent that was asked; answers of any other are refused.",
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
    acknowledgement_file: str | None,
    profile: Profile,
    as_json: bool,
) -> int:
    """Check answers: contract, agent, level, request, self-critique, provenance, floor.

    Exit code 0 if all are accepted, 1 if any is rejected, 3 if nothing is missing but a
    person's acknowledgement of a selection below its T-score floor.
    """
    expectations = expected_answers(
        agents_of(agents_file),
        optional_request(request_file),
        agent,
        acknowledgement_of(acknowledgement_file),
    )
    raws = [read_bounded(file) for file in files]
    checked = check_answers(raws, expectations, profile)

    print_checks(files, raws, checked, as_json=as_json)
    return exit_code(checked)


def print_checks(
    files: Sequence[str],
    raws: Sequence[bytes],
    checked: CheckedAnswers,
    *,
    as_json: bool,
) -> None:
    """Print the result of each file."""
    rows = zip(files, raws, checked.results, strict=True)
    form = "json" if as_json else "text"
    FORMATS[form]([Checked(file, raw, result) for file, raw, result in rows])


def exit_code(checked: CheckedAnswers) -> Exit:
    """Return the exit code for checked answers."""
    if not checked.refused:
        return Exit.OK
    return Exit.WAITING if checked.awaits_a_person else Exit.REJECTED


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option("--by", required=True, metavar="NAME", help="Who acknowledges it.")
@click.option(
    "--reason", required=True, metavar="TEXT", help="Why it is wanted nevertheless."
)
@click.option("--at", "moment", metavar="TIME", help="When.  [default: now]")
@json_option
def acknowledge(
    file: str,
    by: str,
    reason: str,
    moment: str | None,
    as_json: bool,  # noqa: ARG001 - it prints JSON in any case
) -> None:
    """State, as a person, that the selection of ANSWER is wanted below its floor.

    Prints the acknowledgement, which is valid for this very selection: keep it, and
    pass it to check and record.
    """
    result = acknowledge_selection(answer_of(file), by, reason, moment)
    statement = accepted("the acknowledgement", "acknowledgement", result)
    print_json(dump(statement))


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option(
    "--kind",
    type=click.Choice([*REPORTS, "validation"]),
    default="run",
    show_default=True,
    help="What to report on.",
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
    """Write a report on an answer.

    Exit code 1 after the validation report of a rejected answer.
    """
    written = _report(file, kind, request_file, agents_file, language, form)
    if as_json:
        print_json(
            {
                "file": file,
                "kind": kind,
                "language": written.language,
                "format": form,
                "text": written.text,
            }
        )
    else:
        tell_document(written.text)
    return Exit.OK if written.accepted else Exit.REJECTED


def _report(
    file: str,
    kind: str,
    request_file: str | None,
    agents_file: str | None,
    language: Language | None,
    form: str,
) -> AnswerReport:
    request = optional_request(request_file)
    if kind != "validation":
        return report_on_answer(answer_of(file), kind, form, request, language)

    raw = read_bounded(file)
    expectations = expected_answers(agents_of(agents_file), request)
    return report_on_check(raw, file, form, expectations, language)


@click.command()
@click.argument("file", metavar="ANSWER|-", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(PLOTS)),
    default="text",
    show_default=True,
    help="Format of the picture.",
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
    drawn = plot_t_scores(answer, form, optional_request(request_file), language)
    if as_json:
        print_json(drawn.to_json())
    else:
        tell_document(drawn.text)


COMMANDS: Final = (check, acknowledge, report, plot)

"""`accordance research golden | regress`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from accordance.cli.asking_programs import ask
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import Where, ledger_options, opened
from accordance.cli.reading import must_be_a_name, read_bounded
from accordance.cli.research_reading import (
    agents_of,
    agents_option,
    json_option,
    print_json,
    text_of,
)
from accordance.errors import InvalidGolden
from accordance.service.research.golden import (
    AnswerSource,
    GivenAnswer,
    GoldenCase,
    GoldenReport,
    GoldenSet,
    NoAnswer,
    ProgramQuestion,
    answers_of_program,
    as_junit,
    as_text,
    compare_reports,
    judge_golden,
    load_golden,
    read_report,
    regression_text,
)
from accordance.service.research.golden import as_json as report_json
from accordance.shipped import GOLDEN

if TYPE_CHECKING:
    from accordance.service.research.inputs import AgentRegistry


@click.command()
@click.option(
    "--set",
    "set_file",
    metavar="FILE",
    type=click.Path(),
    help="Your own golden set instead of accordance's.",
)
@click.option(
    "--answers",
    "folder",
    metavar="DIR",
    type=click.Path(),
    help="Judge answers in files, each named after its case: ID.json.",
)
@click.option(
    "--store",
    "from_ledger",
    is_flag=True,
    help="Judge answers in the ledger: the agent's latest to the request.",
)
@click.option(
    "--command",
    "program",
    metavar="COMMAND",
    help="Ask a program: prompt on its standard input, answer on its standard output.",
)
@click.option(
    "--timeout",
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="For each answer of the program; a request's time_budget may allow less.",
)
@click.option(
    "--case",
    "case_ids",
    multiple=True,
    metavar="ID",
    help="Only this case; repeat the option for more.",
)
@agents_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@ledger_options
@json_option
def golden(
    where: Where,
    set_file: str | None,
    folder: str | None,
    from_ledger: bool,
    program: str | None,
    timeout: float,
    case_ids: tuple[str, ...],
    agents_file: str | None,
    form: str,
    as_json: bool,
) -> int:
    """Check answers against a golden set: from files, the ledger or a program.

    Exit code 1 unless every case passes.
    """
    sources = (folder is not None, from_ledger, program is not None)
    if sum(sources) != 1:
        raise click.UsageError("give --answers DIR, --store or --command COMMAND")

    registry = agents_of(agents_file)
    cases = _cases(set_file, case_ids, registry)
    if folder is not None:
        report = judge_golden(cases, _from_folder(folder), registry)
    elif program is not None:
        source = _from_program(program, timeout, registry)
        report = judge_golden(cases, source, registry)
    else:
        report = _judge_kept(where, cases, registry)

    _print_report(report, "json" if as_json else form)
    return Exit.OK if report.passed else Exit.REJECTED


def _cases(
    file: str | None,
    case_ids: tuple[str, ...],
    registry: AgentRegistry,
) -> GoldenSet:
    text = None if file is None else text_of(file)
    try:
        return load_golden(text, case_ids, registry)
    except InvalidGolden as error:
        raise Failure(f"{file or GOLDEN}: {error}", Exit.REJECTED) from None


def _judge_kept(
    where: Where,
    cases: GoldenSet,
    registry: AgentRegistry,
) -> GoldenReport:
    from accordance.service.research.ledger_runs import judge_kept_answers

    with opened(where) as project:
        return judge_kept_answers(project, cases, registry)


def _from_folder(folder: str) -> AnswerSource:
    must_be_a_name(folder)
    if not Path(folder).is_dir():
        raise Failure(f"{folder}: no such folder", Exit.NOT_FOUND)

    def answer(case: GoldenCase) -> GivenAnswer:
        file = Path(folder) / f"{case.id}.json"
        if not file.exists():
            return NoAnswer(f"{file.name}: no such file")
        return read_bounded(str(file))

    return answer


def _from_program(
    command: str,
    timeout: float,
    registry: AgentRegistry,
) -> AnswerSource:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Failure(f"--command: {error}", Exit.USAGE) from None
    if not words:
        raise Failure("--command: names no program", Exit.USAGE)

    def answer(question: ProgramQuestion) -> GivenAnswer:
        return ask(words, question.prompt, question.variables, question.seconds)

    return answers_of_program(answer, timeout, registry)


def _print_report(report: GoldenReport, form: str) -> None:
    if form == "json":
        print_json(report_json(report))
    elif form == "junit":
        click.echo(as_junit(report), nl=False)
    else:
        click.echo(as_text(report), nl=False)


@click.command()
@click.argument("before", metavar="BEFORE.json", type=click.Path())
@click.argument("after", metavar="AFTER.json", type=click.Path(allow_dash=True))
@json_option
def regress(before: str, after: str, as_json: bool) -> int:
    """Compare two reports of a golden set (--format json).

    Exit code 1 if a case that passed no longer does.
    """
    changes = compare_reports(_kept_report(before), _kept_report(after))
    if as_json:
        print_json(changes.to_json())
    else:
        click.echo(regression_text(changes), nl=False)
    return Exit.REJECTED if changes.worse else Exit.OK


def _kept_report(file: str) -> GoldenReport:
    try:
        return read_report(read_bounded(file))
    except InvalidGolden as error:
        raise Failure(f"{file}: {error}", Exit.REJECTED) from None


COMMANDS: Final = (golden, regress)

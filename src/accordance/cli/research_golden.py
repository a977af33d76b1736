"""`accordance research golden | regress`."""

from __future__ import annotations

import json
import shlex
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

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
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.serialising import dump_json
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.golden import (
    Given,
    GoldenCase,
    NoAnswer,
    chosen,
    read_golden,
    run_golden,
)
from accordance.domain.research.prompts import build_prompt
from accordance.domain.research.regression import regression
from accordance.domain.research.runs import AnswerStore, request_digest
from accordance.errors import ContextTooLarge, InvalidGolden
from accordance.rendering.golden_reports import as_json as report_json
from accordance.rendering.golden_reports import (
    as_junit,
    as_text,
    read_report,
    regression_text,
)
from accordance.shipped import GOLDEN, shipped


@click.command()
@click.option(
    "--set",
    "set_file",
    metavar="FILE",
    type=click.Path(),
    help="Your own golden set instead of the one that comes along.",
)
@click.option(
    "--answers",
    "folder",
    metavar="DIR",
    type=click.Path(),
    help="Answers as files, each named after its case: ID.json.",
)
@click.option(
    "--store",
    "from_ledger",
    is_flag=True,
    help="Answers kept in the ledger: the latest of the agent to the request counts.",
)
@click.option(
    "--command",
    "executor",
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
    "ids",
    multiple=True,
    metavar="ID",
    help="Only this case; may be given again.",
)
@agents_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="How the report is written.",
)
@ledger_options
@json_option
def golden(
    where: Where,
    set_file: str | None,
    folder: str | None,
    from_ledger: bool,
    executor: str | None,
    timeout: float,
    ids: tuple[str, ...],
    agents_file: str | None,
    form: str,
    as_json: bool,
) -> int:
    """Hold answers against a golden set: given ones, kept ones, or a program's. Exit code 1 unless every case passes."""
    if (folder is not None) + from_ledger + (executor is not None) != 1:
        raise click.UsageError(
            "give one of --answers DIR, --store and --command COMMAND"
        )
    registry = agents_of(agents_file)
    try:
        cases = chosen(
            read_golden(text_of(set_file) if set_file else shipped(GOLDEN), registry),
            ids,
        )
    except InvalidGolden as error:
        raise Failure(f"{set_file or GOLDEN}: {error}", Exit.REJECTED) from None
    if folder is not None:
        report = run_golden(cases, _from_folder(folder), registry)
    elif executor is not None:
        report = run_golden(cases, _from_program(executor, timeout, registry), registry)
    else:
        from accordance.service.research import kept_answers

        with opened(where) as project:
            report = run_golden(cases, _from_store(kept_answers(project)), registry)
    if as_json or form == "json":
        print_json(report_json(report))
    else:
        click.echo(as_junit(report) if form == "junit" else as_text(report), nl=False)
    return Exit.OK if report.passed else Exit.REJECTED


def _from_folder(folder: str) -> Callable[[GoldenCase], Given]:
    must_be_a_name(folder)
    if not Path(folder).is_dir():
        raise Failure(f"{folder}: no such folder", Exit.NOT_FOUND)

    def given(case: GoldenCase) -> Given:
        file = Path(folder) / f"{case.id}.json"
        return (
            read_bounded(str(file))
            if file.exists()
            else NoAnswer(f"{file.name}: no such file")
        )

    return given


def _from_store(store: AnswerStore) -> Callable[[GoldenCase], Given]:
    def kept(case: GoldenCase) -> Given:
        latest = deque(
            store.answers(case.agent.id, request_digest(case.request)), maxlen=1
        )
        if not latest:
            return NoAnswer("no answer is kept")
        answer = dict(latest[0].answer)
        answer.pop("task_id", None)  # any run of the question counts
        return json.dumps(answer, ensure_ascii=False)

    return kept


def _from_program(
    command: str, timeout: float, registry: AgentRegistry
) -> Callable[[GoldenCase], Given]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Failure(f"--command: {error}", Exit.USAGE) from None
    if not words:
        raise Failure("--command: names no program", Exit.USAGE)

    def asked(case: GoldenCase) -> Given:
        try:
            prompt = build_prompt(case.agent, case.request, registry)
        except ContextTooLarge as error:
            return NoAnswer(str(error))
        told = {
            "ACCORDANCE_AGENT": case.agent.id,
            "ACCORDANCE_REQUEST": dump_json(case.request),
        }
        return ask(words, prompt, told, _seconds_for(case.request, timeout))

    return asked


def _seconds_for(request: AgentRequest, timeout: float) -> float:
    """How long a program may take: never longer than the request's time_budget."""
    budget = request.constraints.time_budget if request.constraints else None
    return timeout if budget is None else min(timeout, budget)


@click.command()
@click.argument("before", metavar="BEFORE.json", type=click.Path())
@click.argument("after", metavar="AFTER.json", type=click.Path(allow_dash=True))
@json_option
def regress(before: str, after: str, as_json: bool) -> int:
    """Compare two reports of a golden set (--format json). Exit code 1 if something that passed does not any more."""
    reports = []
    for file in (before, after):
        try:
            reports.append(read_report(read_bounded(file)))
        except InvalidGolden as error:
            raise Failure(f"{file}: {error}", Exit.REJECTED) from None
    found = regression(*reports)
    if as_json:
        print_json(found.to_json())
    else:
        click.echo(regression_text(found), nl=False)
    return Exit.REJECTED if found.worse else Exit.OK


COMMANDS: Final = (golden, regress)

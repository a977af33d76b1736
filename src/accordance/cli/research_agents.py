"""`accordance research agents | lint | route | prompt`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, Literal

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.research_reading import (
    agents_of,
    agents_option,
    json_option,
    language_option,
    needed_request_option,
    print_json,
    request_of,
    text_of,
)
from accordance.cli.showing import print_line, tell_document
from accordance.errors import InvalidAgents
from accordance.rendering.words import WORDS, Language
from accordance.service.research.agents import (
    Proposal,
    ResearchAgent,
    lint_agents,
    list_agents,
    prompt_agent,
    propose_agents,
)


@click.command()
@click.argument("name", required=False)
@agents_option
@language_option
@json_option
def agents(
    name: str | None,
    agents_file: str | None,
    language: Language | None,
    as_json: bool,
) -> None:
    """List the agents, or show the agent called NAME."""
    listed = list_agents(agents_of(agents_file), name)
    if as_json:
        print_json([asdict(agent) for agent in listed])
        return

    titles = _title_language(language)
    for agent in listed:
        task_types = ", ".join(agent.task_types)
        print_line(f"{agent.id}  {agent.title[titles]}, {agent.level}, {task_types}")
        if name:
            _tell_details(agent, titles)


def _title_language(language: Language | None) -> str:
    """Return the language of titles, which agents have in Korean and English only."""
    return "ko" if language == "ko" else "en"


def _tell_details(agent: ResearchAgent, language: str) -> None:
    triggers: list[str] = []
    for words in agent.triggers.values():
        triggers += words
    floors = [f"{topic} {least:g}" for topic, least in agent.floors.items()]

    print_line(f"  {agent.about[language]}")
    _tell_row("also", agent.aliases)
    _tell_row("stages", agent.stages)
    _tell_row("needs", agent.inputs)
    _tell_row("gives", agent.outputs)
    _tell_row("requires", agent.requires)
    _tell_row("parallel with", agent.parallel_with)
    _tell_row("triggers", triggers)
    _tell_row("T-score floors", floors)


def _tell_row(label: str, values: Sequence[str]) -> None:
    if values:
        print_line(f"  {label}: {', '.join(values)}")


@click.command()
@click.argument(
    "file", required=False, metavar="FILE|-", type=click.Path(allow_dash=True)
)
@json_option
def lint(file: str | None, as_json: bool) -> int:
    """Find inconsistencies in an agents file. Exit code 1 if there are errors."""
    text = None if file is None else text_of(file)
    try:
        report = lint_agents(text)
    except InvalidAgents as error:
        raise Failure(f"{file}: {error}", Exit.REJECTED) from None

    if as_json:
        print_json([asdict(fault) for fault in report.faults])
    elif report.faults:
        for fault in report.faults:
            print_line(f"{fault.kind:<7}  {fault}")
    else:
        print_line(f"{report.agents} agents, no faults")
    return Exit.REJECTED if report.has_errors else Exit.OK


@click.command()
@needed_request_option
@agents_option
@language_option
@json_option
def route(
    request_file: str,
    agents_file: str | None,
    language: Language | None,
    as_json: bool,
) -> int:
    """Propose agents for a request, the best first, with reasons.

    Exit code 5 if no agent fits.
    """
    registry = agents_of(agents_file)
    result = propose_agents(request_of(request_file), registry, language)

    if as_json:
        print_json([proposal.to_json() for proposal in result.proposals])
    elif result.proposals:
        for proposal in result.proposals:
            print_line(_proposal_line(proposal, result.language))
    else:
        print_line(WORDS[result.language].no_proposal)
    return Exit.OK if result.proposals else Exit.NOT_FOUND


def _proposal_line(proposal: Proposal, language: Language) -> str:
    words = WORDS[language]
    agent = proposal.agent
    title = agent.title[_title_language(language)]
    name = f"{agent.id} ({title})"

    reasons = [
        words.because[reason.kind].format(detail=reason.detail)
        for reason in proposal.reasons
    ]
    when = words.ready
    if proposal.waits_for:
        when = f"{words.waits_for}: {', '.join(proposal.waits_for)}"
    because = ", ".join(reasons)
    return f"{proposal.score:>3}  {name}: {because}; {when}"


@click.command()
@click.option("--agent", required=True, metavar="ID", help="The agent to ask.")
@needed_request_option
@agents_option
@click.option(
    "--language",
    "-l",
    type=click.Choice(["ko", "en"]),
    help="Language of the prompt.  [default: the request's]",
)
@json_option
def prompt(
    agent: str,
    request_file: str,
    agents_file: str | None,
    language: Literal["ko", "en"] | None,
    as_json: bool,
) -> None:
    """Print the prompt that makes an agent's answer honour the contract."""
    registry = agents_of(agents_file)
    result = prompt_agent(agent, request_of(request_file), registry, language)
    if as_json:
        print_json(asdict(result))
    else:
        tell_document(result.prompt)


COMMANDS: Final = (agents, lint, route, prompt)

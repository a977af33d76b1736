"""`accordance research agents | lint | route | prompt`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final, Literal

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.research_reading import (
    agents_of,
    agents_option,
    json_option,
    language_for,
    language_option,
    needed_request_option,
    print_json,
    request_of,
    text_of,
)
from accordance.cli.showing import tell, tell_document
from accordance.domain.research.agents import ResearchAgent
from accordance.domain.research.agents_file import parse_agents
from accordance.domain.research.lint import lint as find_faults
from accordance.domain.research.prompts import build_prompt
from accordance.domain.research.routing import Proposal
from accordance.domain.research.routing import route as find_agents
from accordance.errors import InvalidAgents
from accordance.rendering.words import WORDS, Language, ReportWords
from accordance.shipped import AGENTS, shipped


@click.command()
@click.argument("name", required=False)
@agents_option
@language_option
@json_option
def agents(
    name: str | None, agents_file: str | None, language: Language | None, as_json: bool
) -> None:
    """List the agents, or show the one called NAME."""
    registry = agents_of(agents_file)
    found = [registry.get(name)] if name else list(registry)
    if as_json:
        print_json([_as_json(agent) for agent in found])
        return
    shown = "ko" if language == "ko" else "en"
    for agent in found:
        tell(
            f"{agent.id}  {agent.title[shown]}, {agent.level}, {', '.join(agent.task_types)}"
        )
        if name:
            _tell(agent, shown)


def _tell(agent: ResearchAgent, language: str) -> None:
    tell(f"  {agent.about[language]}")
    rows = (
        ("also", agent.aliases),
        ("stages", agent.stages),
        ("needs", agent.inputs),
        ("gives", agent.outputs),
        ("requires", agent.requires),
        ("parallel with", agent.parallel_with),
        ("triggers", [word for words in agent.triggers.values() for word in words]),
        (
            "T-score floors",
            [f"{topic} {least:g}" for topic, least in agent.floors.items()],
        ),
    )
    for label, values in rows:
        if values:
            tell(f"  {label}: {', '.join(values)}")


def _as_json(agent: ResearchAgent) -> dict[str, object]:
    return asdict(agent)


@click.command()
@click.argument(
    "file", required=False, metavar="FILE|-", type=click.Path(allow_dash=True)
)
@json_option
def lint(file: str | None, as_json: bool) -> int:
    """Say what does not hold together in an agents file. Exit code 1 if there are errors."""
    try:
        registry = parse_agents(shipped(AGENTS) if file is None else text_of(file))
    except InvalidAgents as error:
        raise Failure(f"{file}: {error}", Exit.REJECTED) from None
    found = find_faults(registry)
    if as_json:
        print_json([asdict(finding) for finding in found])
    for finding in () if as_json else found:
        tell(f"{finding.kind:<7}  {finding}")
    if not found and not as_json:
        tell(f"{len(registry)} agents, nothing to say")
    return (
        Exit.REJECTED if any(finding.kind == "error" for finding in found) else Exit.OK
    )


@click.command()
@needed_request_option
@agents_option
@language_option
@json_option
def route(
    request_file: str, agents_file: str | None, language: Language | None, as_json: bool
) -> int:
    """Propose agents for a request, the best first, and say why. Exit code 5 if none fits."""
    registry, request = agents_of(agents_file), request_of(request_file)
    proposals = find_agents(request, registry)
    spoken = language_for(language, request, request.user_query)
    if as_json:
        print_json([_proposal_json(one) for one in proposals])
    for one in () if as_json else proposals:
        tell(_proposal_line(one, WORDS[spoken], "ko" if spoken == "ko" else "en"))
    if not proposals and not as_json:
        tell(WORDS[spoken].no_proposal)
    return Exit.OK if proposals else Exit.NOT_FOUND


def _proposal_json(one: Proposal) -> dict[str, object]:
    reasons = [
        {"kind": reason.kind, "detail": reason.detail, "weight": reason.weight}
        for reason in one.reasons
    ]
    return {
        "agent_id": one.agent.id,
        "score": one.score,
        "ready": one.ready,
        "waits_for": list(one.waits_for),
        "reasons": reasons,
    }


def _proposal_line(one: Proposal, words: ReportWords, titled: str) -> str:
    why = ", ".join(
        words.because[reason.kind].format(detail=reason.detail)
        for reason in one.reasons
    )
    when = (
        words.ready if one.ready else f"{words.waits_for}: {', '.join(one.waits_for)}"
    )
    return f"{one.score:>3}  {one.agent.id} ({one.agent.title[titled]}): {why}; {when}"


@click.command()
@click.option("--agent", required=True, metavar="ID", help="Who is asked.")
@needed_request_option
@agents_option
@click.option(
    "--language", "-l", type=click.Choice(["ko", "en"]), help="Else the request's."
)
@json_option
def prompt(
    agent: str,
    request_file: str,
    agents_file: str | None,
    language: Literal["ko", "en"] | None,
    as_json: bool,
) -> None:
    """Print what to tell an agent so that its answer honours the contract."""
    registry = agents_of(agents_file)
    asked = registry.get(agent)
    text = build_prompt(asked, request_of(request_file), registry, language)
    if as_json:
        print_json({"agent_id": asked.id, "prompt": text})
    else:
        tell_document(text)


COMMANDS: Final = (agents, lint, route, prompt)

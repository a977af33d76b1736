"""What research commands are given: agents, requests, answers, acknowledgements. One line where something does not fit."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, TypeVar

import click
from pydantic import BaseModel

from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import read_bounded
from accordance.cli.showing import as_json_text
from accordance.contracts.catalogue.answer import ANSWER, AgentAnswer
from accordance.contracts.catalogue.request import REQUEST, AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.reading import read
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.research.agents import AgentRegistry, language_in, language_of
from accordance.domain.research.agents_file import read_agents
from accordance.errors import InvalidAgents, Unparseable
from accordance.rendering.documents import WRITERS
from accordance.rendering.words import LANGUAGES, Language
from accordance.shipped import AGENTS, shipped

M = TypeVar("M", bound=BaseModel)

Profile: TypeAlias = Literal["strict", "seed"]

_checker: Final = Checker(Registry())

agents_option: Final = click.option(
    "--agents",
    "agents_file",
    metavar="FILE",
    type=click.Path(),
    help="Your own agents.toml instead of the one that comes along.",
)
request_option: Final = click.option(
    "--request",
    "request_file",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="The request (agent_request_v1).",
)
needed_request_option: Final = click.option(
    "--request",
    "request_file",
    metavar="FILE",
    required=True,
    type=click.Path(allow_dash=True),
    help="The request (agent_request_v1).",
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
language_option: Final = click.option(
    "--language",
    "-l",
    type=click.Choice(LANGUAGES),
    help="Language of the report; else the request's, else that of the answers.",
)
document_option: Final = click.option(
    "--format",
    "form",
    type=click.Choice(list(WRITERS)),
    default="markdown",
    show_default=True,
    help="How it is written.",
)


def agents_of(file: str | None) -> AgentRegistry:
    """The registry of a file, or the one that comes along."""
    if file is None:
        return read_agents(shipped(AGENTS))
    try:
        return read_agents(text_of(file))
    except InvalidAgents as error:
        raise Failure(f"{file}: {error}", Exit.REJECTED) from None


def text_of(file: str) -> str:
    """A file as text."""
    try:
        return read_bounded(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Failure(
            f"{file}: is not UTF-8 from byte {error.start} on", Exit.REJECTED
        ) from None


def request_of(file: str) -> AgentRequest:
    """The request in a file."""
    return _accepted(file, REQUEST)


def answer_of(file: str) -> AgentAnswer:
    """The answer in a file, if it honours its contract."""
    return _accepted(file, ANSWER)


def _accepted(file: str, contract: Contract[M]) -> M:
    return accepted(file, contract, _checker.check(read_bounded(file), contract))


def accepted(file: str, contract: Contract[M], result: Accepted[M] | Rejected) -> M:
    """The message, or one line that says what is wrong with it and how to see the rest."""
    if isinstance(result, Rejected):
        rest = (
            f" (and {result.total - 1} more: accordance check -c {contract.name} {file})"
            if result.total > 1
            else ""
        )
        raise Failure(f"{file}: {result.violations[0]}{rest}", Exit.REJECTED)
    return result.value


def object_of(file: str) -> JsonObject:
    """The JSON object in a file, whatever it says."""
    try:
        return read(read_bounded(file))
    except Unparseable as flaw:
        raise Failure(f"{file}: {flaw}", Exit.REJECTED) from None


def language_for(
    wanted: Language | None, request: AgentRequest | None, words: str
) -> Language:
    """The language of a report: as it is wanted, else the request's, else that of the words it reports on."""
    if wanted is not None:
        return wanted
    return language_of(request) if request is not None else language_in(words)


def print_json(value: object) -> None:
    """JSON for programs, the same bytes for the same value."""
    click.echo(as_json_text(value))

"""What research commands read: agents, requests, answers, acknowledgements.

An input that cannot be used ends the command with a line that names its file.
"""

from __future__ import annotations

from typing import Final, TypeVar

import click
from pydantic import BaseModel

from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import read_bounded
from accordance.cli.showing import as_json_text
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.reading import read
from accordance.contracts.violation import Accepted, Rejected
from accordance.errors import InvalidAgents, Unparseable
from accordance.rendering.documents import WRITERS
from accordance.rendering.words import LANGUAGES
from accordance.service.research.inputs import (
    Acknowledgement,
    AgentRegistry,
    check_acknowledgement,
    check_message,
    check_request,
    load_agents,
)

M = TypeVar("M", bound=BaseModel)

agents_option: Final = click.option(
    "--agents",
    "agents_file",
    metavar="FILE",
    type=click.Path(),
    help="Your own agents.toml instead of accordance's.",
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
acknowledgement_option: Final = click.option(
    "--acknowledgement",
    "acknowledgement_file",
    metavar="FILE",
    type=click.Path(),
    help="A person's consent to a selection below the T-score floor (see acknowledge).",
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
language_option: Final = click.option(
    "--language",
    "-l",
    type=click.Choice(LANGUAGES),
    help="Language of the report.  [default: the request's, or that of the answers]",
)
document_option: Final = click.option(
    "--format",
    "form",
    type=click.Choice(list(WRITERS)),
    default="markdown",
    show_default=True,
    help="Format of the report.",
)


def agents_of(file: str | None) -> AgentRegistry:
    """Return the agents of a file, or those that come with accordance."""
    if file is None:
        return load_agents()
    try:
        return load_agents(text_of(file))
    except InvalidAgents as error:
        raise Failure(f"{file}: {error}", Exit.REJECTED) from None


def text_of(file: str) -> str:
    """Return a file as text."""
    raw = read_bounded(file)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"from byte {error.start} on"
        raise Failure(f"{file}: is not UTF-8 {place}", Exit.REJECTED) from None


def request_of(file: str) -> AgentRequest:
    """Return the request in a file."""
    return accepted(file, "request", check_request(read_bounded(file)))


def optional_request(file: str | None) -> AgentRequest | None:
    """Return the request in a file, if there is a file."""
    return None if file is None else request_of(file)


def answer_of(file: str) -> AgentAnswer:
    """Return the answer in a file, if it honours its contract."""
    return accepted(file, "answer", check_message(read_bounded(file)))


def acknowledgement_of(file: str | None) -> Acknowledgement | None:
    """Return the acknowledgement in a file, if there is a file."""
    if file is None:
        return None
    return accepted(file, "acknowledgement", check_acknowledgement(read_bounded(file)))


def accepted(file: str, contract: str, result: Accepted[M] | Rejected) -> M:
    """Return an accepted message.

    A rejected message ends the command with its first violation and how to see the rest.
    """
    if isinstance(result, Accepted):
        return result.value

    rest = ""
    if result.total > 1:
        command = f"accordance check -c {contract} {file}"
        rest = f" (and {result.total - 1} more: {command})"
    raise Failure(f"{file}: {result.violations[0]}{rest}", Exit.REJECTED)


def object_of(file: str) -> JsonObject:
    """Return the JSON object in a file, whatever it says."""
    try:
        return read(read_bounded(file))
    except Unparseable as flaw:
        raise Failure(f"{file}: {flaw}", Exit.REJECTED) from None


def print_json(value: object) -> None:
    """Print JSON for programs, the same bytes for the same value."""
    click.echo(as_json_text(value))

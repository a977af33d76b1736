"""What differs between agents: their command lines and the events they print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.spending import Spending
from accordance.executors.agents.grants import Request

SUBMIT = "submit"
SERVER = "accordance"

Event: TypeAlias = Mapping[str, Any]

_LARGEST_COUNT: Final = 1 << 53  # agents print JSON; larger numbers are not exact


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """A run of an agent, ready to be turned into a command line."""

    program: Path
    model: str
    url: str  # of the relay, as the agent sees it
    key: str  # to the relay; the model's own key stays outside
    state: Path  # the agent's private folder
    work: Path
    contract: Contract[Any]
    tool: tuple[str, ...]  # the command of its `submit` server; empty: no such tool
    confined: bool  # our own sandbox is around it
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, its environment, and the files it needs in its state folder."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What an agent's events report. All of it is a claim."""

    final: str = ""  # the last message
    ended: bool = False  # an event reported a successful end
    error: str = ""
    session: str | None = None
    spending: Spending = field(default_factory=Spending)
    tools: tuple[str, ...] = ()  # tools used, in order
    refused_tools: tuple[str, ...] = ()  # tools it called and was not allowed to use


class AgentProgram(Protocol):
    """A kind of agent."""

    endpoint: str  # the default address of its model
    key_env: str
    requests: ClassVar[tuple[Request, ...]]  # every request it makes to the endpoint

    def is_same_model(self, model: str, requested: str) -> bool:
        """Whether `requested` names the model that the agent was started with."""
        ...

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the headers that carry the key to the endpoint."""
        ...

    def line(self, call: AgentCall) -> CommandLine:
        """Return the command line for a call."""
        ...

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Summarise the agent's events."""
        ...


def events_of(output: bytes) -> Iterator[Event]:
    """Yield the events of a stream of JSON lines; skip every other line."""
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):  # not JSON, or nested absurdly deep
            continue
        if isinstance(event, dict):
            yield event


def at(event: Event, *path: str) -> Any:
    """Return the value at a path inside an event, or None."""
    value: Any = event
    for step in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def text_at(event: Event, *path: str) -> str:
    """Return the text at a path inside an event, or an empty text."""
    value = at(event, *path)
    return value if isinstance(value, str) else ""


def count_at(event: Event, *path: str) -> int:
    """Return the count at a path inside an event; 0 if it is not a sensible count."""
    value = at(event, *path)
    is_count = type(value) is int and 0 <= value < _LARGEST_COUNT
    return value if is_count else 0


def compact(value: JsonObject) -> str:
    """Return a JSON object as a single line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

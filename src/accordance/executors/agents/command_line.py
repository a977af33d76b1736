"""What differs between the agents: how each is called, and what its events say. The rest is the same for all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.spending import Spending
from accordance.executors.agents.lending import Request

SUBMIT = "submit"
SERVER = "accordance"
_COUNTABLE: Final = 1 << 53  # of tokens, or whatever an agent says it has used
Event: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """One run of an agent, ready to be written as a command line."""

    program: Path
    model: str
    url: str  # of the relay, as the agent sees it
    key: str  # to the relay; the model's own is nowhere near
    state: Path  # its private folder
    work: Path
    contract: Contract[Any]
    tool: tuple[
        str, ...
    ]  # the command that is its `submit` server; empty where there is none
    confined: bool  # our own sandbox is around it
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A command line: its words, its environment, and the files it needs in its private folder."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What the events say. Claims, all of it."""

    final: str = ""  # the last message
    ended: bool = False  # there was an event that says: over, and well
    error: str = ""
    session: str | None = None
    spending: Spending = field(default_factory=Spending)
    tools: tuple[str, ...] = ()  # what it used, in order


class AgentProgram(Protocol):
    """One kind of agent."""

    endpoint: str  # where its model is unless somebody says otherwise
    key_env: str
    requests: ClassVar[tuple[Request, ...]]  # all that it makes of its model's endpoint

    def is_same_model(self, model: str, asked: str) -> bool:
        """Whether a request for `asked` is one for the model it was started with."""
        ...

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """How the endpoint is told the key."""
        ...

    def line(self, call: AgentCall) -> Line:
        """How it is called."""
        ...

    def read(self, events: Iterable[Event]) -> AgentReport:
        """What its events say."""
        ...


def events_of(said: bytes) -> Iterator[Event]:
    """The events of a stream of JSON lines; what is no event is passed over."""
    for line in said.splitlines():
        try:
            event = json.loads(line)
        except (
            ValueError,
            RecursionError,
        ):  # no JSON, or deeper than anybody writes it
            continue
        if isinstance(event, dict):
            yield event


def at(event: Event, *path: str) -> Any:
    """A value inside an event; None where there is none."""
    found: Any = event
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def text_at(event: Event, *path: str) -> str:
    """A text inside an event."""
    found = at(event, *path)
    return found if isinstance(found, str) else ""


def count_at(event: Event, *path: str) -> int:
    """A count inside an event; what is none, or more than anybody could count, counts as nothing."""
    found = at(event, *path)
    return found if type(found) is int and 0 <= found < _COUNTABLE else 0


def compact(value: JsonObject) -> str:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

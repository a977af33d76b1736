"""The one protocol of executors: an assignment and limits in, raw bytes and what was seen out.

An executor is called in a thread of a worker and blocks it. It ends soon after its time is up or `stop` is set, leaves no
process behind, and never raises for anything an agent, a model or a network does: that comes back as a `Fault`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final, Protocol

from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.case import Budget
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.prompting import Prompt
from accordance.domain.spending import Spending
from accordance.executors.opinion import Opinion

MODEL_CALL: Final = "model_call"  # seen: a model was asked
ASKED_AGAIN: Final = (
    "asked_again"  # seen: an answer honoured no contract, and the model was asked again
)
MOST_REPEATED: Final = (
    20_000  # characters of a bad answer that are shown to the model again
)


def whole_characters(said: str) -> str:
    """The text, half characters escaped as JSON does: it can be kept and sent, and what is wrong with it is still to be seen.

    Two halves that came one after the other are a whole one again for whoever reads it.
    """
    return said.encode("utf-8", "backslashreplace").decode()


class Memory(Protocol):
    """What models have answered in an earlier run of the same attempt, which was cut off: it is not paid for again."""

    def recall(self, asked: str) -> dict[str, Any] | None:
        """The answer to a question, by the question's hash."""
        ...

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer, before anything is made of it. Never fails: whoever has the answer can go on."""
        ...


class NoMemory:
    """Nothing was asked before, and nothing is kept."""

    def recall(self, asked: str) -> None:
        """Nothing."""

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Let it go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One attempt, as its executor sees it."""

    document: JsonObject  # the whole assignment, as the engine tells it
    contract: Contract[Any]  # what the message is held to
    prompt: Prompt
    folder: Path  # private to this run, new; logs and state are left here
    context: Context = NO_CONTEXT
    model: str | None = None
    work: Path | None = None  # the clone to work in; None where there is no repository
    opinion: Callable[[bytes], Opinion] | None = (
        None  # judges a message while the agent still runs
    )
    memory: Memory = field(default_factory=NoMemory)

    def as_json(self) -> bytes:
        """What a program is told on its standard input."""
        told = {
            **self.document,
            "prompt": {"system": self.prompt.system, "user": self.prompt.user},
        }
        return json.dumps(told, ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """How much one run may use, and how it is told to stop."""

    seconds: float = 900
    output_bytes: int = 4 << 20
    budget: Budget = field(default_factory=Budget)
    stop: Event = field(default_factory=Event)


@dataclass(frozen=True, slots=True)
class Seen:
    """Something noticed during a run. Never a claim of the agent that anybody relies on."""

    what: str
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """What came of a run: a message, or why there is none."""

    raw: bytes | None = None
    fault: Fault | None = None
    text: str = ""  # the fault in a line, for people
    spending: Spending = field(default_factory=Spending)
    exit_code: int | None = None
    duration_ms: int = 0
    seen: tuple[Seen, ...] = ()
    retry_after: float | None = None  # seconds the provider asks to wait
    isolation: str | None = None  # the level that was reached
    stronger: bool = False  # a stronger model could be asked next
    judged: JsonObject | None = (
        None  # what was found out about a change that was judged at once
    )

    def __post_init__(self) -> None:
        if (self.raw is None) is (self.fault is None):
            raise ValueError(
                "a run ends with a message or with a fault, never with both or neither"
            )

    @property
    def code(self) -> str | None:
        """The fail code; None where there is a message."""
        return FAULTS[self.fault].code if self.fault else None

    def to_json(self) -> JsonObject:
        """What was seen, without the message itself. Half a character, which nobody could keep, is a question mark."""
        seen = {
            "fault": self.fault.value if self.fault else None,
            "code": self.code,
            "text": self.text,
            "bytes": None if self.raw is None else len(self.raw),
            "read_tokens": self.spending.read,
            "written_tokens": self.spending.written,
            "cached_tokens": self.spending.cached,
            "cost": self.spending.cost,
            "calls": self.spending.calls,
            "estimated": self.spending.estimated,
            "exit_code": self.exit_code,
            "duration_ms": self.duration_ms,
            "retry_after": self.retry_after,
            "isolation": self.isolation,
            "stronger": self.stronger,
            "seen": [{"what": one.what, **one.details} for one in self.seen],
        }
        whole: JsonObject = json.loads(
            json.dumps(seen, ensure_ascii=False).encode("utf-8", "replace")
        )
        return whole


class Executor(Protocol):
    """Who does the work."""

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:
        """Do it once."""
        ...

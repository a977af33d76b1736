"""The protocol of executors: an assignment and limits in, bytes and records out.

An executor is called in a thread of a worker and blocks it. It ends soon after its time
is up or `stop` is set, leaves no process behind, and never raises for anything an
agent, a model or a network does: that comes back as a `Fault`.
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
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.prompting import Prompt
from accordance.domain.spending import Spending
from accordance.domain.tools import tools_used
from accordance.domain.usage import Budget
from accordance.executors.opinion import Opinion

MODEL_CALL: Final = "model_call"
"""The record of a call of a model."""
ASKED_AGAIN: Final = "asked_again"
"""The record of an answer that broke its contract and was asked for again."""
TOOLS: Final = "tools"
"""The record of the tools an agent called: those it `used`, those `refused`."""
MAX_REPEATED_CHARACTERS: Final = 20_000
"""Characters of a bad answer that are shown to the model again."""


def whole_characters(text: str) -> str:
    """Return the text with lone surrogates escaped as in JSON.

    It can then be stored and sent, and the fault stays visible. Two halves that follow
    each other still read as a whole character.
    """
    return text.encode("utf-8", "backslashreplace").decode()


class Memory(Protocol):
    """The answers of models in an interrupted run of the same attempt.

    They are not paid for again.
    """

    def recall(self, asked: str) -> dict[str, Any] | None:
        """Return the answer to a question, by the question's hash."""
        ...

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer before it is used.

        Never fails: a run that has its answer can go on without the copy.
        """
        ...


class NoMemory:
    """A memory that keeps nothing."""

    def recall(self, asked: str) -> None:
        """Return None: there are no answers."""

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """An attempt, as its executor sees it."""

    document: JsonObject  # the whole assignment, as the runtime builds it
    contract: Contract[Any]  # of the message
    prompt: Prompt
    folder: Path  # new and private to this run; logs and state are left here
    context: Context = NO_CONTEXT
    model: str | None = None
    work: Path | None = None  # the clone to work in; None without a repository
    opinion: Callable[[bytes], Opinion] | None = None
    """Judges a message while the agent is still running."""
    memory: Memory = field(default_factory=NoMemory)

    def as_json(self) -> bytes:
        """Return the assignment as a program reads it on standard input."""
        prompt = {"system": self.prompt.system, "user": self.prompt.user}
        document = {**self.document, "prompt": prompt}
        return json.dumps(document, ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """How much a run may use, and the event that stops it."""

    seconds: float = 900
    output_bytes: int = 4 << 20
    budget: Budget = field(default_factory=Budget)
    stop: Event = field(default_factory=Event)


@dataclass(frozen=True, slots=True)
class Observation:
    """Something observed during a run.

    What an agent claims about itself here may be used against it, and never for it.
    """

    what: str
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """A log that a run left, or its end."""

    name: str
    sha256: str
    size: int
    content: bytes | None = None  # None: it lies in the blob store


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """The outcome of a run: a message, or the reason why there is none."""

    raw: bytes | None = None
    fault: Fault | None = None
    text: str = ""  # describes the fault in a line, for people
    lacks: str = ""  # what was missing outside the task: a variable, a program ...
    spending: Spending = field(default_factory=Spending)
    exit_code: int | None = None
    duration_ms: int = 0
    seen: tuple[Observation, ...] = ()
    retry_after: float | None = None  # seconds the provider asks to wait
    isolation: str | None = None  # the level that was reached
    stronger: bool = False  # a stronger model could be asked next
    judged: JsonObject | None = None  # the verdict on a change that was judged at once
    logs: tuple[RunLog, ...] = ()

    def __post_init__(self) -> None:
        has_message = self.raw is not None
        has_fault = self.fault is not None
        if has_message is has_fault:
            raise ValueError("a run ends with either a message or a fault")

    @property
    def tools(self) -> frozenset[str]:
        """The tools that the agent used, by name and by kind."""
        names: list[str] = []
        for observation in self.seen:
            if observation.what != TOOLS:
                continue
            used = observation.details.get("used")
            if isinstance(used, list):
                names += used
        return tools_used(names)

    @property
    def code(self) -> str | None:
        """The fail code; None if there is a message."""
        return FAULTS[self.fault].code if self.fault else None

    def to_json(self) -> JsonObject:
        """Return the report of the run, without the message itself.

        Lone surrogates, which cannot be stored, become question marks.
        """
        seen = []
        for record in self.seen:
            seen.append({"what": record.what, **record.details})
        report = {
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
            "seen": seen,
        }
        if self.lacks:
            report["lacks"] = self.lacks
        encoded = json.dumps(report, ensure_ascii=False).encode("utf-8", "replace")
        storable: JsonObject = json.loads(encoded)
        return storable


class Executor(Protocol):
    """Does the work of an attempt."""

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:
        """Work on an assignment once."""
        ...


class ConfiguredExecutor(Executor, Protocol):
    """An executor of the settings, which may lack something on this machine."""

    def why_not_start(self) -> RunOutcome | None:
        """Return how a run would end for want of a program or a key; None: nothing.

        It looks only at this machine, and costs next to nothing.
        """
        ...

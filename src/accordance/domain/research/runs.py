"""Stored answers: what is kept of a run, and which runs belong together.

`AnswerStore` is the port that storage implements.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from accordance.contracts.catalogue.answer import ANSWER, AgentAnswer
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.domain.research.agents import ResearchAgent
from accordance.domain.research.collapse import (
    CollapseReport,
    Tally,
    collapse,
    selection_of,
)
from accordance.domain.research.names import tidy
from accordance.errors import InvalidRun


class Group(NamedTuple):
    """Comparable runs: the same agent, question and version of the contract."""

    agent_id: str
    request: str  # request_digest
    contract: str


class StoredRun(NamedTuple):
    """The part of a stored answer that counting needs."""

    group: Group
    at: str  # UTC, of fixed width: sorts as text
    selected: str
    offered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is kept: the message, and its run."""

    run: StoredRun
    answer: JsonObject

    @property
    def content(self) -> bytes:
        """The message in bytes, the same for the same message."""
        return _canonical(self.answer)

    @property
    def digest(self) -> str:
        """The hash of those bytes: the same answer is kept once."""
        return hashlib.sha256(self.content).hexdigest()


class AnswerStore(Protocol):
    """Where answers are kept."""

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers, all or none. The same answer in a group is kept once."""

    def answers(
        self,
        agent_id: str | None = None,
        request: str | None = None,
    ) -> Iterator[StoredAnswer]:
        """Yield the answers of an agent, to a request (its digest), or all.

        They come group by group, each in the order of time.
        """

    def runs(
        self,
        agent_id: str | None = None,
        request: str | None = None,
    ) -> Iterator[StoredRun]:
        """Yield the same without the messages: what counting needs, streamed."""


def request_digest(request: AgentRequest) -> str:
    """Return a hash of the question, without its id.

    The same question asked twice counts once. Texts are compared in the same Unicode
    form with single spaces; the order of keys and of prior agents does not count.
    """
    question = dict(dump(request))
    question.pop("task_id", None)
    question.pop("schema_version", None)

    prior = question.get("prior_agents")
    if isinstance(prior, list):
        question["prior_agents"] = sorted(prior)

    return hashlib.sha256(_canonical(_tidied(question))).hexdigest()


def _canonical(value: object) -> bytes:
    text = json.dumps(
        value,
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
    )
    return text.encode()


def _tidied(value: object) -> object:
    match value:
        case str():
            return tidy(value)
        case dict():
            return {key: _tidied(item) for key, item in value.items()}
        case list():
            return [_tidied(item) for item in value]
        case _:
            return value


def stored_answer(
    answer: AgentAnswer,
    agent: ResearchAgent,
    request: AgentRequest,
) -> StoredAnswer:
    """Return a checked answer in the form in which it is kept."""
    message = dump(answer)
    group = Group(agent.id, request_digest(request), ANSWER.version)
    at = in_utc(answer.execution_timestamp)
    choice = selection_of(message)
    return StoredAnswer(StoredRun(group, at, *choice), message)


def in_utc(time: str) -> str:
    """Return a time of the contract as UTC with microseconds.

    A time without an offset is taken for UTC. Raises InvalidRun.
    """
    try:
        moment = datetime.fromisoformat(time.upper())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        in_order = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidRun(f"{time!r} is not a time that can be ordered") from None

    return in_order.isoformat(timespec="microseconds").replace("+00:00", "Z")


def tally_runs(runs: Iterable[StoredRun]) -> dict[Group, Tally]:
    """Count runs by group; within a group they come in the order of time."""
    tallies: dict[Group, Tally] = {}
    for run in runs:
        tally = tallies.get(run.group)
        if tally is None:
            tally = tallies[run.group] = Tally()
        tally.add(run.selected, run.offered)
    return tallies


def collapse_by_group(runs: Iterable[StoredRun]) -> dict[Group, CollapseReport]:
    """Return the report of every group."""
    tallies = tally_runs(runs)
    return {group: collapse(tally) for group, tally in tallies.items()}

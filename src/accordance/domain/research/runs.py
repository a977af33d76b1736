"""Stored answers: what is kept of a run, which runs belong together, and the port that storage implements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
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
    choice_of,
    collapse,
)
from accordance.domain.research.names import tidy
from accordance.errors import InvalidRun


class Group(NamedTuple):
    """Runs that are comparable: one agent, one question, one version of the contract."""

    agent_id: str
    request: str  # request_digest
    contract: str


class StoredRun(NamedTuple):
    """What counting needs of a stored answer."""

    group: Group
    at: str  # UTC, of fixed width: sorts as text
    selected: str
    offered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One answer as it is kept: the message, and the run it is."""

    run: StoredRun
    answer: JsonObject

    @property
    def content(self) -> bytes:
        """The message as it is kept: the same bytes for the same message."""
        return _canonical(self.answer)

    @property
    def digest(self) -> str:
        """The hash of those bytes: the same answer is kept once."""
        return hashlib.sha256(self.content).hexdigest()


class AnswerStore(Protocol):
    """Where answers are kept."""

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers, all or none. The same answer in the same group is kept once."""

    def answers(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredAnswer]:
        """The answers of an agent, to a request (its digest), or all; group after group, each in the order of time."""

    def runs(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredRun]:
        """The same without the messages: what counting needs, streamed."""


@dataclass(slots=True)
class AnswersInMemory:
    """Keeps answers for as long as it lives."""

    _kept: dict[tuple[Group, str], StoredAnswer] = field(default_factory=dict)

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers, all or none."""
        given = {(stored.run.group, stored.digest): stored for stored in answers}
        self._kept = given | self._kept

    def answers(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredAnswer]:
        """In the order the port promises."""
        wanted = (
            one
            for one in self._kept.values()
            if agent_id in (None, one.run.group.agent_id)
            and request in (None, one.run.group.request)
        )
        return iter(sorted(wanted, key=lambda one: (*one.run[:2], one.digest)))

    def runs(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredRun]:
        """Without the messages."""
        return (stored.run for stored in self.answers(agent_id, request))


def request_digest(request: AgentRequest) -> str:
    """A hash of what was asked. Not of its id: the same question asked twice is one question.

    Texts are compared in one Unicode form with single spaces; keys, and the agents that ran before, in no order.
    """
    asked = {
        key: value
        for key, value in dump(request).items()
        if key not in ("task_id", "schema_version")
    }
    prior = asked.get("prior_agents")
    if isinstance(prior, list):
        asked["prior_agents"] = sorted(prior)
    return hashlib.sha256(_canonical(_tidied(asked))).hexdigest()


def _canonical(value: object) -> bytes:
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    ).encode()


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
    answer: AgentAnswer, agent: ResearchAgent, request: AgentRequest
) -> StoredAnswer:
    """A checked answer, ready to be kept."""
    message = dump(answer)
    group = Group(agent.id, request_digest(request), ANSWER.version)
    run = StoredRun(group, in_utc(answer.execution_timestamp), *choice_of(message))
    return StoredAnswer(run, message)


def in_utc(time: str) -> str:
    """A time of the contract as UTC with microseconds; without an offset it is taken for UTC. Raises InvalidRun."""
    try:
        moment = datetime.fromisoformat(time.upper())
        moment = (
            moment.replace(tzinfo=UTC)
            if moment.tzinfo is None
            else moment.astimezone(UTC)
        )
    except (ValueError, OverflowError):
        raise InvalidRun(f"{time!r} is no time that can be ordered") from None
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def tally_runs(runs: Iterable[StoredRun]) -> dict[Group, Tally]:
    """A tally per group, from runs that come in the order of time within their group."""
    tallies: dict[Group, Tally] = {}
    for run in runs:
        tally = tallies.get(run.group)
        if tally is None:
            tally = tallies[run.group] = Tally()
        tally.add(run.selected, run.offered)
    return tallies


def collapse_by_group(runs: Iterable[StoredRun]) -> dict[Group, CollapseReport]:
    """What can be said of every group."""
    return {group: collapse(tally) for group, tally in tally_runs(runs).items()}

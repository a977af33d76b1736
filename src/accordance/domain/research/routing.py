"""Which agents a request calls for, and why. A sum of stated reasons; no reason, no proposal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.request import AgentRequest
from accordance.domain.research.agents import AgentRegistry, ResearchAgent, Words
from accordance.domain.research.names import plain

ReasonKind: TypeAlias = Literal["task_type", "stage", "trigger", "required_by"]
WEIGHTS: Final[dict[ReasonKind, int]] = {
    "task_type": 4,
    "stage": 2,
    "trigger": 3,
    "required_by": 1,
}


@dataclass(frozen=True, slots=True)
class MatchReason:
    """Why an agent is proposed: what matched, and how much that counts."""

    kind: ReasonKind
    detail: str

    @property
    def weight(self) -> int:
        """How much it counts."""
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An agent for a request."""

    agent: ResearchAgent
    reasons: tuple[MatchReason, ...]
    waits_for: tuple[str, ...]  # required agents that have not run

    @property
    def score(self) -> int:
        """The sum of its reasons."""
        return sum(reason.weight for reason in self.reasons)

    @property
    def ready(self) -> bool:
        """Whether everything it requires has run."""
        return not self.waits_for


def route(request: AgentRequest, registry: AgentRegistry) -> tuple[Proposal, ...]:
    """Agents for a request, the best first, with what must run before them. Raises UnknownAgent for prior agents.

    An agent is proposed for its task type or for a trigger word; its stage then counts too. What has run is not proposed
    again. What a proposed agent requires and has not run is proposed with it.
    """
    prior = {registry.get(name).id for name in request.prior_agents or ()}
    reasons = {
        agent.id: _reasons(agent, request)
        for agent in registry
        if agent.id not in prior
    }
    chosen = {name: found for name, found in reasons.items() if found}
    for name in list(chosen):
        for required in registry.requirements(registry.agents[name]):
            if required not in prior:
                chosen[required] = (
                    *chosen.get(required, ()),
                    MatchReason("required_by", name),
                )
    proposals = [
        Proposal(agent, chosen[agent.id], _missing(agent, registry, prior))
        for agent in registry
        if agent.id in chosen
    ]
    return tuple(sorted(proposals, key=lambda one: -one.score))


def _missing(
    agent: ResearchAgent, registry: AgentRegistry, prior: set[str]
) -> tuple[str, ...]:
    return tuple(name for name in registry.requirements(agent) if name not in prior)


def _reasons(agent: ResearchAgent, request: AgentRequest) -> tuple[MatchReason, ...]:
    found = [
        MatchReason("trigger", word)
        for word in words_in(request.user_query, agent.triggers)
    ]
    if request.task_type in agent.task_types:
        found.insert(0, MatchReason("task_type", request.task_type))
    if found and request.context.stage in agent.stages:
        found.append(MatchReason("stage", request.context.stage))
    return tuple(found)


def topics_of(request: AgentRequest, registry: AgentRegistry) -> tuple[str, ...]:
    """The topics whose words occur in the question or its domain."""
    return topics_in(
        f"{request.user_query}\n{request.context.research_domain}", registry
    )


def topics_in(text: str, registry: AgentRegistry) -> tuple[str, ...]:
    """The topics whose words occur in a text."""
    return tuple(
        topic for topic, words in registry.topics.items() if any(words_in(text, words))
    )


def words_in(text: str, words: Words) -> Iterator[str]:
    """The words that occur in a text, each once: whole words in Latin script, parts of words elsewhere."""
    folded = plain(text)
    for word in _each_once(word for group in words.values() for word in group):
        if _pattern(word).search(folded):
            yield word


def _each_once(words: Iterable[str]) -> Iterable[str]:
    return {plain(word): word for word in words}.values()


@lru_cache(maxsize=2048)
def _pattern(word: str) -> re.Pattern[str]:
    """Korean joins particles to its words, so there a word is found anywhere."""
    escaped = re.escape(plain(word))
    return re.compile(rf"(?<!\w){escaped}(?!\w)" if word.isascii() else escaped)

"""Which agents a request calls for, and why.

A proposal is a sum of stated reasons; an agent without a reason is not proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
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
    """Why an agent is proposed: the kind of match, and what matched."""

    kind: ReasonKind
    detail: str

    @property
    def weight(self) -> int:
        """How much it adds to the score."""
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An agent proposed for a request."""

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

    def to_json(self) -> JsonObject:
        """Return it as plain JSON."""
        reasons = []
        for reason in self.reasons:
            row = {
                "kind": reason.kind,
                "detail": reason.detail,
                "weight": reason.weight,
            }
            reasons.append(row)
        return {
            "agent_id": self.agent.id,
            "score": self.score,
            "ready": self.ready,
            "waits_for": list(self.waits_for),
            "reasons": reasons,
        }


def route(request: AgentRequest, registry: AgentRegistry) -> tuple[Proposal, ...]:
    """Propose agents for a request, the best first.

    An agent is proposed for its task type or for a trigger word; its stage then counts
    too. Agents that ran before are not proposed again. Those that a proposed agent
    requires are proposed with it. Raises UnknownAgent for unknown prior agents.
    """
    prior = {registry.get(name).id for name in request.prior_agents or ()}
    reasons = _reasons_by_agent(request, registry, prior)

    proposals = []
    for agent in registry:
        if agent.id in reasons:
            waits_for = _not_run(registry.requirements(agent), prior)
            proposals.append(Proposal(agent, tuple(reasons[agent.id]), waits_for))

    return tuple(sorted(proposals, key=lambda proposal: -proposal.score))


def _reasons_by_agent(
    request: AgentRequest,
    registry: AgentRegistry,
    prior: set[str],
) -> dict[str, list[MatchReason]]:
    reasons: dict[str, list[MatchReason]] = {}
    for agent in registry:
        matches = _matches(agent, request)
        if matches and agent.id not in prior:
            reasons[agent.id] = matches

    for name in list(reasons):
        requirements = registry.requirements(registry.agents[name])
        for required in _not_run(requirements, prior):
            reason = MatchReason("required_by", name)
            reasons.setdefault(required, []).append(reason)

    return reasons


def _not_run(agents: tuple[str, ...], prior: set[str]) -> tuple[str, ...]:
    return tuple(name for name in agents if name not in prior)


def _matches(agent: ResearchAgent, request: AgentRequest) -> list[MatchReason]:
    """Return the reasons that lie in the request itself."""
    reasons = []
    if request.task_type in agent.task_types:
        reasons.append(MatchReason("task_type", request.task_type))

    words = words_in(request.user_query, agent.triggers)
    reasons += [MatchReason("trigger", word) for word in words]

    stage = request.context.stage
    if reasons and stage in agent.stages:
        reasons.append(MatchReason("stage", stage))

    return reasons


def topics_of(request: AgentRequest, registry: AgentRegistry) -> tuple[str, ...]:
    """Return the topics whose words occur in the question or its domain."""
    text = f"{request.user_query}\n{request.context.research_domain}"
    return topics_in(text, registry)


def topics_in(text: str, registry: AgentRegistry) -> tuple[str, ...]:
    """Return the topics whose words occur in a text."""
    topics = []
    for topic, words in registry.topics.items():
        if any(words_in(text, words)):
            topics.append(topic)
    return tuple(topics)


def words_in(text: str, words: Words) -> Iterator[str]:
    """Yield the words that occur in a text, each once.

    In Latin script only whole words count, elsewhere parts of words do.
    """
    spellings: dict[str, str] = {}
    for group in words.values():
        for word in group:
            spellings[plain(word)] = word

    folded = plain(text)
    for word in spellings.values():
        if _pattern(word).search(folded):
            yield word


@lru_cache(maxsize=2048)
def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word.

    Korean joins particles to its words, so a Korean word may stand anywhere.
    """
    escaped = re.escape(plain(word))
    if word.isascii():
        return re.compile(rf"(?<!\w){escaped}(?!\w)")
    return re.compile(escaped)

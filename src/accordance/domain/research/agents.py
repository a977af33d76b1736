"""Research agents as they are registered, looked up by any of their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.request import AgentRequest
from accordance.domain.research.names import plain
from accordance.errors import InvalidAgents, UnknownAgent

Level: TypeAlias = Literal["Full", "Enhanced", "Light"]
Tier: TypeAlias = Literal["HIGH", "MEDIUM", "LOW"]
TaskType: TypeAlias = Literal[
    "research_question", "theory", "literature", "methods", "quality", "publication"
]
Stage: TypeAlias = Literal["planning", "execution", "validation", "publication"]
Texts: TypeAlias = Mapping[str, str]  # by language
Words: TypeAlias = Mapping[str, tuple[str, ...]]  # by language

ANY_TOPIC: Final = "any"
CANDIDATES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "Full": 5,
        "Enhanced": 4,
        "Light": 3,
    }
)
"""How many candidates a level asks for."""


def language_of(request: AgentRequest) -> Literal["ko", "en"]:
    """Return the language a request wants, or else its own language."""
    preferences = request.user_preferences
    if preferences is not None and preferences.language is not None:
        return preferences.language
    return language_in(request.user_query)


def language_in(text: str) -> Literal["ko", "en"]:
    """Return Korean for a text with Hangul, English for any other."""
    has_hangul = any("가" <= char <= "힣" for char in text)
    return "ko" if has_hangul else "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchAgent:
    """A research agent: its purpose, what it needs and produces, and its floors."""

    id: str
    aliases: tuple[str, ...] = ()
    title: Texts
    about: Texts
    task_types: tuple[TaskType, ...]
    stages: tuple[Stage, ...]
    level: Level
    phases: tuple[int, ...]
    tier: Tier
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    parallel_with: tuple[str, ...] = ()
    triggers: Words = field(default_factory=dict)

    # The lowest T-score of a selection, by topic; "any" stands for every topic.
    floors: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Its id and its aliases."""
        return (self.id, *self.aliases)


class AgentRegistry:
    """Agents by id and alias, in the order of their file.

    Two agents never share a name.
    """

    def __init__(
        self,
        agents: Iterable[ResearchAgent],
        topics: Mapping[str, Words] | None = None,
    ) -> None:
        by_id: dict[str, ResearchAgent] = {}
        self._by_name: dict[str, ResearchAgent] = {}

        for agent in agents:
            by_id[agent.id] = agent
            for name in agent.names:
                self._add_name(name, agent)

        self.agents: Mapping[str, ResearchAgent] = MappingProxyType(by_id)
        self.topics: Mapping[str, Words] = MappingProxyType(dict(topics or {}))

    def _add_name(self, name: str, agent: ResearchAgent) -> None:
        owner = self._by_name.setdefault(plain(name), agent)
        if owner is not agent:
            raise InvalidAgents(
                f"{name!r} names both {owner.id} and {agent.id}; "
                "every name must belong to a single agent"
            )

    def get(self, name: str) -> ResearchAgent:
        """Return the agent of an id or alias, letter case aside.

        Raises UnknownAgent, with similar names.
        """
        agent = self._by_name.get(plain(name))
        if agent is None:
            raise UnknownAgent(name, self.names())
        return agent

    def find(self, name: object) -> ResearchAgent | None:
        """Return the agent of that name, if registered."""
        if not isinstance(name, str):
            return None
        return self._by_name.get(plain(name))

    def names(self) -> Iterator[str]:
        """Yield every id and alias."""
        for agent in self:
            yield from agent.names

    def offer(self, name: str) -> str:
        """Return what to expect in the place of an unknown name."""
        similar = UnknownAgent(name, self.names()).near
        if not similar:
            return "a registered agent"
        return f"a registered agent, perhaps {' or '.join(similar)}"

    def requirements(self, agent: ResearchAgent) -> tuple[str, ...]:
        """Return the ids of all agents it requires, nearest first.

        Directly or through others; names that are not registered are skipped.
        """
        required_ids: dict[str, None] = {}
        waiting = list(agent.requires)
        while waiting:
            required = self.find(waiting.pop(0))
            if required is not None and required.id not in required_ids:
                required_ids[required.id] = None
                waiting += required.requires
        return tuple(required_ids)

    def __iter__(self) -> Iterator[ResearchAgent]:
        return iter(self.agents.values())

    def __len__(self) -> int:
        return len(self.agents)

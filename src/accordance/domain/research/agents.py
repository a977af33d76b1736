"""Research agents as they are registered, and finding one by any of its names."""

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
    {"Full": 5, "Enhanced": 4, "Light": 3}
)
"""How many candidates a level asks for."""


def language_of(request: AgentRequest) -> Literal["ko", "en"]:
    """The language a request wants: as it says, else Korean where the question has Hangul, else English."""
    wanted = request.user_preferences.language if request.user_preferences else None
    return wanted or language_in(request.user_query)


def language_in(text: str) -> Literal["ko", "en"]:
    """Korean where a text has Hangul, else English."""
    return "ko" if any("가" <= char <= "힣" for char in text) else "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchAgent:
    """One research agent: what it is for, what it needs, what it gives, how far from the typical it may go."""

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
    floors: Mapping[str, float] = field(
        default_factory=dict
    )  # topic -> least T-score; "any" is every topic

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it answers to."""
        return (self.id, *self.aliases)


class AgentRegistry:
    """Agents by id and alias, in the order of their file. Two agents never share a name."""

    def __init__(
        self, agents: Iterable[ResearchAgent], topics: Mapping[str, Words] | None = None
    ) -> None:
        self.topics: Mapping[str, Words] = MappingProxyType(dict(topics or {}))
        self._by_name: dict[str, ResearchAgent] = {}
        found: dict[str, ResearchAgent] = {}
        for agent in agents:
            found[agent.id] = agent
            for name in agent.names:
                if self._by_name.setdefault(plain(name), agent) is not agent:
                    other = self._by_name[plain(name)].id
                    raise InvalidAgents(
                        f"{name!r} names both {other} and {agent.id}; a name belongs to one agent"
                    )
        self.agents: Mapping[str, ResearchAgent] = MappingProxyType(found)

    def get(self, name: str) -> ResearchAgent:
        """The agent of that id or alias, letter case aside. Raises UnknownAgent, with near matches."""
        found = self._by_name.get(plain(name))
        if found is None:
            raise UnknownAgent(name, (one for agent in self for one in agent.names))
        return found

    def find(self, name: object) -> ResearchAgent | None:
        """The agent of that name, if there is one."""
        return self._by_name.get(plain(name)) if isinstance(name, str) else None

    def offer(self, name: str) -> str:
        """What to say was expected where an unknown name stands."""
        near = UnknownAgent(name, (one for agent in self for one in agent.names)).near
        return (
            f"a registered agent, perhaps {' or '.join(near)}"
            if near
            else "a registered agent"
        )

    def requirements(self, agent: ResearchAgent) -> tuple[str, ...]:
        """The ids of all agents it requires, directly or through others; nearest first."""
        found: dict[str, None] = {}
        waiting = list(agent.requires)
        while waiting:
            required = self.find(waiting.pop(0))
            if required is not None and required.id not in found:
                found[required.id] = None
                waiting += required.requires
        return tuple(found)

    def __iter__(self) -> Iterator[ResearchAgent]:
        return iter(self.agents.values())

    def __len__(self) -> int:
        return len(self.agents)

"""Whether a registry of agents holds together. One function per question; errors forbid loading, warnings do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from accordance.contracts.phases import phase_completion
from accordance.domain.research.agents import ANY_TOPIC, AgentRegistry, ResearchAgent
from accordance.domain.research.names import plain
from accordance.errors import nearest

GIVEN: Final = frozenset(
    ("user_query", "research_domain", "stage", "constraints", "user_preferences")
)
"""What a request brings along: nobody has to produce it."""


@dataclass(frozen=True, slots=True)
class RegistryFault:
    """One fault of a registry, and the agent at fault."""

    kind: Literal["error", "warning"]
    code: str
    agent: str
    message: str

    def __str__(self) -> str:
        return f"{self.agent}: {self.message} [{self.code}]"


def lint(registry: AgentRegistry) -> tuple[RegistryFault, ...]:
    """Every fault, errors first."""
    found = [finding for question in QUESTIONS for finding in question(registry)]
    return tuple(sorted(found, key=lambda one: one.kind != "error"))


def ids_lead_somewhere(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """Requires and parallel_with name registered agents, and never the agent itself."""
    names = [name for agent in registry for name in agent.names]
    for agent in registry:
        for key, others in (
            ("requires", agent.requires),
            ("parallel_with", agent.parallel_with),
        ):
            for other in others:
                found = registry.find(other)
                if found is None:
                    near = nearest(other, names)
                    offer = f"; did you mean {' or '.join(near)}?" if near else ""
                    yield RegistryFault(
                        "error",
                        "dangling_id",
                        agent.id,
                        f"{key} names {other}, who does not exist{offer}",
                    )
                elif found is agent:
                    yield RegistryFault(
                        "error", "own_id", agent.id, f"{key} names the agent itself"
                    )


def requirements_have_no_cycle(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """No agent requires itself through others. Each cycle is named once, at its first agent."""
    told: set[str] = set()
    for agent in registry:
        if agent.id in told:
            continue
        cycle = _cycle_through(agent, registry)
        if cycle:
            told.update(cycle)
            yield RegistryFault(
                "error",
                "cycle",
                agent.id,
                f"requires itself: {' <- '.join([*cycle, agent.id])}",
            )


def _cycle_through(agent: ResearchAgent, registry: AgentRegistry) -> list[str]:
    """The shortest way from an agent along its requirements back to itself; direct ones are own_id's business."""
    ways = [[agent.id]]
    seen = {agent.id}
    while ways:
        way = ways.pop(0)
        for name in registry.agents[way[-1]].requires:
            required = registry.find(name)
            if required is agent and len(way) > 1:
                return way
            if required is not None and required.id not in seen:
                seen.add(required.id)
                ways.append([*way, required.id])
    return []


def parallel_pairs_are_independent(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """Agents that may run side by side do not require each other, and both say so."""
    for agent in registry:
        for name in agent.parallel_with:
            other = registry.find(name)
            if other is None or other is agent:
                continue
            if other.id in registry.requirements(
                agent
            ) or agent.id in registry.requirements(other):
                message = f"parallel_with names {other.id}, yet one of them requires the other"
                yield RegistryFault("error", "contradictory_pair", agent.id, message)
            elif all(registry.find(back) is not agent for back in other.parallel_with):
                yield RegistryFault(
                    "warning",
                    "one_sided_pair",
                    agent.id,
                    f"parallel_with names {other.id}, who does not name it back",
                )


def phases_fit_the_level(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """The phases contain what the level demands."""
    for agent in registry:
        missing = phase_completion(agent.level, agent.phases).missing
        if missing:
            listed = ", ".join(map(str, missing))
            yield RegistryFault(
                "error",
                "level_phases",
                agent.id,
                f"level {agent.level} demands the phases {listed} too",
            )


def floors_name_topics(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """Every floor is for a topic that the registry can recognise."""
    for agent in registry:
        for topic in agent.floors:
            if topic != ANY_TOPIC and topic not in registry.topics:
                known = ", ".join((ANY_TOPIC, *registry.topics))
                yield RegistryFault(
                    "error",
                    "unknown_topic",
                    agent.id,
                    f"floors names the topic {topic}; known: {known}",
                )


def inputs_come_from_somewhere(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """Every input is part of a request or an output of an agent it requires."""
    for agent in registry:
        made = {
            output
            for one in registry.requirements(agent)
            for output in registry.agents[one].outputs
        }
        for wanted in agent.inputs:
            if wanted not in GIVEN and wanted not in made:
                message = f"needs {wanted}, which neither a request nor an agent it requires gives"
                yield RegistryFault(
                    "warning", "input_without_source", agent.id, message
                )


def triggers_tell_agents_apart(registry: AgentRegistry) -> Iterator[RegistryFault]:
    """A trigger word names one agent."""
    owners: dict[str, str] = {}
    for agent in registry:
        for word in {
            plain(word): None for words in agent.triggers.values() for word in words
        }:
            owner = owners.setdefault(word, agent.id)
            if owner != agent.id:
                yield RegistryFault(
                    "warning",
                    "shared_trigger",
                    agent.id,
                    f"the trigger {word!r} belongs to {owner} too",
                )


QUESTIONS: Final[tuple[Callable[[AgentRegistry], Iterator[RegistryFault]], ...]] = (
    ids_lead_somewhere,
    requirements_have_no_cycle,
    parallel_pairs_are_independent,
    phases_fit_the_level,
    floors_name_topics,
    inputs_come_from_somewhere,
    triggers_tell_agents_apart,
)

"""Whether a registry of agents is consistent: a function for each question.

Errors forbid loading the registry, warnings do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from accordance.contracts.phases import phase_completion
from accordance.domain.research.agents import ANY_TOPIC, AgentRegistry, ResearchAgent
from accordance.domain.research.names import plain
from accordance.errors import nearest

REQUEST_FIELDS: Final = frozenset(
    ("user_query", "research_domain", "stage", "constraints", "user_preferences")
)
"""Inputs that come with every request, so that no agent has to produce them."""


@dataclass(frozen=True, slots=True)
class RegistryFault:
    """A fault of a registry, and the agent at fault."""

    kind: Literal["error", "warning"]
    code: str
    agent: str
    message: str

    def __str__(self) -> str:
        return f"{self.agent}: {self.message} [{self.code}]"


Faults: TypeAlias = Iterator[RegistryFault]


def lint(registry: AgentRegistry) -> tuple[RegistryFault, ...]:
    """Return every fault, errors first."""
    faults: list[RegistryFault] = []
    for question in QUESTIONS:
        faults += question(registry)
    return tuple(sorted(faults, key=lambda fault: fault.kind != "error"))


def ids_lead_somewhere(registry: AgentRegistry) -> Faults:
    """Requires and parallel_with name registered agents, never the agent itself."""
    for agent in registry:
        for name in agent.requires:
            yield from _reference_faults(agent, "requires", name, registry)
        for name in agent.parallel_with:
            yield from _reference_faults(agent, "parallel_with", name, registry)


def _reference_faults(
    agent: ResearchAgent,
    key: str,
    name: str,
    registry: AgentRegistry,
) -> Faults:
    other = registry.find(name)
    if other is None:
        message = f"{key} names {name}, which is not registered"
        similar = nearest(name, list(registry.names()))
        if similar:
            message += f"; did you mean {' or '.join(similar)}?"
        yield RegistryFault(
            kind="error",
            code="dangling_id",
            agent=agent.id,
            message=message,
        )
    elif other is agent:
        message = f"{key} names the agent itself"
        yield RegistryFault(
            kind="error",
            code="own_id",
            agent=agent.id,
            message=message,
        )


def requirements_have_no_cycle(registry: AgentRegistry) -> Faults:
    """No agent requires itself through others.

    Each cycle is reported once, at its first agent.
    """
    reported: set[str] = set()
    for agent in registry:
        if agent.id in reported:
            continue
        cycle = _cycle_through(agent, registry)
        if cycle:
            reported.update(cycle)
            path = " <- ".join([*cycle, agent.id])
            message = f"requires itself: {path}"
            yield RegistryFault(
                kind="error",
                code="cycle",
                agent=agent.id,
                message=message,
            )


def _cycle_through(agent: ResearchAgent, registry: AgentRegistry) -> list[str]:
    """Return the shortest path along the requirements back to an agent, if any.

    An agent that requires itself directly is the business of `ids_lead_somewhere`.
    """
    paths = [[agent.id]]
    seen = {agent.id}
    while paths:
        path = paths.pop(0)
        for name in registry.agents[path[-1]].requires:
            required = registry.find(name)
            if required is agent and len(path) > 1:
                return path
            if required is not None and required.id not in seen:
                seen.add(required.id)
                paths.append([*path, required.id])
    return []


def parallel_pairs_are_independent(registry: AgentRegistry) -> Faults:
    """Agents that may work side by side do not require each other, and both say so."""
    for agent in registry:
        for name in agent.parallel_with:
            other = registry.find(name)
            if other is not None and other is not agent:
                yield from _pair_faults(agent, other, registry)


def _pair_faults(
    agent: ResearchAgent,
    other: ResearchAgent,
    registry: AgentRegistry,
) -> Faults:
    requires_other = other.id in registry.requirements(agent)
    required_by_other = agent.id in registry.requirements(other)
    if requires_other or required_by_other:
        message = (
            f"parallel_with names {other.id}, but `requires` puts them in sequence"
        )
        yield RegistryFault(
            kind="error",
            code="contradictory_pair",
            agent=agent.id,
            message=message,
        )
        return

    partners = [registry.find(name) for name in other.parallel_with]
    if agent not in partners:
        message = f"parallel_with names {other.id}, which does not name it in return"
        yield RegistryFault(
            kind="warning",
            code="one_sided_pair",
            agent=agent.id,
            message=message,
        )


def phases_fit_the_level(registry: AgentRegistry) -> Faults:
    """The phases contain those that the level demands."""
    for agent in registry:
        missing = phase_completion(agent.level, agent.phases).missing
        if missing:
            phases = ", ".join(map(str, missing))
            message = f"level {agent.level} also demands the phases {phases}"
            yield RegistryFault(
                kind="error",
                code="level_phases",
                agent=agent.id,
                message=message,
            )


def floors_name_topics(registry: AgentRegistry) -> Faults:
    """Every floor is for a topic that the registry can recognise."""
    topics = (ANY_TOPIC, *registry.topics)
    for agent in registry:
        for topic in agent.floors:
            if topic not in topics:
                known = ", ".join(topics)
                message = f"floors names the topic {topic}; known: {known}"
                yield RegistryFault(
                    kind="error",
                    code="unknown_topic",
                    agent=agent.id,
                    message=message,
                )


def inputs_come_from_somewhere(registry: AgentRegistry) -> Faults:
    """Every input is part of a request or an output of an agent it requires."""
    for agent in registry:
        available = set(REQUEST_FIELDS)
        for required in registry.requirements(agent):
            available.update(registry.agents[required].outputs)

        for name in agent.inputs:
            if name not in available:
                source = "neither a request nor an agent it requires"
                message = f"needs {name}, which {source} provides"
                yield RegistryFault(
                    kind="warning",
                    code="input_without_source",
                    agent=agent.id,
                    message=message,
                )


def triggers_tell_agents_apart(registry: AgentRegistry) -> Faults:
    """A trigger word belongs to a single agent."""
    owners: dict[str, str] = {}
    for agent in registry:
        for word in _trigger_words(agent):
            owner = owners.setdefault(word, agent.id)
            if owner != agent.id:
                message = f"the trigger {word!r} already belongs to {owner}"
                yield RegistryFault(
                    kind="warning",
                    code="shared_trigger",
                    agent=agent.id,
                    message=message,
                )


def _trigger_words(agent: ResearchAgent) -> list[str]:
    """Return the triggers of an agent in plain form, each once."""
    words: dict[str, None] = {}
    for group in agent.triggers.values():
        for word in group:
            words[plain(word)] = None
    return list(words)


QUESTIONS: Final[tuple[Callable[[AgentRegistry], Faults], ...]] = (
    ids_lead_somewhere,
    requirements_have_no_cycle,
    parallel_pairs_are_independent,
    phases_fit_the_level,
    floors_name_topics,
    inputs_come_from_somewhere,
    triggers_tell_agents_apart,
)

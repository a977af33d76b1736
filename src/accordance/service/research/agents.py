"""Agents: which there are, whether they are consistent, which of them fit a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from accordance.contracts.catalogue.request import AgentRequest
from accordance.domain.research.agents import AgentRegistry, ResearchAgent
from accordance.domain.research.agents_file import parse_agents
from accordance.domain.research.lint import RegistryFault, lint
from accordance.domain.research.prompts import build_prompt
from accordance.domain.research.routing import Proposal, route
from accordance.rendering.words import Language
from accordance.service.research.inputs import report_language
from accordance.shipped import AGENTS, shipped

__all__ = [
    "AgentPrompt",
    "LintReport",
    "Proposal",
    "Proposals",
    "ResearchAgent",
    "lint_agents",
    "list_agents",
    "prompt_agent",
    "propose_agents",
]


@dataclass(frozen=True, slots=True)
class LintReport:
    """The faults of a registry."""

    agents: int
    faults: tuple[RegistryFault, ...]

    @property
    def has_errors(self) -> bool:
        """Whether a fault forbids loading the registry."""
        return any(fault.kind == "error" for fault in self.faults)


@dataclass(frozen=True, slots=True)
class Proposals:
    """The agents for a request, the best first, and the language to present them in."""

    proposals: tuple[Proposal, ...]
    language: Language


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """The prompt of an agent."""

    agent_id: str
    prompt: str


def list_agents(
    registry: AgentRegistry, name: str | None = None
) -> tuple[ResearchAgent, ...]:
    """Return all agents, or the agent of that name. Raises UnknownAgent."""
    if name is None:
        return tuple(registry)
    return (registry.get(name),)


def lint_agents(text: str | None = None) -> LintReport:
    """Look for faults in an agents file, or in the file that comes with accordance.

    Raises InvalidAgents if it cannot be read at all.
    """
    registry = parse_agents(shipped(AGENTS) if text is None else text)
    return LintReport(len(registry), lint(registry))


def propose_agents(
    request: AgentRequest,
    registry: AgentRegistry,
    language: Language | None = None,
) -> Proposals:
    """Propose agents for a request. Raises UnknownAgent for unknown prior agents."""
    spoken = report_language(language, request, request.user_query)
    return Proposals(route(request, registry), spoken)


def prompt_agent(
    name: str,
    request: AgentRequest,
    registry: AgentRegistry,
    language: Literal["ko", "en"] | None = None,
) -> AgentPrompt:
    """Write the prompt that makes an agent answer a request as the contract demands.

    Raises UnknownAgent and ContextTooLarge.
    """
    agent = registry.get(name)
    prompt = build_prompt(agent, request, registry, language)
    return AgentPrompt(agent.id, prompt)

"""What the tests about research agents share: the registry that comes along, a small one, and whole messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from accordance import Accepted, check
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.request import AgentRequest
from accordance.domain.research.agents import AgentRegistry, ResearchAgent
from accordance.domain.research.agents_file import read_agents
from accordance.shipped import AGENTS, shipped
from tests.messages import Message

EXAMPLES = Path(__file__).parents[2] / "examples" / "research"
REGISTRY = read_agents(shipped(AGENTS))


def example(name: str) -> Message:
    """A message of examples/research."""
    found: Message = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def typed(message: Message, contract: str) -> Any:
    """A message that its contract accepts, typed."""
    result = check(json.dumps(message), contract)
    assert isinstance(result, Accepted), result
    return result.value


def request(**changes: Any) -> AgentRequest:
    """The example's request, changed at the top."""
    found: AgentRequest = typed({**example("request"), **changes}, "request")
    return found


def answer(**changes: Any) -> AgentAnswer:
    """The example's first answer, changed at the top."""
    found: AgentAnswer = typed({**example("answer-1"), **changes}, "answer")
    return found


def handoff(sender: str, receiver: str, **changes: Any) -> Handoff:
    """A handoff between two agents."""
    message = {
        **example("handoff-1"),
        "from_agent": sender,
        "to_agent": receiver,
        **changes,
    }
    found: Handoff = typed(message, "handoff")
    return found


def agent(name: str, **more: Any) -> ResearchAgent:
    """A Light agent about which nothing matters but what is said."""
    fields: dict[str, Any] = {
        "id": name,
        "title": {"ko": name, "en": name},
        "about": {"ko": name, "en": name},
        "task_types": ("theory",),
        "stages": ("planning",),
        "level": "Light",
        "phases": (1, 4),
        "tier": "LOW",
    }
    return ResearchAgent(**{**fields, **more})


def registry(
    *agents: ResearchAgent, **topics: dict[str, tuple[str, ...]]
) -> AgentRegistry:
    """A registry of these."""
    return AgentRegistry(agents, topics)

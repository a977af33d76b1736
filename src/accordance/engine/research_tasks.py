"""Tasks of a plan that research agents answer: whom the task asks, what the answer is held to, how it is to be found.

The agent is the task's owner, where the registry knows it; else any agent of the registry may answer. The floor of the
selection follows from the words of plan and task, as it does from those of a request.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from accordance.contracts.catalogue.answer import ANSWER, AgentAnswer
from accordance.contracts.contract import Contract
from accordance.domain.records import TaskRecord
from accordance.domain.research.agents import AgentRegistry, language_in
from accordance.domain.research.agents_file import parse_agents
from accordance.domain.research.answers import Asked, rules_for
from accordance.domain.research.prompts import instructions
from accordance.store.ledger import Transaction


def answers_of(tx: Transaction, task: TaskRecord, agents: str) -> Contract[AgentAnswer]:
    """The contract of a task's answer; `agents` is the hash of the registry. Raises NotFound, InvalidAgents."""
    return _answers(tx.blob(agents).decode(), task.owner_agent_id, _words(tx, task))


def how_to_answer(tx: Transaction, task: TaskRecord, agents: str) -> dict[str, Any]:
    """Who answers a task and how, as plain JSON."""
    words = _words(tx, task)
    asked = _asked(tx.blob(agents).decode(), task.owner_agent_id, words)
    agent = asked.registry.find(asked.agent)
    if agent is not None:
        told = instructions(agent, task.task_id, asked.floor(agent), language_in(words))
        return {"agent_id": agent.id, "instructions": told}
    levels = "\n".join(f"- {one.id}: {one.level}, {one.about['en']}" for one in asked.registry)
    return {
        "agent_id": None,
        "instructions": f"Answer as the one of these agents whom the task suits best, on its level:\n{levels}",
    }


def _words(tx: Transaction, task: TaskRecord) -> str:
    """What was asked. A plan that has begun never changes it."""
    return "\n".join((tx.plan(task.plan_id).title, task.title, task.goal_statement or ""))


@lru_cache(maxsize=64)
def _answers(agents: str, owner: str, words: str) -> Contract[AgentAnswer]:
    return ANSWER.with_rules(*rules_for(_asked(agents, owner, words)))


def _asked(agents: str, owner: str, words: str) -> Asked:
    registry = _registry(agents)
    agent = registry.find(owner)
    return Asked(registry=registry, words=words, agent=agent.id if agent else None)


@lru_cache(maxsize=4)
def _registry(agents: str) -> AgentRegistry:
    return parse_agents(agents)

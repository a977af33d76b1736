"""Tasks that research agents answer: who answers, under which contract, and how.

The agent is the task's owner if the registry knows it; otherwise any agent of the
registry may answer. A task made from a handoff has a brief: the request with its
novelty dial, budgets and quality level, and the answers handed over. Without a brief
the floor of the selection follows from the words of plan and task, as it does for a
request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.catalogue.request import RequestConstraints
from accordance.contracts.contract import Contract
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Violation
from accordance.domain.records import TaskRecord
from accordance.domain.research.agents import AgentRegistry, language_in, language_of
from accordance.domain.research.agents_file import parse_agents
from accordance.domain.research.answers import (
    ANSWER_TO_A_REQUEST,
    AnswerExpectations,
    rules_for,
)
from accordance.domain.research.briefs import KEY, VERSION, Brief, read_briefs
from accordance.domain.research.prompts import instructions
from accordance.store.ledger import Transaction
from accordance.work.plan_documents import DOCUMENT_LIMITS, DocumentReader

_NO_BUDGETS: Final = RequestConstraints()


def brief_of(tx: Transaction, task: TaskRecord) -> Brief | None:
    """Return the brief of a task made from a handoff; None for other tasks."""
    briefs = _BRIEFS.value(tx, tx.plan(task.plan_id))
    return briefs.get(task.task_id)


def budgets_of(tx: Transaction, task: TaskRecord) -> RequestConstraints:
    """Return what a task may cost, according to the request it serves."""
    brief = brief_of(tx, task)
    if brief is None:
        return _NO_BUDGETS
    return brief.request.constraints or _NO_BUDGETS


def check_briefs(plan: Plan) -> Iterator[Violation]:
    """Yield the violations of a plan's briefs, each at its place in the plan."""
    briefs = read_briefs(plan.plan.constraints)
    if not isinstance(briefs, tuple):
        return

    for violation in briefs:
        below = violation.path.removeprefix("$")
        path = f"$.plan.constraints.{KEY}{below}"
        yield Violation(violation.code, path, violation.expected, violation.actual)


def _read(document: bytes) -> Mapping[str, Brief]:
    if VERSION.encode() not in document:
        return {}

    plan: dict[str, Any] = parse_object(document, DOCUMENT_LIMITS)
    briefs = read_briefs(plan["plan"]["constraints"])
    if isinstance(briefs, tuple):
        return {}  # its violations were reported when the plan was imported
    return briefs


_BRIEFS: Final = DocumentReader(_read)


def answers_of(tx: Transaction, task: TaskRecord, agents: str) -> Contract[AgentAnswer]:
    """Return the contract of a task's answer; `agents` is the hash of the registry.

    Raises NotFound, InvalidAgents.
    """
    registry = tx.blob(agents).decode()
    brief = brief_of(tx, task)
    if brief is None:
        return _contract_for(registry, task.owner_agent_id, _words(tx, task))

    expectations = _expectations(registry, task.owner_agent_id, brief=brief)
    return ANSWER_TO_A_REQUEST.with_rules(*rules_for(expectations))


def how_to_answer(tx: Transaction, task: TaskRecord, agents: str) -> dict[str, Any]:
    """Return who answers a task and how, as plain JSON."""
    words = _words(tx, task)
    brief = brief_of(tx, task)
    registry = tx.blob(agents).decode()
    expectations = _expectations(registry, task.owner_agent_id, words, brief)

    agent = expectations.registry.find(expectations.agent)
    if agent is None:
        text = _choice_of_agents(expectations.registry)
        return {"agent_id": None, "instructions": text}

    request = brief.request if brief else None
    language = language_of(request) if request else language_in(words)
    floor = expectations.floor(agent)
    text = instructions(agent, task.task_id, floor, language, request)
    return {"agent_id": agent.id, "instructions": text}


def _choice_of_agents(registry: AgentRegistry) -> str:
    lines = [f"- {agent.id}: {agent.level}, {agent.about['en']}" for agent in registry]
    levels = "\n".join(lines)
    return (
        "Answer as the agent of this list whom the task suits best, on its level:\n"
        f"{levels}"
    )


def _words(tx: Transaction, task: TaskRecord) -> str:
    """The words of the question. They are fixed once the plan has begun."""
    plan = tx.plan(task.plan_id)
    return "\n".join((plan.title, task.title, task.goal_statement or ""))


@lru_cache(maxsize=64)
def _contract_for(registry: str, owner: str, words: str) -> Contract[AgentAnswer]:
    expectations = _expectations(registry, owner, words)
    return ANSWER_TO_A_REQUEST.with_rules(*rules_for(expectations))


def _expectations(
    agents: str, owner: str, words: str = "", brief: Brief | None = None
) -> AnswerExpectations:
    registry = _registry(agents)
    agent = registry.find(owner)
    return AnswerExpectations(
        registry=registry,
        request=brief.request if brief else None,
        words=words,
        agent=agent.id if agent else None,
    )


@lru_cache(maxsize=4)
def _registry(agents: str) -> AgentRegistry:
    return parse_agents(agents)

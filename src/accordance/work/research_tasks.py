"""Tasks of a plan that research agents answer: whom the task asks, what the answer is held to, how it is to be found.

The agent is the task's owner, where the registry knows it; else any agent of the registry may answer. A task made from a
handoff has a brief: the request with its novelty dial, budgets and quality level, and the answers handed over. Without a brief
the floor of the selection follows from the words of plan and task, as it does from those of a request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.catalogue.request import RequestConstraints
from accordance.contracts.contract import Contract
from accordance.contracts.limits import Limits
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

_LIMITS: Final = Limits(
    max_bytes=1 << 30
)  # our own copy of a plan: it was checked when it came
_KNOWN: Final[
    dict[str, Mapping[str, Brief]]
] = {}  # a plan's document never changes, so it is read once
_NO_BUDGETS: Final = RequestConstraints()


def brief_of(tx: Transaction, task: TaskRecord) -> Brief | None:
    """What a task that was made from a handoff knows; None for other tasks."""
    document = tx.plan(task.plan_id).document
    found = _KNOWN.get(document)
    if found is None:
        _KNOWN[document] = found = _read(tx.blob(document))
    return found.get(task.task_id)


def budgets_of(tx: Transaction, task: TaskRecord) -> RequestConstraints:
    """What a task may cost, as the request it serves says."""
    brief = brief_of(tx, task)
    return (brief.request.constraints if brief else None) or _NO_BUDGETS


def check_briefs(plan: Plan) -> Iterator[Violation]:
    """Briefs that cannot be read, each fault at its place in the plan."""
    found = read_briefs(plan.plan.constraints)
    for fault in found if isinstance(found, tuple) else ():
        where = f"$.plan.constraints.{KEY}{fault.path.removeprefix('$')}"
        yield Violation(fault.code, where, fault.expected, fault.actual)


def _read(document: bytes) -> Mapping[str, Brief]:
    if VERSION.encode() not in document:
        return {}
    plan: dict[str, Any] = parse_object(document, _LIMITS)
    found = read_briefs(plan["plan"]["constraints"])
    return (
        {} if isinstance(found, tuple) else found
    )  # faults were told when the plan came


def answers_of(tx: Transaction, task: TaskRecord, agents: str) -> Contract[AgentAnswer]:
    """The contract of a task's answer; `agents` is the hash of the registry. Raises NotFound, InvalidAgents."""
    registry = tx.blob(agents).decode()
    brief = brief_of(tx, task)
    if brief is not None:
        return ANSWER_TO_A_REQUEST.with_rules(
            *rules_for(_asked(registry, task.owner_agent_id, brief=brief))
        )
    return _answers(registry, task.owner_agent_id, _words(tx, task))


def how_to_answer(tx: Transaction, task: TaskRecord, agents: str) -> dict[str, Any]:
    """Who answers a task and how, as plain JSON."""
    words = _words(tx, task)
    brief = brief_of(tx, task)
    request = brief.request if brief else None
    asked = _asked(tx.blob(agents).decode(), task.owner_agent_id, words, brief)
    agent = asked.registry.find(asked.agent)
    if agent is not None:
        language = language_of(request) if request else language_in(words)
        told = instructions(agent, task.task_id, asked.floor(agent), language, request)
        return {"agent_id": agent.id, "instructions": told}
    levels = "\n".join(
        f"- {one.id}: {one.level}, {one.about['en']}" for one in asked.registry
    )
    return {
        "agent_id": None,
        "instructions": f"Answer as the one of these agents whom the task suits best, on its level:\n{levels}",
    }


def _words(tx: Transaction, task: TaskRecord) -> str:
    """What was asked. A plan that has begun never changes it."""
    return "\n".join(
        (tx.plan(task.plan_id).title, task.title, task.goal_statement or "")
    )


@lru_cache(maxsize=64)
def _answers(agents: str, owner: str, words: str) -> Contract[AgentAnswer]:
    return ANSWER_TO_A_REQUEST.with_rules(*rules_for(_asked(agents, owner, words)))


def _asked(
    agents: str, owner: str, words: str = "", brief: Brief | None = None
) -> AnswerExpectations:
    registry = _registry(agents)
    agent = registry.find(owner)
    request = brief.request if brief else None
    return AnswerExpectations(
        registry=registry,
        request=request,
        words=words,
        agent=agent.id if agent else None,
    )


@lru_cache(maxsize=4)
def _registry(agents: str) -> AgentRegistry:
    return parse_agents(agents)

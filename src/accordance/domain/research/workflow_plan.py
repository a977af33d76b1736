"""A workflow as a plan: a task for each agent that has not answered yet.

The goal of a task says what was decided before it. Agents that a sender hands over
to in sequence work in turn, those it hands over to in parallel work side by
side. A conditional handoff without a condition waits for a person to confirm it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.domain.research.agents import AgentRegistry, language_of
from accordance.domain.research.briefs import KEY, VERSION, with_budgets
from accordance.domain.research.workflow import Workflow

OWNER: Final = "research"
_NAMESPACE: Final = uuid.UUID("0e1d43f1-52c1-5f0c-9f2e-6a1f6a3b7c11")
"""Our own namespace for derived ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverWords:
    """The words in which a task's goal repeats what was handed over."""

    decisions: str
    constraints: str
    context: str
    dial: str
    confirm: str


HANDOVER_WORDS: Final[Mapping[str, HandoverWords]] = MappingProxyType(
    {
        "ko": HandoverWords(
            decisions="이미 결정된 것",
            constraints="지켜야 할 제약",
            context="학문 분야: {domain}, 단계: {stage}",
            dial="새로움 다이얼: {dial:g} (0 안전, 1 혁신)",
            confirm="{sender}에서 {receiver}(으)로 넘긴다",
        ),
        "en": HandoverWords(
            decisions="Decided already",
            constraints="Constraints to keep",
            context="Research domain: {domain}, stage: {stage}",
            dial="Novelty dial: {dial:g} (0 safe, 1 innovative)",
            confirm="hand over from {sender} to {receiver}",
        ),
    }
)


def plan_of(
    workflow: Workflow,
    registry: AgentRegistry,
    created_at: str,
    title: str | None = None,
) -> JsonObject:
    """Return the workflow as `plan_json_v1`.

    The same handoffs give the same ids, so that a plan can be made again.
    """
    request = workflow.request
    plan_title = title or request.user_query

    plan_id = _plan_id(workflow)
    root = _derived_id(plan_id, "root")
    task_ids = {agent: _derived_id(plan_id, agent) for agent in workflow.open_agents}

    goal = _node(plan_id, root, "GOAL", plan_title, OWNER)
    goal["goal_statement"] = request.user_query
    actions = _action_nodes(plan_id, task_ids, workflow, registry)

    return {
        "schema_version": "plan_json_v1",
        "plan": {
            "plan_id": plan_id,
            "title": plan_title,
            "root_task_id": root,
            "created_at": created_at,
            "owner_agent_id": OWNER,
            "constraints": _plan_constraints(task_ids, workflow),
        },
        "nodes": [goal, *actions],
        "edges": _edges(plan_id, root, task_ids, workflow),
        "requirements": list(_confirmations(plan_id, task_ids, workflow)),
    }


def _plan_id(workflow: Workflow) -> str:
    parts = [workflow.request.task_id]
    for step in workflow.steps:
        sender, receiver, _ = step.passing
        parts.append(f"{sender}>{receiver} {step.handoff.handoff_type}")
    return _derived_id(*parts, *workflow.open_agents)


def _derived_id(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\n".join(parts)))


# -- the head


def _plan_constraints(task_ids: Mapping[str, str], workflow: Workflow) -> JsonObject:
    inherited = {}
    briefs = {}
    for agent, task_id in task_ids.items():
        inherited[agent] = list(workflow.constraints[agent])
        briefs[task_id] = _brief(agent, workflow)

    return {
        "inherited": inherited,
        KEY: {"schema_version": VERSION, "tasks": briefs},
    }


def _brief(agent: str, workflow: Workflow) -> JsonObject:
    """Return an agent's request, and the answers that it builds on.

    Only answers that were given already: those of other tasks reach it by the plan.
    """
    answers = {}
    for step in workflow.steps_to(agent):
        sender = step.passing.sender
        if sender in workflow.answers:
            answers[sender] = workflow.answers[sender]

    request = with_budgets(workflow.request, workflow.constraints[agent])
    return {"request": dump(request), "answers": answers}


# -- nodes


def _action_nodes(
    plan_id: str,
    task_ids: Mapping[str, str],
    workflow: Workflow,
    registry: AgentRegistry,
) -> list[JsonObject]:
    language = language_of(workflow.request)
    words = HANDOVER_WORDS[language]

    nodes = []
    for agent, task_id in task_ids.items():
        title = registry.agents[agent].title[language]
        node = _node(plan_id, task_id, "ACTION", title, agent)
        node["goal_statement"] = _goal_statement(agent, workflow, words)
        node["rationale"] = _open_questions(agent, workflow)
        nodes.append(node)
    return nodes


def _node(plan_id: str, task_id: str, kind: str, title: str, owner: str) -> JsonObject:
    return {
        "task_id": task_id,
        "plan_id": plan_id,
        "node_type": kind,
        "title": title,
        "owner_agent_id": owner,
        "priority": 0,
        "tags": ["research"],
    }


def _goal_statement(agent: str, workflow: Workflow, words: HandoverWords) -> str:
    """Put into words what the handoffs tell an agent.

    It goes into the goal because every executor reads that, whatever it is.
    """
    request = workflow.request
    transfers = [step.handoff.context_transfer for step in workflow.steps_to(agent)]
    lines = [transfer.summary for transfer in transfers]

    decisions: list[object] = []
    for transfer in transfers:
        decisions += transfer.key_decisions
    lines += _listed(words.decisions, _texts(decisions))
    lines += _listed(words.constraints, _texts(workflow.constraints[agent]))

    domain, stage = request.context.research_domain, request.context.stage
    lines.append(words.context.format(domain=domain, stage=stage))

    preferences = request.user_preferences
    if preferences is not None and preferences.vs_novelty_dial is not None:
        lines.append(words.dial.format(dial=preferences.vs_novelty_dial))

    return "\n".join(lines)


def _open_questions(agent: str, workflow: Workflow) -> str | None:
    questions: list[object] = []
    for step in workflow.steps_to(agent):
        questions += step.handoff.context_transfer.open_questions
    return "\n".join(_texts(questions)) or None


def _texts(items: Iterable[object]) -> list[str]:
    """Return each item once, as text."""
    texts: dict[str, None] = {}
    for item in items:
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        texts[text] = None
    return list(texts)


def _listed(label: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    return [f"{label}:", *(f"- {line}" for line in lines)]


# -- edges and requirements


def _edges(
    plan_id: str,
    root: str,
    task_ids: Mapping[str, str],
    workflow: Workflow,
) -> list[JsonObject]:
    tasks = task_ids.values()
    edges = [_edge(plan_id, root, task_id, "DECOMPOSE") for task_id in tasks]
    for earlier, later in _orders(workflow):
        edge = _edge(plan_id, task_ids[earlier], task_ids[later], "DEPENDS_ON")
        edges.append(edge)
    return edges


def _edge(plan_id: str, source: str, target: str, kind: str) -> JsonObject:
    return {
        "edge_id": _derived_id(plan_id, kind, source, target),
        "plan_id": plan_id,
        "from_task_id": source,
        "to_task_id": target,
        "edge_type": kind,
        "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else None,
    }


def _orders(workflow: Workflow) -> tuple[tuple[str, str], ...]:
    """Return who works before whom among the open agents, each pair once."""
    open_agents = workflow.open_agents
    pairs: dict[tuple[str, str], None] = {}
    in_sequence: dict[str, set[str]] = {}

    for step in workflow.steps:
        sender, receiver, _ = step.passing
        pairs[sender, receiver] = None
        if step.handoff.handoff_type == "sequential":
            in_sequence.setdefault(sender, set()).add(receiver)

    for receivers in in_sequence.values():
        chain = [agent for agent in open_agents if agent in receivers]
        pairs.update(dict.fromkeys(pairwise(chain)))

    both_open = frozenset(open_agents).issuperset
    return tuple(pair for pair in pairs if both_open(pair))


def _confirmations(
    plan_id: str,
    task_ids: Mapping[str, str],
    workflow: Workflow,
) -> Iterator[JsonObject]:
    """Yield a question to a person for each conditional handoff without a condition."""
    words = HANDOVER_WORDS[language_of(workflow.request)]

    for sender, receiver in _unconditioned(workflow):
        if receiver not in task_ids:
            continue
        yield {
            "requirement_id": _derived_id(plan_id, "CONFIRMATION", sender, receiver),
            "task_id": task_ids[receiver],
            "name": words.confirm.format(sender=sender, receiver=receiver),
            "kind": "CONFIRMATION",
            "required": True,
            "min_count": 1,
            "allowed_types": [],
            "source": "USER",
        }


def _unconditioned(workflow: Workflow) -> Iterable[tuple[str, str]]:
    """Return sender and receiver of each such handoff, each pair once."""
    pairs: dict[tuple[str, str], None] = {}
    for step in workflow.steps:
        handoff = step.handoff
        if handoff.handoff_type == "conditional" and handoff.condition is None:
            pairs[step.passing.sender, step.passing.receiver] = None
    return pairs

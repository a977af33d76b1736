"""Accepted handoffs become a plan: a task for each agent that has not answered yet, told what was decided before it.

Agents that one sender hands to in sequence work one after the other, those it hands to in parallel side by side. A condition that
does not hold leaves its receiver out; a conditional handoff without a condition waits for a person's yes. Constraints are
carried along.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Notice, Violation, excerpt
from accordance.domain.research.agents import AgentRegistry, language_of
from accordance.domain.research.briefs import KEY, VERSION, with_budgets
from accordance.domain.research.chains import (
    ChainFault,
    Passing,
    chain_faults,
    in_order,
)
from accordance.domain.research.handoffs import Known, is_taken
from accordance.domain.research.names import plain

OWNER: Final = "research"
_IDS: Final = uuid.UUID(
    "0e1d43f1-52c1-5f0c-9f2e-6a1f6a3b7c11"
)  # our own namespace for derived ids
_QUALITY: Final = ("draft", "standard", "publication_ready")


@dataclass(frozen=True, slots=True)
class Workflow:
    """Handoffs that fit together, and those that were not taken."""

    request: AgentRequest
    taken: tuple[Handoff, ...]
    passings: tuple[Passing, ...]
    constraints: Mapping[str, tuple[object, ...]]  # by agent: everything it inherits
    notices: tuple[Notice, ...]
    answers: Mapping[str, JsonObject] = field(
        default_factory=dict
    )  # by agent: those given already

    @property
    def open_agents(self) -> tuple[str, ...]:
        """Who has still to answer, each after those who hand to them."""
        return tuple(
            agent for agent in in_order(self.passings) if agent not in self.answers
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverWords:
    """How a task is told what was handed over to it."""

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


def build_workflow(
    request: AgentRequest, handoffs: Sequence[Handoff], known: Known
) -> Workflow | tuple[Violation, ...]:
    """Put accepted handoffs together. Gives the violations if they do not fit: a path names the handoff at fault."""
    registry = known.registry
    places = [at for at, one in enumerate(handoffs) if is_taken(dump(one), known)]
    taken = tuple(handoffs[at] for at in places)
    passings = tuple(
        Passing(
            registry.get(one.from_agent).id,
            registry.get(one.to_agent).id,
            one.handoff_type == "parallel",
        )
        for one in taken
    )
    prior = [registry.get(name).id for name in request.prior_agents or ()]
    requires = {
        agent.id: [registry.get(name).id for name in agent.requires]
        for agent in registry
    }
    takes_part = {
        end for passing in passings for end in (passing.sender, passing.receiver)
    }
    answers = {
        agent: answer for agent, answer in known.answers.items() if agent in takes_part
    }
    faults = (
        *_blocked(taken, places),
        *_to_other_requests(answers, request, passings, places),
        *(
            _violation(fault, passings, places)
            for fault in chain_faults(passings, requires, prior)
        ),
    )
    if faults:
        return faults
    constraints, dropped = _inherited(request, taken, passings, places)
    notices = (*_skipped(handoffs, places), *dropped)
    workflow = Workflow(request, taken, passings, constraints, notices, answers)
    return tuple(_without_time(workflow, places)) or workflow


def _to_other_requests(
    answers: Mapping[str, JsonObject],
    request: AgentRequest,
    passings: Sequence[Passing],
    places: Sequence[int],
) -> Iterator[Violation]:
    """An answer that is taken for given answers this request; one without a task_id is vouched for by whoever gives it."""
    for agent, answer in answers.items():
        task_id = answer.get("task_id")
        if task_id not in (None, request.task_id):
            where = f"$[{_place_of(agent, passings, places)}]"
            expected = f"an answer of {agent} to {request.task_id}"
            yield Violation("wrong_task", where, expected, excerpt(task_id))


def _without_time(workflow: Workflow, places: Sequence[int]) -> Iterator[Violation]:
    """There is time for what is left to do."""
    for agent in workflow.open_agents:
        if {"time_budget": 0} in workflow.constraints[agent]:
            where = f"$[{_place_of(agent, workflow.passings, places)}].context_transfer.constraints_inherited"
            yield Violation(
                "out_of_range", where, f"a time_budget above 0 for {agent}", "0"
            )


def _place_of(agent: str, passings: Sequence[Passing], places: Sequence[int]) -> int:
    """The place of the first handoff an agent takes part in."""
    return next(
        at for at, passing in zip(places, passings, strict=True) if agent in passing[:2]
    )


def _blocked(taken: Sequence[Handoff], places: Sequence[int]) -> Iterator[Violation]:
    for at, one in zip(places, taken, strict=True):
        for check in one.blocked_by:
            where = f"$[{at}].validation.{check}"
            yield Violation(
                "handoff_refused", where, "true, before the work goes on", "false"
            )


def _skipped(handoffs: Sequence[Handoff], places: Sequence[int]) -> Iterator[Notice]:
    taken = set(places)
    for at, one in enumerate(handoffs):
        if at not in taken:
            told = f"{one.from_agent} -> {one.to_agent}: its condition does not hold"
            yield Notice("handoff_not_taken", f"$[{at}]", told)


def _violation(
    fault: ChainFault, passings: Sequence[Passing], places: Sequence[int]
) -> Violation:
    agent = fault.agent or fault.cycle[0]
    where = f"$[{_place_of(agent, passings, places)}]"
    match fault.code:
        case "cycle":
            return Violation(
                "cycle",
                where,
                "no way back to the same agent",
                " -> ".join(fault.cycle),
            )
        case "requires_missing":
            expected = f"{fault.other}, which {fault.agent} requires, among the handoffs or in prior_agents"
            return Violation("requires_missing", where, expected, "nothing")
        case "unordered":
            expected = f"a way from {fault.other} to {fault.agent}, which requires it"
            return Violation("unordered", where, expected, "none")
        case _:
            expected = f"{fault.agent} after {fault.other}, which it requires"
            return Violation("parallel_dependent", where, expected, "both in parallel")


def _inherited(
    request: AgentRequest,
    taken: Sequence[Handoff],
    passings: Sequence[Passing],
    places: Sequence[int],
) -> tuple[dict[str, tuple[object, ...]], list[Notice]]:
    """What each agent inherits: the request's constraints, and those of all handoffs on the ways to it."""
    asked = (
        [{key: value} for key, value in dump(request.constraints).items()]
        if request.constraints
        else []
    )
    incoming: dict[str, list[tuple[int, str]]] = {}
    for at, passing in enumerate(passings):
        incoming.setdefault(passing.receiver, []).append((at, passing.sender))
    inherited: dict[str, tuple[object, ...]] = {}
    notices: list[Notice] = []
    for agent in in_order(passings):
        found: list[object] = list(asked)
        for at, sender in incoming.get(agent, ()):
            said = taken[at].context_transfer.constraints_inherited
            notices += _dropped(places[at], inherited[sender], [*asked, *said])
            found += [*inherited[sender], *said]
        inherited[agent] = tuple(merged(found))
    return inherited, notices


def _dropped(
    at: int, carried: Sequence[object], said: Sequence[object]
) -> Iterator[Notice]:
    repeated = {_key(one) for one in said}
    for one in carried:
        if _key(one) not in repeated:
            where = f"$[{at}].context_transfer.constraints_inherited"
            yield Notice(
                "constraint_dropped",
                where,
                f"leaves out {json.dumps(one, ensure_ascii=False)}; carried on",
            )


def merged(constraints: Sequence[object]) -> list[object]:
    """Constraints without repetition; of two budgets the smaller, of two quality levels the higher."""
    found: dict[str, object] = {}
    for one in constraints:
        key = _key(one)
        found[key] = _tighter(found[key], one) if key in found else one
    return list(found.values())


def _key(constraint: object) -> str:
    """Two constraints with one key are about the same thing."""
    if isinstance(constraint, str):
        return f'"{plain(constraint)}'
    if (
        isinstance(constraint, dict)
        and len(constraint) == 1
        and (name := next(iter(constraint))) in _TIGHTER
    ):
        return f"\n{name}"
    return json.dumps(constraint, sort_keys=True, ensure_ascii=False)


def _tighter(one: object, other: object) -> object:
    if (
        isinstance(one, dict)
        and isinstance(other, dict)
        and (name := next(iter(one), "")) in _TIGHTER
    ):
        return min(
            (one, other), key=lambda constraint: _TIGHTER[name](constraint[name])
        )
    return one


def _amount(value: object) -> float:
    return (
        value
        if isinstance(value, int | float) and not isinstance(value, bool)
        else float("inf")
    )


def _rank(value: object) -> float:
    return -_QUALITY.index(value) if value in _QUALITY else 1


_TIGHTER: Final = {
    "time_budget": _amount,
    "context_budget": _amount,
    "quality_level": _rank,
}


def plan_of(
    workflow: Workflow,
    registry: AgentRegistry,
    created_at: str,
    title: str | None = None,
) -> JsonObject:
    """The workflow as `plan_json_v1`. The same handoffs give the same ids, so that a plan can be made again."""
    agents = workflow.open_agents
    steps = (
        f"{passing.sender}>{passing.receiver} {handoff.handoff_type}"
        for handoff, passing in zip(workflow.taken, workflow.passings, strict=True)
    )
    plan_id = _derived(workflow.request.task_id, *steps, *agents)
    root = _derived(plan_id, "root")
    task_ids = {agent: _derived(plan_id, agent) for agent in agents}
    head = {
        "plan_id": plan_id,
        "title": title or workflow.request.user_query,
        "root_task_id": root,
        "created_at": created_at,
        "owner_agent_id": OWNER,
        "constraints": {
            "inherited": {agent: list(workflow.constraints[agent]) for agent in agents},
            KEY: {
                "schema_version": VERSION,
                "tasks": {task_ids[agent]: _brief(agent, workflow) for agent in agents},
            },
        },
    }
    language = language_of(workflow.request)
    goal = _node(plan_id, root, "GOAL", str(head["title"]), OWNER) | {
        "goal_statement": workflow.request.user_query
    }
    nodes = [goal] + [
        _node(
            plan_id,
            task_ids[agent],
            "ACTION",
            registry.agents[agent].title[language],
            agent,
        )
        | _briefing(agent, workflow, HANDOVER_WORDS[language])
        for agent in agents
    ]
    edges = [_edge(plan_id, root, task_ids[agent], "DECOMPOSE") for agent in agents]
    for earlier, later in _orders(workflow):
        edges.append(_edge(plan_id, task_ids[earlier], task_ids[later], "DEPENDS_ON"))
    return {
        "schema_version": "plan_json_v1",
        "plan": head,
        "nodes": nodes,
        "edges": edges,
        "requirements": list(_confirmations(plan_id, task_ids, workflow)),
    }


def _orders(workflow: Workflow) -> tuple[tuple[str, str], ...]:
    """Who works before whom, among those who have still to answer: each pair once."""
    agents = workflow.open_agents
    found = {(one.sender, one.receiver): None for one in workflow.passings}
    in_sequence: dict[str, set[str]] = {}
    for handoff, passing in zip(workflow.taken, workflow.passings, strict=True):
        if handoff.handoff_type == "sequential":
            in_sequence.setdefault(passing.sender, set()).add(passing.receiver)
    for receivers in in_sequence.values():
        chain = [agent for agent in agents if agent in receivers]
        found.update(dict.fromkeys(pairwise(chain)))
    still_open = frozenset(agents)
    return tuple(pair for pair in found if still_open.issuperset(pair))


def _confirmations(
    plan_id: str, task_ids: Mapping[str, str], workflow: Workflow
) -> Iterator[JsonObject]:
    """Conditional handoffs that name no condition: a person says whether they are taken."""
    asked = {
        (passing.sender, passing.receiver): None
        for handoff, passing in zip(workflow.taken, workflow.passings, strict=True)
        if handoff.handoff_type == "conditional"
        and handoff.condition is None
        and passing.receiver in task_ids
    }
    words = HANDOVER_WORDS[language_of(workflow.request)]
    for sender, receiver in asked:
        yield {
            "requirement_id": _derived(plan_id, "CONFIRMATION", sender, receiver),
            "task_id": task_ids[receiver],
            "name": words.confirm.format(sender=sender, receiver=receiver),
            "kind": "CONFIRMATION",
            "required": True,
            "min_count": 1,
            "allowed_types": [],
            "source": "USER",
        }


def _brief(agent: str, workflow: Workflow) -> JsonObject:
    """What the task of an agent is held to, and the answers it builds on that are no tasks of the plan."""
    senders = [one.sender for one in workflow.passings if one.receiver == agent]
    return {
        "request": dump(with_budgets(workflow.request, workflow.constraints[agent])),
        "answers": {
            sender: workflow.answers[sender]
            for sender in senders
            if sender in workflow.answers
        },
    }


def _briefing(agent: str, workflow: Workflow, words: HandoverWords) -> JsonObject:
    """What the handoffs to an agent tell it, in words: a goal is read by everybody, whatever does the task."""
    told = [
        handoff.context_transfer
        for handoff, passing in zip(workflow.taken, workflow.passings, strict=True)
        if passing.receiver == agent
    ]
    decisions = _texts(
        decision for transfer in told for decision in transfer.key_decisions
    )
    questions = _texts(
        question for transfer in told for question in transfer.open_questions
    )
    request = workflow.request
    dial = (
        request.user_preferences.vs_novelty_dial if request.user_preferences else None
    )
    lines = [
        *(transfer.summary for transfer in told),
        *_listed(words.decisions, decisions),
        *_listed(words.constraints, _texts(workflow.constraints[agent])),
        words.context.format(
            domain=request.context.research_domain, stage=request.context.stage
        ),
        *([words.dial.format(dial=dial)] if dial is not None else []),
    ]
    return {
        "goal_statement": "\n".join(lines),
        "rationale": "\n".join(questions) or None,
    }


def _texts(items: Iterable[object]) -> list[str]:
    """Each item once, as a text."""
    texts = (
        item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        for item in items
    )
    return list(dict.fromkeys(texts))


def _listed(label: str, lines: Sequence[str]) -> list[str]:
    return [f"{label}:", *(f"- {line}" for line in lines)] if lines else []


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


def _edge(plan_id: str, source: str, target: str, kind: str) -> JsonObject:
    return {
        "edge_id": _derived(plan_id, kind, source, target),
        "plan_id": plan_id,
        "from_task_id": source,
        "to_task_id": target,
        "edge_type": kind,
        "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else None,
    }


def _derived(*parts: str) -> str:
    return str(uuid.uuid5(_IDS, "\n".join(parts)))

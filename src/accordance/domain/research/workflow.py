"""Accepted handoffs become a plan: one task per agent, a DEPENDS_ON edge per handoff, constraints carried along."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Notice, Violation
from accordance.domain.research.agents import AgentRegistry, language_of
from accordance.domain.research.chains import ChainFault, Passing, chain_faults, in_order
from accordance.domain.research.handoffs import Known, is_taken
from accordance.domain.research.names import plain

OWNER: Final = "research"
_IDS: Final = uuid.UUID("0e1d43f1-52c1-5f0c-9f2e-6a1f6a3b7c11")  # our own namespace for derived ids
_QUALITY: Final = ("draft", "standard", "publication_ready")


@dataclass(frozen=True, slots=True)
class Workflow:
    """Handoffs that fit together, and those that were not taken."""

    request: AgentRequest
    taken: tuple[Handoff, ...]
    passings: tuple[Passing, ...]
    constraints: Mapping[str, tuple[object, ...]]  # by agent: everything it inherits
    notices: tuple[Notice, ...]


def build_workflow(
    request: AgentRequest, handoffs: Sequence[Handoff], known: Known
) -> Workflow | tuple[Violation, ...]:
    """Put accepted handoffs together. Gives the violations if they do not fit: a path names the handoff at fault."""
    registry = known.registry
    places = [at for at, one in enumerate(handoffs) if is_taken(dump(one), known)]
    taken = tuple(handoffs[at] for at in places)
    passings = tuple(
        Passing(
            registry.get(one.from_agent).id, registry.get(one.to_agent).id, one.handoff_type == "parallel"
        )
        for one in taken
    )
    prior = [registry.get(name).id for name in request.prior_agents or ()]
    requires = {agent.id: [registry.get(name).id for name in agent.requires] for agent in registry}
    faults = (
        *_blocked(taken, places),
        *(_violation(fault, passings, places) for fault in chain_faults(passings, requires, prior)),
    )
    if faults:
        return faults
    constraints, dropped = _inherited(request, taken, passings, places)
    notices = (*_skipped(handoffs, places), *dropped)
    return Workflow(request, taken, passings, constraints, notices)


def _blocked(taken: Sequence[Handoff], places: Sequence[int]) -> Iterator[Violation]:
    for at, one in zip(places, taken, strict=True):
        for check in one.blocked_by:
            where = f"$[{at}].validation.{check}"
            yield Violation("handoff_refused", where, "true, before the work goes on", "false")


def _skipped(handoffs: Sequence[Handoff], places: Sequence[int]) -> Iterator[Notice]:
    taken = set(places)
    for at, one in enumerate(handoffs):
        if at not in taken:
            told = f"{one.from_agent} -> {one.to_agent}: its condition does not hold"
            yield Notice("handoff_not_taken", f"$[{at}]", told)


def _violation(fault: ChainFault, passings: Sequence[Passing], places: Sequence[int]) -> Violation:
    agent = fault.agent or fault.cycle[0]
    at = next(at for at, one in zip(places, passings, strict=True) if agent in one[:2])
    where = f"$[{at}]"
    match fault.code:
        case "cycle":
            return Violation("cycle", where, "no way back to the same agent", " -> ".join(fault.cycle))
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
    request: AgentRequest, taken: Sequence[Handoff], passings: Sequence[Passing], places: Sequence[int]
) -> tuple[dict[str, tuple[object, ...]], list[Notice]]:
    """What each agent inherits: the request's constraints, and those of all handoffs on the ways to it."""
    asked = [{key: value} for key, value in dump(request.constraints).items()] if request.constraints else []
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


def _dropped(at: int, carried: Sequence[object], said: Sequence[object]) -> Iterator[Notice]:
    repeated = {_key(one) for one in said}
    for one in carried:
        if _key(one) not in repeated:
            where = f"$[{at}].context_transfer.constraints_inherited"
            yield Notice(
                "constraint_dropped", where, f"leaves out {json.dumps(one, ensure_ascii=False)}; carried on"
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
    if isinstance(constraint, dict) and len(constraint) == 1 and (name := next(iter(constraint))) in _TIGHTER:
        return f"\n{name}"
    return json.dumps(constraint, sort_keys=True, ensure_ascii=False)


def _tighter(one: object, other: object) -> object:
    if isinstance(one, dict) and isinstance(other, dict) and (name := next(iter(one), "")) in _TIGHTER:
        return min((one, other), key=lambda constraint: _TIGHTER[name](constraint[name]))
    return one


def _amount(value: object) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")


def _rank(value: object) -> float:
    return -_QUALITY.index(value) if value in _QUALITY else 1


_TIGHTER: Final = {"time_budget": _amount, "context_budget": _amount, "quality_level": _rank}


def plan_of(
    workflow: Workflow, registry: AgentRegistry, created_at: str, title: str | None = None
) -> JsonObject:
    """The workflow as `plan_json_v1`. The same handoffs give the same ids, so that a plan can be made again."""
    agents = in_order(workflow.passings)
    plan_id = _derived(
        workflow.request.task_id, *(f"{one.sender}>{one.receiver}" for one in workflow.passings)
    )
    root = _derived(plan_id, "root")
    head = {
        "plan_id": plan_id,
        "title": title or workflow.request.user_query,
        "root_task_id": root,
        "created_at": created_at,
        "owner_agent_id": OWNER,
        "constraints": {"inherited": {agent: list(workflow.constraints[agent]) for agent in agents}},
    }
    language = language_of(workflow.request)
    goal = _node(plan_id, root, "GOAL", str(head["title"]), OWNER) | {
        "goal_statement": workflow.request.user_query
    }
    nodes = [goal] + [
        _node(plan_id, _derived(plan_id, agent), "ACTION", registry.agents[agent].title[language], agent)
        | _briefing(agent, workflow)
        for agent in agents
    ]
    edges = [_edge(plan_id, root, _derived(plan_id, agent), "DECOMPOSE") for agent in agents]
    for sender, receiver in dict.fromkeys((one.sender, one.receiver) for one in workflow.passings):
        edges.append(_edge(plan_id, _derived(plan_id, sender), _derived(plan_id, receiver), "DEPENDS_ON"))
    return {
        "schema_version": "plan_json_v1",
        "plan": head,
        "nodes": nodes,
        "edges": edges,
        "requirements": [],
    }


def _briefing(agent: str, workflow: Workflow) -> JsonObject:
    """What the handoffs to an agent tell it."""
    told = [
        one.context_transfer
        for one, passing in zip(workflow.taken, workflow.passings, strict=True)
        if passing.receiver == agent
    ]
    if not told:
        return {}
    questions = [str(question) for transfer in told for question in transfer.open_questions]
    return {
        "goal_statement": "\n".join(transfer.summary for transfer in told),
        "rationale": "\n".join(dict.fromkeys(questions)) or None,
    }


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

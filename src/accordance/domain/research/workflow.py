"""Accepted handoffs put together: who works after whom, and under which constraints.

A condition that does not hold leaves its receiver out. Constraints are carried along
every path, even where a handoff forgets to repeat them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Notice, Violation, excerpt
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.chains import (
    ChainFault,
    Passing,
    chain_faults,
    in_order,
)
from accordance.domain.research.constraints import merged, subject_of
from accordance.domain.research.handoffs import KnownFacts, is_taken


class TakenHandoff(NamedTuple):
    """A handoff that is taken, with its position among all that were handed in."""

    position: int
    handoff: Handoff
    passing: Passing

    @property
    def constraints(self) -> Sequence[object]:
        """The constraints that the handoff itself passes on."""
        return self.handoff.context_transfer.constraints_inherited


@dataclass(frozen=True, slots=True)
class Workflow:
    """Handoffs that fit together."""

    request: AgentRequest
    steps: tuple[TakenHandoff, ...]
    constraints: Mapping[str, tuple[object, ...]]  # by agent: everything it inherits
    notices: tuple[Notice, ...]
    answers: Mapping[str, JsonObject] = field(default_factory=dict)  # by agent

    @property
    def passings(self) -> tuple[Passing, ...]:
        """Who hands over to whom."""
        return tuple(step.passing for step in self.steps)

    @property
    def agents(self) -> tuple[str, ...]:
        """Everyone who takes part, each after those who hand over to them."""
        return in_order(self.passings)

    @property
    def open_agents(self) -> tuple[str, ...]:
        """The agents that have yet to answer, in the same order."""
        return tuple(agent for agent in self.agents if agent not in self.answers)

    def steps_to(self, agent: str) -> tuple[TakenHandoff, ...]:
        """The handoffs that an agent receives."""
        return tuple(step for step in self.steps if step.passing.receiver == agent)


def build_workflow(
    request: AgentRequest,
    handoffs: Sequence[Handoff],
    known: KnownFacts,
) -> Workflow | tuple[Violation, ...]:
    """Put accepted handoffs together.

    Returns the violations if they do not fit; the path of each names the handoff
    at fault.
    """
    steps = _taken_steps(handoffs, known)
    answers = _answers_of_participants(steps, known)

    faults = (
        *_blocked(steps),
        *_answers_to_other_requests(answers, request, steps),
        *_chain_violations(steps, request, known.registry),
    )
    if faults:
        return faults

    constraints = _inherited_constraints(request, steps)
    without_time = tuple(_without_time(steps, constraints, answers))
    if without_time:
        return without_time

    notices = (
        *_not_taken(handoffs, steps),
        *_dropped_constraints(request, steps, constraints),
    )
    return Workflow(
        request=request,
        steps=steps,
        constraints=constraints,
        notices=notices,
        answers=answers,
    )


def _taken_steps(
    handoffs: Sequence[Handoff], known: KnownFacts
) -> tuple[TakenHandoff, ...]:
    """Return the handoffs whose condition, if any, holds."""
    steps = []
    for position, handoff in enumerate(handoffs):
        if is_taken(dump(handoff), known):
            passing = _passing(handoff, known.registry)
            steps.append(TakenHandoff(position, handoff, passing))
    return tuple(steps)


def _passing(handoff: Handoff, registry: AgentRegistry) -> Passing:
    return Passing(
        sender=registry.get(handoff.from_agent).id,
        receiver=registry.get(handoff.to_agent).id,
        parallel=handoff.handoff_type == "parallel",
    )


def _answers_of_participants(
    steps: Sequence[TakenHandoff], known: KnownFacts
) -> dict[str, JsonObject]:
    participants = set()
    for step in steps:
        participants |= {step.passing.sender, step.passing.receiver}

    return {
        agent: answer
        for agent, answer in known.answers.items()
        if agent in participants
    }


def _first_position(agent: str, steps: Sequence[TakenHandoff]) -> int:
    """Return the position of the first handoff that an agent takes part in."""
    return next(
        step.position
        for step in steps
        if agent in (step.passing.sender, step.passing.receiver)
    )


# -- what can be wrong with handoffs that are each accepted


def _blocked(steps: Sequence[TakenHandoff]) -> Iterator[Violation]:
    """The sender's own checks pass."""
    for step in steps:
        for check in step.handoff.blocked_by:
            where = f"$[{step.position}].validation.{check}"
            expected = "true, before the work goes on"
            yield Violation(
                code="handoff_refused",
                path=where,
                expected=expected,
                actual="false",
            )


def _answers_to_other_requests(
    answers: Mapping[str, JsonObject],
    request: AgentRequest,
    steps: Sequence[TakenHandoff],
) -> Iterator[Violation]:
    """Every answer is an answer to this request.

    An answer without a task_id cannot be checked; the caller vouches for it.
    """
    for agent, answer in answers.items():
        task_id = answer.get("task_id")
        if task_id is None or task_id == request.task_id:
            continue
        where = f"$[{_first_position(agent, steps)}]"
        expected = f"an answer of {agent} to {request.task_id}"
        yield Violation(
            code="wrong_task",
            path=where,
            expected=expected,
            actual=excerpt(task_id),
        )


def _chain_violations(
    steps: Sequence[TakenHandoff],
    request: AgentRequest,
    registry: AgentRegistry,
) -> Iterator[Violation]:
    """The handoffs form no cycle, and every agent comes after those it requires."""
    passings = [step.passing for step in steps]
    prior = [registry.get(name).id for name in request.prior_agents or ()]
    requires = {}
    for agent in registry:
        requires[agent.id] = [registry.get(name).id for name in agent.requires]

    for fault in chain_faults(passings, requires, prior):
        agent_at_fault = fault.agent or fault.cycle[0]
        where = f"$[{_first_position(agent_at_fault, steps)}]"
        expected, actual = _fault_texts(fault)
        yield Violation(
            code=fault.code,
            path=where,
            expected=expected,
            actual=actual,
        )


def _fault_texts(fault: ChainFault) -> tuple[str, str]:
    """Return what was expected instead of a fault, and what is there."""
    agent, other = fault.agent, fault.other
    match fault.code:
        case "cycle":
            return "no way back to the same agent", " -> ".join(fault.cycle)
        case "requires_missing":
            place = "among the handoffs or in prior_agents"
            return f"{other}, which {agent} requires, {place}", "nothing"
        case "unordered":
            return f"a way from {other} to {agent}, which requires it", "none"
        case _:
            return f"{agent} after {other}, which it requires", "both in parallel"


def _without_time(
    steps: Sequence[TakenHandoff],
    constraints: Mapping[str, tuple[object, ...]],
    answers: Mapping[str, JsonObject],
) -> Iterator[Violation]:
    """Every agent that has yet to answer has time left for it."""
    for agent, inherited in constraints.items():
        if agent in answers or {"time_budget": 0} not in inherited:
            continue
        handoff = f"$[{_first_position(agent, steps)}]"
        where = f"{handoff}.context_transfer.constraints_inherited"
        expected = f"a time_budget above 0 for {agent}"
        yield Violation(
            code="out_of_range",
            path=where,
            expected=expected,
            actual="0",
        )


# -- constraints along the chain


def _inherited_constraints(
    request: AgentRequest, steps: Sequence[TakenHandoff]
) -> dict[str, tuple[object, ...]]:
    """Return what each agent inherits: from the request, and along every path to it."""
    inherited: dict[str, tuple[object, ...]] = {}
    requested = _requested_constraints(request)
    incoming = _steps_by_receiver(steps)

    for agent in in_order([step.passing for step in steps]):
        collected = list(requested)
        for step in incoming.get(agent, ()):
            collected += inherited[step.passing.sender]
            collected += step.constraints
        inherited[agent] = tuple(merged(collected))

    return inherited


def _requested_constraints(request: AgentRequest) -> list[object]:
    if request.constraints is None:
        return []
    return [{name: value} for name, value in dump(request.constraints).items()]


def _steps_by_receiver(steps: Sequence[TakenHandoff]) -> dict[str, list[TakenHandoff]]:
    incoming: dict[str, list[TakenHandoff]] = {}
    for step in steps:
        incoming.setdefault(step.passing.receiver, []).append(step)
    return incoming


# -- what is worth a warning


def _not_taken(
    handoffs: Sequence[Handoff], steps: Sequence[TakenHandoff]
) -> Iterator[Notice]:
    taken = {step.position for step in steps}
    for position, handoff in enumerate(handoffs):
        if position not in taken:
            ends = f"{handoff.from_agent} -> {handoff.to_agent}"
            text = f"{ends}: its condition does not hold"
            yield Notice("handoff_not_taken", f"$[{position}]", text)


def _dropped_constraints(
    request: AgentRequest,
    steps: Sequence[TakenHandoff],
    inherited: Mapping[str, tuple[object, ...]],
) -> Iterator[Notice]:
    """Constraints of the sender that a handoff does not repeat; they apply anyway."""
    requested = _requested_constraints(request)
    incoming = _steps_by_receiver(steps)

    for agent in inherited:
        for step in incoming.get(agent, ()):
            repeated = {subject_of(item) for item in (*requested, *step.constraints)}
            where = f"$[{step.position}].context_transfer.constraints_inherited"
            for constraint in inherited[step.passing.sender]:
                if subject_of(constraint) not in repeated:
                    text = json.dumps(constraint, ensure_ascii=False)
                    message = f"leaves out {text}, which still applies"
                    yield Notice("constraint_dropped", where, message)

"""Handoffs: checked against the answers they are about, and made into a plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from accordance.api import check
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Accepted, Rejected, Violation
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.handoffs import (
    KnownFacts,
    answers_by_agent,
    check_handoff,
)
from accordance.domain.research.workflow import Workflow, build_workflow
from accordance.domain.research.workflow_plan import plan_of
from accordance.errors import AccordanceError, Category

__all__ = [
    "JoinedHandoffs",
    "UnusablePlan",
    "Workflow",
    "join_handoffs",
]


class UnusablePlan(AccordanceError):
    """Handoffs whose plan violates the contract of plans."""

    code = "unusable-plan"
    category = Category.REJECTED

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"these handoffs make no plan: {violation}")
        self.violation = violation


@dataclass(frozen=True, slots=True)
class JoinedHandoffs:
    """Handoffs that were checked, put together and made into a plan.

    There is a workflow only if every handoff was accepted and they fit together, and a
    plan only if an agent has yet to answer.
    """

    results: tuple[Accepted[Handoff] | Rejected, ...]
    violations: tuple[Violation, ...] = ()
    workflow: Workflow | None = None
    plan: JsonObject | None = None

    @property
    def each_accepted(self) -> bool:
        """Whether every handoff is accepted on its own."""
        return all(self.results)

    def to_json(self) -> JsonObject:
        """Return how the handoffs fit together as plain JSON."""
        notices = self.workflow.notices if self.workflow else ()
        return {
            "accepted": self.workflow is not None,
            "violations": [violation.to_json() for violation in self.violations],
            "warnings": [notice.to_json() for notice in notices],
            "plan": self.plan,
        }


def join_handoffs(
    handoffs: Sequence[bytes],
    request: AgentRequest,
    answers: Sequence[JsonObject],
    registry: AgentRegistry,
    created_at: str | None = None,
) -> JoinedHandoffs:
    """Check handoffs against the answers and each other, and make a plan of them.

    Raises UnknownAgent for an answer of an unknown agent, and UnusablePlan.
    """
    known = KnownFacts(registry, answers_by_agent(list(answers), registry))
    results = tuple(check_handoff(raw, known) for raw in handoffs)

    accepted = [result.value for result in results if not isinstance(result, Rejected)]
    if len(accepted) < len(results):
        return JoinedHandoffs(results)

    workflow = build_workflow(request, accepted, known)
    if not isinstance(workflow, Workflow):
        return JoinedHandoffs(results, violations=workflow)

    plan = None
    if workflow.open_agents:
        plan = _plan(workflow, registry, created_at)
    return JoinedHandoffs(results, workflow=workflow, plan=plan)


def _plan(
    workflow: Workflow,
    registry: AgentRegistry,
    created_at: str | None,
) -> JsonObject:
    """Return the plan of a workflow, held to the contract that others' plans meet."""
    moment = created_at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    plan = plan_of(workflow, registry, moment)

    result = check(json.dumps(plan), "PLAN_GEN")
    if isinstance(result, Rejected):
        raise UnusablePlan(result.violations[0])
    return plan

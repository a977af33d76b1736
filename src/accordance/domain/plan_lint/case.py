"""What a plan is linted with, and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from accordance.contracts.catalogue.plan import Node, Plan
from accordance.domain.coding_keys import KEY, TAG
from accordance.domain.fuses import Fuses
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.routing import (
    Choice,
    Kind,
    RouteRequest,
    Routing,
    names_of,
)
from accordance.errors import NoExecutor

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """Something about a plan that a person should know before it runs."""

    rule: str
    severity: Severity
    message: str
    task_id: str | None = None  # None: the whole plan
    title: str | None = None


@dataclass(frozen=True, kw_only=True)
class LintCase:
    """A plan, and the settings it would run with."""

    plan: Plan
    routing: Routing
    fuses: Fuses
    own_work: bool = False
    """Whether models may review what they made themselves."""
    has_own_tests: bool = False
    """Whether the settings name tests for tasks that name none."""
    repository_problem: str | None = None
    """Why the remote of the repository cannot be used; empty without a remote."""

    @cached_property
    def graph(self) -> PlanGraph:
        """The plan as a graph."""
        return plan_graph(self.plan)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes of the plan, by id."""
        return {node.task_id: node for node in self.plan.nodes}

    def work(self) -> Iterator[Node]:
        """Yield the nodes that are an agent's work, in the order of the plan."""
        for node in self.plan.nodes:
            if self.graph[node.task_id].is_work:
                yield node

    def makers(self) -> Iterator[Node]:
        """Yield the nodes that make a product: all work that reviews no other."""
        for node in self.work():
            if self.graph[node.task_id].checks is None:
                yield node

    def reviewers(self, node: Node) -> tuple[Node, ...]:
        """Return the checks that review a task; without any, the task itself."""
        checks = self.graph[node.task_id].checked_by
        return tuple(self.nodes[check] for check in checks) or (node,)

    def change(self, node: Node) -> Mapping[str, Any] | None:
        """Return the scc.task.v1 of a task that changes code."""
        change = (node.model_extra or {}).get(KEY)
        is_change = TAG in node.tags and isinstance(change, dict)
        return change if is_change else None

    def choose(self, node: Node, kind: Kind) -> Choice:
        """Return who does some work, by the routes. Raises NoExecutor."""
        request = self._request(node, kind)
        choice = self.routing.choose(request)
        names = names_of(choice.executor, choice.spec)
        if request.executors is not None and request.executors.isdisjoint(names):
            allowed = ", ".join(sorted(request.executors))
            raise NoExecutor(f"no route leads to an executor it allows ({allowed})")
        return choice

    def _request(self, node: Node, kind: Kind) -> RouteRequest:
        change = self.change(node) if kind == "action" else None
        executors = (change or {}).get("allowedExecutors")
        models = (change or {}).get("allowedModels")
        return RouteRequest(
            kind=kind,
            role=node.owner_agent_id,
            node_type=node.node_type,
            tags=frozenset(node.tags),
            models=frozenset(models) if models else None,
            executors=frozenset(executors) if executors else None,
        )

    def is_by_hand(self) -> bool:
        """Whether no executor is configured: people or outside agents do the work."""
        return not self.routing.executors

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        node: Node | None = None,
    ) -> LintFinding:
        """Return a finding about a task, or about the whole plan."""
        return LintFinding(
            rule=rule,
            severity=severity,
            message=message,
            task_id=node.task_id if node else None,
            title=node.title if node else None,
        )


def parts_at_any_depth(graph: PlanGraph, goal: str) -> Iterator[str]:
    """Yield the parts of a goal, their parts, and so on."""
    waiting = [*graph[goal].parts]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += graph[part].parts

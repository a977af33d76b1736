"""A plan as a graph, for moving through it: who waits for whom, what belongs to what, which are alternatives.

Built once from a checked plan, in linear time. What the edges mean is in docs/decisions/0007; how states move along them
is in `progress`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from accordance.contracts.catalogue.plan import Plan

Combine: TypeAlias = Literal["AND", "OR"]
Group: TypeAlias = tuple[str, str]  # the parent and the group's name
_NOTHING: Final[tuple[str, ...]] = ()


class NodeLinks(Protocol):
    """What moving a node needs to know of it: its neighbours, and nothing else. A store may look them up when asked."""

    @property
    def task_id(self) -> str: ...
    @property
    def is_work(self) -> bool: ...
    @property
    def combine(self) -> Combine: ...
    @property
    def parts(self) -> tuple[str, ...]: ...
    @property
    def parents(self) -> tuple[str, ...]: ...
    @property
    def prerequisites(self) -> tuple[str, ...]: ...
    @property
    def dependents(self) -> tuple[str, ...]: ...
    @property
    def checks(self) -> str | None: ...
    @property
    def checked_by(self) -> tuple[str, ...]: ...
    @property
    def rivals(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNode:
    """A node with all its neighbours at hand."""

    task_id: str
    kind: Literal["GOAL", "ACTION", "CHECK"]
    priority: int = 0
    combine: Combine = "AND"  # how its parts are combined
    parts: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()  # must be done before it can begin
    dependents: tuple[str, ...] = ()
    checks: str | None = None  # for a CHECK: the task whose product it reviews
    checked_by: tuple[str, ...] = ()
    rivals: tuple[
        str, ...
    ] = ()  # the candidates of its group, itself included, best first

    @property
    def is_work(self) -> bool:
        """Whether somebody has to do it; a node with parts is done when they are."""
        return not self.parts


@dataclass(frozen=True, slots=True)
class PlanGraph:
    """All nodes of a plan."""

    root: str
    nodes: Mapping[str, PlanNode]

    def __getitem__(self, task: str) -> PlanNode:
        return self.nodes[task]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


_Ordered: TypeAlias = dict[str, None]  # a set that keeps its order


@dataclass(slots=True)
class _Neighbours:
    """What the edges say of each node, while they are read."""

    parts: dict[str, _Ordered]
    parents: dict[str, _Ordered]
    prerequisites: dict[str, _Ordered]
    dependents: dict[str, _Ordered]
    combine: dict[str, Combine]
    groups: dict[Group, _Ordered]


def plan_graph(plan: Plan) -> PlanGraph:
    """The graph of a plan that its contract has accepted."""
    found = _read_edges(plan)
    order = {node.task_id: (-node.priority, at) for at, node in enumerate(plan.nodes)}
    rivals: dict[str, list[str]] = {}
    for candidates in found.groups.values():
        newcomers = [
            task for task in candidates if task not in rivals
        ]  # it belongs to its first group
        ranked = sorted(newcomers, key=order.__getitem__)
        rivals.update(dict.fromkeys(ranked, ranked))
    actions = {node.task_id for node in plan.nodes if node.node_type == "ACTION"}
    targets = {
        node.task_id: _target(node.task_id, found, actions)
        for node in plan.nodes
        if node.node_type == "CHECK" and node.task_id not in found.parts
    }
    checkers: dict[str, list[str]] = {}
    for check, target in targets.items():
        if target is not None:
            checkers.setdefault(target, []).append(check)
    nodes = {
        node.task_id: PlanNode(
            task_id=node.task_id,
            kind=node.node_type,
            priority=node.priority,
            combine=found.combine.get(node.task_id, "AND"),
            parts=tuple(found.parts.get(node.task_id, _NOTHING)),
            parents=tuple(found.parents.get(node.task_id, _NOTHING)),
            prerequisites=tuple(found.prerequisites.get(node.task_id, _NOTHING)),
            dependents=tuple(found.dependents.get(node.task_id, _NOTHING)),
            checks=targets.get(node.task_id),
            checked_by=tuple(checkers.get(node.task_id, _NOTHING)),
            rivals=tuple(rivals.get(node.task_id, _NOTHING)),
        )
        for node in plan.nodes
    }
    return PlanGraph(plan.plan.root_task_id, nodes)


def _read_edges(plan: Plan) -> _Neighbours:
    found = _Neighbours({}, {}, {}, {}, {}, {})
    for edge in plan.edges:
        source, target = edge.from_task_id, edge.to_task_id
        if edge.edge_type == "DECOMPOSE":
            found.parts.setdefault(source, {})[target] = None
            found.parents.setdefault(target, {})[source] = None
            found.combine[source] = (edge.metadata and edge.metadata.and_or) or "AND"
        elif edge.edge_type == "DEPENDS_ON":
            found.dependents.setdefault(source, {})[target] = None
            found.prerequisites.setdefault(target, {})[source] = None
        else:
            group = (edge.metadata and edge.metadata.group_id) or ""
            found.groups.setdefault((source, group), {})[target] = None
    return found


def _target(check: str, found: _Neighbours, actions: set[str]) -> str | None:
    """A CHECK reviews the one action it waits for. Waiting for several, it is work like any other."""
    waited_for = [
        task for task in found.prerequisites.get(check, _NOTHING) if task in actions
    ]
    return waited_for[0] if len(waited_for) == 1 else None

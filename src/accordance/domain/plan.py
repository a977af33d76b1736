"""A plan as a graph: who waits for whom, what belongs to what, which are alternatives.

It is built once from a checked plan, in linear time. What the edges mean is described
in docs/decisions/0007; how states move along them is in `progress`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from accordance.contracts.catalogue.plan import Plan

Combine: TypeAlias = Literal["AND", "OR"]
Group: TypeAlias = tuple[str, str]  # the parent and the group's name
_NOTHING: Final[tuple[str, ...]] = ()


class NodeLinks(Protocol):
    """The neighbours of a node, as far as moving it needs them.

    A store may look them up on first use.
    """

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
    """A node with all its neighbours.

    `rivals` are the candidates of its group, itself included, best first.
    """

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
    rivals: tuple[str, ...] = ()

    @property
    def is_work(self) -> bool:
        """Whether it is work of its own; a node with parts is done when they are."""
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
    """The neighbours of each node, while the edges are read."""

    parts: dict[str, _Ordered] = field(default_factory=dict)
    parents: dict[str, _Ordered] = field(default_factory=dict)
    prerequisites: dict[str, _Ordered] = field(default_factory=dict)
    dependents: dict[str, _Ordered] = field(default_factory=dict)
    combine: dict[str, Combine] = field(default_factory=dict)
    groups: dict[Group, _Ordered] = field(default_factory=dict)


def plan_graph(plan: Plan) -> PlanGraph:
    """Return the graph of a plan that its contract has accepted."""
    neighbours = _read_edges(plan)
    rivals = _rivals(plan, neighbours)
    targets = _targets(plan, neighbours)
    checkers = _checkers(targets)

    nodes = {}
    for node in plan.nodes:
        task = node.task_id
        nodes[task] = PlanNode(
            task_id=task,
            kind=node.node_type,
            priority=node.priority,
            combine=neighbours.combine.get(task, "AND"),
            parts=tuple(neighbours.parts.get(task, _NOTHING)),
            parents=tuple(neighbours.parents.get(task, _NOTHING)),
            prerequisites=tuple(neighbours.prerequisites.get(task, _NOTHING)),
            dependents=tuple(neighbours.dependents.get(task, _NOTHING)),
            checks=targets.get(task),
            checked_by=tuple(checkers.get(task, _NOTHING)),
            rivals=tuple(rivals.get(task, _NOTHING)),
        )
    return PlanGraph(plan.plan.root_task_id, nodes)


def _read_edges(plan: Plan) -> _Neighbours:
    neighbours = _Neighbours()
    for edge in plan.edges:
        source = edge.from_task_id
        target = edge.to_task_id
        metadata = edge.metadata
        if edge.edge_type == "DECOMPOSE":
            neighbours.parts.setdefault(source, {})[target] = None
            neighbours.parents.setdefault(target, {})[source] = None
            neighbours.combine[source] = (metadata and metadata.and_or) or "AND"
        elif edge.edge_type == "DEPENDS_ON":
            neighbours.dependents.setdefault(source, {})[target] = None
            neighbours.prerequisites.setdefault(target, {})[source] = None
        else:
            group = (metadata and metadata.group_id) or ""
            neighbours.groups.setdefault((source, group), {})[target] = None
    return neighbours


def _rivals(plan: Plan, neighbours: _Neighbours) -> dict[str, list[str]]:
    """Return the candidates of each candidate's group, by priority, then plan order.

    A candidate of several groups belongs to the first.
    """
    rank = {
        node.task_id: (-node.priority, place) for place, node in enumerate(plan.nodes)
    }
    rivals: dict[str, list[str]] = {}
    for candidates in neighbours.groups.values():
        ungrouped = [task for task in candidates if task not in rivals]
        ranked = sorted(ungrouped, key=rank.__getitem__)
        rivals.update(dict.fromkeys(ranked, ranked))
    return rivals


def _targets(plan: Plan, neighbours: _Neighbours) -> dict[str, str]:
    """Return the action that each CHECK reviews: the only action it waits for.

    A CHECK that waits for several actions, or has parts, is work like any other.
    """
    actions = {node.task_id for node in plan.nodes if node.node_type == "ACTION"}
    targets = {}
    for node in plan.nodes:
        check = node.task_id
        if node.node_type != "CHECK" or check in neighbours.parts:
            continue
        prerequisites = neighbours.prerequisites.get(check, _NOTHING)
        awaited = [task for task in prerequisites if task in actions]
        if len(awaited) == 1:
            targets[check] = awaited[0]
    return targets


def _checkers(targets: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the checks of each action."""
    checkers: dict[str, list[str]] = {}
    for check, target in targets.items():
        checkers.setdefault(target, []).append(check)
    return checkers

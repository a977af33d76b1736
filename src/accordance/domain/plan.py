"""A plan as a graph: who waits for whom, what belongs to what, which are alternatives.

It is built once from a checked plan, in linear time. What the edges mean is described
in docs/decisions/0007; how states move along them is in `progress`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:  # every command that opens a ledger would load the contract
    from accordance.contracts.catalogue.plan import Plan

Combine: TypeAlias = Literal["AND", "OR"]
Group: TypeAlias = tuple[str, str]  # the parent and the group's name


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
class _Links:
    """The neighbours of a node, while the edges are read."""

    combine: Combine = "AND"
    parts: _Ordered = field(default_factory=dict)
    parents: _Ordered = field(default_factory=dict)
    prerequisites: _Ordered = field(default_factory=dict)
    dependents: _Ordered = field(default_factory=dict)


def plan_graph(plan: Plan) -> PlanGraph:
    """Return the graph of a plan that its contract has accepted."""
    links_of = _read_links(plan)
    rivals_of = _read_rivals(plan)
    target_of = _targets(plan, links_of)
    checks_of = _checks_by_target(target_of)

    nodes = {}
    for node in plan.nodes:
        task = node.task_id
        links = links_of[task]
        nodes[task] = PlanNode(
            task_id=task,
            kind=node.node_type,
            priority=node.priority,
            combine=links.combine,
            parts=tuple(links.parts),
            parents=tuple(links.parents),
            prerequisites=tuple(links.prerequisites),
            dependents=tuple(links.dependents),
            checks=target_of.get(task),
            checked_by=tuple(checks_of.get(task, ())),
            rivals=rivals_of.get(task, ()),
        )
    return PlanGraph(plan.plan.root_task_id, nodes)


def _read_links(plan: Plan) -> defaultdict[str, _Links]:
    """Return the links of each node, from the edges between goals, parts and tasks."""
    links_of: defaultdict[str, _Links] = defaultdict(_Links)
    for edge in plan.edges:
        source = edge.from_task_id
        target = edge.to_task_id
        if edge.edge_type == "DECOMPOSE":
            metadata = edge.metadata
            links_of[source].parts[target] = None
            combine = metadata.and_or if metadata else None
            links_of[source].combine = combine or "AND"
            links_of[target].parents[source] = None
        elif edge.edge_type == "DEPENDS_ON":
            links_of[source].dependents[target] = None
            links_of[target].prerequisites[source] = None
    return links_of


def _read_rivals(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Return the candidates of each candidate's group, by priority, then plan order.

    A candidate of several groups belongs to the first.
    """
    groups: dict[Group, _Ordered] = {}
    for edge in plan.edges:
        if edge.edge_type == "ALTERNATIVE":
            metadata = edge.metadata
            group_id = (metadata and metadata.group_id) or ""
            group = groups.setdefault((edge.from_task_id, group_id), {})
            group[edge.to_task_id] = None

    rank = {}
    for place, node in enumerate(plan.nodes):
        rank[node.task_id] = (-node.priority, place)

    rivals_of: dict[str, tuple[str, ...]] = {}
    for candidates in groups.values():
        ungrouped = [task for task in candidates if task not in rivals_of]
        ranked = tuple(sorted(ungrouped, key=rank.__getitem__))
        rivals_of.update(dict.fromkeys(ranked, ranked))
    return rivals_of


def _targets(plan: Plan, links_of: defaultdict[str, _Links]) -> Mapping[str, str]:
    """Return the action that each CHECK reviews: the only action it waits for.

    A CHECK that waits for several actions, or has parts, is work like any other.
    """
    actions = {node.task_id for node in plan.nodes if node.node_type == "ACTION"}
    target_of = {}
    for node in plan.nodes:
        links = links_of[node.task_id]
        if node.node_type != "CHECK" or links.parts:
            continue
        awaited = [task for task in links.prerequisites if task in actions]
        if len(awaited) == 1:
            target_of[node.task_id] = awaited[0]
    return target_of


def _checks_by_target(target_of: Mapping[str, str]) -> Mapping[str, list[str]]:
    """Return the checks of each action."""
    checks_of: dict[str, list[str]] = {}
    for check, target in target_of.items():
        checks_of.setdefault(target, []).append(check)
    return checks_of

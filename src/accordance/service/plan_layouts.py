"""Where the tasks of a plan stand in its picture, and in which states they are.

The picture follows from the document of the plan, which is kept under its hash: what was
laid out once is remembered.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Final, Generic, NamedTuple, TypeVar

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.records import PlanRecord
from accordance.errors import NotFound
from accordance.rendering.plans.folding import Outline, outline_of
from accordance.rendering.plans.layout import ArrowRoute, PlanLayout, layout_of
from accordance.service.drawings import stored_plan
from accordance.service.project import Project, find_plan
from accordance.service.views.plan_layouts import (
    ArrowColumnsView,
    BoxColumnsView,
    PlanLayoutView,
    PlanStatesView,
)
from accordance.store.ledger import Transaction

_MOST_GRAPHS: Final = 8
_MOST_LAYOUTS: Final = 32
_STATES: Final = tuple(State)
_PLACE_OF_STATE: Final = {state: place for place, state in enumerate(_STATES)}
_NO_BOX: Final = -1

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """What was made last, a bounded number of it. Any thread may ask."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return what was made for a key, or make it."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = make()
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made


class TitledGraph(NamedTuple):
    """A plan as a graph, and what its tasks are called."""

    graph: PlanGraph
    titles: Mapping[str, str]


class Folding(NamedTuple):
    """Which goals of a picture are folded."""

    fold: tuple[str, ...] = ()
    unfold: tuple[str, ...] = ()
    depth: int | None = None


_graphs: Final[Remembered[str, TitledGraph]] = Remembered(_MOST_GRAPHS)
_layouts: Final[Remembered[tuple[object, ...], PlanLayoutView]] = Remembered(
    _MOST_LAYOUTS
)


def plan_layout(
    project: Project,
    name: str | None,
    folding: Folding | None = None,
) -> PlanLayoutView:
    """Lay out a plan. Raises NotFound for a goal that it does not have."""
    folding = folding or Folding()
    with project.ledger.read() as tx:
        record = find_plan(tx, name)
        drawn = _titled_graph(tx, record)
    _must_have_goals(drawn.graph, (*folding.fold, *folding.unfold))
    key = (record.document, record.plan_id, record.revision, folding)
    return _layouts.get(key, lambda: _layout_view(record, drawn, folding))


def plan_states(
    project: Project,
    name: str | None,
    since: int | None = None,
) -> PlanStatesView:
    """Return the states of a plan's tasks; with an event, of those that moved since."""
    with project.ledger.read() as tx:
        record = find_plan(tx, name)
        newest = tx.last_number()
        moved = tx.states_by_place(record.plan_id, since=since)
    return PlanStatesView(
        plan_id=record.plan_id,
        revision=record.revision,
        event=newest,
        names=_STATES,
        places=None if since is None else tuple(place for place, _ in moved),
        states=tuple(_PLACE_OF_STATE[state] for _, state in moved),
    )


def _titled_graph(tx: Transaction, record: PlanRecord) -> TitledGraph:
    def read() -> TitledGraph:
        plan = stored_plan(tx, record)
        titles = {node.task_id: node.title for node in plan.nodes}
        return TitledGraph(plan_graph(plan), titles)

    return _graphs.get(record.document, read)


def _must_have_goals(graph: PlanGraph, named: Sequence[str]) -> None:
    for goal in named:
        node = graph.nodes.get(goal)
        if node is None or not node.parts:
            goals = [task for task in graph if graph[task].parts]
            raise NotFound("goal", goal, goals)


def _layout_view(
    record: PlanRecord,
    drawn: TitledGraph,
    folding: Folding,
) -> PlanLayoutView:
    graph = drawn.graph
    outline = outline_of(graph, folding.fold, folding.depth, folding.unfold)
    layout = layout_of(outline)
    place_of = {task: place for place, task in enumerate(graph)}
    box_of = {task: place for place, task in enumerate(layout.boxes)}
    return PlanLayoutView(
        plan_id=record.plan_id,
        revision=record.revision,
        root=place_of[graph.root],
        width=layout.width,
        height=layout.height,
        levels=max(outline.levels.values()),
        ids=tuple(graph),
        shown_as=tuple(box_of[outline.shown_as[task]] for task in graph),
        boxes=_boxes(drawn, outline, layout, place_of, box_of),
        arrows=_arrows(layout.routes, box_of),
        alternatives=_alternatives(graph, box_of),
    )


def _boxes(
    drawn: TitledGraph,
    outline: Outline,
    layout: PlanLayout,
    place_of: Mapping[str, int],
    box_of: Mapping[str, int],
) -> BoxColumnsView:
    boxes = layout.boxes.values()
    nodes = [drawn.graph[task] for task in layout.boxes]
    homes = [outline.home.get(task) for task in layout.boxes]
    return BoxColumnsView(
        task=tuple(place_of[task] for task in layout.boxes),
        title=tuple(drawn.titles[task] for task in layout.boxes),
        kind=tuple(node.kind for node in nodes),
        x=tuple(box.x for box in boxes),
        y=tuple(box.y for box in boxes),
        width=tuple(box.width for box in boxes),
        height=tuple(box.height for box in boxes),
        inset=tuple(box.inset for box in boxes),
        level=tuple(outline.levels[task] for task in layout.boxes),
        home=tuple(_NO_BOX if home is None else box_of[home] for home in homes),
        parts=tuple(len(node.parts) for node in nodes),
        hidden=tuple(len(outline.folded.get(task, ())) for task in layout.boxes),
        combine=tuple(node.combine for node in nodes),
    )


def _arrows(
    routes: Sequence[ArrowRoute], box_of: Mapping[str, int]
) -> ArrowColumnsView:
    arrows = [route.arrow for route in routes]
    lines = [tuple(chain.from_iterable(route.points)) for route in routes]
    return ArrowColumnsView(
        source=tuple(box_of[arrow.source] for arrow in arrows),
        target=tuple(box_of[arrow.target] for arrow in arrows),
        tie=tuple(arrow.tie for arrow in arrows),
        points=tuple(lines),
    )


def _alternatives(
    graph: PlanGraph, box_of: Mapping[str, int]
) -> tuple[tuple[int, ...], ...]:
    """Return the groups of alternatives of which two or more boxes are shown."""
    groups = dict.fromkeys(node.rivals for node in graph.nodes.values())
    shown = []
    for group in groups:
        boxes = [box_of[task] for task in group if task in box_of]
        if len(boxes) > 1:
            shown.append(tuple(boxes))
    return tuple(shown)

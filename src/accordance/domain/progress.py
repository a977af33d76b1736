"""How a plan moves: an event on a task, and what follows from it for its neighbours.

`move`, `drop` and `inputs_changed` return every node that moved; the caller stores
them. The spreading itself is in `propagation`, the values are in `node_progress`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from accordance.domain.lifecycle import TERMINAL, Event, State, TaskStanding, Waiting
from accordance.domain.node_progress import (
    Neighbourhood,
    NodeMove,
    NodeProgress,
    Signals,
    signals_of,
)
from accordance.domain.plan import PlanGraph, PlanNode
from accordance.domain.propagation import Propagation
from accordance.errors import IllegalTransition

__all__ = [
    "Neighbourhood",
    "NodeMove",
    "NodeProgress",
    "PlanInMemory",
    "begin",
    "drop",
    "inputs_changed",
    "left_hanging",
    "move",
    "recount",
]


def move(
    view: Neighbourhood,
    task: str,
    event: Event,
    *,
    waiting: Waiting | None = None,
) -> tuple[NodeMove, ...]:
    """Apply an event to a task and return every node that moved.

    Raises IllegalTransition; then nothing has moved.
    """
    node = view.node(task)
    if event is Event.CLAIMED and not node.is_work:
        state = view.progress(task).state
        raise IllegalTransition(state, event, ("COMPLETED, when its parts are done",))

    propagation = Propagation(view)
    propagation.apply_event(task, event, waiting)
    if event is Event.REQUEUED:
        propagation.take_up_again(task)
    elif event is Event.VOUCHED:
        propagation.skip_checks(node)
    return propagation.settle()


def drop(
    view: Neighbourhood,
    task: str,
    *,
    excuse: bool = False,
    along: Iterable[str] = (),
) -> tuple[NodeMove, ...]:
    """Cancel a task and return every node that moved.

    With `excuse`, tasks that wait for it go ahead without it. Those in `along` are
    cancelled with it.
    """
    propagation = Propagation(view)
    propagation.cancel(task, excuse=excuse)
    for other in along:
        if propagation.progress_of(other).state not in TERMINAL:
            propagation.cancel(other, excuse=False)
    return propagation.settle()


def left_hanging(view: Neighbourhood, task: str) -> tuple[str, ...]:
    """Return the open tasks that would wait for ever if this task were cancelled.

    They wait for the task itself, or for a task that is cancelled with it.
    """
    cancelled = {
        node_move.task_id
        for node_move in drop(view, task)
        if not node_move.after.active
    }
    hanging: dict[str, None] = {}  # a set that keeps its order
    remaining = list(cancelled)
    while remaining:
        node = view.node(remaining.pop())
        waiting = list(node.dependents)
        if node.task_id not in cancelled:
            waiting += node.parts
        for waiter in waiting:
            if waiter in hanging or waiter in cancelled:
                continue
            progress = view.progress(waiter)
            if progress.active and progress.state not in TERMINAL:
                hanging[waiter] = None
                remaining.append(waiter)
    return tuple(hanging)


def inputs_changed(
    view: Neighbourhood,
    task: str,
    missing: int,
) -> tuple[NodeMove, ...]:
    """Set how many required inputs a task lacks and return every node that moved."""
    propagation = Propagation(view)
    propagation.update(task, replace(view.progress(task), missing_inputs=missing))
    return propagation.settle()


@dataclass(slots=True)
class PlanInMemory:
    """A whole plan and its progress: for tests, small plans and the start of any."""

    graph: PlanGraph
    at: dict[str, NodeProgress] = field(default_factory=dict)

    def node(self, task: str) -> PlanNode:
        """Return the node with its neighbours."""
        return self.graph[task]

    def progress(self, task: str) -> NodeProgress:
        """Return where the node stands."""
        return self.at[task]

    def move(
        self,
        task: str,
        event: Event,
        *,
        waiting: Waiting | None = None,
    ) -> tuple[NodeMove, ...]:
        """Move, and keep the new progress."""
        return self.keep(move(self, task, event, waiting=waiting))

    def drop(
        self,
        task: str,
        *,
        excuse: bool = False,
        along: Iterable[str] = (),
    ) -> tuple[NodeMove, ...]:
        """Cancel, and keep the new progress."""
        return self.keep(drop(self, task, excuse=excuse, along=along))

    def set_missing_inputs(self, task: str, missing: int) -> tuple[NodeMove, ...]:
        """Set how many required inputs a task lacks, and keep the new progress."""
        return self.keep(inputs_changed(self, task, missing))

    def keep(self, moves: tuple[NodeMove, ...]) -> tuple[NodeMove, ...]:
        """Store where the moved nodes stand now, and return the moves."""
        for node_move in moves:
            self.at[node_move.task_id] = node_move.after
        return moves


def begin(
    graph: PlanGraph, missing_inputs: Mapping[str, int] | None = None
) -> PlanInMemory:
    """Return a plan at its start: candidates chosen, counts taken, tasks ready."""
    missing = missing_inputs or {}
    inactive = _passed_over(graph)

    plan = PlanInMemory(graph)
    for task in graph:
        is_active = task not in inactive
        state = State.PENDING if is_active else State.ABANDONED
        plan.at[task] = NodeProgress(
            standing=TaskStanding(state=state),
            active=is_active,
            missing_inputs=missing.get(task, 0),
        )
    recount(plan)

    for task in graph:
        propagation = Propagation(plan, to_reconsider=[task])
        plan.keep(propagation.settle())
    return plan


def _passed_over(graph: PlanGraph) -> set[str]:
    """Return the candidates that are not the best of their group, with their branches.

    A part that also belongs to an active goal stays active.
    """
    inactive: set[str] = set()
    remaining = [task for task in graph if not _is_first_choice(graph[task])]
    while remaining:
        task = remaining.pop()
        if task in inactive:
            continue
        inactive.add(task)
        for part in graph[task].parts:
            node = graph[part]
            if node.checks is None and inactive.issuperset(node.parents):
                remaining.append(part)
        remaining += graph[task].checked_by
    return inactive


def _is_first_choice(node: PlanNode) -> bool:
    return not node.rivals or node.rivals[0] == node.task_id


def recount(plan: PlanInMemory) -> None:
    """Take every count from the states alone.

    This is linear in the size of the plan: for starting a plan and for checking the
    counts, never for moving.
    """
    graph = plan.graph
    signals = {task: signals_of(graph[task], plan.at[task]) for task in graph}
    for task in _parents_first(graph):
        plan.at[task] = _recounted(graph[task], plan.at[task], signals)
        # the gate of a goal depends on its counts, and its parts come after it
        signals[task] = signals_of(graph[task], plan.at[task])


def _recounted(
    node: PlanNode,
    progress: NodeProgress,
    signals: Mapping[str, Signals],
) -> NodeProgress:
    waits_on = 0
    for prerequisite in node.prerequisites:
        signal = signals[prerequisite]
        is_checked = prerequisite == node.checks
        fulfilled = signal.to_check if is_checked else signal.satisfies
        waits_on += not fulfilled

    return replace(
        progress,
        waits_on=waits_on,
        closed_gates=sum(not signals[parent].gate_is_open for parent in node.parents),
        open_parts=sum(signals[part].is_open for part in node.parts),
        done_parts=sum(signals[part].is_done for part in node.parts),
        dead_parts=sum(signals[part].is_dead for part in node.parts),
    )


def _parents_first(graph: PlanGraph) -> Iterator[str]:
    """Yield every task after all goals it belongs to."""
    parents_left = {task: len(graph[task].parents) for task in graph}
    free = [task for task, count in parents_left.items() if count == 0]
    while free:
        task = free.pop()
        yield task
        for part in graph[task].parts:
            parents_left[part] -= 1
            if parents_left[part] == 0:
                free.append(part)

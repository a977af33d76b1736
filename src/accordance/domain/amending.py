"""How a plan that runs takes up an amendment.

Done work stays done, and what was tried stays on record: `refusals` says which changes
that forbids. `amended` carries every task over, gives the new ones their place, takes
all counts again and lets what follows happen. An attempt whose own task has changed is
handed back; every other attempt goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from accordance.domain.amendment import Difference
from accordance.domain.lifecycle import Counters, Event, State, TaskStanding
from accordance.domain.node_progress import NodeMove, NodeProgress
from accordance.domain.plan import PlanGraph, PlanNode
from accordance.domain.progress import PlanInMemory, recount
from accordance.domain.propagation import Propagation

_UNTOUCHED: Final = (State.PENDING, State.READY, State.ABANDONED)
_NEVER: Final = Counters()


class AmendmentRefusal(NamedTuple):
    """Why an amendment is refused, and what to do instead."""

    why: str
    way_out: str


@dataclass(frozen=True, slots=True)
class Amendment:
    """A plan that runs, the graph that it gets, and what differs."""

    plan: PlanInMemory
    graph: PlanGraph
    difference: Difference
    needs_changed: frozenset[str] = frozenset()
    """The tasks that need something else from outside now."""

    @property
    def kept(self) -> Iterator[tuple[PlanNode, PlanNode, NodeProgress]]:
        """The tasks of both versions: as they were, as they are, where they stand."""
        for task, after in self.graph.nodes.items():
            before = self.plan.graph.nodes.get(task)
            if before is not None:
                yield before, after, self.plan.at[task]

    @property
    def changed(self) -> frozenset[str]:
        """The tasks whose own work has changed."""
        changed = {item.id for item in self.difference.changed}
        changed |= self.needs_changed
        for before, after, _ in self.kept:
            if set(before.prerequisites) != set(after.prerequisites):
                changed.add(after.task_id)
        return frozenset(changed)


# -- what is refused


def refusals(amendment: Amendment) -> Iterator[AmendmentRefusal]:
    """Yield why an amendment cannot be taken up, task by task."""
    for task in amendment.difference.removed:
        yield from _removing(task, amendment.plan.at[task])

    changed = amendment.changed
    for before, after, progress in amendment.kept:
        is_changed = after.task_id in changed
        yield from _changing(before, after, progress, is_changed=is_changed)
        yield from _moving(before, after, amendment)
        yield from _choosing(before, after, amendment)


def _removing(task: str, progress: NodeProgress) -> Iterator[AmendmentRefusal]:
    """Only a task in which nothing has happened can be removed."""
    state = progress.state
    if state is State.DONE:
        yield AmendmentRefusal(
            f"task {task} is DONE, and done work stays", f"keep {task}"
        )
    elif state is State.IN_PROGRESS:
        yield AmendmentRefusal(
            f"task {task} is IN_PROGRESS and cannot be removed",
            f"wait until it ends, or keep {task} and cancel it",
        )
    elif _has_begun(progress):
        yield AmendmentRefusal(
            f"task {task} is {state} and has a record, which stays",
            f"keep {task} and cancel it",
        )


def _has_begun(progress: NodeProgress) -> bool:
    return progress.state not in _UNTOUCHED or progress.standing.counters != _NEVER


def _changing(
    before: PlanNode,
    after: PlanNode,
    progress: NodeProgress,
    *,
    is_changed: bool,
) -> Iterator[AmendmentRefusal]:
    """What is done, in review or given up stays what it is."""
    task = after.task_id
    state = progress.state
    is_checked_otherwise = set(before.checked_by) != set(after.checked_by)
    has_other_parts = _shape(before) != _shape(after)
    waits_otherwise = set(before.prerequisites) != set(after.prerequisites)

    if state is State.DONE:
        if is_changed or is_checked_otherwise or has_other_parts:
            yield AmendmentRefusal(
                f"task {task} is DONE, and done work stays as it is",
                "add a task behind it instead",
            )
    elif state is State.READY_TO_CHECK:
        if is_changed or is_checked_otherwise:
            yield AmendmentRefusal(
                f"the product of task {task} is in review", "amend it after the review"
            )
    elif state is State.TO_BE_MODIFY and waits_otherwise:
        yield AmendmentRefusal(
            f"task {task} is being reworked and cannot wait for other tasks now",
            "amend that when it is done",
        )
    elif state is State.DEAD_LETTER and has_other_parts:
        yield AmendmentRefusal(f"task {task} was given up", "requeue it first")

    is_another_kind = _identity(before) != _identity(after)
    is_under_way = state is not State.DONE and _has_begun(progress)
    if is_another_kind and is_under_way:
        yield AmendmentRefusal(
            f"task {task} has begun as {_kind(before)} and cannot become"
            f" {_kind(after)}",
            "add a task for that",
        )


def _shape(node: PlanNode) -> tuple[str, frozenset[str]]:
    return node.combine, frozenset(node.parts)


def _identity(node: PlanNode) -> tuple[str, bool, str | None]:
    """What a task cannot change any more once it has begun."""
    return node.kind, node.is_work, node.checks


def _kind(node: PlanNode) -> str:
    if not node.is_work:
        return "a goal with parts"
    if node.checks is not None:
        return f"the check of {node.checks}"
    return f"a {node.kind}"


def _moving(
    before: PlanNode,
    after: PlanNode,
    amendment: Amendment,
) -> Iterator[AmendmentRefusal]:
    """A task moves to another goal or product only where all of them are in use."""
    is_with_same_goals = set(before.parents) == set(after.parents)
    if is_with_same_goals and before.checks == after.checks:
        return
    family = [after.task_id, *before.parents, *after.parents]
    for product in (before.checks, after.checks):
        if product is not None:
            family.append(product)
    unused = _unused(amendment.plan.at)
    passed_over = [task for task in family if task in unused]
    if passed_over:
        yield AmendmentRefusal(
            f"task {after.task_id} cannot move: {passed_over[0]} is not in use",
            "add a task of its own instead",
        )


def _choosing(
    before: PlanNode,
    after: PlanNode,
    amendment: Amendment,
) -> Iterator[AmendmentRefusal]:
    """Alternatives stay alternatives of each other, in their order; new ones may join.

    The chosen alternative cannot be removed: another would have to take its place
    unasked.
    """
    known = amendment.plan.graph.nodes
    remaining = [task for task in before.rivals if task in amendment.graph.nodes]
    kept_now = [task for task in after.rivals if task in known]
    expected = remaining or [after.task_id]
    if kept_now and kept_now != expected:
        yield AmendmentRefusal(
            f"the alternatives of task {after.task_id} cannot be regrouped while the"
            " plan runs",
            "keep their order, or cancel the task that is not wanted",
        )
    elif len(remaining) > 1 and not kept_now:
        yield AmendmentRefusal(
            f"task {after.task_id} must remain an alternative",
            "cancel the alternatives that are not wanted",
        )

    for rival in before.rivals:
        is_removed = rival not in amendment.graph.nodes
        if is_removed and amendment.plan.at[rival].active:
            yield AmendmentRefusal(
                f"task {rival} is the chosen alternative and cannot be removed",
                f"keep {rival} and cancel it: the next alternative takes its place",
            )


# -- what follows


def amended(
    amendment: Amendment, missing_inputs: Mapping[str, int]
) -> tuple[PlanInMemory, tuple[NodeMove, ...]]:
    """Return the plan after an amendment, and every move that followed from it.

    `missing_inputs` says how many required inputs tasks lack whose needs have changed,
    and the new ones. The amendment must not be refused.
    """
    graph = amendment.graph
    old = amendment.plan
    inactive = _passed_over(amendment)
    plan = PlanInMemory(graph)
    for task in graph:
        progress = old.at.get(task)
        if progress is None:
            progress = _beginning(is_active=task not in inactive)
        missing = missing_inputs.get(task, progress.missing_inputs)
        plan.at[task] = replace(progress, missing_inputs=missing)
    _excuse_unneeded(plan, inactive)
    recount(plan)

    moves = _follow(amendment, plan)
    plan.keep(moves)
    return plan, moves


def _beginning(*, is_active: bool) -> NodeProgress:
    state = State.PENDING if is_active else State.ABANDONED
    return NodeProgress(standing=TaskStanding(state=state), active=is_active)


def _passed_over(amendment: Amendment) -> frozenset[str]:
    """Return the new tasks that are not in use, in the order in which that follows.

    A new alternative waits for its turn. A part is not in use when none of its goals
    is, and a check comes with the product that it checks.
    """
    graph = amendment.graph
    at = amendment.plan.at
    new = [node for task, node in graph.nodes.items() if task not in at]
    inactive = {*_unused(at)}
    for node in new:
        if _waits_for_turn(node, at):
            inactive.add(node.task_id)

    size = 0
    while len(inactive) > size:
        size = len(inactive)
        for node in new:
            if _follows_unused(node, inactive):
                inactive.add(node.task_id)
    return frozenset(inactive.difference(at))


def _unused(at: Mapping[str, NodeProgress]) -> frozenset[str]:
    """Return the tasks that are not in use."""
    return frozenset(task for task, progress in at.items() if not progress.active)


def _waits_for_turn(node: PlanNode, at: Mapping[str, NodeProgress]) -> bool:
    """Whether another alternative is chosen."""
    if not node.rivals:
        return False
    has_known_rival = any(rival in at for rival in node.rivals)
    return has_known_rival or node.rivals[0] != node.task_id


def _follows_unused(node: PlanNode, inactive: Collection[str]) -> bool:
    if node.checks is not None:
        return node.checks in inactive
    is_part = bool(node.parents)
    return is_part and all(parent in inactive for parent in node.parents)


def _excuse_unneeded(plan: PlanInMemory, inactive: frozenset[str]) -> None:
    """No task waits for new tasks whose job is done, or whose goals are excused."""
    remaining = set(inactive)
    has_grown = True
    while has_grown:
        excused = {task for task in remaining if _is_unneeded(plan, task)}
        for task in excused:
            plan.at[task] = replace(plan.at[task], excused=True)
        remaining -= excused
        has_grown = bool(excused)


def _is_unneeded(plan: PlanInMemory, task: str) -> bool:
    node = plan.node(task)
    for rival in node.rivals:
        if plan.at[rival].state is State.DONE:
            return True
    if node.checks is not None:
        return plan.at[node.checks].excused
    is_part = bool(node.parents)
    return is_part and all(plan.at[goal].excused for goal in node.parents)


def _follow(amendment: Amendment, plan: PlanInMemory) -> tuple[NodeMove, ...]:
    """Hand back attempts at changed tasks, and reconsider whatever sees a change."""
    old = amendment.plan
    changed = amendment.changed
    propagation = Propagation(plan)
    for task, node in plan.graph.nodes.items():
        before = old.at.get(task)
        if before is None:
            propagation.to_reconsider.append(task)
            continue
        progress = plan.at[task]
        has_other_links = node != old.graph[task]
        if has_other_links or progress != before:
            propagation.to_reconsider.append(task)

        state = progress.state
        if state is State.IN_PROGRESS and task in changed:
            propagation.apply_event(task, Event.RELEASED)
        elif state is State.READY and not node.is_work:
            propagation.apply_event(task, Event.DISABLED)
    return propagation.settle()

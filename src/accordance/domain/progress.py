"""How a plan moves: one event on one task, and what follows from it for its neighbours.

Every node carries small counters (what it waits for, which of its parts are open, done, dead), so that a move costs what
its neighbours cost, whatever the plan's size. The counters are never computed again from the whole plan; a property test
does that and compares. What the edges mean is in docs/decisions/0007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from accordance.domain.lifecycle import (
    AT_THE_BEGINNING,
    TERMINAL,
    Event,
    State,
    TaskStanding,
    Waiting,
    advance,
)
from accordance.domain.plan import NodeLinks, PlanGraph, PlanNode
from accordance.errors import IllegalTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgress:
    """Where one node stands, and the counts that decide when it may move."""

    standing: TaskStanding = AT_THE_BEGINNING
    active: bool = True  # not a candidate that was passed over, nor below one
    excused: bool = False  # another candidate of its group is done: nobody waits for this one any more
    waits_on: int = 0  # prerequisites that are not there yet
    closed_gates: int = 0  # parents whose own prerequisites are not there yet
    missing_inputs: int = 0  # required inputs that nothing answers yet
    open_parts: int = 0
    done_parts: int = 0
    dead_parts: int = 0

    @property
    def state(self) -> State:
        """The state of the standing."""
        return self.standing.state


class NodeMove(NamedTuple):
    """One node that moved, by which event, from where to where. `event` is None where only counts changed."""

    task_id: str
    event: Event | None
    before: NodeProgress
    after: NodeProgress


class Neighbourhood(Protocol):
    """What a move needs to see: a node with its neighbours, and where a node stands."""

    def node(self, task: str) -> NodeLinks:
        """The node."""
        ...

    def progress(self, task: str) -> NodeProgress:
        """Where it stands."""
        ...


class _Signs(NamedTuple):
    """What a node's neighbours can see of it."""

    satisfies: bool  # those that depend on it may go on
    to_check: bool  # its product can be reviewed
    is_open: bool
    is_done: bool
    is_dead: bool
    gate: bool  # it keeps none of its parts from beginning; one that is not wanted has no say


def _signs(node: NodeLinks, at: NodeProgress) -> _Signs:
    done = at.state is State.DONE
    dead = at.active and at.state is State.DEAD_LETTER
    return _Signs(
        satisfies=done or at.excused,
        to_check=done or at.excused or at.state is State.READY_TO_CHECK,
        is_open=at.active and not done and not dead,
        is_done=at.active and done,
        is_dead=dead,
        gate=not node.is_work and not (at.active and (at.waits_on or at.closed_gates)),
    )


@dataclass(slots=True)
class _Move:
    """One move under way: what has changed so far, and who has to look again."""

    view: Neighbourhood
    changed: dict[str, NodeProgress] = field(default_factory=dict)
    changes: list[NodeMove] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    goals: list[str] = field(
        default_factory=list
    )  # look last, when all news of their parts is in
    news: list[tuple[NodeLinks, _Signs, _Signs]] = field(
        default_factory=list
    )  # a list: no depth is too deep

    def at(self, task: str) -> NodeProgress:
        found = self.changed.get(task)
        return self.view.progress(task) if found is None else found

    def happen(self, task: str, event: Event, waiting: Waiting | None = None) -> None:
        """An event on a task, and the word to its neighbours."""
        at = self.at(task)
        self.put(
            task,
            replace(at, standing=advance(at.standing, event, waiting=waiting)),
            event,
        )

    def put(self, task: str, after: NodeProgress, event: Event | None = None) -> None:
        before = self.at(task)
        if after == before:
            return
        self.changed[task] = after
        self.changes.append(NodeMove(task, event, before, after))
        self.waiting.append(task)
        node = self.view.node(task)
        was, now = _signs(node, before), _signs(node, after)
        if now != was:
            self.news.append((node, was, now))

    def tell(self, node: NodeLinks, was: _Signs, now: _Signs) -> None:
        """Pass on to each neighbour what it can see, as a difference."""
        if now.satisfies != was.satisfies or now.to_check != was.to_check:
            for dependent in (
                node.dependents if now.satisfies != was.satisfies else node.checked_by
            ):
                is_check = dependent in node.checked_by
                less = (
                    (now.to_check - was.to_check)
                    if is_check
                    else (now.satisfies - was.satisfies)
                )
                at = self.at(dependent)
                self.put(dependent, replace(at, waits_on=at.waits_on - less))
        if now[2:5] != was[2:5]:
            for parent in node.parents:
                at = self.at(parent)
                self.put(
                    parent,
                    replace(
                        at,
                        open_parts=at.open_parts + now.is_open - was.is_open,
                        done_parts=at.done_parts + now.is_done - was.is_done,
                        dead_parts=at.dead_parts + now.is_dead - was.is_dead,
                    ),
                )
        if now.gate != was.gate:
            for part in node.parts:
                at = self.at(part)
                self.put(
                    part,
                    replace(at, closed_gates=at.closed_gates - now.gate + was.gate),
                )

    def settle(self) -> tuple[NodeMove, ...]:
        """Let everybody who was told something look again, until nobody has anything to do."""
        while self.news or self.waiting or self.goals:
            if self.news:
                self.tell(*self.news.pop())
            elif self.waiting:
                self.look(self.view.node(self.waiting.pop()))
            else:
                goal = self.view.node(self.goals.pop())
                self.look_at_parts(goal, self.at(goal.task_id))
        return tuple(self.changes)

    def look(self, node: NodeLinks) -> None:
        """One node looks at what it knows now."""
        if node.rivals:
            self.look_at_rivals(node, self.at(node.task_id))
        if node.is_work:
            self.look_at_work(node, self.at(node.task_id))
        else:
            self.goals.append(node.task_id)

    def look_at_work(self, node: NodeLinks, at: NodeProgress) -> None:
        """Ready when it is wanted and nothing is missing; pending again when something went.

        A check of one product waits for that alone: its goal may be waiting for the very task it checks.
        """
        closed = at.closed_gates and node.checks is None
        enabled = at.active and not (at.waits_on or closed or at.missing_inputs)
        if enabled and at.state is State.PENDING:
            self.happen(node.task_id, Event.ENABLED)
        elif not enabled and at.state is State.READY:
            self.happen(node.task_id, Event.DISABLED)

    def look_at_parts(self, node: NodeLinks, at: NodeProgress) -> None:
        """Done as its rule says; stuck when it can no longer be; free again when what was dead is back.

        One whose parts are all excused has nothing left to do: it held only checks of what nobody needs any more.
        """
        if not at.active or at.state in TERMINAL:
            return
        if node.combine == "OR":
            complete, stuck = bool(at.done_parts), not (at.done_parts or at.open_parts)
        else:
            complete = bool(at.done_parts) and not (at.open_parts or at.dead_parts)
            stuck = bool(at.dead_parts) or not (at.done_parts or at.open_parts)
        if at.state is State.BLOCKED and not stuck:
            self.happen(node.task_id, Event.ANSWERED)
            self.happen(node.task_id, Event.DISABLED)
        if complete:
            self.happen(node.task_id, Event.COMPLETED)
            if node.combine == "OR":  # an AND goal needed all of them
                self.drop_the_rest(node)
        elif stuck and self.next_rival(node) is not None:
            self.happen(node.task_id, Event.BURIED)
        elif (
            stuck and node.parents and all(self.at(part).excused for part in node.parts)
        ):
            self.excuse(node.task_id)
        elif stuck and at.state is not State.BLOCKED:
            self.happen(node.task_id, Event.ESCALATED)

    def drop_the_rest(self, node: NodeLinks) -> None:
        """What an OR goal no longer needs, nobody else waits for either; nor for candidates that were passed over."""
        for part in node.parts:
            at = self.at(part)
            is_over = at.excused or at.state in (State.DONE, State.DEAD_LETTER)
            if not is_over and not self.is_wanted(part):
                self.excuse(part)

    def is_wanted(self, task: str) -> bool:
        """Whether some active parent still waits for it, or a product that it has to check."""
        node = self.view.node(task)
        if node.checks is not None:
            target = self.at(node.checks)
            if target.active and target.state not in TERMINAL:
                return True
        return not node.parents or any(
            self.at(one).active and self.at(one).state is not State.DONE
            for one in node.parents
        )

    def look_at_rivals(self, node: NodeLinks, at: NodeProgress) -> None:
        """One candidate at a time: done, it excuses the others; dead, the next one is chosen."""
        if at.active and at.state is State.DONE:
            for rival in node.rivals:
                if rival != node.task_id and not self.at(rival).excused:
                    self.excuse(rival)
        elif at.active and at.state is State.DEAD_LETTER:
            following = self.next_rival(node)
            if following is not None:
                self.deactivate(node.task_id)
                self.activate(following)

    def next_rival(self, node: NodeLinks) -> str | None:
        """The best candidate of its group that has not been tried."""
        return next(
            (rival for rival in node.rivals if self.at(rival).state is State.ABANDONED),
            None,
        )

    def take_up_again(self, task: str) -> None:
        """A person wants a candidate that was passed over: it becomes the chosen one, and dead rivals step aside."""
        self.activate(task)
        for rival in self.view.node(task).rivals:
            if rival != task and self.at(rival).state is State.DEAD_LETTER:
                self.deactivate(rival)

    def spare_the_checks(self, node: NodeLinks) -> None:
        """A person has approved a product: what was to check it has nothing left to decide."""
        for check in node.checked_by:
            if self.at(check).state not in TERMINAL:
                self.excuse(check)

    def give_up(self, task: str, *, excuse: bool) -> None:
        """A person no longer wants it. A candidate makes way for the next one; anything else is dropped."""
        if (
            self.next_rival(self.view.node(task)) is not None
            and self.at(task).state is not State.DEAD_LETTER
        ):
            self.happen(task, Event.BURIED)
            return
        if self.at(task).state is State.DEAD_LETTER:
            self.happen(task, Event.DROPPED)
        elif self.at(task).state in TERMINAL:
            raise IllegalTransition(self.at(task).state, Event.DROPPED, ())
        self.deactivate(task)
        for gone in [
            one for one, at in self.changed.items() if excuse and not at.active
        ]:
            self.put(gone, replace(self.at(gone), excused=True))

    def deactivate(self, task: str) -> None:
        """Not needed (any more), and neither is what belongs only to it, nor a check of what will not be made."""
        below = [task]
        while below:
            one = below.pop()
            at = self.at(one)
            if not at.active:
                continue
            self.put(one, replace(at, active=False))
            if at.state not in TERMINAL:
                self.happen(one, Event.DROPPED)
            node = self.view.node(one)
            below += [part for part in node.parts if not self.is_wanted(part)]
            below += [
                check
                for check in node.checked_by
                if self.at(check).state is not State.DONE
            ]

    def excuse(self, task: str) -> None:
        """Not needed, and whoever waits for it, or for what belongs only to it, goes on without."""
        self.deactivate(task)
        self.put(task, replace(self.at(task), excused=True))
        node = self.view.node(task)
        below = [*node.parts, *node.checked_by]
        while below:
            one = below.pop()
            at, node = self.at(one), self.view.node(one)
            if (
                at.active
                or at.excused
                or not (node.checks or self.is_excused_with_all_above(node))
            ):
                continue
            self.put(one, replace(at, excused=True))
            below += [*node.parts, *node.checked_by]

    def is_excused_with_all_above(self, node: NodeLinks) -> bool:
        """Whether no goal it belongs to could still be taken up."""
        return all(
            self.at(one).excused or self.at(one).state is State.DONE
            for one in node.parents
        )

    def activate(self, task: str) -> None:
        """Needed after all, with what belongs to it, but for candidates that were passed over."""
        below = [task]
        while below:
            one = below.pop()
            at = self.at(one)
            if at.active:
                continue
            self.put(one, replace(at, active=True))
            if at.state is State.ABANDONED:
                self.happen(one, Event.CHOSEN)
            node = self.view.node(one)
            below += [part for part in node.parts if self.is_choice(part)]
            below += node.checked_by

    def is_choice(self, task: str) -> bool:
        """Whether it is the candidate of its group to take up: the one that is done, else the best; or has no rivals.

        A check comes with what it checks.
        """
        node = self.view.node(task)
        rivals = node.rivals
        if node.checks is not None and not self.at(node.checks).active:
            return False
        done = next(
            (rival for rival in rivals if self.at(rival).state is State.DONE), None
        )
        return not rivals or task == (done or rivals[0])


def move(
    view: Neighbourhood, task: str, event: Event, *, waiting: Waiting | None = None
) -> tuple[NodeMove, ...]:
    """One event on one task, with everything that follows for others. Raises IllegalTransition; then nothing moved."""
    node, at = view.node(task), view.progress(task)
    if event is Event.CLAIMED and not node.is_work:
        raise IllegalTransition(
            at.state, event, ("COMPLETED, when its parts are done",)
        )
    moving = _Move(view)
    moving.happen(task, event, waiting)
    if event is Event.REQUEUED:
        moving.take_up_again(task)
    elif event is Event.VOUCHED:
        moving.spare_the_checks(node)
    return moving.settle()


def drop(
    view: Neighbourhood, task: str, *, excuse: bool = False, along: Iterable[str] = ()
) -> tuple[NodeMove, ...]:
    """A person cancels a task. `excuse`: whoever waits for it goes on without it; `along`: they are cancelled with it."""
    moving = _Move(view)
    moving.give_up(task, excuse=excuse)
    for other in along:
        if moving.at(other).state not in TERMINAL:
            moving.give_up(other, excuse=False)
    return moving.settle()


def left_hanging(view: Neighbourhood, task: str) -> tuple[str, ...]:
    """What would wait for ever if a task were cancelled: everything open that waits for it, or for what goes with it."""
    gone = {change.task_id for change in drop(view, task) if not change.after.active}
    found: dict[str, None] = {}
    below = list(gone)
    while below:
        node = view.node(below.pop())
        for waits in (*node.dependents, *(() if node.task_id in gone else node.parts)):
            at = view.progress(waits)
            if (
                waits not in found
                and waits not in gone
                and at.active
                and at.state not in TERMINAL
            ):
                found[waits] = None
                below.append(waits)
    return tuple(found)


def inputs_changed(
    view: Neighbourhood, task: str, missing: int
) -> tuple[NodeMove, ...]:
    """So many required inputs are missing now."""
    moving = _Move(view)
    moving.put(task, replace(view.progress(task), missing_inputs=missing))
    return moving.settle()


@dataclass(slots=True)
class PlanInMemory:
    """A whole plan and where it stands: for tests, small plans and the beginning of large ones."""

    graph: PlanGraph
    at: dict[str, NodeProgress] = field(default_factory=dict)

    def node(self, task: str) -> PlanNode:
        """The node."""
        return self.graph[task]

    def progress(self, task: str) -> NodeProgress:
        """Where it stands."""
        return self.at[task]

    def move(
        self, task: str, event: Event, *, waiting: Waiting | None = None
    ) -> tuple[NodeMove, ...]:
        """Move, and keep what came of it."""
        return self._keep(move(self, task, event, waiting=waiting))

    def drop(
        self, task: str, *, excuse: bool = False, along: Iterable[str] = ()
    ) -> tuple[NodeMove, ...]:
        """Cancel, and keep what came of it."""
        return self._keep(drop(self, task, excuse=excuse, along=along))

    def set_missing_inputs(self, task: str, missing: int) -> tuple[NodeMove, ...]:
        """So many required inputs are missing now."""
        return self._keep(inputs_changed(self, task, missing))

    def _keep(self, changes: tuple[NodeMove, ...]) -> tuple[NodeMove, ...]:
        self.at.update((change.task_id, change.after) for change in changes)
        return changes


def begin(
    graph: PlanGraph, missing_inputs: Mapping[str, int] | None = None
) -> PlanInMemory:
    """A plan at its beginning: alternatives chosen, counts taken, and everything ready that can be."""
    missing = missing_inputs or {}
    inactive = _passed_over(graph)
    plan = PlanInMemory(graph)
    for task in graph:
        dropped = (
            TaskStanding(state=State.ABANDONED) if task in inactive else TaskStanding()
        )
        plan.at[task] = NodeProgress(
            standing=dropped,
            active=task not in inactive,
            missing_inputs=missing.get(task, 0),
        )
    recount(plan)
    for task in graph:
        moving = _Move(plan, waiting=[task])
        plan._keep(moving.settle())  # noqa: SLF001 - its own
    return plan


def _passed_over(graph: PlanGraph) -> set[str]:
    """Candidates that are not their group's first choice, and what belongs only to such."""
    inactive: set[str] = set()
    below = [task for task in graph if graph[task].rivals[:1] not in ((), (task,))]
    while below:
        task = below.pop()
        if task not in inactive:
            inactive.add(task)
            below += [
                part
                for part in graph[task].parts
                if graph[part].checks is None
                and all(one in inactive for one in graph[part].parents)
            ]
            below += graph[task].checked_by
    return inactive


def recount(plan: PlanInMemory) -> None:
    """Take every count from the states alone. Linear in the plan; for beginnings and for checking, never for moving."""
    graph = plan.graph
    for task in _parents_first(graph):
        node, at = graph[task], plan.at[task]
        signs = {
            one: _signs(graph[one], plan.at[one])
            for one in (*node.prerequisites, *node.parts, *node.parents)
        }
        waits = [
            one
            for one in node.prerequisites
            if not (signs[one].to_check if one == node.checks else signs[one].satisfies)
        ]
        plan.at[task] = replace(
            at,
            waits_on=len(waits),
            closed_gates=sum(not signs[parent].gate for parent in node.parents),
            open_parts=sum(signs[part].is_open for part in node.parts),
            done_parts=sum(signs[part].is_done for part in node.parts),
            dead_parts=sum(signs[part].is_dead for part in node.parts),
        )


def _parents_first(graph: PlanGraph) -> Iterable[str]:
    left = {task: len(graph[task].parents) for task in graph}
    free = [task for task, count in left.items() if not count]
    while free:
        task = free.pop()
        yield task
        for part in graph[task].parts:
            left[part] -= 1
            if not left[part]:
                free.append(part)

"""How a move spreads through a plan: the moved node, its neighbours, their neighbours.

The counters of `NodeProgress` are adjusted by differences and never computed again from
the whole plan; a property test does that and compares. What the edges mean is described
in docs/decisions/0007.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from accordance.domain.lifecycle import TERMINAL, Event, State, Waiting, advance
from accordance.domain.node_progress import (
    Neighbourhood,
    NodeMove,
    NodeProgress,
    Signals,
    signals_of,
)
from accordance.domain.plan import NodeLinks
from accordance.errors import IllegalTransition


@dataclass(slots=True)
class Propagation:
    """A move under way: the changes so far, and the nodes to reconsider.

    All work waits in lists instead of on the call stack, so that no plan is too deep.
    """

    view: Neighbourhood
    to_reconsider: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)  # after all news of their parts
    news: list[tuple[NodeLinks, Signals, Signals]] = field(default_factory=list)
    changed: dict[str, NodeProgress] = field(default_factory=dict)
    moves: list[NodeMove] = field(default_factory=list)

    def progress_of(self, task: str) -> NodeProgress:
        """Return where a task stands, changes of this move included."""
        progress = self.changed.get(task)
        if progress is None:
            return self.view.progress(task)
        return progress

    def apply_event(
        self, task: str, event: Event, waiting: Waiting | None = None
    ) -> None:
        """Advance a task by an event. Raises IllegalTransition."""
        progress = self.progress_of(task)
        standing = advance(progress.standing, event, waiting=waiting)
        self.update(task, replace(progress, standing=standing), event)

    def update(
        self, task: str, after: NodeProgress, event: Event | None = None
    ) -> None:
        """Record where a task stands now, and queue its news for the neighbours."""
        before = self.progress_of(task)
        if after == before:
            return

        self.changed[task] = after
        self.moves.append(
            NodeMove(
                task_id=task,
                event=event,
                before=before,
                after=after,
            )
        )
        self.to_reconsider.append(task)

        node = self.view.node(task)
        old_signals = signals_of(node, before)
        new_signals = signals_of(node, after)
        if new_signals != old_signals:
            self.news.append((node, old_signals, new_signals))

    def settle(self) -> tuple[NodeMove, ...]:
        """Spread news and reconsider nodes until nothing is left to do.

        Goals come last: they decide when all news of their parts is in.
        """
        while self.news or self.to_reconsider or self.goals:
            if self.news:
                node, old, new = self.news.pop()
                self._notify_neighbours(node, old, new)
            elif self.to_reconsider:
                task = self.to_reconsider.pop()
                self._reconsider(self.view.node(task))
            else:
                goal = self.goals.pop()
                self._reconsider_goal(self.view.node(goal))
        return tuple(self.moves)

    def _notify_neighbours(self, node: NodeLinks, old: Signals, new: Signals) -> None:
        """Adjust the counts of every neighbour that sees a difference."""
        if new.satisfies != old.satisfies:
            self._notify_dependents(node, node.dependents, old, new)
        elif new.to_check != old.to_check:
            self._notify_dependents(node, node.checked_by, old, new)
        if new.as_a_part != old.as_a_part:
            self._notify_parents(node, old, new)
        if new.gate_is_open != old.gate_is_open:
            self._notify_parts(node, old, new)

    def _notify_dependents(
        self, node: NodeLinks, dependents: tuple[str, ...], old: Signals, new: Signals
    ) -> None:
        """A check waits for a product to review, other dependents until it is done."""
        newly_satisfied = new.satisfies - old.satisfies
        newly_checkable = new.to_check - old.to_check
        for dependent in dependents:
            is_check = dependent in node.checked_by
            fulfilled = newly_checkable if is_check else newly_satisfied
            progress = self.progress_of(dependent)
            waits_on = progress.waits_on - fulfilled
            self.update(dependent, replace(progress, waits_on=waits_on))

    def _notify_parents(self, node: NodeLinks, old: Signals, new: Signals) -> None:
        for parent in node.parents:
            progress = self.progress_of(parent)
            recounted = replace(
                progress,
                open_parts=progress.open_parts + new.is_open - old.is_open,
                done_parts=progress.done_parts + new.is_done - old.is_done,
                dead_parts=progress.dead_parts + new.is_dead - old.is_dead,
            )
            self.update(parent, recounted)

    def _notify_parts(self, node: NodeLinks, old: Signals, new: Signals) -> None:
        newly_opened = new.gate_is_open - old.gate_is_open
        for part in node.parts:
            progress = self.progress_of(part)
            closed_gates = progress.closed_gates - newly_opened
            self.update(part, replace(progress, closed_gates=closed_gates))

    def _reconsider(self, node: NodeLinks) -> None:
        """Decide again what a node does, from its counts as they are now."""
        if node.rivals:
            self._reconsider_rivals(node)
        if node.is_work:
            self._reconsider_work(node)
        else:
            self.goals.append(node.task_id)

    def _reconsider_work(self, node: NodeLinks) -> None:
        """Ready when it is active and nothing is missing; pending again otherwise.

        A check of a product waits for that product alone: its goal may be waiting for
        the very task it checks.
        """
        progress = self.progress_of(node.task_id)
        is_behind_a_gate = progress.closed_gates > 0 and node.checks is None
        is_held_back = (
            progress.waits_on > 0 or is_behind_a_gate or progress.missing_inputs > 0
        )
        enabled = progress.active and not is_held_back

        if enabled and progress.state is State.PENDING:
            self.apply_event(node.task_id, Event.ENABLED)
        elif not enabled and progress.state is State.READY:
            self.apply_event(node.task_id, Event.DISABLED)

    def _reconsider_goal(self, node: NodeLinks) -> None:
        """Done as its rule says; stuck when it can no longer be done.

        It is free again when a dead part has come back.
        """
        progress = self.progress_of(node.task_id)
        if not progress.active or progress.state in TERMINAL:
            return

        complete = _is_complete(node, progress)
        stuck = _is_stuck(node, progress)
        was_blocked = progress.state is State.BLOCKED

        if was_blocked and not stuck:
            self.apply_event(node.task_id, Event.ANSWERED)
            self.apply_event(node.task_id, Event.DISABLED)
        if complete:
            self.apply_event(node.task_id, Event.COMPLETED)
            if node.combine == "OR":  # an AND goal needed all of its parts
                self._drop_unneeded_parts(node)
        elif stuck:
            self._leave_stuck_goal(node, was_blocked=was_blocked)

    def _leave_stuck_goal(self, node: NodeLinks, *, was_blocked: bool) -> None:
        """Make way for the next candidate, or be excused, or ask a person.

        A goal whose parts are all excused has nothing left to do: it held only checks
        of products that are not needed any more.
        """
        if self._next_rival(node) is not None:
            self.apply_event(node.task_id, Event.BURIED)
            return

        is_root = not node.parents
        are_excused = all(self.progress_of(part).excused for part in node.parts)
        if are_excused and not is_root:
            self._excuse(node.task_id)
        elif not was_blocked:
            self.apply_event(node.task_id, Event.ESCALATED)

    def _drop_unneeded_parts(self, node: NodeLinks) -> None:
        """Excuse the open parts that neither this OR goal nor any other node needs."""
        for part in node.parts:
            progress = self.progress_of(part)
            is_over = progress.excused or progress.state in (
                State.DONE,
                State.DEAD_LETTER,
            )
            if not is_over and not self._is_wanted(part):
                self._excuse(part)

    def _is_wanted(self, part: str) -> bool:
        """Whether a part still has an active goal to serve, or a product to check."""
        node = self.view.node(part)
        if node.checks is not None:
            product = self.progress_of(node.checks)
            if product.active and product.state not in TERMINAL:
                return True
        for parent in node.parents:
            progress = self.progress_of(parent)
            if progress.active and progress.state is not State.DONE:
                return True
        return False

    def _reconsider_rivals(self, node: NodeLinks) -> None:
        """Keep a single candidate active.

        When it is done it excuses the others; when it is dead the next candidate
        follows.
        """
        progress = self.progress_of(node.task_id)
        if not progress.active:
            return
        if progress.state is State.DONE:
            for rival in node.rivals:
                if rival != node.task_id and not self.progress_of(rival).excused:
                    self._excuse(rival)
        elif progress.state is State.DEAD_LETTER:
            next_rival = self._next_rival(node)
            if next_rival is not None:
                self._deactivate(node.task_id)
                self._activate(next_rival)

    def _next_rival(self, node: NodeLinks) -> str | None:
        """Return the best candidate of its group that has not been tried."""
        for rival in node.rivals:
            if self.progress_of(rival).state is State.ABANDONED:
                return rival
        return None

    def take_up_again(self, task: str) -> None:
        """Make a candidate active again; its dead rivals step aside."""
        self._activate(task)
        for rival in self.view.node(task).rivals:
            if rival != task and self.progress_of(rival).state is State.DEAD_LETTER:
                self._deactivate(rival)

    def skip_checks(self, node: NodeLinks) -> None:
        """Excuse the checks of a product that a person has approved."""
        for check in node.checked_by:
            if self.progress_of(check).state not in TERMINAL:
                self._excuse(check)

    def cancel(self, task: str, *, excuse: bool) -> None:
        """Cancel a task. A candidate makes way for the next; anything else is dropped.

        With `excuse`, tasks that wait for a dropped task go ahead without it. Raises
        IllegalTransition for a task that is over.
        """
        state = self.progress_of(task).state
        is_dead = state is State.DEAD_LETTER
        has_next_rival = self._next_rival(self.view.node(task)) is not None

        if has_next_rival and not is_dead:
            self.apply_event(task, Event.BURIED)
            return
        if is_dead:
            self.apply_event(task, Event.DROPPED)
        elif state in TERMINAL:
            raise IllegalTransition(state, Event.DROPPED, ())

        self._deactivate(task)
        if excuse:
            self._excuse_cancelled()

    def _excuse_cancelled(self) -> None:
        """Excuse the cancelled task and all that went with it.

        They are the only changes so far, and all of them are inactive.
        """
        for task, progress in list(self.changed.items()):
            self.update(task, replace(progress, excused=True))

    def _deactivate(self, task: str) -> None:
        """Make a task inactive, with the parts and checks that belong only to it."""
        remaining = [task]
        while remaining:
            current = remaining.pop()
            progress = self.progress_of(current)
            if not progress.active:
                continue

            self.update(current, replace(progress, active=False))
            if progress.state not in TERMINAL:
                self.apply_event(current, Event.DROPPED)

            node = self.view.node(current)
            remaining += [part for part in node.parts if not self._is_wanted(part)]
            remaining += [
                check for check in node.checked_by if not self._is_done(check)
            ]

    def _is_done(self, task: str) -> bool:
        return self.progress_of(task).state is State.DONE

    def _excuse(self, task: str) -> None:
        """Make a task inactive and let its dependents go ahead without it.

        The same holds for the parts and checks that belong only to it.
        """
        self._deactivate(task)
        self.update(task, replace(self.progress_of(task), excused=True))

        node = self.view.node(task)
        remaining = [*node.parts, *node.checked_by]
        while remaining:
            current = remaining.pop()
            progress = self.progress_of(current)
            if progress.active or progress.excused:
                continue
            node = self.view.node(current)
            if not node.checks and self._may_be_taken_up(node):
                continue
            self.update(current, replace(progress, excused=True))
            remaining += [*node.parts, *node.checked_by]

    def _may_be_taken_up(self, node: NodeLinks) -> bool:
        """Whether a goal it belongs to could still be taken up."""
        for parent in node.parents:
            progress = self.progress_of(parent)
            if not progress.excused and progress.state is not State.DONE:
                return True
        return False

    def _activate(self, task: str) -> None:
        """Make a task active again, with its parts and checks.

        Candidates below it that were passed over stay inactive.
        """
        remaining = [task]
        while remaining:
            current = remaining.pop()
            progress = self.progress_of(current)
            if progress.active:
                continue

            self.update(current, replace(progress, active=True))
            if progress.state is State.ABANDONED:
                self.apply_event(current, Event.CHOSEN)

            node = self.view.node(current)
            remaining += [part for part in node.parts if self._is_choice(part)]
            remaining += node.checked_by

    def _is_choice(self, task: str) -> bool:
        """Whether it is the candidate of its group to take up, or has no rivals.

        A candidate that is done comes before the best. A check comes with the product
        it checks.
        """
        node = self.view.node(task)
        if node.checks is not None and not self.progress_of(node.checks).active:
            return False
        if not node.rivals:
            return True
        for rival in node.rivals:
            if self._is_done(rival):
                return rival == task
        return node.rivals[0] == task


def _is_complete(node: NodeLinks, progress: NodeProgress) -> bool:
    """Whether the parts of a goal are done, all (AND) or any (OR) of them."""
    if not progress.done_parts:
        return False
    if node.combine == "OR":
        return True
    return not (progress.open_parts or progress.dead_parts)


def _is_stuck(node: NodeLinks, progress: NodeProgress) -> bool:
    """Whether a goal can no longer be completed."""
    if node.combine == "AND" and progress.dead_parts:
        return True
    return not (progress.done_parts or progress.open_parts)

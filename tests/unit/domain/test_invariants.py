"""What must hold of a plan whatever happens to it: a state machine over random plans."""

from __future__ import annotations

import random
from dataclasses import asdict

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from accordance import Accepted, check_value
from accordance.domain.lifecycle import LIFECYCLE, Event, State
from accordance.domain.plan import plan_graph
from accordance.domain.progress import (
    NodeProgress,
    PlanInMemory,
    begin,
    left_hanging,
    recount,
)
from accordance.errors import IllegalTransition
from tests.plans import random_plan

FOLLOWS = frozenset(
    (Event.ENABLED, Event.DISABLED, Event.COMPLETED, Event.DROPPED, Event.CHOSEN)
)
"""What nobody does: it follows from what others do."""
LEAVES = {
    State.DONE: frozenset[Event](),
    State.ABANDONED: frozenset((Event.CHOSEN,)),
    State.DEAD_LETTER: frozenset((Event.REQUEUED, Event.DROPPED)),
    State.BLOCKED: frozenset(
        (
            Event.ANSWERED,
            Event.GRANTED,
            Event.CAUSE_GONE,
            Event.REVIEW_CAUSE_GONE,
            Event.VOUCHED,
            Event.DROPPED,
            Event.BURIED,
        )
    ),
}
"""The only ways out of states that stay."""


class MovingPlans(RuleBasedStateMachine):
    """Anybody may do anything to any task; the plan keeps its rules."""

    @initialize(seed=st.integers(0, 2**32 - 1))
    def begin(self, seed: int) -> None:
        """A random plan at its beginning."""
        result = check_value(random_plan(random.Random(seed)), "PLAN_GEN")
        assert isinstance(result, Accepted)
        self.plan: PlanInMemory = begin(plan_graph(result.value))
        self.approved: set[str] = set()

    @rule(data=st.data())
    def happen(self, data: st.DataObject) -> None:
        """Something happens to a task that can."""
        tasks = [task for task in self.plan.graph if self.plan.graph[task].is_work]
        task = data.draw(st.sampled_from(tasks))
        legal = sorted(LIFECYCLE[self.plan.at[task].state].keys() - FOLLOWS)
        if legal:
            self.move(task, data.draw(st.sampled_from(legal)))

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """Work that is ready is done, so that plans come to an end."""
        ready = [task for task, at in self.plan.at.items() if at.state is State.READY]
        if ready:
            task = data.draw(st.sampled_from(ready))
            for event in (Event.CLAIMED, Event.PRODUCED, Event.APPROVED):
                self.move(task, event)

    @rule(data=st.data(), event=st.sampled_from(Event))
    def try_anything(self, data: st.DataObject, event: Event) -> None:
        """What the table does not know is refused and changes nothing."""
        task = data.draw(st.sampled_from(list(self.plan.graph)))
        if event not in LIFECYCLE[self.plan.at[task].state]:
            before = dict(self.plan.at)
            try:
                self.plan.move(task, event)
            except IllegalTransition:
                assert self.plan.at == before
            else:
                raise AssertionError(f"{event} moved {task}")

    @rule(data=st.data(), excuse=st.booleans(), cascade=st.booleans())
    def cancel(self, data: st.DataObject, excuse: bool, cascade: bool) -> None:
        """A person cancels a task, with what would wait for ever or without."""
        task = data.draw(st.sampled_from(list(self.plan.graph)))
        before = dict(self.plan.at)
        try:
            along = left_hanging(self.plan, task) if cascade else ()
            changes = self.plan.drop(task, excuse=excuse, along=along)
        except IllegalTransition:
            assert before[task].state in (State.DONE, State.ABANDONED)
            assert self.plan.at == before
            return
        self.keep_to_the_rules(
            before, {change.event for change in changes if change.event}
        )
        if excuse or cascade:
            self.nobody_waits_for(
                {
                    task
                    for task, at in self.plan.at.items()
                    if before[task].active and not at.active
                }
            )

    def nobody_waits_for(self, gone: set[str]) -> None:
        """What was cancelled with its dependents, or excused, keeps nobody waiting."""
        for task, at in self.plan.at.items():
            if (
                at.active
                and at.state is State.PENDING
                and self.plan.graph[task].is_work
            ):
                for one in gone & {*self.plan.graph[task].prerequisites}:
                    other = self.plan.at[one]
                    assert (
                        other.active
                        or other.excused
                        or other.state is State.DONE
                        or self.has_successor(one)
                    )

    def has_successor(self, task: str) -> bool:
        """Whether another candidate is being tried in place of it, or of a goal above it."""
        node = self.plan.graph[task]
        rivals = any(self.plan.at[rival].active for rival in node.rivals)
        return rivals or any(self.has_successor(parent) for parent in node.parents)

    @rule(data=st.data(), missing=st.integers(0, 2))
    def inputs(self, data: st.DataObject, missing: int) -> None:
        """Inputs come and go."""
        tasks = [task for task in self.plan.graph if self.plan.graph[task].is_work]
        before = dict(self.plan.at)
        self.plan.set_missing_inputs(data.draw(st.sampled_from(tasks)), missing)
        self.keep_to_the_rules(before, set())

    def move(self, task: str, event: Event) -> None:
        """An event, and what it must not have done."""
        before = dict(self.plan.at)
        self.plan.move(task, event)
        if event in (Event.APPROVED, Event.VOUCHED):
            self.approved.add(task)
        self.keep_to_the_rules(before, {event}, task)

    def keep_to_the_rules(
        self,
        before: dict[str, NodeProgress],
        events: set[Event],
        moved: str | None = None,
    ) -> None:
        """Counters never fall; states that stay are left only by the events that may."""
        for task, at in self.plan.at.items():
            was = before[task]
            old, new = asdict(was.standing.counters), asdict(at.standing.counters)
            assert all(new[name] >= old[name] for name in old)
            if was.state in LEAVES and at.state is not was.state:
                by = (
                    events
                    if task == moved
                    else {Event.CHOSEN, Event.DROPPED, Event.BURIED}
                )
                if not self.plan.graph[task].is_work:
                    by = by | {Event.ANSWERED, Event.COMPLETED}
                assert by & (LEAVES[was.state] | {Event.COMPLETED}), (
                    task,
                    was.state,
                    at.state,
                )

    @precondition(lambda self: hasattr(self, "plan"))
    @invariant()
    def nothing_is_done_unapproved(self) -> None:
        """Work is DONE by an approval and by nothing else."""
        done = {task for task, at in self.plan.at.items() if at.state is State.DONE}
        assert {task for task in done if self.plan.graph[task].is_work} <= self.approved

    @precondition(lambda self: hasattr(self, "plan"))
    @invariant()
    def goals_are_done_when_their_rule_says_so(self) -> None:
        """An open goal's rule is not fulfilled, a done one's was; the root is such a goal."""
        for task, node in self.plan.graph.nodes.items():
            at = self.plan.at[task]
            if node.is_work or not at.active:
                continue
            parts = [
                self.plan.at[part] for part in node.parts if self.plan.at[part].active
            ]
            done = [part for part in parts if part.state is State.DONE]
            fulfilled = (
                bool(done)
                if node.combine == "OR"
                else bool(done) and len(done) == len(parts)
            )
            if at.state is State.DONE:
                assert done
            else:
                assert at.state in (
                    State.PENDING,
                    State.BLOCKED,
                    State.ABANDONED,
                    State.DEAD_LETTER,
                )
                assert not fulfilled or at.state in (State.ABANDONED, State.DEAD_LETTER)

    @precondition(lambda self: hasattr(self, "plan"))
    @invariant()
    def ready_is_ready(self) -> None:
        """Ready exactly when wanted and nothing is missing; waiting says for what exactly when blocked."""
        for task, at in self.plan.at.items():
            node = self.plan.graph[task]
            missing = (
                at.waits_on
                or at.missing_inputs
                or (at.closed_gates and node.checks is None)
            )
            if node.is_work and at.state is State.READY:
                assert at.active
                assert not missing
            if node.is_work and at.state is State.PENDING:
                assert missing or not at.active
            assert (at.standing.waiting is not None) == (at.state is State.BLOCKED)

    @precondition(lambda self: hasattr(self, "plan"))
    @invariant()
    def counts_are_right(self) -> None:
        """The counts are what counting again would give."""
        again = PlanInMemory(self.plan.graph, dict(self.plan.at))
        recount(again)
        assert again.at == self.plan.at


MovingPlans.TestCase.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None
)
TestMovingPlans = MovingPlans.TestCase

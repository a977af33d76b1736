"""Plans that move: what follows from one event, held against counting everything again."""

from __future__ import annotations

import copy
import json
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordance import Accepted, check_value
from accordance.domain.lifecycle import CLAIMABLE, LIFECYCLE, Event, State, Waiting
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.progress import PlanInMemory, Progress, begin, recount
from accordance.errors import IllegalTransition
from tests.messages import Message, edge, node, plan, small_plan


def graph(message: Message) -> PlanGraph:
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted), result
    return plan_graph(result.value)


def started(nodes: str, edges: list[Message], goals: str = "") -> PlanInMemory:
    whole = [node("root", "GOAL"), *(node(name, "GOAL" if name in goals else "ACTION") for name in nodes)]
    return begin(graph(plan(whole, edges)))


def states(moving: PlanInMemory) -> dict[str, str]:
    return {task: at.state.value for task, at in moving.at.items()}


def finish(moving: PlanInMemory, task: str) -> None:
    moving.move(task, Event.CLAIMED)
    moving.move(task, Event.PRODUCED)
    moving.move(task, Event.APPROVED)


def bury(moving: PlanInMemory, task: str) -> None:
    moving.move(task, Event.CLAIMED)
    moving.move(task, Event.ERRED)
    moving.move(task, Event.BURIED)


def test_one_after_the_other() -> None:
    """What is waited for comes first; the root is done when its parts are."""
    moving = begin(graph(small_plan()))
    assert states(moving) == {"root": "PENDING", "a": "READY", "b": "PENDING"}
    finish(moving, "a")
    assert states(moving) == {"root": "PENDING", "a": "DONE", "b": "READY"}
    finish(moving, "b")
    assert states(moving)["root"] == "DONE"


def test_a_goal_with_parts_is_nobodys_work() -> None:
    """It cannot be claimed; one without parts can."""
    moving = begin(graph(small_plan()))
    with pytest.raises(IllegalTransition, match="COMPLETED, when its parts are done"):
        moving.move("root", Event.CLAIMED)
    alone = begin(graph(plan([node("root", "GOAL")], [])))
    finish(alone, "root")
    assert states(alone) == {"root": "DONE"}


def test_parts_wait_for_what_their_goal_waits_for() -> None:
    """A goal that may not begin keeps its parts closed, at any depth."""
    edges = [
        edge("root", "x"),
        edge("root", "g"),
        edge("g", "h"),
        edge("h", "y"),
        edge("x", "g", "DEPENDS_ON"),
    ]
    moving = started("xghy", edges, "gh")
    assert states(moving)["y"] == "PENDING"
    finish(moving, "x")
    assert states(moving)["y"] == "READY"


def test_or_goals_need_one_part() -> None:
    """The others are dropped when it is done."""
    moving = started("ab", [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")])
    finish(moving, "b")
    assert states(moving) == {"root": "DONE", "a": "ABANDONED", "b": "DONE"}


def test_a_dead_part_of_an_and_goal_is_said() -> None:
    """The goal cannot finish and waits for a person; when the part is taken up again it goes on."""
    moving = started("ab", [edge("root", "a"), edge("root", "b")])
    bury(moving, "a")
    assert (states(moving)["root"], moving.at["root"].standing.waiting) == ("BLOCKED", Waiting.EXTERNAL)
    finish(moving, "b")
    assert states(moving)["root"] == "BLOCKED"
    moving.move("a", Event.REQUEUED)
    assert states(moving)["root"] == "PENDING"
    finish(moving, "a")
    assert states(moving)["root"] == "DONE"


def test_an_or_goal_gives_up_only_when_all_parts_are_dead() -> None:
    """And even then a late success counts."""
    moving = started("ab", [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")])
    bury(moving, "a")
    assert states(moving)["root"] == "PENDING"
    bury(moving, "b")
    assert states(moving)["root"] == "BLOCKED"
    moving.move("b", Event.REQUEUED)
    finish(moving, "b")
    assert states(moving) == {"root": "DONE", "a": "DEAD_LETTER", "b": "DONE"}


def alternatives(by_hand: int = 1) -> PlanInMemory:
    """Two ways to lay out the pages, one with parts of its own; proofreading waits for the first."""
    nodes = [
        node("root", "GOAL"),
        node("by_hand", "GOAL", priority=by_hand),
        node("cut"),
        node("paste"),
        node("printed", priority=9),
        node("proof"),
    ]
    edges = [edge("root", task) for task in ("by_hand", "printed", "proof")]
    edges += [edge("by_hand", "cut"), edge("by_hand", "paste"), edge("cut", "paste", "DEPENDS_ON")]
    edges += [edge("root", task, "ALTERNATIVE", group_id="pages") for task in ("by_hand", "printed")]
    edges += [edge("printed", "proof", "DEPENDS_ON")]
    return begin(graph(plan(nodes, edges)))


def test_the_best_alternative_is_chosen_first() -> None:
    """The others, with their parts, wait outside."""
    moving = alternatives()
    assert states(moving) == {"root": "PENDING", "by_hand": "ABANDONED", "cut": "ABANDONED", "paste": "ABANDONED", "printed": "READY", "proof": "PENDING"}  # fmt: skip
    finish(moving, "printed")
    finish(moving, "proof")
    assert states(moving)["root"] == "DONE"


def test_when_the_chosen_one_dies_the_next_is_taken_with_its_branch() -> None:
    """Whoever waited for one candidate goes on when another has done it."""
    moving = alternatives()
    bury(moving, "printed")
    assert states(moving)["cut"] == "READY"
    assert states(moving)["root"] == "PENDING"
    finish(moving, "cut")
    assert states(moving)["proof"] == "PENDING"
    finish(moving, "paste")
    assert states(moving)["by_hand"] == "DONE"
    assert states(moving)["proof"] == "READY"
    finish(moving, "proof")
    assert states(moving)["root"] == "DONE"


def test_an_alternative_that_can_no_longer_finish_makes_way() -> None:
    """A goal among the candidates with a dead part is given up by itself while there is another candidate."""
    moving = alternatives(by_hand=10)
    assert states(moving)["cut"] == "READY"
    bury(moving, "cut")
    assert states(moving)["by_hand"] == "DEAD_LETTER"
    assert states(moving)["paste"] == "ABANDONED"
    assert states(moving)["printed"] == "READY"
    assert states(moving)["root"] == "PENDING"
    agrees_with_a_recount(moving)


def test_when_no_alternative_is_left_the_goal_says_so() -> None:
    """A group that failed as a whole is a dead part."""
    moving = alternatives()
    bury(moving, "printed")
    bury(moving, "cut")
    assert states(moving)["by_hand"] == "BLOCKED"
    moving.move("by_hand", Event.BURIED)
    assert states(moving)["root"] == "BLOCKED"


def test_a_person_may_take_up_a_dead_alternative() -> None:
    """It becomes the chosen one again, with its branch; what was done in it stays done."""
    moving = alternatives()
    bury(moving, "printed")
    finish(moving, "cut")
    bury(moving, "paste")
    moving.move("by_hand", Event.BURIED)
    assert states(moving)["root"] == "BLOCKED"
    moving.move("printed", Event.REQUEUED)
    assert states(moving)["root"] == "PENDING"
    assert states(moving)["printed"] == "READY"
    bury(moving, "printed")
    assert states(moving)["root"] == "BLOCKED"
    moving.move("by_hand", Event.REQUEUED)
    assert states(moving)["cut"] == "DONE"
    moving.move("paste", Event.REQUEUED)
    finish(moving, "paste")
    assert states(moving)["by_hand"] == "DONE"
    finish(moving, "proof")
    assert states(moving)["root"] == "DONE"
    agrees_with_a_recount(moving)


def test_a_part_of_two_goals_is_dropped_only_when_neither_wants_it() -> None:
    """It belongs to both."""
    edges = [
        edge("root", "g"),
        edge("root", "h"),
        edge("g", "x", and_or="OR"),
        edge("g", "y", and_or="OR"),
        edge("h", "x"),
    ]
    moving = started("ghxy", edges, "gh")
    finish(moving, "y")
    assert states(moving) == {"root": "PENDING", "g": "DONE", "h": "PENDING", "x": "READY", "y": "DONE"}
    finish(moving, "x")
    assert states(moving)["root"] == "DONE"


def test_a_check_begins_when_there_is_something_to_check() -> None:
    """It waits for the product, not for its approval; returned, it waits again."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    moving = begin(
        graph(plan(nodes, [edge("root", "a"), edge("root", "check"), edge("a", "check", "DEPENDS_ON")]))
    )
    moving.move("a", Event.CLAIMED)
    moving.move("a", Event.PRODUCED)
    assert states(moving)["check"] == "READY"
    moving.move("check", Event.CLAIMED)
    moving.move("a", Event.RETURNED)
    moving.move("check", Event.RELEASED)
    assert states(moving) == {"root": "PENDING", "a": "TO_BE_MODIFY", "check": "PENDING"}
    finish(moving, "a")
    moving.move("check", Event.CLAIMED)
    moving.move("check", Event.APPROVED)
    assert states(moving)["root"] == "DONE"


def test_a_check_of_several_things_waits_for_them_all() -> None:
    """Then it is work like any other."""
    nodes = [node("root", "GOAL"), node("a"), node("b"), node("check", "CHECK")]
    edges = [edge("root", task) for task in ("a", "b", "check")]
    edges += [edge("a", "check", "DEPENDS_ON"), edge("b", "check", "DEPENDS_ON")]
    moving = begin(graph(plan(nodes, edges)))
    assert moving.graph["check"].checks is None
    finish(moving, "a")
    assert states(moving)["check"] == "PENDING"
    finish(moving, "b")
    assert states(moving)["check"] == "READY"


def test_missing_inputs_keep_a_task_waiting() -> None:
    """They come, they go; work that has begun is left alone."""
    moving = begin(graph(small_plan()), {"a": 2})
    assert states(moving)["a"] == "PENDING"
    moving.set_missing_inputs("a", 0)
    assert states(moving)["a"] == "READY"
    moving.set_missing_inputs("a", 1)
    assert states(moving)["a"] == "PENDING"
    assert moving.set_missing_inputs("a", 1) == ()


def test_blocked_is_sticky() -> None:
    """D11: nothing that happens around it makes a blocked task ready; only an answer does."""
    moving = started("ab", [edge("root", "a"), edge("root", "b")])
    moving.move("a", Event.CLAIMED)
    moving.move("a", Event.ASKED)
    finish(moving, "b")
    moving.set_missing_inputs("a", 1)
    moving.set_missing_inputs("a", 0)
    assert states(moving)["a"] == "BLOCKED"
    moving.move("a", Event.ANSWERED)
    assert states(moving)["a"] == "READY"


def test_a_move_costs_what_its_neighbours_cost() -> None:
    """D21: finishing one of a hundred thousand nodes touches a handful."""
    names = [f"n{at}" for at in range(100_000)]
    edges = [edge("root", name) for name in names]
    edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    moving = begin(graph(plan([node("root", "GOAL"), *(node(name) for name in names)], edges)))
    moving.move("n0", Event.CLAIMED)
    moving.move("n0", Event.PRODUCED)
    changes = moving.move("n0", Event.APPROVED)
    assert {change.task_id for change in changes} == {"n0", "n1", "root"}


def test_no_depth_is_too_deep() -> None:
    """Goals within goals within goals: a gate that opens at the top opens at the bottom."""
    names = [f"g{at}" for at in range(5000)]
    edges = [edge("root", "first"), edge("root", names[0]), edge("first", names[0], "DEPENDS_ON")]
    edges += [edge(one, other) for one, other in pairwise(names)] + [edge(names[-1], "leaf")]
    nodes = [node("root", "GOAL"), node("first"), *(node(name, "GOAL") for name in names), node("leaf")]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "first")
    assert states(moving)["leaf"] == "READY"
    finish(moving, "leaf")
    assert states(moving)["root"] == "DONE"


def random_plan(dice: random.Random) -> Message:
    """A small plan with goals, actions, checks, AND, OR, dependencies and alternatives."""
    names = [f"n{at}" for at in range(dice.randrange(2, 9))]
    parents = {name: dice.choice(["root", *names[:at]]) for at, name in enumerate(names)}
    goals = {*parents.values()}
    nodes = [node("root", "GOAL")]
    nodes += [
        node(
            name,
            "GOAL" if name in goals else dice.choice(["ACTION", "ACTION", "CHECK"]),
            priority=dice.randrange(3),
        )
        for name in names
    ]
    combine = {goal: dice.choice(["AND", "AND", "OR"]) for goal in goals}
    edges = [edge(parents[name], name, and_or=combine[parents[name]]) for name in names]
    for at, name in enumerate(names):
        if at and dice.random() < 0.4:
            other = dice.choice(names[:at])
            if not related(parents, other, name):
                edges.append(edge(other, name, "DEPENDS_ON"))
    for goal in sorted(goals):
        parts = [name for name in names if parents[name] == goal]
        if len(parts) > 1 and dice.random() < 0.4:
            edges += [edge(goal, part, "ALTERNATIVE", group_id="g") for part in dice.sample(parts, 2)]
    return plan(nodes, edges)


def related(parents: dict[str, str], one: str, other: str) -> bool:
    """Whether one lies above the other: then neither may wait for it."""
    for low, high in ((one, other), (other, one)):
        while low in parents:
            low = parents[low]  # noqa: PLW2901 - climbing
            if low == high:
                return True
    return False


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1))
def test_counts_are_what_counting_again_would_give(seed: int) -> None:
    """After every random move: the counts agree with a recount, and nothing happened that must not."""
    dice = random.Random(seed)
    moving = begin(graph(random_plan(dice)))
    for _ in range(30):
        task = dice.choice(list(moving.graph))
        work = moving.graph[task].is_work
        legal = [event for event in LIFECYCLE[moving.at[task].state] if event not in (Event.ENABLED, Event.DISABLED, Event.COMPLETED, Event.DROPPED, Event.CHOSEN)]  # fmt: skip
        if not legal or not work or not (moving.at[task].active or Event.REQUEUED in legal):
            continue
        before = copy.copy(moving.at)
        moving.move(task, dice.choice(legal))
        agrees_with_a_recount(moving)
        keeps_the_rules(before, moving, task)


def agrees_with_a_recount(moving: PlanInMemory) -> None:
    again = PlanInMemory(moving.graph, dict(moving.at))
    recount(again)
    assert again.at == moving.at


def keeps_the_rules(before: dict[str, Progress], moving: PlanInMemory, moved: str) -> None:
    for task, at in moving.at.items():
        was = before[task]
        is_work = moving.graph[task].is_work
        assert was.state is not State.DONE or at.state is State.DONE
        if is_work and task != moved and was.state is State.BLOCKED:
            assert at.state in (State.BLOCKED, State.ABANDONED)
        if at.state in CLAIMABLE and is_work:
            assert at.active
        if at.state is State.READY and is_work:
            assert (at.waits_on, at.closed_gates, at.missing_inputs) == (0, 0, 0)
        if at.state is State.DONE and not is_work:
            assert at.done_parts

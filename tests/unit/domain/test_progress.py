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
from accordance.domain.progress import (
    NodeProgress,
    PlanInMemory,
    begin,
    left_hanging,
    recount,
)
from accordance.errors import IllegalTransition
from tests.messages import Message, edge, node, plan, small_plan
from tests.plans import random_plan


def graph(message: Message) -> PlanGraph:
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted), result
    return plan_graph(result.value)


def started(nodes: str, edges: list[Message], goals: str = "") -> PlanInMemory:
    whole = [
        node("root", "GOAL"),
        *(node(name, "GOAL" if name in goals else "ACTION") for name in nodes),
    ]
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
    moving = started(
        "ab", [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")]
    )
    finish(moving, "b")
    assert states(moving) == {"root": "DONE", "a": "ABANDONED", "b": "DONE"}


def test_a_dead_part_of_an_and_goal_is_said() -> None:
    """The goal cannot finish and waits for a person; when the part is taken up again it goes on."""
    moving = started("ab", [edge("root", "a"), edge("root", "b")])
    bury(moving, "a")
    assert (states(moving)["root"], moving.at["root"].standing.waiting) == (
        "BLOCKED",
        Waiting.EXTERNAL,
    )
    finish(moving, "b")
    assert states(moving)["root"] == "BLOCKED"
    moving.move("a", Event.REQUEUED)
    assert states(moving)["root"] == "PENDING"
    finish(moving, "a")
    assert states(moving)["root"] == "DONE"


def test_an_or_goal_gives_up_only_when_all_parts_are_dead() -> None:
    """And even then a late success counts."""
    moving = started(
        "ab", [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")]
    )
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
    edges += [
        edge("by_hand", "cut"),
        edge("by_hand", "paste"),
        edge("cut", "paste", "DEPENDS_ON"),
    ]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="pages")
        for task in ("by_hand", "printed")
    ]
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
    assert states(moving) == {
        "root": "PENDING",
        "g": "DONE",
        "h": "PENDING",
        "x": "READY",
        "y": "DONE",
    }
    finish(moving, "x")
    assert states(moving)["root"] == "DONE"


def test_a_check_begins_when_there_is_something_to_check() -> None:
    """It waits for the product, not for its approval; returned, it waits again."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    moving = begin(
        graph(
            plan(
                nodes,
                [
                    edge("root", "a"),
                    edge("root", "check"),
                    edge("a", "check", "DEPENDS_ON"),
                ],
            )
        )
    )
    moving.move("a", Event.CLAIMED)
    moving.move("a", Event.PRODUCED)
    assert states(moving)["check"] == "READY"
    moving.move("check", Event.CLAIMED)
    moving.move("a", Event.RETURNED)
    moving.move("check", Event.RELEASED)
    assert states(moving) == {
        "root": "PENDING",
        "a": "TO_BE_MODIFY",
        "check": "PENDING",
    }
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


def checked_alternatives() -> PlanInMemory:
    """Two ways, each with its check; printing waits for the check of the second."""
    nodes = [node("root", "GOAL"), node("one", priority=2), node("two"), node("print")]
    nodes += [node("check_one", "CHECK"), node("check_two", "CHECK")]
    edges = [
        edge("root", task) for task in ("one", "two", "check_one", "check_two", "print")
    ]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="way") for task in ("one", "two")
    ]
    edges += [
        edge("one", "check_one", "DEPENDS_ON"),
        edge("two", "check_two", "DEPENDS_ON"),
    ]
    edges += [edge("check_two", "print", "DEPENDS_ON")]
    return begin(graph(plan(nodes, edges)))


def test_a_check_goes_with_what_it_checks() -> None:
    """Of a candidate that was passed over there is nothing to check; whoever waits for that check goes on in the end."""
    moving = checked_alternatives()
    assert states(moving)["check_two"] == "ABANDONED"
    finish(moving, "one")
    assert states(moving) == {"root": "PENDING", "one": "DONE", "two": "ABANDONED", "print": "READY", "check_one": "READY", "check_two": "ABANDONED"}  # fmt: skip
    agrees_with_a_recount(moving)


def test_a_check_comes_back_with_what_it_checks() -> None:
    """When the next candidate is chosen its check is wanted again."""
    moving = checked_alternatives()
    bury(moving, "one")
    assert states(moving) == {"root": "PENDING", "one": "DEAD_LETTER", "two": "READY", "print": "PENDING", "check_one": "ABANDONED", "check_two": "PENDING"}  # fmt: skip


def test_a_check_inside_what_waits_for_its_action() -> None:
    """A goal that waits for a task may hold that task's check: the check waits for the product alone."""
    nodes = [
        node("root", "GOAL"),
        node("a"),
        node("verify", "GOAL"),
        node("check", "CHECK"),
        node("x"),
    ]
    edges = [
        edge("root", "a"),
        edge("root", "verify"),
        edge("verify", "check"),
        edge("verify", "x"),
    ]
    edges += [edge("a", "check", "DEPENDS_ON"), edge("a", "verify", "DEPENDS_ON")]
    moving = begin(graph(plan(nodes, edges)))
    moving.move("a", Event.CLAIMED)
    moving.move("a", Event.PRODUCED)
    assert (states(moving)["check"], states(moving)["x"]) == ("READY", "PENDING")


def test_a_check_is_not_dropped_while_there_is_something_to_check() -> None:
    """Its goal may be done without it; its action is not."""
    edges = [
        edge("root", "a"),
        edge("root", "g"),
        edge("g", "x", and_or="OR"),
        edge("g", "h", and_or="OR"),
    ]
    edges += [edge("h", "check"), edge("h", "y"), edge("a", "check", "DEPENDS_ON")]
    kinds = {"root": "GOAL", "g": "GOAL", "h": "GOAL", "check": "CHECK"}
    nodes = [
        node(name, kinds.get(name, "ACTION"))
        for name in ("root", "a", "g", "h", "x", "y", "check")
    ]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "x")
    assert (states(moving)["h"], states(moving)["y"], states(moving)["check"]) == ("ABANDONED", "ABANDONED", "PENDING")  # fmt: skip
    finish(moving, "a")
    assert (states(moving)["check"], states(moving)["root"]) == ("READY", "DONE")
    agrees_with_a_recount(moving)


def test_a_person_who_approves_leaves_nothing_to_check() -> None:
    """The check of a product that somebody vouched for is dropped, and the plan goes on."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK"), node("next")]
    edges = [edge("root", task) for task in ("a", "check", "next")]
    edges += [edge("a", "check", "DEPENDS_ON"), edge("check", "next", "DEPENDS_ON")]
    moving = begin(graph(plan(nodes, edges)))
    for event in (Event.CLAIMED, Event.PRODUCED, Event.REFERRED, Event.VOUCHED):
        moving.move("a", event)
    assert states(moving) == {
        "root": "PENDING",
        "a": "DONE",
        "check": "ABANDONED",
        "next": "READY",
    }
    agrees_with_a_recount(moving)


def test_whoever_waits_for_a_part_that_is_not_needed_goes_on() -> None:
    """An OR goal that is done, and a group that is, keep nobody waiting for what they dropped, however deep."""
    edges = [edge("root", task) for task in "gx"]
    edges += [edge("g", "a", and_or="OR"), edge("g", "h", and_or="OR"), edge("h", "b")]
    moving = started("gxahb", [*edges, edge("b", "x", "DEPENDS_ON")], "gh")
    finish(moving, "a")
    assert states(moving) == {"root": "PENDING", "g": "DONE", "x": "READY", "a": "DONE", "h": "ABANDONED", "b": "ABANDONED"}  # fmt: skip
    agrees_with_a_recount(moving)


def test_a_shared_part_is_not_excused_while_another_goal_may_need_it() -> None:
    """It belongs to two candidates of two groups: the first group's end does not decide about it."""
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL"),
        node("h", "GOAL"),
        node("p"),
        node("x"),
    ]
    nodes += [node("best_g", priority=5), node("best_h", priority=5)]
    edges = [edge("root", task) for task in ("g", "h", "best_g", "best_h", "x")]
    edges += [edge("g", "p"), edge("h", "p"), edge("p", "x", "DEPENDS_ON")]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="1") for task in ("g", "best_g")
    ]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="2") for task in ("h", "best_h")
    ]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "best_g")
    assert (states(moving)["p"], states(moving)["x"]) == ("ABANDONED", "PENDING")
    finish(moving, "best_h")
    assert (states(moving)["p"], states(moving)["x"]) == ("ABANDONED", "READY")


def test_a_goal_that_is_not_wanted_keeps_no_shared_part_from_beginning() -> None:
    """Passed over from the beginning, or dropped on the way: what it waits for does not matter any more."""
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL", priority=5),
        node("h", "GOAL"),
        node("p"),
        node("x"),
    ]
    shared = [edge(goal, "p") for goal in "gh"] + [edge("x", "h", "DEPENDS_ON")]
    candidates = [edge("root", task, "ALTERNATIVE", group_id="1") for task in "gh"]
    passed_over = begin(
        graph(
            plan(nodes, [*(edge("root", task) for task in "ghx"), *shared, *candidates])
        )
    )
    assert states(passed_over)["p"] == "READY"
    agrees_with_a_recount(passed_over)
    either = [
        edge("root", "o"),
        edge("o", "h", and_or="OR"),
        edge("o", "y", and_or="OR"),
    ]
    more = [node("o", "GOAL"), node("y")]
    dropped = begin(
        graph(
            plan(
                [*nodes, *more],
                [edge("root", "g"), edge("root", "x"), *either, *shared],
            )
        )
    )
    assert states(dropped)["p"] == "PENDING"
    finish(dropped, "y")
    assert (states(dropped)["h"], states(dropped)["p"]) == ("ABANDONED", "READY")
    agrees_with_a_recount(dropped)


def test_whoever_waits_for_a_candidate_goes_on_when_its_goal_took_another_way() -> None:
    """Also for one that was passed over before."""
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL"),
        node("first", priority=2),
        node("second"),
        node("other"),
        node("x"),
    ]
    edges = [edge("root", "g"), edge("root", "x"), edge("second", "x", "DEPENDS_ON")]
    edges += [edge("g", task, and_or="OR") for task in ("first", "second", "other")]
    edges += [
        edge("g", task, "ALTERNATIVE", group_id="1") for task in ("first", "second")
    ]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "other")
    assert (states(moving)["second"], states(moving)["x"]) == ("ABANDONED", "READY")
    agrees_with_a_recount(moving)


def test_a_goal_of_checks_goes_with_what_they_check() -> None:
    """When nobody needs the product any more there is nothing to verify, and the plan goes on."""
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL"),
        node("a"),
        node("b"),
        node("v", "GOAL"),
        node("c", "CHECK"),
    ]
    edges = [
        edge("root", "g"),
        edge("root", "v"),
        edge("v", "c"),
        edge("a", "c", "DEPENDS_ON"),
    ]
    edges += [edge("g", task, and_or="OR") for task in "ab"]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "b")
    assert states(moving) == {"root": "DONE", "g": "DONE", "a": "ABANDONED", "b": "DONE", "v": "ABANDONED", "c": "ABANDONED"}  # fmt: skip
    agrees_with_a_recount(moving)


def test_a_check_with_parts_reviews_nothing_itself() -> None:
    """It is done when its parts are, so nobody waits for its word."""
    nodes = [node("root", "GOAL"), node("a"), node("c", "CHECK"), node("p")]
    edges = [
        edge("root", "a"),
        edge("root", "c"),
        edge("c", "p"),
        edge("a", "c", "DEPENDS_ON"),
    ]
    found = graph(plan(nodes, edges))
    assert (found["c"].checks, found["a"].checked_by) == (None, ())


def test_a_branch_comes_back_with_the_candidate_that_was_done_in_it() -> None:
    """A group inside it is not decided again."""
    nodes = [
        node("root", "GOAL"),
        node("way", "GOAL", priority=9),
        node("other"),
        node("rest"),
    ]
    nodes += [node("first", priority=2), node("second")]
    edges = [edge("root", "way"), edge("root", "other")]
    edges += [edge("way", task) for task in ("first", "second", "rest")]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="out") for task in ("way", "other")
    ]
    edges += [
        edge("way", task, "ALTERNATIVE", group_id="in") for task in ("first", "second")
    ]
    moving = begin(graph(plan(nodes, edges)))
    bury(moving, "first")
    finish(moving, "second")
    bury(moving, "rest")
    assert (states(moving)["way"], states(moving)["other"]) == ("DEAD_LETTER", "READY")
    bury(moving, "other")
    moving.move("way", Event.REQUEUED)
    moving.move("rest", Event.REQUEUED)
    finish(moving, "rest")
    assert states(moving)["root"] == "DONE"


def test_what_hangs_when_a_task_is_cancelled() -> None:
    """Everything open that waits for it, through goals and their parts; not what goes with it."""
    edges = [edge("root", task) for task in "abgy"] + [edge("g", "x")]
    edges += [edge("a", "b", "DEPENDS_ON"), edge("b", "g", "DEPENDS_ON")]
    moving = started("abgxy", edges, "g")
    assert set(left_hanging(moving, "a")) == {"b", "g", "x"}
    assert left_hanging(moving, "y") == ()
    moving.drop("a", along=left_hanging(moving, "a"))
    assert states(moving) == {"root": "PENDING", "a": "ABANDONED", "b": "ABANDONED", "g": "ABANDONED", "x": "ABANDONED", "y": "READY"}  # fmt: skip
    finish(moving, "y")
    assert states(moving)["root"] == "DONE"


def test_cancelling_with_an_excuse() -> None:
    """Whoever waited goes on without it."""
    moving = started(
        "ab", [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON")]
    )
    moving.drop("a", excuse=True)
    assert states(moving)["b"] == "READY"
    agrees_with_a_recount(moving)


def test_what_is_over_is_not_cancelled() -> None:
    """DONE and ABANDONED stay; a dead letter is dropped, and its goal is free again."""
    moving = started("abc", [edge("root", task) for task in "abc"])
    finish(moving, "a")
    bury(moving, "b")
    moving.drop("b")
    for task in "ab":
        with pytest.raises(IllegalTransition):
            moving.drop(task)
    finish(moving, "c")
    assert states(moving) == {
        "root": "DONE",
        "a": "DONE",
        "b": "ABANDONED",
        "c": "DONE",
    }


def test_a_cancelled_candidate_makes_way() -> None:
    """As if it had failed: the next one is taken, and what is cancelled along is left to that."""
    moving = alternatives()
    moving.drop("printed", along=["printed", "proof"])
    assert (states(moving)["printed"], states(moving)["cut"]) == (
        "DEAD_LETTER",
        "READY",
    )
    assert states(moving)["proof"] == "ABANDONED"


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


def test_a_check_of_finished_work_is_dropped_with_its_or_goal() -> None:
    """Nothing waits for the check any more: its product is done, and so is its goal."""
    nodes = [
        node("root", "GOAL"),
        node("a"),
        node("g", "GOAL"),
        node("x"),
        node("check", "CHECK"),
    ]
    edges = [
        edge("root", "a"),
        edge("root", "g"),
        edge("g", "x", and_or="OR"),
        edge("g", "check", and_or="OR"),
    ]
    moving = begin(graph(plan(nodes, [*edges, edge("a", "check", "DEPENDS_ON")])))
    finish(moving, "a")
    assert states(moving)["check"] == "READY"
    finish(moving, "x")
    assert (states(moving)["check"], states(moving)["root"]) == ("ABANDONED", "DONE")
    agrees_with_a_recount(moving)


def test_a_finished_check_stays_finished_when_a_person_approves() -> None:
    """Only checks that are still open have nothing left to decide."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    edges = [edge("root", "a"), edge("root", "check"), edge("a", "check", "DEPENDS_ON")]
    moving = begin(graph(plan(nodes, edges)))
    moving.move("a", Event.CLAIMED)
    moving.move("a", Event.PRODUCED)
    finish(moving, "check")
    moving.move("a", Event.REFERRED)
    moving.move("a", Event.VOUCHED)
    assert states(moving) == {"root": "DONE", "a": "DONE", "check": "DONE"}


def test_a_branch_is_taken_up_without_the_check_of_a_dead_rival() -> None:
    """The second way holds a check of the first: with the first way dead there is nothing to check."""
    nodes = [
        node("root", "GOAL"),
        node("first", priority=2),
        node("second", "GOAL"),
        node("work"),
    ]
    nodes += [node("check", "CHECK")]
    edges = [edge("root", way) for way in ("first", "second")]
    edges += [
        edge("root", way, "ALTERNATIVE", group_id="way") for way in ("first", "second")
    ]
    edges += [
        edge("second", "work"),
        edge("second", "check"),
        edge("first", "check", "DEPENDS_ON"),
    ]
    moving = begin(graph(plan(nodes, edges)))
    bury(moving, "first")
    assert (states(moving)["work"], states(moving)["check"]) == ("READY", "ABANDONED")
    finish(moving, "work")
    assert states(moving)["root"] == "DONE"


def test_a_passed_over_candidate_is_not_left_hanging() -> None:
    """It waits for the cancelled task, but no one waits for it."""
    nodes = [
        node("root", "GOAL"),
        node("paper"),
        node("printed", priority=9),
        node("by_hand"),
    ]
    edges = [edge("root", task) for task in ("paper", "printed", "by_hand")]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="pages")
        for task in ("printed", "by_hand")
    ]
    edges += [edge("paper", task, "DEPENDS_ON") for task in ("printed", "by_hand")]
    moving = begin(graph(plan(nodes, edges)))
    assert left_hanging(moving, "paper") == ("printed",)


def test_what_is_left_hanging_is_named_once() -> None:
    """Two roads lead from the cancelled task to the last."""
    edges = [edge("root", task) for task in "abcd"]
    edges += [edge("a", "b", "DEPENDS_ON"), edge("a", "c", "DEPENDS_ON")]
    edges += [edge("b", "d", "DEPENDS_ON"), edge("c", "d", "DEPENDS_ON")]
    moving = started("abcd", edges)
    assert sorted(left_hanging(moving, "a")) == ["b", "c", "d"]


def test_alternatives_within_an_alternative_that_was_passed_over() -> None:
    """Both ways of the second choice wait outside; when it is taken up, its own best way begins."""
    nodes = [node("root", "GOAL"), node("first", priority=5), node("second", "GOAL")]
    nodes += [node("better", priority=2), node("worse")]
    edges = [edge("root", way) for way in ("first", "second")]
    edges += [
        edge("root", way, "ALTERNATIVE", group_id="outer")
        for way in ("first", "second")
    ]
    edges += [edge("second", way) for way in ("better", "worse")]
    edges += [
        edge("second", way, "ALTERNATIVE", group_id="inner")
        for way in ("better", "worse")
    ]
    moving = begin(graph(plan(nodes, edges)))
    assert (states(moving)["better"], states(moving)["worse"]) == (
        "ABANDONED",
        "ABANDONED",
    )
    bury(moving, "first")
    assert (states(moving)["better"], states(moving)["worse"]) == ("READY", "ABANDONED")


@pytest.mark.large
def test_a_move_costs_what_its_neighbours_cost() -> None:
    """D21: finishing one of many nodes touches a handful."""
    names = [f"n{at}" for at in range(10_000)]
    edges = [edge("root", name) for name in names]
    edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    moving = begin(
        graph(plan([node("root", "GOAL"), *(node(name) for name in names)], edges))
    )
    moving.move("n0", Event.CLAIMED)
    moving.move("n0", Event.PRODUCED)
    changes = moving.move("n0", Event.APPROVED)
    assert {change.task_id for change in changes} == {"n0", "n1", "root"}


def test_no_depth_is_too_deep() -> None:
    """Goals within goals within goals: a gate that opens at the top opens at the bottom."""
    names = [f"g{at}" for at in range(5000)]
    edges = [
        edge("root", "first"),
        edge("root", names[0]),
        edge("first", names[0], "DEPENDS_ON"),
    ]
    edges += [edge(one, other) for one, other in pairwise(names)] + [
        edge(names[-1], "leaf")
    ]
    nodes = [
        node("root", "GOAL"),
        node("first"),
        *(node(name, "GOAL") for name in names),
        node("leaf"),
    ]
    moving = begin(graph(plan(nodes, edges)))
    finish(moving, "first")
    assert states(moving)["leaf"] == "READY"
    finish(moving, "leaf")
    assert states(moving)["root"] == "DONE"


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
        if (
            not legal
            or not work
            or not (moving.at[task].active or Event.REQUEUED in legal)
        ):
            continue
        before = copy.copy(moving.at)
        moving.move(task, dice.choice(legal))
        agrees_with_a_recount(moving)
        keeps_the_rules(before, moving, task)


def agrees_with_a_recount(moving: PlanInMemory) -> None:
    again = PlanInMemory(moving.graph, dict(moving.at))
    recount(again)
    assert again.at == moving.at


def keeps_the_rules(
    before: dict[str, NodeProgress], moving: PlanInMemory, moved: str
) -> None:
    for task, at in moving.at.items():
        was = before[task]
        is_work = moving.graph[task].is_work
        assert was.state is not State.DONE or at.state is State.DONE
        if is_work and task != moved and was.state is State.BLOCKED:
            assert at.state in (State.BLOCKED, State.ABANDONED)
        if at.state in CLAIMABLE and is_work:
            assert at.active
        if at.state is State.READY and is_work:
            closed = at.closed_gates if moving.graph[task].checks is None else 0
            assert (at.waits_on, closed, at.missing_inputs) == (0, 0, 0)
        if at.state is State.DONE and at.active and not is_work:
            assert at.done_parts

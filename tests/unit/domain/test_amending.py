"""Amending a plan that runs: what is refused, what is carried over, what follows."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable

import pytest

from accordance import Accepted, check_value
from accordance.contracts.catalogue.plan import Plan
from accordance.domain.amending import Amendment, amended, refusals
from accordance.domain.amendment import (
    Difference,
    FieldChange,
    ItemChange,
    Link,
    difference,
)
from accordance.domain.fuses import FUSES, Fuses
from accordance.domain.lifecycle import Event, State
from accordance.domain.plan import plan_graph
from accordance.domain.progress import PlanInMemory, begin, recount
from tests.messages import Message, edge, node, plan, requirement
from tests.plans import random_plan


def checked(message: Message) -> Plan:
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted), result
    value: Plan = result.value
    return value


def base() -> Message:
    """Goals `root` and `goal`; b waits for a; `check` checks c; d or e."""
    nodes = [
        node("root", "GOAL"),
        *(node(name) for name in ("a", "b", "c")),
        node("check", "CHECK"),
        node("goal", "GOAL"),
        *(node(name) for name in ("x", "y")),
        node("either", "GOAL"),
        *(node(name) for name in ("d", "e")),
    ]
    edges = [edge("root", part) for part in ("a", "b", "c", "check", "goal", "either")]
    edges += [edge("goal", part) for part in ("x", "y")]
    edges += [edge("either", part) for part in ("d", "e")]
    edges += [edge("either", part, "ALTERNATIVE", group_id="g") for part in ("d", "e")]
    edges += [edge("a", "b", "DEPENDS_ON"), edge("c", "check", "DEPENDS_ON")]
    return plan(nodes, edges)


def without(message: Message, *tasks: str) -> Message:
    """The plan without some tasks, and without their edges."""
    changed = copy.deepcopy(message)
    changed["nodes"] = [one for one in message["nodes"] if one["task_id"] not in tasks]
    changed["edges"] = [
        one
        for one in message["edges"]
        if one["from_task_id"] not in tasks and one["to_task_id"] not in tasks
    ]
    return changed


def plus(
    message: Message, edges: list[Message], *names: str, kind: str = "ACTION"
) -> Message:
    """The plan with further tasks and edges."""
    changed = copy.deepcopy(message)
    changed["nodes"] += [node(name, kind) for name in names]
    changed["edges"] += edges
    return changed


def less(message: Message, *edges: tuple[str, str, str]) -> Message:
    """The plan without some edges."""
    changed = copy.deepcopy(message)
    changed["edges"] = [
        one
        for one in message["edges"]
        if (one["from_task_id"], one["to_task_id"], one["edge_type"]) not in edges
    ]
    return changed


def regrouped(message: Message) -> Message:
    """The plan in which `d` and `e` are alternatives of new tasks, not of each other."""
    changed = less(message, ("either", "e", "ALTERNATIVE"))
    edges = [edge("either", new) for new in ("z", "v")]
    edges += [edge("either", "z", "ALTERNATIVE", group_id="g")]
    edges += [edge("either", part, "ALTERNATIVE", group_id="h") for part in ("e", "v")]
    return plus(changed, edges, "z", "v")


def with_goal(message: Message, task: str) -> Message:
    """The plan in which a task has another goal."""
    changed = copy.deepcopy(message)
    for one in changed["nodes"]:
        if one["task_id"] == task:
            one["goal_statement"] = "something else"
    return changed


def with_kind(message: Message, task: str, kind: str) -> Message:
    """The plan in which a task is of another kind."""
    changed = copy.deepcopy(message)
    for one in changed["nodes"]:
        if one["task_id"] == task:
            one["node_type"] = kind
    return changed


def amendment_of(moving: PlanInMemory, old: Message, new: Message) -> Amendment:
    before, after = checked(old), checked(new)
    changes = difference(before, after, FUSES, FUSES)
    return Amendment(moving, plan_graph(after), changes)


def started(message: Message) -> PlanInMemory:
    return begin(plan_graph(checked(message)))


def nothing(_: PlanInMemory) -> None:
    """Nothing has happened yet."""


def claimed(task: str) -> Callable[[PlanInMemory], None]:
    def happen(moving: PlanInMemory) -> None:
        moving.move(task, Event.CLAIMED)

    return happen


def produced(task: str) -> Callable[[PlanInMemory], None]:
    def happen(moving: PlanInMemory) -> None:
        moving.move(task, Event.CLAIMED)
        moving.move(task, Event.PRODUCED)

    return happen


def returned(task: str) -> Callable[[PlanInMemory], None]:
    def happen(moving: PlanInMemory) -> None:
        produced(task)(moving)
        moving.move(task, Event.RETURNED)

    return happen


def done(*tasks: str) -> Callable[[PlanInMemory], None]:
    def happen(moving: PlanInMemory) -> None:
        for task in tasks:
            produced(task)(moving)
            moving.move(task, Event.APPROVED)

    return happen


def buried(task: str) -> Callable[[PlanInMemory], None]:
    def happen(moving: PlanInMemory) -> None:
        moving.move(task, Event.BURIED)

    return happen


BASE = base()
REFUSED = [
    pytest.param(done("a"), without(BASE, "a"), "task a is DONE, and done work stays", id="a done task is removed"),
    pytest.param(claimed("a"), without(BASE, "a"), "task a is IN_PROGRESS and cannot be removed", id="a running task is removed"),
    pytest.param(buried("x"), without(BASE, "x"), "task x is DEAD_LETTER and has a record", id="a task that was given up is removed"),
    pytest.param(done("a"), with_goal(BASE, "a"), "task a is DONE, and done work stays as it is", id="a done task gets another goal"),
    pytest.param(done("a"), plus(BASE, [edge("x", "a", "DEPENDS_ON")]), "task a is DONE", id="a done task gets a prerequisite"),
    pytest.param(done("a"), plus(BASE, [edge("root", "k"), edge("a", "k", "DEPENDS_ON")], "k", kind="CHECK"), "task a is DONE", id="done work gets a check"),
    pytest.param(done("x", "y"), plus(BASE, [edge("goal", "z")], "z"), "task goal is DONE", id="a done goal gets a part"),
    pytest.param(produced("a"), with_goal(BASE, "a"), "the product of task a is in review", id="a task in review gets another goal"),
    pytest.param(produced("a"), plus(BASE, [edge("root", "k"), edge("a", "k", "DEPENDS_ON")], "k", kind="CHECK"), "is in review", id="a task in review gets a check"),
    pytest.param(returned("a"), plus(BASE, [edge("x", "a", "DEPENDS_ON")]), "task a is being reworked", id="returned work gets a prerequisite"),
    pytest.param(buried("goal"), plus(BASE, [edge("goal", "z")], "z"), "task goal was given up", id="a dead goal gets a part"),
    pytest.param(claimed("x"), plus(BASE, [edge("x", "z")], "z"), "has begun as a ACTION and cannot become a goal with parts", id="a running task gets parts"),
    pytest.param(claimed("x"), with_kind(plus(BASE, [edge("a", "x", "DEPENDS_ON")]), "x", "CHECK"), "cannot become the check of a", id="a running task becomes a check"),
    pytest.param(nothing, less(plus(BASE, [edge("goal", "e")]), ("either", "e", "DECOMPOSE"), ("either", "e", "ALTERNATIVE"), ("either", "d", "ALTERNATIVE")), "task e cannot move", id="an alternative that is not in use moves away"),
    pytest.param(nothing, less(BASE, ("either", "d", "ALTERNATIVE"), ("either", "e", "ALTERNATIVE")), "task d must remain an alternative", id="alternatives become parts"),
    pytest.param(nothing, plus(BASE, [edge("goal", part, "ALTERNATIVE", group_id="h") for part in ("x", "y")]), "cannot be regrouped", id="parts become alternatives"),
    pytest.param(nothing, regrouped(BASE), "cannot be regrouped", id="alternatives are separated"),
    pytest.param(nothing, less(without(BASE, "d"), ("either", "e", "ALTERNATIVE")), "task d is the chosen alternative", id="the chosen alternative is removed"),
]  # fmt: skip


@pytest.mark.parametrize(("happen", "new", "why"), REFUSED)
def test_what_is_refused(
    happen: Callable[[PlanInMemory], None], new: Message, why: str
) -> None:
    """Each with what to do instead."""
    moving = started(BASE)
    happen(moving)
    reasons = list(refusals(amendment_of(moving, BASE, new)))
    assert any(why in reason.why for reason in reasons), reasons
    assert all(reason.way_out for reason in reasons)


TAKEN_UP = [
    pytest.param(nothing, with_goal(BASE, "a"), {}, id="another goal of a task that is ready"),
    pytest.param(claimed("a"), with_goal(BASE, "x"), {"a": "IN_PROGRESS"}, id="an attempt whose task stays goes on"),
    pytest.param(claimed("a"), with_goal(BASE, "a"), {"a": "READY"}, id="an attempt whose task changes is handed back"),
    pytest.param(claimed("a"), plus(BASE, [edge("x", "a", "DEPENDS_ON")]), {"a": "PENDING"}, id="an attempt that has to wait now is handed back, and waits"),
    pytest.param(nothing, plus(BASE, [edge("goal", "z")], "z"), {"z": "READY"}, id="a new part of a goal"),
    pytest.param(nothing, plus(BASE, [edge("either", "z"), edge("either", "z", "ALTERNATIVE", group_id="g")], "z"), {"d": "READY"}, id="a further alternative"),
    pytest.param(done("a"), plus(BASE, [edge("root", "z"), edge("a", "z", "DEPENDS_ON")], "z"), {"z": "READY"}, id="a new task behind done work"),
    pytest.param(nothing, plus(BASE, [edge("root", "z"), edge("a", "z", "DEPENDS_ON")], "z"), {"z": "PENDING"}, id="a new task that waits"),
    pytest.param(nothing, plus(BASE, [edge("root", "z"), edge("z", "x", "DEPENDS_ON")], "z"), {"x": "PENDING", "z": "READY"}, id="a task that was ready waits for a new one"),
    pytest.param(done("x"), without(BASE, "y"), {"goal": "DONE"}, id="the last open part of a goal is removed"),
    pytest.param(nothing, without(BASE, "a"), {"b": "READY"}, id="a prerequisite is removed"),
    pytest.param(nothing, less(BASE, ("a", "b", "DEPENDS_ON")), {"b": "READY"}, id="an edge is removed"),
    pytest.param(nothing, plus(BASE, [edge("x", "z")], "z"), {"x": "PENDING", "z": "READY"}, id="a task that is ready gets parts"),
    pytest.param(nothing, without(BASE, "x", "y"), {"goal": "READY"}, id="a goal without parts is work"),
    pytest.param(nothing, plus(BASE, [edge("either", "f"), edge("either", "f", "ALTERNATIVE", group_id="g")], "f"), {"d": "READY", "f": "ABANDONED"}, id="a new alternative waits for its turn"),
    pytest.param(done("d"), plus(BASE, [edge("e", "p")], "p"), {"p": "ABANDONED"}, id="a new part of what is not in use"),
    pytest.param(buried("x"), plus(BASE, [edge("goal", "z"), edge("goal", "x", "ALTERNATIVE", group_id="h"), edge("goal", "z", "ALTERNATIVE", group_id="h")], "z"), {"z": "READY", "x": "DEAD_LETTER"}, id="an alternative for what was given up"),
    pytest.param(nothing, plus(BASE, [edge("root", f"{name}") for name in ("v", "w")] + [edge("root", name, "ALTERNATIVE", group_id="n") for name in ("v", "w")], "v", "w"), {"v": "READY", "w": "ABANDONED"}, id="a group of new alternatives"),
    pytest.param(nothing, plus(BASE, [edge("root", "k"), edge("e", "k", "DEPENDS_ON")], "k", kind="CHECK"), {"k": "ABANDONED"}, id="a check of what is not in use"),
    pytest.param(nothing, without(BASE, "check"), {}, id="a check is removed"),
    pytest.param(produced("a"), with_goal(BASE, "x"), {"a": "READY_TO_CHECK"}, id="a product in review whose task stays"),
    pytest.param(done("a"), plus(BASE, [edge("root", "z"), *(edge("root", task, "ALTERNATIVE", group_id="h") for task in ("a", "z"))], "z"), {"z": "ABANDONED", "a": "DONE"}, id="an alternative for what is done is not needed"),
    pytest.param(nothing, less(plus(without(BASE, "e"), []), ("either", "d", "ALTERNATIVE")), {"d": "READY"}, id="the alternative that is not in use is removed"),
    pytest.param(nothing, less(plus(BASE, [edge("goal", "a")]), ("root", "a", "DECOMPOSE")), {"a": "READY"}, id="a task moves to another goal"),
]  # fmt: skip


@pytest.mark.parametrize(("happen", "new", "expected"), TAKEN_UP)
def test_what_is_taken_up(
    happen: Callable[[PlanInMemory], None], new: Message, expected: dict[str, str]
) -> None:
    """Every task is where it belongs, and every count is right."""
    moving = started(BASE)
    happen(moving)
    amendment = amendment_of(moving, BASE, new)
    assert list(refusals(amendment)) == []

    after, _ = amended(amendment, {})
    for task, state in expected.items():
        assert after.at[task].state == state, task
    agrees_with_a_recount(after)
    assert set(after.at) == set(after.graph)


def agrees_with_a_recount(moving: PlanInMemory) -> None:
    counted = PlanInMemory(moving.graph, dict(moving.at))
    recount(counted)
    assert counted.at == moving.at


def test_new_parts_of_what_is_done_elsewhere_are_excused() -> None:
    """Nobody waits for a new alternative, or its parts, when the job is done."""
    moving = started(BASE)
    done("d")(moving)
    new = plus(
        BASE,
        [
            edge("root", "last"),
            edge("e", "part"),
            edge("part", "last", "DEPENDS_ON"),
        ],
        "part",
        "last",
    )
    after, _ = amended(amendment_of(moving, BASE, new), {})
    assert after.at["part"].excused
    assert after.at["last"].state is State.READY


def test_missing_inputs_hold_a_task_back() -> None:
    """An attempt at a task that needs something else now is handed back."""
    moving = started(BASE)
    claimed("a")(moving)
    before, after = checked(BASE), checked({**BASE, "requirements": [requirement("a")]})
    changes = difference(before, after, FUSES, FUSES)
    amendment = Amendment(moving, plan_graph(after), changes, frozenset(("a",)))
    plan_after, moves = amended(amendment, {"a": 1})
    assert plan_after.at["a"].state is State.PENDING
    assert [move.event for move in moves] == [Event.RELEASED, Event.DISABLED]


@pytest.mark.parametrize("seed", range(60))
def test_the_counts_of_amended_plans(seed: int) -> None:
    """Whatever was done before: a new task under the root, and its counts, fit in."""
    dice = random.Random(seed)
    old = random_plan(dice)
    moving = _driven_for_a_while(old, dice)
    name = dice.choice(
        [one["task_id"] for one in old["nodes"] if one["task_id"] != "root"]
    )
    new = plus(
        old,
        [edge("root", "new", and_or=_combine(old)), edge(name, "new", "DEPENDS_ON")],
        "new",
    )
    if not check_value(json.loads(json.dumps(new)), "PLAN_GEN"):
        return
    amendment = amendment_of(moving, old, new)
    if list(refusals(amendment)):
        return
    after, _ = amended(amendment, {})
    agrees_with_a_recount(after)


def _combine(message: Message) -> str:
    for one in message["edges"]:
        if one["from_task_id"] == "root" and one["edge_type"] == "DECOMPOSE":
            return str(one["metadata"]["and_or"])
    return "AND"


def _driven_for_a_while(message: Message, dice: random.Random) -> PlanInMemory:
    graph = plan_graph(checked(message))
    moving = begin(graph)
    for _ in range(dice.randrange(4)):
        ready = [
            task
            for task, at in moving.at.items()
            if at.state is State.READY
            and graph[task].is_work
            and not graph[task].checks
        ]
        if not ready:
            break
        task = dice.choice(ready)
        moving.move(task, Event.CLAIMED)
        if dice.random() < 0.7 and not graph[task].checked_by:
            moving.move(task, Event.PRODUCED)
            moving.move(task, Event.APPROVED)
        elif dice.random() < 0.5:
            moving.move(task, Event.BURIED)
    return moving


# -- the difference


def test_the_difference() -> None:
    """Of tasks by field, of edges by what they say, of needs and fuses."""
    old = {
        **BASE,
        "requirements": [requirement("a"), requirement("a", requirement_id="r2")],
    }
    new = with_goal(without(BASE, "y"), "x")
    new["requirements"] = [
        {**requirement("a"), "min_count": 3},
        requirement("a", requirement_id="r3"),
    ]
    changes = difference(checked(old), checked(new), FUSES, Fuses(attempts=5))
    need = requirement("a")["requirement_id"]
    assert changes == Difference(
        removed=("y",),
        changed=(
            ItemChange("x", (FieldChange("goal_statement", None, "something else"),)),
        ),
        links_removed=(Link("DECOMPOSE", "goal", "y", "AND", None),),
        needs_added=("r3",),
        needs_removed=("r2",),
        needs_changed=(ItemChange(need, (FieldChange("min_count", 1, 3),)),),
        fuses=(FieldChange("attempts", 3, 5),),
    )
    assert json.loads(json.dumps(changes.to_json())) == changes.to_json()


def test_no_difference() -> None:
    """Ids of edges and the order of nodes say nothing."""
    new = copy.deepcopy(BASE)
    new["nodes"].reverse()
    for number, one in enumerate(new["edges"]):
        one["edge_id"] = f"other-{number}"
    changes = difference(checked(BASE), checked(new), FUSES, FUSES)
    assert not changes
    assert changes.to_json() == {}


def test_fields_inside_objects() -> None:
    """A path says which field of a task's own object has changed."""
    old, new = copy.deepcopy(BASE), copy.deepcopy(BASE)
    old["nodes"][1]["extra"] = {"pins": {"paths": ["a"]}, "same": 1}
    new["nodes"][1]["extra"] = {"pins": {"paths": ["a", "b"]}, "same": 1}
    changes = difference(checked(old), checked(new), FUSES, FUSES)
    (item,) = changes.changed
    assert item.fields == (FieldChange("extra.pins.paths", ["a"], ["a", "b"]),)

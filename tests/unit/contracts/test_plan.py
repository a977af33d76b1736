"""Plans: rewrites that lose nothing, a graph that holds together, at any size."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Integer

from accordance import (
    Accepted,
    Context,
    Rejected,
    apply_fixes,
    check,
    check_value,
    dump,
)
from accordance.contracts import fields
from accordance.contracts.catalogue import plan as plan_contract
from accordance.contracts.catalogue.plan import PLAN, Edge, Plan
from accordance.contracts.catalogue.plan_sound import is_plainly_sound
from accordance.domain.lifecycle import Event, State
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.progress import PlanInMemory, begin
from accordance.store.tables import METADATA
from tests.messages import Message, changed, edge, node, plan, requirement, small_plan
from tests.plans import drive, wild_plan


def outcome(message: Message) -> Accepted[Any] | Rejected:
    return check(json.dumps(message), "PLAN_GEN")


def found(message: Message) -> list[str]:
    result = outcome(message)
    assert isinstance(result, Rejected), result
    return [f"{one.code} {one.path}" for one in result.violations]


def accepted(message: Message) -> Message:
    result = outcome(message)
    assert isinstance(result, Accepted), result
    return dump(result.value)


def finish(moving: PlanInMemory, task: str) -> None:
    for event in (Event.CLAIMED, Event.PRODUCED, Event.APPROVED):
        moving.move(task, event)


def goal(*tasks: str) -> list[Message]:
    return [node("root", "GOAL"), *(node(task) for task in tasks)]


BROKEN = [
    (plan([], []), ["empty $.nodes"]),
    (plan(goal("a", "a"), [edge("root", "a")]), ["duplicate_id $.nodes[2].task_id"]),
    (plan([*goal("a", "a"), node(7)], [edge("root", "a")]), ["duplicate_id $.nodes[2].task_id", "wrong_type $.nodes[3].task_id"]),  # type: ignore[arg-type]
    (plan(goal("a"), [edge("root", "a"), edge("root", "a")]), ["duplicate_id $.edges[1].edge_id"]),
    (plan(goal("a"), [edge("root", "a")], root="nix"), ["dangling_reference $.plan.root_task_id", "second_root $.nodes[0]", "second_root $.nodes[1]"]),
    (plan(goal("a"), [edge("root", "a"), edge("a", "nix", "DEPENDS_ON")]), ["dangling_reference $.edges[1].to_task_id"]),
    (plan(goal("a"), [edge("root", "a"), edge("root", "nix")]), ["dangling_reference $.edges[1].to_task_id"]),
    (plan(goal("a"), [edge("root", "a")], requirements=[requirement("nix")]), ["dangling_reference $.requirements[0].task_id"]),
    (plan(goal("a"), [edge("root", "a")], requirements=[requirement("a"), requirement("a")]), ["duplicate_id $.requirements[1].requirement_id"]),
    (plan(goal("a"), [edge("root", "a")], requirements=[requirement("a", min_count=0)]), ["out_of_range $.requirements[0].min_count"]),
    (plan(goal("a"), [edge("root", "a")], requirements=[requirement("a", required=2)]), ["wrong_type $.requirements[0].required"]),
    (plan(goal("a", "b"), [edge("root", "a"), edge("root", "b", and_or="OR")]), ["mixed_and_or $.edges[1].metadata.and_or"]),
    (plan(goal("a"), [edge("root", "a"), edge("root", "a", "ALTERNATIVE")]), ["missing $.edges[1].metadata.group_id"]),
    (plan(goal("a"), [edge("root", "a"), edge("a", "a", "DEPENDS_ON")]), ["cycle $.edges[1]"]),
    (plan(goal("a"), [edge("root", "a"), edge("root", "a", "ALTERNATIVE", group_id="g"), edge("a", "a", "DEPENDS_ON")]), ["cycle $.edges[2]"]),
    (plan(goal("a", "b"), [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON"), edge("b", "a", "DEPENDS_ON")]), ["cycle $.edges[3]"]),
    (changed(plan(goal("a", "b"), [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON"), edge("b", "a", "DEPENDS_ON"), edge("root", "a", "DEPENDS_ON")]), "edges.4.from_task_id", ["x"]), ["wrong_type $.edges[4].from_task_id", "cycle $.edges[3]"]),
    (plan([*goal("a"), node("g", "GOAL"), node("b")], [edge("root", "a", and_or="OR"), edge("g", "b"), edge("g", "b", "DEPENDS_ON")]), ["second_root $.nodes[2]", "second_root $.nodes[3]"]),
    (changed(small_plan(), "edges.0.plan_id", "other"), ["other_plan $.edges[0].plan_id"]),
    (changed(small_plan(), "edges.2.edge_type", "requires"), ["not_in_enum $.edges[2].edge_type"]),
    (changed(small_plan(), "edges.0.edge_type", "CHILD_OF"), ["not_in_enum $.edges[0].edge_type"]),
    (changed(small_plan(), "edges.0", 7), ["wrong_type $.edges[0]"]),
    (changed(small_plan(), "nodes.0", 7), ["wrong_type $.nodes[0]"]),
    (changed(small_plan(), "nodes.1.task_id", ["a"]), ["wrong_type $.nodes[1].task_id", "dangling_reference $.edges[0].to_task_id", "dangling_reference $.edges[2].from_task_id"]),
    (changed(small_plan(), "edges.0.from_task_id", None), ["wrong_type $.edges[0].from_task_id"]),
    (changed(small_plan(), "plan.root_task_id", 7), ["wrong_type $.plan.root_task_id"]),
    (changed(small_plan(), "plan", "x"), ["wrong_type $.plan"]),
    (changed(small_plan(), "edges.0.metadata", "AND"), ["wrong_type $.edges[0].metadata"]),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), BROKEN)
def test_broken(message: Message, expected: list[str]) -> None:
    """Each broken plan says what is wrong and where."""
    assert sorted(found(message)) == sorted(expected)


def test_the_cycle_is_named() -> None:
    """The way round is spelt out."""
    edges = [edge("root", task) for task in "abc"]
    edges += [
        edge("a", "b", "DEPENDS_ON"),
        edge("b", "c", "DEPENDS_ON"),
        edge("c", "a", "DEPENDS_ON"),
    ]
    result = outcome(plan(goal(*"abc"), edges))
    assert isinstance(result, Rejected)
    (violation,) = result.violations
    assert violation.path == "$.edges[5]"
    around = violation.actual.split(" -> ")
    assert around[0] == around[-1]
    assert sorted(around[1:]) == ["a", "b", "c"]


def test_a_long_cycle_is_cut_in_the_middle() -> None:
    """Even a cycle of thousands is told in a line."""
    names = [f"n{at}" for at in range(5000)]
    ring = [
        edge(one, other, "DEPENDS_ON")
        for one, other in zip(names, [*names[1:], names[0]], strict=True)
    ]
    result = outcome(plan(goal(*names), [edge("root", name) for name in names] + ring))
    assert isinstance(result, Rejected)
    assert result.violations[0].code == "cycle"
    assert len(result.violations[0].actual) < 500


def test_ambiguous_names_come_with_the_turned_edge() -> None:
    """REQUIRES is refused, and the fix has both ends swapped."""
    result = outcome(changed(small_plan(), "edges.2.edge_type", "REQUIRES"))
    assert isinstance(result, Rejected)
    fix = result.violations[0].fix
    assert fix is not None
    assert fix.path == "$.edges[2]"
    assert isinstance(fix.value, dict)
    assert (
        fix.value["from_task_id"],
        fix.value["to_task_id"],
        fix.value["edge_type"],
    ) == (
        "b",
        "a",
        "DEPENDS_ON",
    )


# Marks: START and END


def shape(message: Message) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The ids of the nodes, and the edges in short."""
    edges = [
        (one["from_task_id"], one["to_task_id"], one["edge_type"])
        for one in message["edges"]
    ]
    return [one["task_id"] for one in message["nodes"]], sorted(edges)


@pytest.mark.parametrize(
    ("start", "end"), [("START", "END"), (" begin", "Finish "), ("start", "stop")]
)
@pytest.mark.parametrize("declared", [False, True])
def test_start_and_end(start: str, end: str, declared: bool) -> None:
    """A chain between two marks becomes parts of the root, whole. A mark that was declared as a node is told."""
    chain = [start, "a", "b", "c", end]
    edges = [edge(one, other, "DEPENDS_ON") for one, other in pairwise(chain)]
    edges += [
        edge(start, end, "DEPENDS_ON"),
        edge(start, "root", "DEPENDS_ON"),
        edge("root", end),
    ]
    marks = (
        [node(start, title=start), node(end, title=end.strip().title())]
        if declared
        else []
    )
    result = outcome(plan([*goal("a", "b", "c"), *marks], edges))
    assert isinstance(result, Accepted), result
    names, joined = shape(dump(result.value))
    assert names == ["root", "a", "b", "c"]
    assert joined == [
        ("a", "b", "DEPENDS_ON"),
        ("b", "c", "DEPENDS_ON"),
        *(("root", task, "DECOMPOSE") for task in "abc"),
    ]
    told = [f"{warning.code} {warning.path}" for warning in result.warnings]
    assert told == (
        ["mark_taken_out $.nodes[4]", "mark_taken_out $.nodes[5]"] if declared else []
    )


MERE_MARKS: list[Any] = [
    pytest.param({}, id="a title that is the word itself"),
    pytest.param({"title": " begin "}, id="a title that is another word for it"),
    pytest.param({"title": ""}, id="an empty title"),
    pytest.param({"title": ...}, id="no title"),
    pytest.param(
        {"goal_statement": None, "rationale": " ", "notes": []},
        id="further fields that say nothing",
    ),
]
REAL_TASKS: list[Any] = [
    pytest.param({"title": "Start the engines"}, id="a title of its own"),
    pytest.param({"title": "END"}, id="the title of the other mark"),
    pytest.param({"title": 7}, id="a title that is no text"),
    pytest.param({"goal_statement": "The engines run"}, id="a goal"),
    pytest.param({"rationale": "Nothing moves without it"}, id="a rationale"),
    pytest.param(
        {"task": {"goal": "Write main()"}}, id="a task that changes a repository"
    ),
]


@pytest.mark.seed("001-35")
@pytest.mark.parametrize("fields", MERE_MARKS)
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("spelt", ["ACTION", "action"])
def test_a_mere_mark_goes(fields: Message, is_named: bool, spelt: str) -> None:
    """Whether an edge names it or not, and whether the rest is canonical or has to be normalised first."""
    mark = {**node("start", title="Start"), **fields}
    mark = {key: value for key, value in mark.items() if value is not ...}
    named = [edge("start", "a", "DEPENDS_ON")] if is_named else []
    message = plan(
        [node("root", "GOAL"), node("a", spelt), mark], [*named, edge("root", "a")]
    )
    result = outcome(message)
    assert isinstance(result, Accepted), result
    assert shape(dump(result.value)) == (["root", "a"], [("root", "a", "DECOMPOSE")])
    assert [str(warning) for warning in result.warnings] == [
        '$.nodes[2]: "start" only marks where the plan begins: taken out, it is no task [mark_taken_out]'
    ]


def test_a_mark_is_told_also_where_the_plan_is_refused() -> None:
    """Beside what is wrong."""
    message = plan(
        [*goal("a"), node("END", title="End")],
        [edge("root", "a"), edge("root", "a", "DEPENDS_ON")],
    )
    result = outcome(message)
    assert isinstance(result, Rejected)
    assert [violation.code for violation in result.violations] == ["cycle"]
    assert [warning.code for warning in result.warnings] == ["mark_taken_out"]


@pytest.mark.parametrize("fields", REAL_TASKS)
def test_a_real_task_stays_whatever_it_is_called(fields: Message) -> None:
    """With its relations."""
    task = {**node("start", title="Start"), **fields}
    message = plan([*goal("a"), task], [edge("start", "a", "DEPENDS_ON")])
    result = check_value(message, "PLAN_GEN")
    assert not any(repair.rule == "start_end" for repair in result.repairs)
    assert [
        warning.code for warning in result.warnings if warning.code != "unknown_key"
    ] == []


MARKED: list[Any] = [
    node("START", title="Start"),
    node("END", title="End"),
    *goal("a", "b"),
]
FROM_START_TO_END: list[Any] = [
    edge("START", "a", "DEPENDS_ON"),
    edge("a", "END", "DEPENDS_ON"),
    edge("b", "END", "DEPENDS_ON"),
]


@pytest.mark.parametrize(
    ("nodes", "edges", "places"),
    [
        pytest.param(
            [*MARKED, node("c", title="")],
            [],
            ["empty $.nodes[5].title"],
            id="a field of a node",
        ),
        pytest.param(
            [*MARKED, node("a")],
            [],
            ["duplicate_id $.nodes[5].task_id"],
            id="an id",
        ),
        pytest.param(
            MARKED,
            [edge("a", "b", "BLOCKS"), edge("b", "nix", "DEPENDS_ON")],
            [
                "not_in_enum $.edges[3].edge_type",
                "dangling_reference $.edges[4].to_task_id",
            ],
            id="edges",
        ),
        pytest.param(
            MARKED,
            [edge("b", "b", "DEPENDS_ON")],
            ["cycle $.edges[3]"],
            id="an edge to itself",
        ),
    ],
)
def test_places_are_those_of_the_plan_with_its_marks(
    nodes: list[Message], edges: list[Message], places: list[str]
) -> None:
    """The author counts START and END, whether they are taken out or not; on both roads."""
    message = plan(nodes, [*FROM_START_TO_END, *edges])
    assert found(message) == places
    by_other_names: Message = dict(message)
    by_other_names["tasks"] = by_other_names.pop("nodes")
    by_other_names["links"] = by_other_names.pop("edges")
    assert found(by_other_names) == places


def test_fixes_and_warnings_name_places_of_the_plan_with_its_marks() -> None:
    """The edge is turned where it stands, and the plan is then accepted."""
    root_of_its_own = {**node("root"), "colour": "red"}
    nodes = [*MARKED[:2], root_of_its_own, *MARKED[3:]]
    message = plan(nodes, [*FROM_START_TO_END, edge("a", "b", "REQUIRES")])
    result = outcome(message)
    assert isinstance(result, Rejected)
    assert result.message is not None
    assert [violation.path for violation in result.violations] == [
        "$.edges[3].edge_type"
    ]
    assert sorted(f"{warning.code} {warning.path}" for warning in result.warnings) == [
        "mark_taken_out $.nodes[0]",
        "mark_taken_out $.nodes[1]",
        "root_not_goal $.nodes[2].node_type",
        "unknown_key $.nodes[2].colour",
    ]
    mended = accepted(apply_fixes(result.message, result.violations))
    assert ("b", "a", "DEPENDS_ON") in shape(mended)[1]


def test_a_candidate_of_no_node_is_no_further_fault() -> None:
    """Its group leads nowhere; that is said once."""
    message = plan(goal("a"), [edge("nix", "a", "ALTERNATIVE", group_id="1")])
    assert found(message) == ["dangling_reference $.edges[0].from_task_id"]


STANDING_ELSEWHERE: list[Any] = [
    pytest.param(
        [edge("a", "START", "DEPENDS_ON")], [], id="a START that waits for a task"
    ),
    pytest.param([edge("START", "a")], [], id="a START with parts"),
    pytest.param([edge("g", "START")], [], id="a START that is a part of a goal"),
    pytest.param(
        [edge("END", "a", "DEPENDS_ON")], [], id="an END that a task waits for"
    ),
    pytest.param([edge("g", "END")], [], id="an END that is a part of a goal"),
    pytest.param(
        [edge("root", "START", "ALTERNATIVE", group_id="1")],
        [],
        id="a START that is a candidate",
    ),
    pytest.param([], [requirement("START")], id="a START that needs an input"),
    pytest.param(
        [edge("a", "START", "DEPENDS_ON"), edge("START", "Begin", "DEPENDS_ON")],
        [],
        id="two, one after the other",
    ),
]


@pytest.mark.parametrize(("edges", "needs"), STANDING_ELSEWHERE)
def test_what_stands_in_the_middle_is_no_mark(
    edges: list[Message], needs: list[Message]
) -> None:
    """It does something for the plan, so it is kept with its relations."""
    marks = [
        task
        for task in ("START", "Begin", "END")
        if f'"{task}"' in json.dumps([edges, needs])
    ]
    nodes = [*goal("a"), node("g", "GOAL"), *(node(task, title=task) for task in marks)]
    names, joined = shape(accepted(plan(nodes, edges, requirements=needs)))
    assert names == ["root", "a", "g", *marks]
    assert {
        (one["from_task_id"], one["to_task_id"], one["edge_type"]) for one in edges
    } <= {*joined}


def test_an_end_that_is_no_node_may_be_drawn_with_any_edge() -> None:
    """A planner that knows a single kind of edge: nothing is lost, because no task is meant."""
    chain = ["START", "a", "b", "END"]
    edges = [edge(one, other) for one, other in pairwise(chain)]
    names, joined = shape(accepted(plan(goal("a", "b"), edges)))
    assert names == ["root", "a", "b"]
    assert joined == [("a", "b", "DECOMPOSE"), ("root", "a", "DECOMPOSE")]


def test_a_mark_that_is_no_node_and_stands_in_the_middle_leads_nowhere() -> None:
    """Its edges mean something, so they are not dropped."""
    message = plan(
        goal("a", "b"),
        [edge("a", "START", "DEPENDS_ON"), edge("START", "b", "DEPENDS_ON")],
    )
    assert found(message) == [
        "dangling_reference $.edges[0].to_task_id",
        "dangling_reference $.edges[1].from_task_id",
    ]


def test_two_nodes_of_the_name_are_no_marks() -> None:
    """That is a duplicate."""
    assert found(
        plan([*goal("a"), node("END", title="END"), node("END", title="END")], [])
    ) == ["duplicate_id $.nodes[3].task_id"]


def test_an_edge_from_start_says_no_more_than_that_it_comes_first() -> None:
    """What has a parent, or is a candidate of a goal, does not become a part of the root by it."""
    nodes = [*goal("g"), node("a"), node("x"), node("y")]
    nodes[1] = node("g", "GOAL")
    edges = [
        edge("root", "g"),
        edge("g", "a"),
        edge("START", "a", "DEPENDS_ON"),
        edge("START", "x", "DEPENDS_ON"),
    ]
    edges += [edge("g", task, "ALTERNATIVE", group_id="1") for task in "xy"]
    _, joined = shape(accepted(plan(nodes, edges)))
    parts = [(one, other) for one, other, kind in joined if kind == "DECOMPOSE"]
    assert parts == [("g", "a"), ("g", "x"), ("g", "y"), ("root", "g")]


def test_a_start_edge_keeps_what_it_says() -> None:
    """Its metadata stays, and it is combined as the other parts of the root are."""
    edges = [
        edge("root", "a", and_or="OR"),
        edge("START", "b", "DEPENDS_ON", note="keep me"),
    ]
    message = accepted(plan(goal("a", "b"), edges))
    assert [one["metadata"] for one in message["edges"]] == [
        {"and_or": "OR"},
        {"note": "keep me", "and_or": "OR"},
    ]


def test_parts_that_say_nothing_mean_and() -> None:
    """Beside OR that is a contradiction, wherever the metadata is."""
    message = plan(
        goal("a", "b"),
        [edge("root", "a", and_or="OR"), {**edge("root", "b"), "metadata": None}],
    )
    assert found(message) == ["mixed_and_or $.edges[1].metadata"]


def test_a_root_called_start_is_a_real_node() -> None:
    """Only pseudo ends are pseudo."""
    message = accepted(
        plan([node("START", "GOAL"), node("a")], [edge("START", "a")], root="START")
    )
    assert len(message["nodes"]) == 2


# Completing a plan


def drivable(message: Message) -> PlanGraph:
    """The graph of a plan that is accepted, and comes to its end in whatever order its tasks are done."""
    result = outcome(message)
    assert isinstance(result, Accepted), result
    graph = plan_graph(result.value)
    for seed in range(5):
        assert drive(graph, random.Random(seed)).at[graph.root].state is State.DONE
    return graph


def goals(*names: str) -> list[Message]:
    """Goals with two parts each, and the edges to them left to the caller."""
    return [
        one
        for name in names
        for one in (node(name, "GOAL"), node(f"{name}1"), node(f"{name}2"))
    ]


def parts_of(*names: str) -> list[Message]:
    return [edge(name, f"{name}{at}") for name in names for at in (1, 2)]


COMPLETED: list[Any] = [
    pytest.param(goals("g"), [*parts_of("g")], {"g"}, id="a goal with parts at the top"),
    pytest.param(
        goals("g", "h"),
        [*parts_of("g", "h"), edge("START", "g", "DEPENDS_ON"), edge("g", "h", "DEPENDS_ON"), edge("h", "END", "DEPENDS_ON")],
        {"g", "h"},
        id="a chain of goals with parts",
    ),
    pytest.param([node("a"), node("b")], [edge("a", "b", "DEPENDS_ON")], {"a", "b"}, id="a chain without ends"),
    pytest.param(
        [node("a"), node("b")],
        [edge("root", "a", "DEPENDS_ON"), edge("a", "b", "DEPENDS_ON")],
        {"a", "b"},
        id="a chain that begins at the root",
    ),
    pytest.param(
        [node("a"), node("b")],
        [edge("a", "b", "DEPENDS_ON"), edge("b", "root", "DEPENDS_ON"), edge("root", "b", "DEPENDS_ON")],
        {"a", "b"},
        id="a chain that ends at the root",
    ),
    pytest.param(
        goals("g"),
        [*parts_of("g"), edge("g1", "root", "DEPENDS_ON"), edge("START", "g", "DEPENDS_ON")],
        {"g"},
        id="a root that waits for a part of its part",
    ),
]  # fmt: skip


@pytest.mark.seed("001-35", "001-36")
@pytest.mark.parametrize(("nodes", "edges", "parts"), COMPLETED)
@pytest.mark.parametrize("root", ["root", "START", "END"])
def test_a_root_without_parts_gets_them(
    nodes: list[Message], edges: list[Message], parts: set[str], root: str
) -> None:
    """Whatever the shape, and whatever the root is called: afterwards the plan can be carried out."""
    other = {"START": "BEGIN", "END": "FINISH"}.get(root, "START")
    renamed = (
        json.loads(json.dumps(edges).replace(f'"{root}"', f'"{other}"'))
        if root != "root"
        else edges
    )
    named = json.loads(json.dumps(renamed).replace('"root"', f'"{root}"'))
    graph = drivable(plan([node(root, "GOAL"), *nodes], named, root=root))
    assert {*graph[root].parts} == parts


def test_a_root_called_start_or_end_keeps_its_parts() -> None:
    """Its chain says no more than the parts do."""
    nodes = [node("a"), node("b")]
    begins = [
        edge("START", "a"),
        edge("START", "b"),
        edge("START", "a", "DEPENDS_ON"),
        edge("a", "b", "DEPENDS_ON"),
    ]
    ends = [
        edge("END", "a"),
        edge("END", "b"),
        edge("a", "b", "DEPENDS_ON"),
        edge("b", "END", "DEPENDS_ON"),
    ]
    for root, edges in (("START", begins), ("END", ends)):
        graph = drivable(plan([node(root, "GOAL"), *nodes], edges, root=root))
        assert graph[root].parts == ("a", "b")
        assert graph["b"].prerequisites == ("a",)


def either(*tasks: str) -> list[Message]:
    return [edge("root", task, and_or="OR") for task in tasks]


def test_a_mere_prerequisite_does_not_finish_the_plan() -> None:
    """Buy or build; prices are collected for buying. The prices alone are no way to do it."""
    edges = [
        *either("buy", "build"),
        edge("prices", "buy", "DEPENDS_ON"),
        edge("START", "prices", "DEPENDS_ON"),
    ]
    graph = drivable(plan(goal("buy", "build", "prices"), edges))
    moving = begin(graph)
    for task, root in (("prices", State.PENDING), ("buy", State.DONE)):
        finish(moving, task)
        assert moving.at["root"].state is root


def test_what_only_prerequisites_wait_for_stays_outside_too() -> None:
    """The end of a chain is one more way, what comes before it is not; a goal that is waited for brings its parts."""
    nodes = [*goal("a", "x", "y", "z"), *goals("g")]
    edges = [*either("a"), edge("x", "y", "DEPENDS_ON"), edge("y", "z", "DEPENDS_ON")]
    edges += [*parts_of("g"), edge("g", "a", "DEPENDS_ON")]
    graph = drivable(plan(nodes, edges))
    assert graph["root"].parts == ("a", "z")
    assert graph["g"].parts == ("g1", "g2")


def test_what_the_root_waits_for_is_no_part_of_it() -> None:
    """Its parts wait for it, at any depth, and for what comes before it."""
    nodes = [*goal("a", "x", "w"), *goals("g")]
    edges = [
        edge("root", "a"),
        edge("g", "root", "DEPENDS_ON"),
        *parts_of("g"),
        edge("x", "g1", "DEPENDS_ON"),
    ]
    edges += [
        edge("x", "g2", "DEPENDS_ON"),
        edge("g2", "w", "DEPENDS_ON"),
        edge("h", "g", "DEPENDS_ON"),
        edge("h", "h1"),
    ]
    graph = drivable(plan([*nodes, node("h", "GOAL"), node("h1")], edges))
    assert graph["root"].parts == ("a", "w")
    assert begin(graph).at["a"].state is State.PENDING


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=300)
def test_completing_twice_is_completing_once(seed: int) -> None:
    """What came out of a check goes through another as it is."""
    result = check_value(wild_plan(random.Random(seed)), "PLAN_GEN")
    if isinstance(result, Accepted):
        again = check_value(dump(result.value), "PLAN_GEN")
        assert isinstance(again, Accepted), again
        assert (again.repairs, again.value) == ((), result.value)


@pytest.mark.seed("001-36")
def test_completion_is_recorded_and_repeatable() -> None:
    """A root without parts gets them; the same plan gets the same edges; how parts are combined is kept."""
    bare = plan(goal("a", "b"), [edge("a", "b", "DEPENDS_ON")])
    one, other = outcome(bare), outcome(bare)
    assert isinstance(one, Accepted)
    assert one == other
    assert [repair.rule for repair in one.repairs] == [
        "under_the_root",
        "under_the_root",
    ]
    partial = accepted(plan(goal("a", "b"), [edge("root", "a", and_or="OR")]))
    assert [item["metadata"]["and_or"] for item in partial["edges"]] == ["OR", "OR"]
    unsaid: Any
    for unsaid in (None, {}):
        message = changed(
            plan(goal("a", "b"), [edge("root", "a")]), "edges.0.metadata", unsaid
        )
        assert [item["metadata"] for item in accepted(message)["edges"]] == [
            unsaid,
            {"and_or": "AND"},
        ]
        assert accepted(changed(small_plan(), "edges.0.metadata", unsaid))


def test_candidates_are_put_under_the_parent_of_their_group() -> None:
    """An ALTERNATIVE that hangs from a goal belongs to that goal."""
    nodes = [*goal("a"), node("g", "GOAL"), node("x"), node("y")]
    edges = [edge("root", "a"), edge("root", "g")]
    edges += [
        edge("g", "x", "ALTERNATIVE", group_id="1"),
        edge("g", "y", "ALTERNATIVE", group_id="1"),
    ]
    message = accepted(plan(nodes, edges))
    parts = [
        (one["from_task_id"], one["to_task_id"])
        for one in message["edges"]
        if one["edge_type"] == "DECOMPOSE"
    ]
    assert ("g", "x") in parts
    assert ("g", "y") in parts


# Plans that could never be finished

CIRCLES: list[Any] = [
    pytest.param(
        [node("a"), node("b")], [edge("root", "a"), edge("root", "b"), edge("root", "a", "DEPENDS_ON")],
        2, '"a" waits for "root", "root" needs its part "a"', id="a part that waits for its goal",
    ),
    pytest.param(
        goals("g"), [edge("root", "g"), *parts_of("g"), edge("root", "g2", "DEPENDS_ON")],
        3, '"g2" waits for "root", "root" needs its part "g", "g" needs its part "g2"', id="a part that waits for a goal above its goal",
    ),
    pytest.param(
        goals("g", "h"), [edge("root", "g"), edge("root", "h"), *parts_of("g", "h"), edge("h", "g1", "DEPENDS_ON"), edge("g", "h1", "DEPENDS_ON")],
        7, '"g1" waits for "h", "h" needs its part "h1", "h1" waits for "g", "g" needs its part "g1"', id="two goals whose parts wait for the other",
    ),
    pytest.param(
        goals("g", "h"), [edge("root", "g"), edge("root", "h"), *parts_of("g", "h"), edge("h", "g", "DEPENDS_ON"), edge("g1", "h1", "DEPENDS_ON")],
        7, '"g" waits for "h", "h" needs its part "h1", "h1" waits for "g1", "g1" is a part of "g"', id="a part that may not begin before its goal",
    ),
    pytest.param(
        [node("a"), node("c", "CHECK"), node("y", "CHECK")], [*(edge("root", task) for task in "acy"), edge("a", "c", "DEPENDS_ON"), edge("y", "c", "DEPENDS_ON"), edge("a", "x", "DEPENDS_ON"), edge("x", "y", "DEPENDS_ON")],
        6, '"c" waits for "y", "y" waits for "x", "x" waits for "a", "a" needs "c"', id="a check that waits for what waits for its product",
    ),
    pytest.param(
        [node("g", "GOAL", priority=5), *goals("g", "h")[1:]], [edge("root", "g"), edge("root", "h"), *parts_of("g", "h"), *(edge("root", task, "ALTERNATIVE", group_id="1") for task in "gh"), edge("h", "g1", "DEPENDS_ON")],
        8, '"g1" waits for "h", "h" needs "g", "g" needs its part "g1"', id="a candidate that waits for its rival",
    ),
    pytest.param(
        [node("g", "GOAL", priority=5), *goals("g", "h")[1:]], [edge("root", "g"), edge("root", "h"), *parts_of("g", "h"), *(edge("root", task, "ALTERNATIVE", group_id="1") for task in "gh"), edge("h", "g", "DEPENDS_ON")],
        8, '"g" waits for "h", "h" needs "g"', id="a goal that waits for its rival",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "edges", "at", "around"), CIRCLES)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_circle_through_goals_and_parts_is_named(
    nodes: list[Message], edges: list[Message], at: int, around: str, backwards: bool
) -> None:
    """Nothing on it could ever begin, so the plan is refused, whatever the order of its nodes."""
    message = plan(
        [*goal("x"), *nodes][:: -1 if backwards else 1], [*edges, edge("root", "x")]
    )
    result = outcome(message)
    assert isinstance(result, Rejected)
    (violation,) = result.violations
    assert (violation.code, violation.path) == ("cycle", f"$.edges[{at}]")
    assert violation.expected == "no task that waits for itself"
    assert violation.actual == around


DRIVABLE: list[Any] = [
    pytest.param(
        [*either("a", "g"), edge("g", "b"), edge("root", "b", "DEPENDS_ON")],
        id="the circle lies in a way that need not be taken",
    ),
    pytest.param(
        [edge("root", "a"), edge("root", "g"), edge("g", "b"), *(edge("root", task, "ALTERNATIVE", group_id="1") for task in "ag"), edge("a", "b", "DEPENDS_ON")],
        id="a candidate that is passed over waits for its rival",
    ),
    pytest.param(
        [edge("root", "a"), edge("root", "g"), edge("g", "b"), edge("a", "g", "DEPENDS_ON"), edge("a", "b", "DEPENDS_ON")],
        id="a goal and its part wait for the same task",
    ),
    pytest.param(
        [edge("root", "a"), edge("root", "g"), edge("g", "b"), edge("b", "a", "DEPENDS_ON"), edge("g", "a", "DEPENDS_ON")],
        id="a task waits for a goal and for its part",
    ),
]  # fmt: skip


@pytest.mark.parametrize("edges", DRIVABLE)
def test_what_only_looks_like_a_circle_is_accepted(edges: list[Message]) -> None:
    """The plan comes to its end."""
    assert drivable(plan([*goal("a", "b"), node("g", "GOAL")], edges))


def test_candidates_inside_a_candidate_that_is_passed_over() -> None:
    """They are passed over with it."""
    nodes = [*goal("a", "b", "c"), node("g", "GOAL", priority=0)]
    edges = [
        edge("root", "a"),
        edge("root", "g"),
        edge("g", "b"),
        edge("g", "c"),
        edge("c", "a", "DEPENDS_ON"),
    ]
    edges += [edge("root", task, "ALTERNATIVE", group_id="1") for task in "ag"]
    edges += [edge("g", task, "ALTERNATIVE", group_id="2") for task in "bc"]
    assert found(plan(nodes, edges)) == ["cycle $.edges[4]"]
    assert drivable(
        plan(nodes, [one for one in edges if one["edge_type"] != "DEPENDS_ON"])
    )


def test_a_goal_whose_parts_are_all_passed_over() -> None:
    """It is stuck before anything begins."""
    nodes = [*goal("a", "x", "y"), node("g", "GOAL")]
    edges = [edge("root", "a"), edge("root", "x"), edge("root", "g"), edge("g", "y")]
    edges += [edge("root", task, "ALTERNATIVE", group_id="1") for task in "xy"]
    assert found(plan(nodes, edges)) == ["never_done $.nodes[4]"]


@pytest.mark.seed("001-28")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=500)
def test_a_plan_is_accepted_exactly_if_it_can_be_driven_to_its_end(seed: int) -> None:
    """Every task succeeds, in any order: what is accepted comes to DONE, what is refused for a circle never does."""
    result = check_value(wild_plan(random.Random(seed)), "PLAN_GEN")
    is_circle = isinstance(result, Rejected) and {
        one.expected for one in result.violations
    } == {"no task that waits for itself"}
    if not result and not is_circle:
        return
    value = (
        result.value
        if isinstance(result, Accepted)
        else Plan.model_validate(result.message)
    )
    graph = plan_graph(value)
    for order in range(3):
        driven = drive(graph, random.Random(order))
        assert (driven.at[graph.root].state is State.DONE) is bool(result)


# Lists under two names


@pytest.mark.parametrize(
    ("key", "alias"),
    [
        ("edges", "links"),
        ("edges", "deps"),
        ("nodes", "tasks"),
        ("nodes", "items"),
        ("requirements", "inputs"),
    ],
)
def test_a_list_under_two_names(key: str, alias: str) -> None:
    """With two contents it is refused; the same content is kept once, whatever the names inside."""
    message = plan(goal("a"), [edge("root", "a")], requirements=[requirement("a")])
    more = {
        **message[key][-1],
        {"nodes": "task_id", "edges": "edge_id"}.get(key, "requirement_id"): "another",
    }
    for other in ([*message[key], more], [], "x"):
        assert f"ambiguous_list $.{alias}" in found({**message, alias: other})
    for item_id in ("task_id", "edge_id", "requirement_id"):
        inner = [
            {"id" if name == item_id else name: value for name, value in one.items()}
            for one in message[key]
        ]
        if key == "requirements" or item_id != "requirement_id":
            same = (
                message[key]
                if key == "requirements" and item_id == "task_id"
                else inner
            )
            result = outcome({**message, alias: same})
            assert isinstance(result, Accepted), result
            assert [repair.rule for repair in result.repairs] == ["same_twice"]
            assert dump(result.value) == accepted(message)


def test_two_other_names_for_one_list() -> None:
    """Without the list itself: the same for both is taken, two contents are refused."""
    message = plan(goal("a"), [edge("root", "a")])
    inputs = message.pop("requirements")
    wanted = [requirement("a")]
    assert (
        accepted({**message, "inputs": wanted, "requirements_list": wanted})[
            "requirements"
        ]
        == wanted
    )
    assert found({**message, "inputs": wanted, "requirements_list": inputs}) == [
        "ambiguous_list $.requirements_list"
    ]


def test_a_root_that_is_no_goal_is_mentioned() -> None:
    """Legal, and worth a word."""
    result = outcome(plan([node("root")], []))
    assert isinstance(result, Accepted)
    assert [notice.code for notice in result.warnings] == ["root_not_goal"]


def test_a_plan_without_requirements() -> None:
    """They are optional."""
    message = small_plan()
    del message["requirements"]
    assert accepted(message)["nodes"]


def test_a_requirement_says_what_is_needed_and_for_what() -> None:
    """Its id, its task, its name and its kind. What else is left out restricts nothing."""
    whole = requirement("a")
    short = {key: whole[key] for key in ("requirement_id", "task_id", "name", "kind")}
    result = outcome(plan(goal("a"), [edge("root", "a")], requirements=[short]))
    assert isinstance(result, Accepted), result
    (need,) = result.value.requirements
    assert (need.required, need.min_count, need.allowed_types, need.source) == (
        True,
        1,
        [],
        "ANY",
    )
    assert dump(result.value)["requirements"] == [short]
    for key in short:
        message = plan(
            goal("a"), [edge("root", "a")], requirements=[{**whole, key: None}]
        )
        assert found(message) == [f"wrong_type $.requirements[0].{key}"]


INTEGERS: dict[tuple[str, str], Callable[[int], Message]] = {
    ("task_nodes", "priority"): lambda value: changed(
        small_plan(), "nodes.1.priority", value
    ),
    ("input_requirements", "min_count"): lambda value: plan(
        goal("a"), [edge("root", "a")], requirements=[requirement("a", min_count=value)]
    ),
}


@pytest.mark.parametrize(("table", "column"), INTEGERS)
def test_an_integer_has_the_bounds_of_its_column(table: str, column: str) -> None:
    """What a check accepts can be kept, and what can be kept is accepted."""
    kept_as = METADATA.tables[table].c[column].type
    assert isinstance(kept_as, Integer)
    most = 2**63 - 1 if isinstance(kept_as, BigInteger) else 2**31 - 1
    assert accepted(INTEGERS[table, column](most))
    (refused,) = found(INTEGERS[table, column](most + 1))
    assert refused.startswith("out_of_range ")


def test_an_integer_that_cannot_be_kept_is_refused() -> None:
    """In so many words; the largest that can be kept is not."""
    for priority in (2**63, -(2**63) - 1):
        assert found(changed(small_plan(), "nodes.1.priority", priority)) == [
            "out_of_range $.nodes[1].priority"
        ]
    message = plan(
        goal("a"), [edge("root", "a")], requirements=[requirement("a", min_count=2**31)]
    )
    assert found(message) == ["out_of_range $.requirements[0].min_count"]
    assert accepted(changed(small_plan(), "nodes.1.priority", 2**63 - 1))
    assert accepted(changed(message, "requirements.0.min_count", 2**31 - 1))


def test_flags_may_be_written_as_numbers() -> None:
    """1 and true mean the same."""
    message = accepted(
        plan(
            goal("a"), [edge("root", "a")], requirements=[requirement("a", required=1)]
        )
    )
    assert message["requirements"][0]["required"] == 1


@pytest.mark.large
@pytest.mark.parametrize("shape", ["chain", "wide", "backwards"])
def test_twenty_thousand_nodes(shape: str) -> None:
    """Deep or wide, in order or not: no recursion, no surprise."""
    count = 20_000
    names = [f"n{at}" for at in range(count)]
    nodes = [node("root", "GOAL")] + [node(name) for name in names]
    edges = [edge("root", name) for name in names]
    if shape == "chain":
        edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    elif shape == "backwards":
        edges += [edge(other, one, "DEPENDS_ON") for one, other in pairwise(names)]
    result = check_value(plan(nodes, edges), "PLAN_GEN")
    assert isinstance(result, Accepted), result


def test_nodes_with_the_same_keys_share_what_was_given() -> None:
    """It halves the memory of a large plan, and each node still dumps its own keys."""
    plain = goal("a", "b")
    plain[2] |= {"rationale": "because"}
    result = outcome(plan(plain, [edge("root", "a"), edge("root", "b")]))
    assert isinstance(result, Accepted), result

    root, a, b = result.value.nodes
    assert root.model_fields_set is a.model_fields_set
    assert b.model_fields_set == a.model_fields_set | {"rationale"}
    assert "rationale" not in a.model_dump(exclude_unset=True)
    assert b.model_dump(exclude_unset=True)["rationale"] == "because"


KINDS_OF_METADATA: tuple[dict[str, Any], ...] = (
    {},
    {"and_or": "AND"},
    {"and_or": "AND", "group_id": None},
    {"and_or": None},
    {"group_id": "g"},
)


def edges_with(metadata: list[dict[str, Any] | None]) -> list[Edge]:
    """Edges of a plan with such metadata, as they are read."""
    names = [f"t{at}" for at in range(len(metadata))]
    edges: list[dict[str, Any]] = []
    for name, item in zip(names, metadata, strict=True):
        edges.append({**edge("root", name), "metadata": item})
    nodes = [node("root", "GOAL"), *(node(name) for name in names)]
    result = outcome(plan(nodes, edges))
    assert isinstance(result, Accepted), result
    read: list[Edge] = result.value.edges
    return read


def test_edges_with_the_same_metadata_share_it() -> None:
    """It is a third of the memory of a large plan; what was given stays apart."""
    read = edges_with([*KINDS_OF_METADATA, *KINDS_OF_METADATA])
    first, second = read[: len(KINDS_OF_METADATA)], read[len(KINDS_OF_METADATA) :]
    for one, other in zip(first, second, strict=True):
        assert one.metadata is other.metadata
    assert len({id(item.metadata) for item in first}) == len(KINDS_OF_METADATA)
    dumped = [item.model_dump(exclude_unset=True)["metadata"] for item in first]
    assert dumped == list(KINDS_OF_METADATA)


def test_metadata_that_cannot_be_shared_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing, keys of other programs, and more kinds than are worth remembering."""
    assert [item.metadata for item in edges_with([None, None])] == [None, None]

    strange = [item.metadata for item in edges_with([{"x": 1}, {"x": 1}])]
    assert strange[0] is not strange[1]
    assert strange[0] == strange[1]

    monkeypatch.setattr(plan_contract, "_SHARED_METADATA", {})
    monkeypatch.setattr(plan_contract, "_MOST_SHARED", 1)
    groups = ["a", "b", "b", "a"]
    read = edges_with([{"group_id": group} for group in groups])
    assert [item.metadata.group_id for item in read if item.metadata] == groups
    assert read[0].metadata is read[3].metadata
    assert read[1].metadata is not read[2].metadata


def test_keys_that_nobody_expects_are_not_remembered_for_ever() -> None:
    """A message of strange keys fills no memory of later ones."""
    strange = [{**node(f"t{at}"), f"x-{at}": at} for at in range(600)]
    names = [item["task_id"] for item in strange]
    edges = [edge("root", name) for name in names]
    result = outcome(plan([node("root", "GOAL"), *strange], edges))
    assert isinstance(result, Accepted), result
    assert not any(
        name.startswith("x-") for names in fields._SETS_OF_KEYS for name in names
    )
    assert result.value.nodes[-1].model_fields_set >= {"task_id", "x-599"}


class Counted(str):
    """A text that counts how often it is looked up."""

    __slots__ = ()

    looks = 0

    __eq__ = str.__eq__

    def __hash__(self) -> int:
        Counted.looks += 1
        return super().__hash__()


def looks_at(message: Message) -> int:
    """How often the rules of the graph look up an id of a plan."""
    for item in message["nodes"]:
        item["task_id"] = Counted(item["task_id"])
    for item in message["edges"]:
        item |= {key: Counted(item[key]) for key in ("from_task_id", "to_task_id")}
    Counted.looks = 0
    for rule in PLAN.rules:
        assert [
            one for one in rule(message, Context()) if one.code != "never_done"
        ] == []
    return Counted.looks


def many_groups(count: int) -> Message:
    """Goals that each have two ways to choose from."""
    nodes, edges = goal(), []
    for name in [f"n{at}" for at in range(count)]:
        ways = (f"{name}-a", f"{name}-b")
        nodes += [node(name, "GOAL"), *map(node, ways)]
        edges += [edge("root", name), *(edge(name, way) for way in ways)]
        edges += [edge(name, way, "ALTERNATIVE", group_id="ways") for way in ways]
    return plan(nodes, edges)


def many_parents(count: int) -> Message:
    """Ways to choose from that all share one part."""
    ways = [f"n{at}" for at in range(count)]
    nodes = [*goal(), *(node(way, "GOAL") for way in ways), node("shared")]
    edges = [edge("root", way) for way in ways] + [
        edge(way, "shared") for way in reversed(ways)
    ]
    edges += [edge("root", way, "ALTERNATIVE", group_id="ways") for way in ways]
    return plan(nodes, edges)


@pytest.mark.parametrize("shape", [many_groups, many_parents])
def test_work_on_alternatives_is_linear(shape: Callable[[int], Message]) -> None:
    """Four times the plan takes about four times the look-ups."""
    small, large = looks_at(shape(100)), looks_at(shape(400))
    assert large < 4.2 * small


@given(st.integers(0, 2**32 - 1))
def test_the_quick_test_never_says_more_than_the_rules(seed: int) -> None:
    """On random graphs: where it says sound, no rule finds anything."""
    dice = random.Random(seed)
    names = ["root", *"abcd"]
    nodes = [node(name, "GOAL" if name == "root" else "ACTION") for name in names]
    edges = []
    for _ in range(dice.randrange(10)):
        source, target = sorted(dice.sample(names, 2), key=names.index)
        edges.append(
            edge(source, target, dice.choice(["DECOMPOSE", "DECOMPOSE", "DEPENDS_ON"]))
        )
    message = plan(nodes, edges)
    if is_plainly_sound(message, Context()):
        assert [one for rule in PLAN.rules for one in rule(message, Context())] == []
        assert [step(message, Context()) for step in PLAN.rewrites] == [
            (message, [])
        ] * len(PLAN.rewrites)


def test_the_quick_test_knows_orderly_plans() -> None:
    """And leaves everything else to the rules."""
    alternatives = [
        edge("root", "a"),
        edge("root", "b"),
        edge("root", "a", "ALTERNATIVE", group_id="1"),
    ]
    orderly = [
        small_plan(),
        plan(goal(), []),
        plan(goal("a"), [edge("root", "a")], requirements=[requirement("a")]),
        plan(goal("a", "b"), alternatives),
        plan(
            goal("a", "b"),
            [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")],
        ),
        changed(small_plan(), "edges.0.metadata", None),
    ]
    others = [
        plan(goal("a", "START"), [edge("root", "a"), edge("root", "START")]),
        plan(goal("a"), [edge("root", "a")], requirements=[requirement("x")]),
        plan(goal("a", "b"), [*alternatives[:2], edge("root", "a", "ALTERNATIVE")]),
        plan(goal("a", "b"), [edge("root", "a", and_or="OR"), edge("root", "b")]),
        plan(goal("a", "b")[::-1], [edge("root", "a"), edge("root", "b")]),
        plan([node("root"), node("a")], [edge("root", "a")]),
    ]
    assert [is_plainly_sound(message, Context()) for message in orderly] == [
        True
    ] * len(orderly)
    assert [is_plainly_sound(message, Context()) for message in others] == [
        False
    ] * len(others)
    for message in orderly:
        assert accepted(message)["edges"] == message["edges"]

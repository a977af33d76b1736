"""Plans: rewrites that lose nothing, a graph that holds together, at any size."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance import Accepted, Context, Rejected, check, dump
from accordance.contracts.catalogue.plan import PLAN
from accordance.contracts.catalogue.plan_sound import is_plainly_sound
from tests.messages import Message, changed, edge, node, plan, requirement, small_plan


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
    (plan([*goal("a"), node("g", "GOAL"), node("b")], [edge("root", "a"), edge("g", "b")]), ["second_root $.nodes[2]", "second_root $.nodes[3]"]),
    (changed(small_plan(), "edges.0.plan_id", "other"), ["other_plan $.edges[0].plan_id"]),
    (changed(small_plan(), "edges.2.edge_type", "requires"), ["not_in_enum $.edges[2].edge_type"]),
    (changed(small_plan(), "edges.0.edge_type", "CHILD_OF"), ["not_in_enum $.edges[0].edge_type"]),
    (changed(small_plan(), "edges.0", 7), ["wrong_type $.edges[0]"]),
    (changed(small_plan(), "nodes.0", 7), ["wrong_type $.nodes[0]"]),
    (changed(small_plan(), "nodes.1.task_id", ["a"]), ["wrong_type $.nodes[1].task_id", "dangling_reference $.edges[0].to_task_id", "dangling_reference $.edges[2].from_task_id"]),
    (changed(small_plan(), "edges.0.from_task_id", None), ["wrong_type $.edges[0].from_task_id", "second_root $.nodes[1]"]),
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
    edges += [edge("a", "b", "DEPENDS_ON"), edge("b", "c", "DEPENDS_ON"), edge("c", "a", "DEPENDS_ON")]
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
    ring = [edge(one, other, "DEPENDS_ON") for one, other in zip(names, [*names[1:], names[0]], strict=True)]
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
    assert (fix.value["from_task_id"], fix.value["to_task_id"], fix.value["edge_type"]) == (
        "b",
        "a",
        "DEPENDS_ON",
    )


@pytest.mark.parametrize(("start", "end"), [("START", "END"), (" begin", "Finish "), ("start", "stop")])
def test_start_and_end(start: str, end: str) -> None:
    """A chain between pseudo ends becomes parts of the root, whole."""
    chain = [start, "a", "b", "c", end]
    edges = [edge(one, other, "DEPENDS_ON") for one, other in pairwise(chain)]
    declared = [*goal("a", "b", "c"), node(start), node(end)]
    for nodes in (goal("a", "b", "c"), declared):
        message = accepted(
            plan(nodes, [*edges, edge(start, end, "DEPENDS_ON"), edge(start, "root", "DEPENDS_ON")])
        )
        assert [one["task_id"] for one in message["nodes"]] == ["root", "a", "b", "c"]
        parts = [
            (one["from_task_id"], one["to_task_id"])
            for one in message["edges"]
            if one["edge_type"] == "DECOMPOSE"
        ]
        assert sorted(parts) == [("root", "a"), ("root", "b"), ("root", "c")]
        rest = [
            (one["from_task_id"], one["to_task_id"])
            for one in message["edges"]
            if one["edge_type"] == "DEPENDS_ON"
        ]
        assert rest == [("a", "b"), ("b", "c")]


def test_a_start_edge_keeps_what_it_says() -> None:
    """Its metadata stays, and it is combined as the other parts of the root are."""
    edges = [edge("root", "a", and_or="OR"), edge("START", "b", "DEPENDS_ON", note="keep me")]
    message = accepted(plan(goal("a", "b"), edges))
    assert [one["metadata"] for one in message["edges"]] == [
        {"and_or": "OR"},
        {"note": "keep me", "and_or": "OR"},
    ]


def test_parts_that_say_nothing_mean_and() -> None:
    """Beside OR that is a contradiction, wherever the metadata is."""
    message = plan(goal("a", "b"), [edge("root", "a", and_or="OR"), {**edge("root", "b"), "metadata": None}])
    assert found(message) == ["mixed_and_or $.edges[1].metadata"]


def test_a_root_called_start_is_a_real_node() -> None:
    """Only pseudo ends are pseudo."""
    message = accepted(plan([node("START", "GOAL"), node("a")], [edge("START", "a")], root="START"))
    assert len(message["nodes"]) == 2


def test_completion_is_recorded_and_repeatable() -> None:
    """A root without parts gets them; the same plan gets the same edges; how parts are combined is kept."""
    bare = plan(goal("a", "b"), [edge("a", "b", "DEPENDS_ON")])
    one, other = outcome(bare), outcome(bare)
    assert isinstance(one, Accepted)
    assert one == other
    assert [repair.rule for repair in one.repairs] == ["under_the_root", "under_the_root"]
    partial = accepted(plan(goal("a", "b"), [edge("root", "a", and_or="OR")]))
    assert [item["metadata"]["and_or"] for item in partial["edges"]] == ["OR", "OR"]
    unsaid: Any
    for unsaid in (None, {}):
        message = changed(plan(goal("a", "b"), [edge("root", "a")]), "edges.0.metadata", unsaid)
        assert [item["metadata"] for item in accepted(message)["edges"]] == [unsaid, {"and_or": "AND"}]
        assert accepted(changed(small_plan(), "edges.0.metadata", unsaid))


def test_candidates_are_put_under_the_parent_of_their_group() -> None:
    """An ALTERNATIVE that hangs from a goal belongs to that goal."""
    nodes = [*goal("a"), node("g", "GOAL"), node("x"), node("y")]
    edges = [edge("root", "a"), edge("root", "g")]
    edges += [edge("g", "x", "ALTERNATIVE", group_id="1"), edge("g", "y", "ALTERNATIVE", group_id="1")]
    message = accepted(plan(nodes, edges))
    parts = [
        (one["from_task_id"], one["to_task_id"])
        for one in message["edges"]
        if one["edge_type"] == "DECOMPOSE"
    ]
    assert ("g", "x") in parts
    assert ("g", "y") in parts


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


def test_flags_may_be_written_as_numbers() -> None:
    """1 and true mean the same."""
    message = accepted(plan(goal("a"), [edge("root", "a")], requirements=[requirement("a", required=1)]))
    assert message["requirements"][0]["required"] == 1


@pytest.mark.parametrize("shape", ["chain", "wide", "backwards"])
def test_a_hundred_thousand_nodes(shape: str) -> None:
    """Deep or wide, in order or not: no recursion, no surprise."""
    count = 100_000
    names = [f"n{at}" for at in range(count)]
    nodes = [node("root", "GOAL")] + [node(name) for name in names]
    edges = [edge("root", name) for name in names]
    if shape == "chain":
        edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    elif shape == "backwards":
        edges += [edge(other, one, "DEPENDS_ON") for one, other in pairwise(names)]
    from accordance import check_value

    result = check_value(plan(nodes, edges), "PLAN_GEN")
    assert isinstance(result, Accepted), result


@given(st.integers(0, 2**32 - 1))
def test_the_quick_test_never_says_more_than_the_rules(seed: int) -> None:
    """On random graphs: where it says sound, no rule finds anything."""
    dice = random.Random(seed)
    names = ["root", *"abcd"]
    nodes = [node(name, "GOAL" if name == "root" else "ACTION") for name in names]
    edges = []
    for _ in range(dice.randrange(10)):
        source, target = sorted(dice.sample(names, 2), key=names.index)
        edges.append(edge(source, target, dice.choice(["DECOMPOSE", "DECOMPOSE", "DEPENDS_ON"])))
    message = plan(nodes, edges)
    if is_plainly_sound(message, Context()):
        assert [one for rule in PLAN.rules for one in rule(message, Context())] == []
        assert [step(message, Context()) for step in PLAN.rewrites] == [(message, [])] * len(PLAN.rewrites)


def test_the_quick_test_knows_orderly_plans() -> None:
    """And leaves everything else to the rules."""
    alternatives = [edge("root", "a"), edge("root", "b"), edge("root", "a", "ALTERNATIVE", group_id="1")]
    orderly = [
        small_plan(),
        plan(goal(), []),
        plan(goal("a"), [edge("root", "a")], requirements=[requirement("a")]),
        plan(goal("a", "b"), alternatives),
        plan(goal("a", "b"), [edge("root", "a", and_or="OR"), edge("root", "b", and_or="OR")]),
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
    assert [is_plainly_sound(message, Context()) for message in orderly] == [True] * len(orderly)
    assert [is_plainly_sound(message, Context()) for message in others] == [False] * len(others)
    for message in orderly:
        assert accepted(message)["edges"] == message["edges"]

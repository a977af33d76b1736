"""Random plans, small and whole, for the tests that try everything."""

from __future__ import annotations

import random

from tests.messages import Message, edge, node, plan


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
    combine = {goal: dice.choice(["AND", "AND", "OR"]) for goal in sorted(goals)}
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

"""Random plans, small and whole, for the tests that try everything."""

from __future__ import annotations

import random

from accordance import check_value
from accordance.domain.lifecycle import Event, State
from accordance.domain.plan import PlanGraph
from accordance.domain.progress import PlanInMemory, begin
from tests.messages import Message, edge, node, plan


def random_plan(dice: random.Random) -> Message:
    """A small plan with goals, actions, checks, AND, OR, dependencies and alternatives, that its contract accepts."""
    while True:
        message = _small_plan(dice)
        if check_value(message, "PLAN_GEN"):
            return message


def _small_plan(dice: random.Random) -> Message:
    names = [f"n{at}" for at in range(dice.randrange(2, 9))]
    parents = {
        name: dice.choice(["root", *names[:at]]) for at, name in enumerate(names)
    }
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
            edges += [
                edge(goal, part, "ALTERNATIVE", group_id="g")
                for part in dice.sample(parts, 2)
            ]
    return plan(nodes, edges)


def related(parents: dict[str, str], one: str, other: str) -> bool:
    """Whether one lies above the other: then neither may wait for it."""
    for low, high in ((one, other), (other, one)):
        while low in parents:
            low = parents[low]  # noqa: PLW2901 - climbing
            if low == high:
                return True
    return False


def wild_plan(dice: random.Random) -> Message:
    """A plan that anybody might write: goals that share parts, tasks that wait for goals, candidates, checks, strays.

    Right in every field and in every reference; whether it can be finished is another question.
    """
    names = [f"n{at}" for at in range(dice.randrange(1, 8))]
    if dice.random() < 0.3:
        names[-1] = dice.choice(["START", "finish", "End"])
    parents: dict[str, list[str]] = {}
    for at, name in enumerate(names):
        above = ["root", *names[:at]]
        count = dice.choices([0, 1, 2], [1, 8, 2])[0]
        parents[name] = dice.sample(above, min(count, len(above)))
    goals = sorted({parent for above in parents.values() for parent in above})
    combine = {goal: dice.choice(["AND", "AND", "OR"]) for goal in goals}
    nodes = [node("root", "GOAL")]
    for name in names:
        kind = (
            "GOAL"
            if name in goals and dice.random() < 0.9
            else dice.choice(["ACTION", "ACTION", "CHECK"])
        )
        title = dice.choice([name, f"Task {name}"])
        nodes.append(node(name, kind, priority=dice.randrange(3), title=title))
    edges = [
        edge(goal, name, and_or=combine[goal])
        for name in names
        for goal in parents[name]
    ]
    waits = {tuple(dice.sample(["root", *names], 2)) for _ in range(dice.randrange(5))}
    edges += [edge(one, other, "DEPENDS_ON") for one, other in sorted(waits)]
    for goal in goals:
        parts = [name for name in names if goal in parents[name]]
        if len(parts) > 1 and dice.random() < 0.5:
            edges += [
                edge(goal, part, "ALTERNATIVE", group_id="g")
                for part in dice.sample(parts, 2)
            ]
    dice.shuffle(nodes)
    dice.shuffle(edges)
    return plan(nodes, edges)


def drive(graph: PlanGraph, dice: random.Random) -> PlanInMemory:
    """Do whatever is ready, in any order, every task with success, until the root is done or nothing is ready."""
    moving = begin(graph)
    while moving.at[graph.root].state is not State.DONE:
        ready = [
            task
            for task, at in moving.at.items()
            if at.state is State.READY and graph[task].is_work
        ]
        if not ready:
            break
        task = dice.choice(ready)
        moving.move(task, Event.CLAIMED)
        moving.move(task, Event.PRODUCED)
        _approve_when_checked(moving, task)
        if graph[task].checks is not None:
            moving.move(task, Event.APPROVED)
            _approve_when_checked(moving, graph[task].checks or "")
    return moving


def _approve_when_checked(moving: PlanInMemory, task: str) -> None:
    """A product is approved when every check of it that is wanted has approved it."""
    checks = [moving.at[check] for check in moving.graph[task].checked_by]
    is_checked = all(check.state is State.DONE or not check.active for check in checks)
    is_check = moving.graph[task].checks is not None
    if is_checked and not is_check and moving.at[task].state is State.READY_TO_CHECK:
        moving.move(task, Event.APPROVED)

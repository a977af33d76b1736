"""What of a plan is shown: goals contain their parts, and may be folded.

Everything below a folded goal is gone from the picture; edges lead to and from the goal
instead. A plan too large to be read is folded by itself, from the deepest level up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from accordance.domain.plan import PlanGraph

MAX_SHOWN: Final = 400  # nodes in a picture, unless more are asked for
MAX_DEPTH: Final = 8  # levels in such a picture


class Tie(StrEnum):
    """What an arrow between two boxes means."""

    BEFORE = "before"  # the first must be done before the second begins
    CHECKS = "checks"  # the second reviews the first
    PART = "part"  # the second is a part of the first, too


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge between two boxes of a picture."""

    source: str
    target: str
    tie: Tie


@dataclass(frozen=True, slots=True)
class Outline:
    """The boxes of a picture: each stands in a goal, or at the top."""

    top: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]  # of each goal that is open
    home: Mapping[str, str]  # the goal that each part stands in
    folded: Mapping[str, tuple[str, ...]]  # what each folded goal hides
    arrows: tuple[Arrow, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    shown_as: Mapping[str, str] = field(default_factory=dict)
    """The box that stands for each task of the plan."""

    def __iter__(self) -> Iterator[str]:
        """Yield every box, goals before their parts."""
        waiting = list(reversed(self.top))
        while waiting:
            task = waiting.pop()
            yield task
            waiting += reversed(self.parts.get(task, ()))


def outline_of(
    graph: PlanGraph,
    fold: Collection[str] = (),
    depth: int | None = None,
    unfold: Collection[str] = (),
) -> Outline:
    """Return what is shown of a plan, with these goals folded and so many levels open.

    Without a depth, as many levels are open as can be read. Goals to `unfold` are open
    at any depth; a goal to `fold` is not.
    """
    tree = _tree_of(graph)
    open_levels = _readable_depth(tree) if depth is None else depth
    folded = set(fold)
    for goal in tree.parts:
        is_deep = tree.levels[goal] >= open_levels
        if is_deep and goal not in unfold:
            folded.add(goal)
    return _fold(graph, tree, folded)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Every task in the first goal it is a part of."""

    top: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]  # goals before their parts
    levels: Mapping[str, int]


def _tree_of(graph: PlanGraph) -> _Tree:
    without_goal = [task for task in graph if not graph[task].parents]
    top = tuple(sorted(without_goal, key=lambda task: task != graph.root))
    parts: dict[str, tuple[str, ...]] = {}
    levels = dict.fromkeys(top, 0)
    order: list[str] = []
    waiting = list(reversed(top))
    while waiting:
        task = waiting.pop()
        order.append(task)
        own = []
        for part in graph[task].parts:
            if graph[part].parents[0] == task:
                own.append(part)
                levels[part] = levels[task] + 1
        if own:
            parts[task] = tuple(own)
        waiting += reversed(own)
    return _Tree(top, parts, tuple(order), levels)


def _readable_depth(tree: _Tree) -> int:
    """Return how many levels can be open without more boxes than can be read.

    The top and its parts are always shown.
    """
    counts: dict[int, int] = {}
    for level in tree.levels.values():
        counts[level] = counts.get(level, 0) + 1
    shown = counts[0] + counts.get(1, 0)
    depth = 1
    while depth < MAX_DEPTH and depth + 1 in counts:
        shown += counts[depth + 1]
        if shown > MAX_SHOWN:
            break
        depth += 1
    return depth


def _fold(graph: PlanGraph, tree: _Tree, folded: Collection[str]) -> Outline:
    parts: dict[str, tuple[str, ...]] = {}
    home: dict[str, str] = {}
    hidden: dict[str, list[str]] = {}
    shown_as: dict[str, str] = {}  # the box that stands for each task
    for task in tree.order:
        box = shown_as.setdefault(task, task)
        own = tree.parts.get(task, ())
        is_hidden = box != task
        if is_hidden:
            hidden[box].append(task)
        if own and (is_hidden or task in folded):
            hidden.setdefault(box, [])
            shown_as.update(dict.fromkeys(own, box))
        elif own:
            parts[task] = own
            home.update(dict.fromkeys(own, task))

    return Outline(
        top=tree.top,
        parts=parts,
        home=home,
        folded={task: tuple(tasks) for task, tasks in hidden.items()},
        shown_as=shown_as,
        arrows=tuple(_arrows(graph, shown_as, home)),
        levels=tree.levels,
    )


def _arrows(
    graph: PlanGraph,
    shown_as: Mapping[str, str],
    home: Mapping[str, str],
) -> Iterator[Arrow]:
    """Yield the edges between boxes, each once.

    An edge between a goal and what stands in it shows nothing that the frame does not.
    """
    seen: set[Arrow] = set()
    for arrow in _edges(graph):
        lifted = Arrow(shown_as[arrow.source], shown_as[arrow.target], arrow.tie)
        if lifted in seen or _encloses(lifted, home):
            continue
        seen.add(lifted)
        yield lifted


def _edges(graph: PlanGraph) -> Iterator[Arrow]:
    for task in graph:
        node = graph[task]
        for dependent in node.dependents:
            is_check = graph[dependent].checks == task
            yield Arrow(task, dependent, Tie.CHECKS if is_check else Tie.BEFORE)
        for part in node.parts:
            if graph[part].parents[0] != task:
                yield Arrow(task, part, Tie.PART)


def _encloses(arrow: Arrow, home: Mapping[str, str]) -> bool:
    """Whether an end of an arrow is the other, or stands in it."""
    ends = (arrow.source, arrow.target)
    for inner, outer in (ends, ends[::-1]):
        task: str | None = inner
        while task is not None:
            if task == outer:
                return True
            task = home.get(task)
    return False

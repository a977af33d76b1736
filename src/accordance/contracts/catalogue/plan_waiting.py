"""Whether a plan can be finished at all when every task succeeds: nobody may wait for what waits for them.

A cycle of edges is not the only circle. A goal is done when its parts are, and its parts may begin when the goal may; so a
part that waits for its own goal waits for itself, and so do two goals whose parts wait for the other goal.

What the edges mean when a plan moves is in docs/decisions/0007. Here it is written as sentences of one form: this comes about
when all of those have. Whatever follows from them, beginning with what needs nothing, comes about; each sentence is looked
at once for each of its conditions, so the time is linear. A property test drives random plans and compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from accordance.contracts.catalogue.plan_rewrites import objects_in, root_of
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt

_LONGEST: Final = 400  # characters of a circle


# What can come about for a node. Texts, and a sentence is a plain tuple: a large plan has a million of them.
OPEN: Final = "open"  # neither it nor a goal above it waits any more
BEGUN: Final = "begun"  # it has a product, which may still have to be checked
DONE: Final = "done"
EXCUSED: Final = "excused"  # another way was taken: nobody waits for it
SETTLED: Final = "settled"  # done or excused: what waits for it may go on

_What: TypeAlias = tuple[str, str]  # which of these, and of which node
_Sentence: TypeAlias = tuple[
    _What, tuple[_What, ...]
]  # the first comes about when all the others have


@dataclass(slots=True)
class _Graph:
    """What the edges say of each node."""

    root: str
    order: dict[str, tuple[int, int]]  # priority and place: the rank of a candidate
    kinds: dict[str, object]
    parts: dict[str, dict[str, None]] = field(default_factory=dict)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)
    prerequisites: dict[str, dict[str, None]] = field(default_factory=dict)
    either: set[str] = field(default_factory=set)  # goals that need one of their parts
    groups: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    rivals: dict[str, list[str]] = field(default_factory=dict)
    checks: dict[str, str] = field(
        default_factory=dict
    )  # a check, and the task whose product it reviews
    checked_by: dict[str, list[str]] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)


def circles_of_waiting(message: JsonObject) -> Iterator[Violation]:
    """What keeps the root from being done although every task succeeds. For a plan whose edges are sound and have no cycle."""
    graph = _read(message)
    if graph is None:
        return
    left_empty = [*_goals_left_empty(graph)]
    yield from left_empty
    sentences = [*_sentences(graph)]
    true = _follows(sentences)
    if (DONE, graph.root) not in true and not left_empty:
        yield _why_not(graph, sentences, true, message)


def _goals_left_empty(graph: _Graph) -> Iterator[Violation]:
    """Goals that are wanted while all their parts are passed over: they are stuck before anything begins."""
    for task, parts in graph.parts.items():
        if task not in graph.passed_over and graph.passed_over.issuperset(parts):
            actual = (
                f"{excerpt(task)}, whose parts are all passed over for other candidates"
            )
            place = graph.order[task][1]
            yield Violation(
                "never_done",
                f"$.nodes[{place}]",
                "a goal with a part that will be done",
                actual,
            )


def _read(message: JsonObject) -> _Graph | None:
    """None where an id, a priority or an edge is at fault: that is reported by other rules."""
    root, nodes, edges = (
        root_of(message),
        objects_in(message, "nodes"),
        objects_in(message, "edges"),
    )
    if root is None or not nodes or edges is None:
        return None
    graph = _Graph(root, {}, {})
    for place, node in enumerate(nodes):
        task, priority = node.get("task_id"), node.get("priority")
        if (
            not isinstance(task, str)
            or not isinstance(priority, int)
            or task in graph.order
        ):
            return None
        graph.order[task] = (-priority, place)
        graph.kinds[task] = node.get("node_type")
    if root not in graph.order or not all(_read_edge(graph, edge) for edge in edges):
        return None
    _find_rivals(graph)
    _find_checks(graph)
    _find_passed_over(graph)
    return graph


def _read_edge(graph: _Graph, edge: JsonObject) -> bool:
    source, target, metadata = (
        edge.get("from_task_id"),
        edge.get("to_task_id"),
        edge.get("metadata"),
    )
    if not isinstance(source, str) or not isinstance(target, str):
        return False
    if source not in graph.order or target not in graph.order:
        return False
    said = metadata if isinstance(metadata, dict) else {}
    match edge.get("edge_type"):
        case "DECOMPOSE":
            graph.parts.setdefault(source, {})[target] = None
            graph.parents.setdefault(target, {})[source] = None
            if said.get("and_or") == "OR":
                graph.either.add(source)
        case "DEPENDS_ON":
            graph.prerequisites.setdefault(target, {})[source] = None
        case "ALTERNATIVE":
            graph.groups.setdefault((source, str(said.get("group_id"))), {})[target] = (
                None
            )
        case _:
            return False
    return True


def _find_rivals(graph: _Graph) -> None:
    """A candidate belongs to its first group; the best comes first."""
    for candidates in graph.groups.values():
        newcomers = [task for task in candidates if task not in graph.rivals]
        ranked = sorted(newcomers, key=graph.order.__getitem__)
        graph.rivals.update(dict.fromkeys(ranked, ranked))


def _find_checks(graph: _Graph) -> None:
    """A CHECK without parts reviews the one action it waits for."""
    for task, kind in graph.kinds.items():
        if kind == "CHECK" and task not in graph.parts:
            actions = [
                one
                for one in graph.prerequisites.get(task, ())
                if graph.kinds[one] == "ACTION"
            ]
            if len(actions) == 1:
                graph.checks[task] = actions[0]
                graph.checked_by.setdefault(actions[0], []).append(task)


def _find_passed_over(graph: _Graph) -> None:
    """Candidates that are not the first of their group, and what belongs only to such."""
    wanted_by = {
        part: len(parents) for part, parents in graph.parents.items()
    }  # parents not passed over
    below = [task for task, rivals in graph.rivals.items() if rivals[0] != task]
    while below:
        task = below.pop()
        if task in graph.passed_over:
            continue
        graph.passed_over.add(task)
        for part in graph.parts.get(task, ()):
            wanted_by[part] -= 1
            if not wanted_by[part] and part not in graph.checks:
                below.append(part)
        below += graph.checked_by.get(task, ())


# The sentences


def _sentences(graph: _Graph) -> Iterator[_Sentence]:
    is_excusing = bool(graph.either or graph.rivals)  # else there is one way only
    for task in graph.order:
        if task not in graph.passed_over:
            yield ((SETTLED, task), ((DONE, task),))
            yield from _ways_to_be_done(graph, task)
        if is_excusing:
            yield ((SETTLED, task), ((EXCUSED, task),))
            yield from _excuses(graph, task)


def _ways_to_be_done(graph: _Graph, task: str) -> Iterator[_Sentence]:
    done, parts = (DONE, task), graph.parts.get(task)
    yield ((OPEN, task), (*_waits_for(graph, task),))
    if parts is None:
        wanted = [
            check
            for check in graph.checked_by.get(task, ())
            if check not in graph.passed_over
        ]
        yield ((BEGUN, task), ((OPEN, task),))
        yield (done, ((BEGUN, task), *((DONE, check) for check in wanted)))
        return
    chosen = [part for part in parts if part not in graph.passed_over]
    if task in graph.either:
        yield from ((done, ((DONE, part),)) for part in chosen)
    else:
        yield (done, tuple((SETTLED, part) for part in chosen))
    yield ((OPEN, task), ((EXCUSED, task),))


def _waits_for(graph: _Graph, task: str) -> Iterator[_What]:
    """What must come about before a node, or its parts, may begin. A check of one product waits for that alone."""
    target = graph.checks.get(task)
    for one in graph.prerequisites.get(task, ()):
        is_product = (
            one == target and one not in graph.parts and one not in graph.passed_over
        )
        yield (BEGUN if is_product else SETTLED, one)
    if target is None:
        yield from (
            (OPEN, parent)
            for parent in graph.parents.get(task, ())
            if parent not in graph.passed_over
        )


def _excuses(graph: _Graph, task: str) -> Iterator[_Sentence]:
    excused, parents = (EXCUSED, task), graph.parents.get(task, {})
    best = graph.rivals.get(task, [task])[0]
    if best != task and best not in graph.passed_over:
        yield (excused, ((DONE, best),))
    if task in graph.checks:
        yield (excused, ((EXCUSED, graph.checks[task]),))
    elif parents:
        yield (excused, tuple((SETTLED, parent) for parent in parents))
        wanting = [parent for parent in parents if parent not in graph.passed_over]
        if wanting:
            yield (excused, tuple((DONE, parent) for parent in wanting))


def _follows(sentences: list[_Sentence]) -> set[_What]:
    """Everything that comes about."""
    left = [len(when) for _, when in sentences]
    heard_by: dict[_What, list[int]] = {}
    for at, (_, when) in enumerate(sentences):
        for condition in when:
            heard_by.setdefault(condition, []).append(at)
    true = {comes for comes, when in sentences if not when}
    news = [*true]
    while news:
        for at in heard_by.get(news.pop(), ()):
            left[at] -= 1
            comes = sentences[at][0]
            if not left[at] and comes not in true:
                true.add(comes)
                news.append(comes)
    return true


# The report


def _why_not(
    graph: _Graph, sentences: list[_Sentence], true: set[_What], message: JsonObject
) -> Violation:
    """Ask again and again what is missing, until something comes a second time: that is the circle."""
    missing: dict[_What, _What] = {}
    for comes, when in sentences:
        if comes not in true and comes not in missing:
            missing[comes] = next(
                condition for condition in when if condition not in true
            )
    order: dict[_What, None] = {}
    what: _What = (DONE, graph.root)
    while what not in order:
        order[what] = None
        what = missing[what]
    seen = [*order]
    circle = seen[seen.index(what) :]
    steps = [
        (one[1], other[1])
        for one, other in zip(circle, [*circle[1:], circle[0]], strict=True)
    ]
    steps = [(one, other) for one, other in steps if one != other]
    waits = {(other, one) for one, other in steps}
    last = max(
        at
        for at, edge in enumerate(objects_in(message, "edges") or ())
        if (edge.get("from_task_id"), edge.get("to_task_id")) in waits
        and edge.get("edge_type") == "DEPENDS_ON"
    )
    text = ", ".join(
        _step(graph, one, other) for one, other in _from_a_task(graph, steps)
    )
    return Violation(
        "cycle",
        f"$.edges[{last}]",
        "no task that waits for itself",
        middle_cut(text, _LONGEST),
    )


def _from_a_task(
    graph: _Graph, steps: list[tuple[str, str]]
) -> Iterable[tuple[str, str]]:
    """The circle told from something that waits, without going down to a part and back to its goal."""
    first = next(
        at
        for at, (one, other) in enumerate(steps)
        if other in graph.prerequisites.get(one, ())
    )
    told: list[tuple[str, str]] = []
    for one, other in (*steps[first:], *steps[:first]):
        is_way_back = told[-1:] == [(other, one)] and one in graph.parts.get(other, ())
        if is_way_back and other not in graph.prerequisites.get(one, ()):
            told.pop()
        else:
            told.append((one, other))
    return told


def _step(graph: _Graph, one: str, other: str) -> str:
    if other in graph.prerequisites.get(one, ()):
        return f"{excerpt(one)} waits for {excerpt(other)}"
    if other in graph.parts.get(one, ()):
        return f"{excerpt(one)} needs its part {excerpt(other)}"
    if one in graph.parts.get(other, ()):
        return f"{excerpt(one)} is a part of {excerpt(other)}"
    return f"{excerpt(one)} needs {excerpt(other)}"


def middle_cut(text: str, limit: int = _LONGEST) -> str:
    """A long text without its middle."""
    return (
        text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"
    )

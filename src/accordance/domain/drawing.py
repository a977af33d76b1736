"""A plan as a picture: a tree for terminals, Mermaid for pages, SVG to look at, DOT for everything else. Pure text from a graph.

Goals contain their parts; what a task waits for is named beside it; alternatives are numbered in the order they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.domain.lifecycle import State
from accordance.domain.picture import draw_svg
from accordance.domain.plan import PlanGraph, PlanNode

Labels: TypeAlias = Mapping[str, str]
States: TypeAlias = Mapping[str, State]

MARKS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.PENDING: "·",
        State.READY: "○",
        State.IN_PROGRESS: "◐",
        State.READY_TO_CHECK: "◑",
        State.TO_BE_MODIFY: "↻",
        State.BLOCKED: "‖",
        State.FAILED: "✗",
        State.DONE: "●",
        State.ABANDONED: "–",
        State.DEAD_LETTER: "†",
    }
)
_SHAPES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"GOAL": ("([", "])"), "ACTION": ("[", "]"), "CHECK": ("{{", "}}")}
)
_DOT_SHAPES: Final[Mapping[str, str]] = MappingProxyType(
    {"GOAL": "ellipse", "ACTION": "box", "CHECK": "hexagon"}
)


def draw_text(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """A tree from the root down. A part of several goals is drawn once and named where it comes again.

    What is only waited for, and belongs to no goal, comes after the root.
    """
    lines: list[str] = []
    drawn: set[str] = set()
    outside = [task for task in graph if task != graph.root and not graph[task].parents]
    waiting: list[tuple[str, str, str]] = [
        (task, "", "") for task in (*reversed(outside), graph.root)
    ]
    while waiting:
        task, lead, below = waiting.pop()
        node = graph[task]
        again = task in drawn
        lines.append(
            f"{lead}{_line(node, labels, states)}{'  (see above)' if again else ''}"
        )
        if again:
            continue
        drawn.add(task)
        for at, part in reversed([*enumerate(node.parts, 1)]):
            is_last = at == len(node.parts)
            waiting.append(
                (
                    part,
                    below + ("└─ " if is_last else "├─ "),
                    below + ("   " if is_last else "│  "),
                )
            )
    return "\n".join(lines) + "\n"


def _line(node: PlanNode, labels: Labels, states: States | None) -> str:
    mark = f"{MARKS[states[node.task_id]]} " if states else ""
    return f"{mark}{labels[node.task_id]}  {', '.join(_notes(node, labels))}".rstrip()


def _notes(node: PlanNode, labels: Labels) -> Iterator[str]:
    yield (
        node.kind
        if node.is_work
        else f"{node.kind}, {'all' if node.combine == 'AND' else 'any'} of"
    )
    if node.rivals:
        yield f"alternative {node.rivals.index(node.task_id) + 1} of {len(node.rivals)}"
    if node.checks is not None:
        yield f"checks {labels[node.checks]}"
    after = [labels[task] for task in node.prerequisites if task != node.checks]
    if after:
        yield f"after {', '.join(after)}"


def draw_mermaid(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """A flowchart: solid arrows to parts, dotted ones from what is waited for."""
    names = {task: f"n{at}" for at, task in enumerate(graph)}
    lines = ["flowchart TD"]
    for task, name in names.items():
        opening, closing = _SHAPES[graph[task].kind]
        lines.append(
            f'    {name}{opening}"{_mermaid(_label(task, labels, states))}"{closing}'
        )
    lines += [
        f"    {names[one]} {arrow} {names[other]}"
        for one, other, arrow in _arrows(graph, "-->", "-.->")
    ]
    return "\n".join(lines) + "\n"


def draw_dot(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """For Graphviz."""
    lines = ["digraph plan {", "  rankdir=TB;", "  node [fontname=sans];"]
    for task in graph:
        shape = _DOT_SHAPES[graph[task].kind]
        lines.append(
            f"  {_dot(task)} [label={_dot(_label(task, labels, states))}, shape={shape}];"
        )
    arrows = _arrows(graph, "", " [style=dashed, constraint=false]")
    lines += [f"  {_dot(one)} -> {_dot(other)}{style};" for one, other, style in arrows]
    return "\n".join([*lines, "}"]) + "\n"


def _arrows(graph: PlanGraph, part: str, wait: str) -> Iterator[tuple[str, str, str]]:
    for task in graph:
        yield from ((task, one, part) for one in graph[task].parts)
        yield from ((task, one, wait) for one in graph[task].dependents)


def _label(task: str, labels: Labels, states: States | None) -> str:
    return f"{labels[task]} ({states[task]})" if states else labels[task]


def _mermaid(text: str) -> str:
    return (
        text.replace("&", "&amp;")
        .replace('"', "&quot;")
        .replace("<", "&lt;")
        .replace("\n", " ")
    )


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


FORMATS: Final[Mapping[str, Callable[[PlanGraph, Labels, States | None], str]]] = (
    MappingProxyType(
        {"text": draw_text, "mermaid": draw_mermaid, "dot": draw_dot, "svg": draw_svg}
    )
)
"""Every kind of picture."""

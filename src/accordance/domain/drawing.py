"""A plan as a picture: a tree for terminals, Mermaid for pages, SVG to look at, DOT.

Goals contain their parts; what a task waits for is named beside it; alternatives are
numbered in the order they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

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


_MERMAID_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {"&": "&amp;", '"': "&quot;", "<": "&lt;", "\n": " "}
)
_DOT_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {"\\": "\\\\", '"': '\\"', "\n": " "}
)


def draw_text(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Draw a tree from the root down.

    A part of several goals is drawn once and named where it comes again. Tasks that are
    only waited for, and belong to no goal, come after the root.
    """
    lines: list[str] = []
    drawn: set[str] = set()
    outside = [task for task in graph if task != graph.root and not graph[task].parents]
    remaining = [_Branch(task, "", "") for task in (*reversed(outside), graph.root)]
    while remaining:
        branch = remaining.pop()
        line = branch.lead + _line(graph[branch.task], labels, states)
        if branch.task in drawn:
            lines.append(f"{line}  (see above)")
            continue
        lines.append(line)
        drawn.add(branch.task)
        parts = _branches_below(branch, graph[branch.task].parts)
        remaining += reversed(parts)
    return "\n".join(lines) + "\n"


class _Branch(NamedTuple):
    """A task to be drawn: the lines that lead to it, and those that pass it."""

    task: str
    lead: str
    below: str


def _branches_below(branch: _Branch, parts: tuple[str, ...]) -> list[_Branch]:
    branches = [
        _Branch(part, f"{branch.below}├─ ", f"{branch.below}│  ") for part in parts[:-1]
    ]
    branches += [
        _Branch(part, f"{branch.below}└─ ", f"{branch.below}   ") for part in parts[-1:]
    ]
    return branches


def _line(node: PlanNode, labels: Labels, states: States | None) -> str:
    mark = ""
    if states:
        mark = f"{MARKS[states[node.task_id]]} "
    notes = ", ".join(_notes(node, labels))
    return f"{mark}{labels[node.task_id]}  {notes}".rstrip()


def _notes(node: PlanNode, labels: Labels) -> Iterator[str]:
    if node.is_work:
        yield node.kind
    else:
        quantity = "all" if node.combine == "AND" else "any"
        yield f"{node.kind}, {quantity} of"

    if node.rivals:
        number = node.rivals.index(node.task_id) + 1
        yield f"alternative {number} of {len(node.rivals)}"
    if node.checks is not None:
        yield f"checks {labels[node.checks]}"

    waits_for = [labels[task] for task in node.prerequisites if task != node.checks]
    if waits_for:
        yield f"after {', '.join(waits_for)}"


def draw_mermaid(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Draw a flowchart: solid arrows to parts, dotted arrows to dependents."""
    names = {task: f"n{number}" for number, task in enumerate(graph)}
    lines = ["flowchart TD"]
    for task, name in names.items():
        opening, closing = _SHAPES[graph[task].kind]
        label = _mermaid_text(_label(task, labels, states))
        lines.append(f'    {name}{opening}"{label}"{closing}')
    for task, name in names.items():
        node = graph[task]
        lines += [f"    {name} --> {names[part]}" for part in node.parts]
        lines += [f"    {name} -.-> {names[after]}" for after in node.dependents]
    return "\n".join(lines) + "\n"


def draw_dot(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Draw a graph for Graphviz: solid arrows to parts, dashed arrows to dependents."""
    lines = ["digraph plan {", "  rankdir=TB;", "  node [fontname=sans];"]
    for task in graph:
        shape = _DOT_SHAPES[graph[task].kind]
        label = _dot_text(_label(task, labels, states))
        lines.append(f"  {_dot_text(task)} [label={label}, shape={shape}];")
    for task in graph:
        name = _dot_text(task)
        parts = graph[task].parts
        lines += [f"  {name} -> {_dot_text(part)};" for part in parts]
        for after in graph[task].dependents:
            style = "[style=dashed, constraint=false]"
            lines.append(f"  {name} -> {_dot_text(after)} {style};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _label(task: str, labels: Labels, states: States | None) -> str:
    if states:
        return f"{labels[task]} ({states[task]})"
    return labels[task]


def _mermaid_text(text: str) -> str:
    for character, replacement in _MERMAID_ESCAPES.items():
        text = text.replace(character, replacement)
    return text


def _dot_text(text: str) -> str:
    for character, replacement in _DOT_ESCAPES.items():
        text = text.replace(character, replacement)
    return f'"{text}"'


FORMATS: Final[Mapping[str, Callable[[PlanGraph, Labels, States | None], str]]] = (
    MappingProxyType(
        {"text": draw_text, "mermaid": draw_mermaid, "dot": draw_dot, "svg": draw_svg}
    )
)
"""Every format, by its name."""

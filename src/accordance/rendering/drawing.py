"""A plan as text, Mermaid, DOT or SVG.

Goals contain their parts; what a task waits for stands beside it; alternatives are
numbered in the order in which they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph, PlanNode
from accordance.rendering.marks import MARKS
from accordance.rendering.picture import draw_svg

Labels: TypeAlias = Mapping[str, str]
States: TypeAlias = Mapping[str, State]


# -- text


class _Branch(NamedTuple):
    """A task that is yet to be drawn, with what stands before it and its parts."""

    task: str
    lead: str = ""
    indent: str = ""


def draw_text(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Return a tree from the root down.

    A part of several goals is drawn once and only named where it comes again. Tasks
    that belong to no goal come after the root.
    """
    lines: list[str] = []
    drawn: set[str] = set()
    top = [graph.root]
    for task, node in graph.nodes.items():
        if task != graph.root and not node.parents:
            top.append(task)
    waiting = [_Branch(task) for task in reversed(top)]

    while waiting:
        branch = waiting.pop()
        line = branch.lead + _text_line(graph[branch.task], labels, states)
        if branch.task in drawn:
            lines.append(f"{line}  (see above)")
            continue
        lines.append(line)
        drawn.add(branch.task)
        waiting += reversed(_branches_below(branch, graph))

    return "\n".join(lines) + "\n"


def _branches_below(branch: _Branch, graph: PlanGraph) -> list[_Branch]:
    parts = graph[branch.task].parts
    lead = f"{branch.indent}├─ "
    indent = f"{branch.indent}│  "
    branches = [_Branch(part, lead, indent) for part in parts]
    if parts:
        last_lead = f"{branch.indent}└─ "
        last_indent = f"{branch.indent}   "
        branches[-1] = _Branch(parts[-1], last_lead, last_indent)
    return branches


def _text_line(node: PlanNode, labels: Labels, states: States | None) -> str:
    notes = ", ".join(_notes(node, labels))
    line = f"{labels[node.task_id]}  {notes}".rstrip()
    if states:
        state = states[node.task_id]
        return f"{MARKS[state]} {line}"
    return line


def _notes(node: PlanNode, labels: Labels) -> Iterator[str]:
    if node.is_work:
        yield node.kind
    else:
        quantity = "all" if node.combine == "AND" else "any"
        yield f"{node.kind}, {quantity} of"

    if node.rivals:
        yield _alternative(node)

    if node.checks is not None:
        yield f"checks {labels[node.checks]}"

    earlier = [labels[task] for task in node.prerequisites if task != node.checks]
    if earlier:
        yield f"after {', '.join(earlier)}"


# -- Mermaid and DOT

_MERMAID_SHAPES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "GOAL": ("([", "])"),
        "ACTION": ("[", "]"),
        "CHECK": ("{{", "}}"),
    }
)
_DOT_SHAPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GOAL": "ellipse",
        "ACTION": "box",
        "CHECK": "hexagon",
    }
)


def draw_mermaid(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Return a flowchart: solid arrows to parts, dotted arrows to dependents."""
    names = {task: f"n{number}" for number, task in enumerate(graph)}
    lines = ["flowchart TD"]
    for task, name in names.items():
        node = graph[task]
        opening, closing = _MERMAID_SHAPES[node.kind]
        text = _mermaid_text(_label(node, labels, states))
        lines.append(f'    {name}{opening}"{text}"{closing}')

    for task, other, arrow in _arrows(graph, "-->", "-.->"):
        source = names[task]
        target = names[other]
        lines.append(f"    {source} {arrow} {target}")
    return "\n".join(lines) + "\n"


def draw_dot(graph: PlanGraph, labels: Labels, states: States | None = None) -> str:
    """Return a graph for Graphviz."""
    lines = ["digraph plan {", "  rankdir=TB;", "  node [fontname=sans];"]
    for task in graph:
        node = graph[task]
        name = _dot_text(task)
        shape = _DOT_SHAPES[node.kind]
        label = _dot_text(_label(node, labels, states))
        lines.append(f"  {name} [label={label}, shape={shape}];")

    waiting_style = " [style=dashed, constraint=false]"
    for task, other, style in _arrows(graph, "", waiting_style):
        source = _dot_text(task)
        target = _dot_text(other)
        lines.append(f"  {source} -> {target}{style};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _arrows(
    graph: PlanGraph,
    to_part: str,
    to_dependent: str,
) -> Iterator[tuple[str, str, str]]:
    """Yield every edge with the way it is drawn."""
    for task in graph:
        for part in graph[task].parts:
            yield task, part, to_part
        for dependent in graph[task].dependents:
            yield task, dependent, to_dependent


def _label(node: PlanNode, labels: Labels, states: States | None) -> str:
    """A title, with the state and what it is an alternative to."""
    notes: list[str] = []
    if states:
        notes.append(states[node.task_id].value)
    if node.rivals:
        notes.append(_alternative(node))
    label = labels[node.task_id]
    if notes:
        return f"{label} ({', '.join(notes)})"
    return label


def _alternative(node: PlanNode) -> str:
    number = node.rivals.index(node.task_id) + 1
    return f"alternative {number} of {len(node.rivals)}"


def _mermaid_text(text: str) -> str:
    escaped = text.replace("&", "&amp;")
    escaped = escaped.replace('"', "&quot;")
    escaped = escaped.replace("<", "&lt;")
    escaped = escaped.replace("\n", " ")
    return escaped.replace("#", "#35;")  # it begins an entity


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    escaped = escaped.replace('"', '\\"')
    escaped = escaped.replace("\n", " ")
    return f'"{escaped}"'


FORMATS: Final[Mapping[str, Callable[[PlanGraph, Labels, States | None], str]]] = (
    MappingProxyType(
        {
            "text": draw_text,
            "mermaid": draw_mermaid,
            "dot": draw_dot,
            "svg": draw_svg,
        }
    )
)
"""Every form a plan can be drawn in."""

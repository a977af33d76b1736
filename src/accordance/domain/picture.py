"""A plan as an SVG picture, in layers from top to bottom.

The same plan always gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph, PlanNode

_Place: TypeAlias = tuple[int, int]  # x and y of the upper left corner

_WIDTH: Final = 180
_HEIGHT: Final = 44
_GAP_X: Final = 24
_GAP_Y: Final = 56
_MARGIN: Final = 20
_LABEL_LENGTH: Final = 24
_PART_COLOUR: Final = "#868e96"
_DEPENDENT_COLOUR: Final = "#4263eb"
_COLOURS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.PENDING: "#e9ecef",
        State.READY: "#d0ebff",
        State.IN_PROGRESS: "#a5d8ff",
        State.READY_TO_CHECK: "#eebefa",
        State.TO_BE_MODIFY: "#ffe8cc",
        State.BLOCKED: "#fff3bf",
        State.FAILED: "#ffc9c9",
        State.DONE: "#b2f2bb",
        State.ABANDONED: "#f8f9fa",
        State.DEAD_LETTER: "#ff8787",
    }
)
_RADII: Final[Mapping[str, int]] = MappingProxyType(
    {"GOAL": 22, "ACTION": 4, "CHECK": 12}
)


def draw_svg(
    graph: PlanGraph,
    labels: Mapping[str, str],
    states: Mapping[str, State] | None = None,
) -> str:
    """Draw a plan: solid lines lead to parts, dashed lines to dependents.

    The colour of a box is the state of its task.
    """
    places = _places(graph)
    width = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}"'
            ' font-family="sans-serif" font-size="12" role="img">'
        )
    ]
    for task in graph:
        place = places[task]
        parts = graph[task].parts
        lines += [_line(place, places[part], _PART_COLOUR) for part in parts]
        for dependent in graph[task].dependents:
            line = _line(place, places[dependent], _DEPENDENT_COLOUR, dashed=True)
            lines.append(line)
    for task in graph:
        state = states[task] if states else None
        lines.append(_box(graph[task], places[task], labels[task], state))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _places(graph: PlanGraph) -> dict[str, _Place]:
    """Return the corner of each task's box; in a layer they are in the plan's order."""
    layers = _layers(graph)
    boxes_in_layer: dict[int, int] = {}
    places = {}
    for task in graph:
        layer = layers[task]
        column = boxes_in_layer.get(layer, 0)
        boxes_in_layer[layer] = column + 1
        x = _MARGIN + column * (_WIDTH + _GAP_X)
        y = _MARGIN + layer * (_HEIGHT + _GAP_Y)
        places[task] = (x, y)
    return places


def _layers(graph: PlanGraph) -> dict[str, int]:
    """Return the layer of each task: below all its parents and prerequisites."""
    layers = dict.fromkeys(graph, 0)
    above_left = {
        task: len(graph[task].parents) + len(graph[task].prerequisites)
        for task in graph
    }
    free = [task for task, count in above_left.items() if count == 0]
    while free:
        task = free.pop()
        for below in (*graph[task].parts, *graph[task].dependents):
            layers[below] = max(layers[below], layers[task] + 1)
            above_left[below] -= 1
            if above_left[below] == 0:
                free.append(below)
    return layers


def _line(start: _Place, end: _Place, colour: str, *, dashed: bool = False) -> str:
    """Draw a curve from the bottom of a box to the top of another."""
    x1 = start[0] + _WIDTH // 2
    y1 = start[1] + _HEIGHT
    x2 = end[0] + _WIDTH // 2
    y2 = end[1]
    middle = (y1 + y2) // 2
    path = f"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _box(node: PlanNode, place: _Place, label: str, state: State | None) -> str:
    x, y = place
    centre = x + _WIDTH // 2
    short_label = label
    if len(label) > _LABEL_LENGTH:
        short_label = f"{label[: _LABEL_LENGTH - 1]}…"
    caption = f"{node.kind} {state}" if state else node.kind
    colour = _COLOURS[state or State.PENDING]

    title = f"<title>{_escaped(label)} ({_escaped(node.task_id)})</title>"
    rect = (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' rx="{_RADII[node.kind]}" fill="{colour}" stroke="#495057"/>'
    )
    label_text = (
        f'<text x="{centre}" y="{y + 19}" text-anchor="middle">'
        f"{_escaped(short_label)}</text>"
    )
    caption_text = (
        f'<text x="{centre}" y="{y + 35}" text-anchor="middle" font-size="10"'
        f' fill="#495057">{caption}</text>'
    )
    return f"<g>{title}{rect}{label_text}{caption_text}</g>"


def _escaped(text: str) -> str:
    """Escape a text, without the characters that XML cannot represent."""
    printable = "".join(char for char in text if char.isprintable() or char == " ")
    return escape(printable)

"""A plan as an SVG picture, in layers from top to bottom.

Nothing but this module is needed to draw it, and the same plan gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph

# Sizes in pixels.
_WIDTH: Final = 180
_HEIGHT: Final = 44
_GAP_X: Final = 24
_GAP_Y: Final = 56
_MARGIN: Final = 20

_LONGEST_LABEL: Final = 24  # characters
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


class _Corner(NamedTuple):
    """The upper left corner of a box."""

    x: int
    y: int


def draw_svg(
    graph: PlanGraph,
    labels: Mapping[str, str],
    states: Mapping[str, State] | None = None,
) -> str:
    """Return the picture of a plan.

    Solid lines lead to parts, dashed ones to dependents; colours show the states.
    """
    corners = _corners(graph)
    width = max(corner.x for corner in corners.values()) + _WIDTH + _MARGIN
    height = max(corner.y for corner in corners.values()) + _HEIGHT + _MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    font = 'font-family="sans-serif" font-size="12"'

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">']
    for task in graph:
        lines += _lines_from(task, graph, corners)
    for task in graph:
        state = states[task] if states else None
        kind = graph[task].kind
        lines.append(_box(corners[task], task, labels[task], kind, state))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _corners(graph: PlanGraph) -> dict[str, _Corner]:
    """Return where each task stands; in a layer, tasks keep the plan's order."""
    layers = _layers(graph)
    filled: dict[int, int] = {}
    corners = {}
    for task in graph:
        layer = layers[task]
        column = filled.get(layer, 0)
        filled[layer] = column + 1
        x = _MARGIN + column * (_WIDTH + _GAP_X)
        y = _MARGIN + layer * (_HEIGHT + _GAP_Y)
        corners[task] = _Corner(x, y)
    return corners


def _layers(graph: PlanGraph) -> dict[str, int]:
    """Return the layer of each task.

    It is below every goal the task belongs to and every task it waits for.
    """
    layers = dict.fromkeys(graph, 0)
    above = {}
    for task in graph:
        above[task] = len(graph[task].parents) + len(graph[task].prerequisites)

    free = [task for task, count in above.items() if not count]
    while free:
        task = free.pop()
        for below in (*graph[task].parts, *graph[task].dependents):
            layers[below] = max(layers[below], layers[task] + 1)
            above[below] -= 1
            if not above[below]:
                free.append(below)
    return layers


def _lines_from(
    task: str, graph: PlanGraph, corners: Mapping[str, _Corner]
) -> Iterator[str]:
    start = corners[task]
    for part in graph[task].parts:
        yield _line(start, corners[part], "#868e96")
    for dependent in graph[task].dependents:
        yield _line(start, corners[dependent], "#4263eb", dashed=True)


def _line(start: _Corner, end: _Corner, colour: str, *, dashed: bool = False) -> str:
    """Return a curve from the bottom of a box to the top of another."""
    x1, y1 = start.x + _WIDTH // 2, start.y + _HEIGHT
    x2, y2 = end.x + _WIDTH // 2, end.y
    middle = (y1 + y2) // 2
    path = f"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _box(corner: _Corner, task: str, label: str, kind: str, state: State | None) -> str:
    x, y = corner
    colour = _COLOURS[state or State.PENDING]
    size = f'x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{_RADII[kind]}"'
    centre = f'x="{x + _WIDTH // 2}"'
    subtitle = f"{kind} {state}" if state else kind

    short = label
    if len(label) > _LONGEST_LABEL:
        short = f"{label[: _LONGEST_LABEL - 1]}…"

    return (
        f"<g><title>{_text(label)} ({_text(task)})</title>"
        f'<rect {size} fill="{colour}" stroke="#495057"/>'
        f'<text {centre} y="{y + 19}" text-anchor="middle">{_text(short)}</text>'
        f'<text {centre} y="{y + 35}" text-anchor="middle" font-size="10"'
        f' fill="#495057">{subtitle}</text></g>'
    )


def _text(words: str) -> str:
    """Return a text escaped, without the characters that XML cannot write."""
    printable = [char for char in words if char.isprintable() or char == " "]
    return escape("".join(printable))

"""A plan as an SVG picture: layers from top to bottom, drawn without any help. The same plan gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Final

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph

_WIDTH: Final = 180
_HEIGHT: Final = 44
_GAP_X: Final = 24
_GAP_Y: Final = 56
_MARGIN: Final = 20
_LABEL: Final = 24  # characters
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
    """Solid lines lead to parts, dashed ones from what is waited for; colours say where a task stands."""
    places = _places(graph)
    right = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    bottom = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" width="{right}" height="{bottom}"'
            ' font-family="sans-serif" font-size="12" role="img">'
        )
    ]
    for task in graph:
        lines += [
            _line(places[task], places[part], "#868e96") for part in graph[task].parts
        ]
        lines += [
            _line(places[task], places[one], "#4263eb", dashed=True)
            for one in graph[task].dependents
        ]
    lines += [_box(graph, task, places[task], labels, states) for task in graph]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _places(graph: PlanGraph) -> dict[str, tuple[int, int]]:
    """One layer below the lowest thing it hangs from or waits for; in a layer, in the plan's order."""
    layer = dict.fromkeys(graph, 0)
    left = {
        task: len(graph[task].parents) + len(graph[task].prerequisites)
        for task in graph
    }
    free = [task for task, count in left.items() if not count]
    while free:
        task = free.pop()
        for below in (*graph[task].parts, *graph[task].dependents):
            layer[below] = max(layer[below], layer[task] + 1)
            left[below] -= 1
            if not left[below]:
                free.append(below)
    taken: dict[int, int] = {}
    places = {}
    for task in graph:
        at = taken.get(layer[task], 0)
        taken[layer[task]] = at + 1
        places[task] = (
            _MARGIN + at * (_WIDTH + _GAP_X),
            _MARGIN + layer[task] * (_HEIGHT + _GAP_Y),
        )
    return places


def _line(
    start: tuple[int, int], end: tuple[int, int], colour: str, *, dashed: bool = False
) -> str:
    x1, y1, x2, y2 = (
        start[0] + _WIDTH // 2,
        start[1] + _HEIGHT,
        end[0] + _WIDTH // 2,
        end[1],
    )
    middle = (y1 + y2) // 2
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    path = f"M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _box(
    graph: PlanGraph,
    task: str,
    place: tuple[int, int],
    labels: Mapping[str, str],
    states: Mapping[str, State] | None,
) -> str:
    (x, y), node = place, graph[task]
    state = states[task] if states else State.PENDING
    label = labels[task]
    short = label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"
    below = f"{node.kind} {state}" if states else node.kind
    return (
        f'<g><title>{_text(label)} ({_text(task)})</title><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' rx="{_RADII[node.kind]}" fill="{_COLOURS[state]}" stroke="#495057"/>'
        f'<text x="{x + _WIDTH // 2}" y="{y + 19}" text-anchor="middle">{_text(short)}</text>'
        f'<text x="{x + _WIDTH // 2}" y="{y + 35}" text-anchor="middle" font-size="10" fill="#495057">{below}</text></g>'
    )


def _text(words: str) -> str:
    """Escaped, and without the characters that XML has no way to write."""
    return escape("".join(char for char in words if char.isprintable() or char == " "))

"""A plan as an SVG picture: goals as frames around their parts, arrows, a legend.

Nothing but this package is needed to draw it, and the same plan gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph
from accordance.rendering.marks import MARKS
from accordance.rendering.plans.folding import Outline, Tie, outline_of
from accordance.rendering.plans.frames import HEADER, MARGIN
from accordance.rendering.plans.layout import (
    ArrowRoute,
    Box,
    PlanLayout,
    Point,
    layout_of,
)
from accordance.rendering.plans.legend import Legend
from accordance.rendering.plans.themes import ThemeName, stylesheet
from accordance.rendering.plans.titles import fitted, xml_text
from accordance.rendering.svg import document_start, element

_CORNER: Final = 6  # the radius at which arrows turn
_TEXT_LEFT: Final = 12
_COLUMN: Final = 6.7  # pixels of a character, on average
_RADII: Final[Mapping[str, int]] = {
    "GOAL": 10,
    "ACTION": 6,
    "CHECK": 22,
}
_FRAME_RADIUS: Final = 10
_MOST_LINES: Final = 2  # of the title of a box
_LINE_HEIGHT: Final = 15


def draw_svg(
    graph: PlanGraph,
    labels: Mapping[str, str],
    states: Mapping[str, State] | None = None,
    *,
    fold: Collection[str] = (),
    depth: int | None = None,
    theme: ThemeName = "auto",
) -> str:
    """Return the picture of a plan.

    `fold` names goals whose parts are left out, `depth` how many levels are open. A
    large plan is folded by itself.
    """
    outline = outline_of(graph, fold, depth)
    layout = layout_of(outline)
    picture = _Picture(
        graph=graph,
        labels=labels,
        states=states,
        outline=outline,
        layout=layout,
    )
    legend = Legend.of(picture.states_shown, picture.ties, picture.words)
    width = max(layout.width, legend.least_width)
    placed = legend.placed(MARGIN, layout.height, width - 2 * MARGIN)
    height = layout.height + placed.height + MARGIN // 2

    title = xml_text(labels[graph.root])
    description = xml_text(picture.description)
    lines = [
        document_start(width, height),
        element("title", title),
        element("desc", description),
        element("style", stylesheet(theme)),
        *map(_tip, picture.ties),
        element(
            "rect",
            class_="page",
            width=width,
            height=height,
            rx=8,
        ),
        *picture.lines(),
        *placed.lines,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _tip(tie: Tie) -> str:
    """Return the head of the arrows of a kind."""
    triangle = element("path", class_=f"tip {tie}", d="M0 0.5 L8 4 L0 7.5 z")
    return element(
        "marker",
        triangle,
        id=f"tip-{tie}",
        viewBox="0 0 8 8",
        refX=7.5,
        refY=4,
        markerWidth=8,
        markerHeight=8,
        orient="auto",
        markerUnits="userSpaceOnUse",
    )


@dataclass(frozen=True, slots=True)
class _Picture:
    """A plan with the places of its boxes."""

    graph: PlanGraph
    labels: Mapping[str, str]
    states: Mapping[str, State] | None
    outline: Outline
    layout: PlanLayout

    @property
    def states_shown(self) -> tuple[State, ...]:
        """The states that occur, in the order of a task's life."""
        if self.states is None:
            return ()
        occurring = {self.states[task] for task in self.graph}
        return tuple(state for state in State if state in occurring)

    @property
    def ties(self) -> tuple[Tie, ...]:
        """The kinds of arrows that occur."""
        occurring = {arrow.tie for arrow in self.outline.arrows}
        return tuple(tie for tie in Tie if tie in occurring)

    @property
    def words(self) -> tuple[str, ...]:
        """What else the legend has to explain."""
        shown = [self.graph[task] for task in self.outline]
        words = []
        if self.outline.parts:
            words.append("goal")
        if any(node.kind == "CHECK" for node in shown):
            words.append("check")
        if any(node.rivals for node in shown):
            words.append("alternative")
        if self.outline.folded:
            words.append("folded")
        return tuple(words)

    @property
    def description(self) -> str:
        """The picture in a sentence, for people who cannot see it."""
        text = f"A plan of {len(self.graph)} tasks"
        if self.states is not None:
            text += f": {_counted(self.states[task] for task in self.graph)}"
        hidden = sum(len(tasks) for tasks in self.outline.folded.values())
        if hidden:
            text += f". {hidden} of them are folded into their goals"
        return f"{text}."

    def lines(self) -> Iterator[str]:
        """Yield frames, then arrows, then boxes."""
        boxes = self.layout.boxes.values()
        for box in boxes:
            if box.is_frame:
                yield self._frame(box)
        for route in self.layout.routes:
            yield _path(route)
        for box in boxes:
            if not box.is_frame:
                yield self._box(box)

    def _group(self, task: str, shape: str, *content: str) -> str:
        """Return what is drawn for a task, as a group with its full title."""
        state = self._state(task)
        classes = state.value
        if shape:
            classes += f" {shape}"
        if self.graph[task].rivals:
            classes += " alternative"

        title = f"{self.labels[task]} ({task})"
        if self.states is not None:
            title += f", {state}"
        tooltip = element("title", xml_text(title))
        return element("g", tooltip, *content, class_=classes)

    def _state(self, task: str) -> State:
        if self.states is None:
            return State.PENDING
        return self.states[task]

    def _frame(self, box: Box) -> str:
        text_left = box.x + box.inset  # right of the arrows in it
        room = int((box.right - text_left - _TEXT_LEFT) / (_COLUMN * 1.15))
        [title] = fitted(self.labels[box.task], room, 1)
        level = self.outline.levels[box.task]
        shape = "frame" if level % 2 == 0 else "frame inner"

        heading = element(
            "text",
            xml_text(title),
            class_="h",
            x=text_left,
            y=box.y + 22,
        )
        note = _note(text_left, box.y + HEADER - 6, self._notes(box.task))
        border = _rect(box, _FRAME_RADIUS)
        return self._group(box.task, shape, border, heading, note)

    def _box(self, box: Box) -> str:
        border = _rect(box, _RADII[self.graph[box.task].kind])
        titles = self._titles(box)
        text_left = box.x + _TEXT_LEFT
        notes = self._notes(box.task)

        hidden = self.outline.folded.get(box.task, ())
        if not hidden:
            note = _note(text_left, box.bottom - 10, notes)
            return self._group(box.task, "", border, *titles, note)
        note = _note(text_left, box.bottom - 14, notes)
        group = self._group(box.task, "", border, *titles, note)
        return group + self._bar(box, hidden)

    def _titles(self, box: Box) -> Iterator[str]:
        """Yield the lines of a title; a single line stands a little lower."""
        room = int((box.width - 2 * _TEXT_LEFT) / _COLUMN)
        lines = fitted(self.labels[box.task], room, _MOST_LINES)
        x = box.x + _TEXT_LEFT
        y = box.y + (18 if len(lines) == _MOST_LINES else 25)
        for line in lines:
            yield element("text", xml_text(line), class_="t", x=x, y=y)
            y += _LINE_HEIGHT

    def _notes(self, task: str) -> str:
        """Return the state of a task, and what it is beside plain work."""
        node = self.graph[task]
        notes = []
        if self.states is not None:
            state = self.states[task]
            name = state.replace("_", " ").lower()
            notes.append(f"{MARKS[state]} {name}")
        if node.kind == "CHECK":
            notes.append("check")
        hidden = self.outline.folded.get(task)
        if node.parts and hidden:
            notes.append(f"▸ {len(hidden)} folded")
        elif node.parts:
            quantity = "all" if node.combine == "AND" else "any"
            notes.append(f"{quantity} of {len(node.parts)}")
        if node.rivals:
            number = node.rivals.index(task) + 1
            notes.append(f"alt. {number}/{len(node.rivals)}")
        return " · ".join(notes)

    def _bar(self, box: Box, hidden: Sequence[str]) -> str:
        """Return how far the hidden tasks are, as a bar under the box."""
        if self.states is None:
            return ""
        counts = Counter(self.states[task] for task in hidden)
        room = box.width - 2 * _TEXT_LEFT
        bar = ""
        x = float(box.x + _TEXT_LEFT)
        for state in State:
            width = room * counts[state] / len(hidden)
            if width:
                bar += element(
                    "rect",
                    class_=f"{state} bar",
                    x=f"{x:.1f}",
                    y=box.bottom - 7,
                    width=f"{width:.1f}",
                    height=3,
                )
            x += width
        return bar


def _counted(states: Iterator[State]) -> str:
    counts = Counter(states)
    occurring = [state for state in State if counts[state]]
    return ", ".join(f"{counts[state]} {state}" for state in occurring)


def _rect(box: Box, radius: int) -> str:
    return element(
        "rect",
        class_="b",
        x=box.x,
        y=box.y,
        width=box.width,
        height=box.height,
        rx=radius,
    )


def _note(x: int, y: int, text: str) -> str:
    if text:
        return element("text", text, class_="n", x=x, y=y)
    return ""


def _path(route: ArrowRoute) -> str:
    """Return an arrow with rounded corners."""
    points = route.points
    first = points[0]
    last = points[-1]
    path = f"M{first.x} {first.y}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start = _towards(corner, before)
        end = _towards(corner, after)
        path += f"L{start.x} {start.y}"
        path += f"Q{corner.x} {corner.y} {end.x} {end.y}"
    path += f"L{last.x} {last.y}"

    tie = route.arrow.tie
    return element(
        "path",
        class_=f"a {tie}",
        d=path,
        marker_end=f"url(#tip-{tie})",
    )


def _towards(corner: Point, other: Point) -> Point:
    """Return the point at which a rounded corner begins or ends.

    Arrows are drawn along a single axis, so the other point differs in x or in y.
    """
    dx = other.x - corner.x
    dy = other.y - corner.y
    reach = min(_CORNER, (abs(dx) + abs(dy)) // 2)
    x = corner.x + reach * _sign(dx)
    y = corner.y + reach * _sign(dy)
    return Point(x, y)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)

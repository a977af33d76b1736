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

_CORNER: Final = 6  # the radius at which arrows turn
_TEXT_LEFT: Final = 12
_COLUMN: Final = 6.7  # pixels of a character, on average
_RADII: Final[Mapping[str, int]] = {"GOAL": 10, "ACTION": 6, "CHECK": 22}


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

    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{xml_text(labels[graph.root])}</title>",
        f"<desc>{xml_text(picture.description)}</desc>",
        f"<style>{stylesheet(theme)}</style>",
        *_tips(picture.ties),
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        *picture.lines(),
        *placed.lines,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _tips(ties: Sequence[Tie]) -> Iterator[str]:
    """Yield the arrowheads that are needed."""
    for tie in ties:
        yield (
            f'<marker id="tip-{tie}" viewBox="0 0 8 8" refX="7.5" refY="4" '
            'markerWidth="8" markerHeight="8" orient="auto" '
            'markerUnits="userSpaceOnUse">'
            f'<path class="tip {tie}" d="M0 0.5 L8 4 L0 7.5 z"/></marker>'
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
        shown = list(self.outline)
        words = []
        if self.outline.parts:
            words.append("goal")
        if any(self.graph[task].kind == "CHECK" for task in shown):
            words.append("check")
        if any(self.graph[task].rivals for task in shown):
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

    def _group(self, task: str, shape: str) -> str:
        """Open the group of a task, with its full title."""
        node = self.graph[task]
        state = self._state(task)
        classes = [state.value, shape] if shape else [state.value]
        if node.rivals:
            classes.append("alternative")
        title = f"{self.labels[task]} ({task})"
        if self.states is not None:
            title += f", {state}"
        return f'<g class="{" ".join(classes)}"><title>{xml_text(title)}</title>'

    def _state(self, task: str) -> State:
        if self.states is None:
            return State.PENDING
        return self.states[task]

    def _frame(self, box: Box) -> str:
        text_left = box.x + box.inset  # right of the arrows in it
        room = int((box.right - text_left - _TEXT_LEFT) / (_COLUMN * 1.15))
        [title] = fitted(self.labels[box.task], room, 1)
        is_even = self.outline.levels[box.task] % 2 == 0
        shape = "frame" if is_even else "frame inner"
        return (
            f"{self._group(box.task, shape)}{_rect(box, 10)}"
            f'<text class="h" x="{text_left}" y="{box.y + 22}">{xml_text(title)}</text>'
            f"{_note(text_left, box.y + HEADER - 6, self._notes(box.task))}</g>"
        )

    def _box(self, box: Box) -> str:
        node = self.graph[box.task]
        room = int((box.width - 2 * _TEXT_LEFT) / _COLUMN)
        lines = fitted(self.labels[box.task], room, 2)
        x = box.x + _TEXT_LEFT
        first = box.y + (18 if len(lines) == 2 else 25)  # noqa: PLR2004 - two lines
        titles = [
            f'<text class="t" x="{x}" y="{first + 15 * index}">{xml_text(line)}</text>'
            for index, line in enumerate(lines)
        ]
        hidden = self.outline.folded.get(box.task, ())
        bar = self._bar(box, hidden) if hidden else ""
        note_y = box.bottom - (14 if hidden else 10)
        return (
            f"{self._group(box.task, '')}{_rect(box, _RADII[node.kind])}"
            f"{''.join(titles)}{_note(x, note_y, self._notes(box.task))}</g>"
            f"{bar}"
        )

    def _notes(self, task: str) -> str:
        """Return the state of a task, and what it is beside plain work."""
        node = self.graph[task]
        notes = []
        if self.states is not None:
            state = self.states[task]
            notes.append(f"{MARKS[state]} {state.replace('_', ' ').lower()}")
        if node.kind == "CHECK":
            notes.append("check")
        if node.parts:
            quantity = "all" if node.combine == "AND" else "any"
            hidden = self.outline.folded.get(task)
            count = len(hidden) if hidden else len(node.parts)
            notes.append(f"▸ {count} folded" if hidden else f"{quantity} of {count}")
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
        pieces = []
        x = float(box.x + _TEXT_LEFT)
        for state in State:
            width = room * counts[state] / len(hidden)
            if width:
                pieces.append(
                    f'<rect class="{state} bar" x="{x:.1f}" y="{box.bottom - 7}" '
                    f'width="{width:.1f}" height="3"/>'
                )
            x += width
        return "".join(pieces)


def _counted(states: Iterator[State]) -> str:
    counts = Counter(states)
    return ", ".join(f"{counts[state]} {state}" for state in State if counts[state])


def _rect(box: Box, radius: int) -> str:
    return (
        f'<rect class="b" x="{box.x}" y="{box.y}" width="{box.width}" '
        f'height="{box.height}" rx="{radius}"/>'
    )


def _note(x: int, y: int, text: str) -> str:
    if text:
        return f'<text class="n" x="{x}" y="{y}">{text}</text>'
    return ""


def _path(route: ArrowRoute) -> str:
    """Return an arrow with rounded corners."""
    points = route.points
    parts = [f"M{points[0].x} {points[0].y}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start = _towards(corner, before)
        end = _towards(corner, after)
        parts.append(f"L{start.x} {start.y}Q{corner.x} {corner.y} {end.x} {end.y}")
    parts.append(f"L{points[-1].x} {points[-1].y}")
    tie = route.arrow.tie
    return f'<path class="a {tie}" d="{"".join(parts)}" marker-end="url(#tip-{tie})"/>'


def _towards(corner: Point, other: Point) -> Point:
    """Return the point at which a rounded corner begins or ends."""
    dx, dy = other.x - corner.x, other.y - corner.y
    reach = min(_CORNER, (abs(dx) + abs(dy)) // 2)
    x = corner.x + (reach if dx > 0 else -reach if dx < 0 else 0)
    y = corner.y + (reach if dy > 0 else -reach if dy < 0 else 0)
    return Point(x, y)

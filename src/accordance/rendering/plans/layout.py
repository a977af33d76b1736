"""Where everything stands in the picture of a plan: a value, before it is drawn.

A goal is a frame around its parts. Arrows run in the channels between rows and in the
gutters beside them, never behind a box. Each pass is linear and none is recursive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from accordance.rendering.plans.folding import Arrow, Outline
from accordance.rendering.plans.frames import (
    BOX_HEIGHT,
    BOX_WIDTH,
    MARGIN,
    OUTSIDE,
    Frame,
    Way,
    corners_in,
    frames_of,
    is_straight,
    way_between,
)


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a task."""

    task: str
    x: int
    y: int
    width: int
    height: int
    inset: int = 0  # of a frame: the room to the left of its parts

    @property
    def is_frame(self) -> bool:
        """Whether it is a goal around its parts."""
        return self.inset > 0

    @property
    def middle(self) -> int:
        """Half of its width."""
        return self.x + self.width // 2

    @property
    def right(self) -> int:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """Its lower edge."""
        return self.y + self.height


class Point(NamedTuple):
    """A point of the picture."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class ArrowRoute:
    """An arrow from the bottom of a box to the top of another, corner by corner."""

    arrow: Arrow
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class PlanLayout:
    """A picture of a plan, before it is drawn."""

    width: int
    height: int
    boxes: Mapping[str, Box]  # frames before what stands in them
    routes: tuple[ArrowRoute, ...]


def layout_of(outline: Outline) -> PlanLayout:
    """Return where the boxes and the arrows of an outline go."""
    ways = [
        way_between(arrow.source, arrow.target, outline.home)
        for arrow in outline.arrows
    ]
    frames = frames_of(outline, ways)
    boxes = _boxes(frames, outline)
    routes = [
        ArrowRoute(arrow, _route(way, boxes, frames))
        for arrow, way in zip(outline.arrows, ways, strict=True)
    ]
    outside = frames[OUTSIDE]
    return PlanLayout(
        width=outside.width + 2 * MARGIN,
        height=outside.height + 2 * MARGIN,
        boxes=boxes,
        routes=tuple(routes),
    )


def _boxes(frames: Mapping[str, Frame], outline: Outline) -> dict[str, Box]:
    corners = {}
    for frame in frames.values():
        for part, x, y in corners_in(frame, frames):
            corners[part] = (x, y)

    boxes = {}
    for task in outline:
        x, y = corners[task]
        inner = frames.get(task)
        if inner is None:
            boxes[task] = Box(
                task=task,
                x=x,
                y=y,
                width=BOX_WIDTH,
                height=BOX_HEIGHT,
            )
        else:
            boxes[task] = Box(
                task=task,
                x=x,
                y=y,
                width=inner.width,
                height=inner.height,
                inset=inner.left,
            )
    return boxes


def _route(
    way: Way,
    boxes: Mapping[str, Box],
    frames: Mapping[str, Frame],
) -> tuple[Point, ...]:
    """Return the corners of an arrow, along channels and gutters only."""
    start, end = boxes[way.source], boxes[way.down[-1]]
    points = [Point(start.middle, start.bottom)]
    _leave(way, frames, points)
    _enter(way, frames, points)
    points.append(Point(end.middle, points[-1].y))
    points.append(Point(end.middle, end.y))
    return _corners_only(points)


def _leave(way: Way, frames: Mapping[str, Frame], points: list[Point]) -> None:
    """Go down, frame by frame, into the frame in which both ends stand."""
    source = way.source
    frames_left = (*way.up[1:], way.common)
    for part, outer in zip(way.up, frames_left, strict=True):
        frame = frames[outer]
        y = frame.channel_y(frame.row_of[part] + 1, source)
        points.append(Point(points[-1].x, y))
        if outer != way.common:
            points.append(Point(frame.gutter_x(source), y))


def _enter(way: Way, frames: Mapping[str, Frame], points: list[Point]) -> None:
    """Go to the channel above the target, through each frame that it stands in."""
    source = way.source
    frames_entered = (way.common, *way.down[:-1])
    for part, outer in zip(way.down, frames_entered, strict=True):
        frame = frames[outer]
        if outer == way.common and is_straight(way, frame):
            continue  # both ends are at the same channel
        x = frame.gutter_x(source)
        y = frame.channel_y(frame.row_of[part], source)
        points.append(Point(x, points[-1].y))
        points.append(Point(x, y))


def _corners_only(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points at which an arrow turns, and its ends."""
    corners = [points[0]]
    for point in points[1:]:
        last = corners[-1]
        if point == last:
            continue
        if len(corners) > 1:
            before = corners[-2]
            goes_on_down = before.x == last.x == point.x
            goes_on_across = before.y == last.y == point.y
            if goes_on_down or goes_on_across:
                corners.pop()
        corners.append(point)
    return tuple(corners)

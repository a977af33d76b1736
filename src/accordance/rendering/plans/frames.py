"""The frames of a plan's picture: their rows, their sizes and their places.

Between rows, and to the left of them, as much room is left free as arrows need there.
Widths and heights follow from the inside out, places from the outside in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, NamedTuple

from accordance.rendering.plans.folding import Outline
from accordance.rendering.plans.rows import Pair, merged, ranked, wrapped

# Sizes in pixels.
BOX_WIDTH: Final = 184
BOX_HEIGHT: Final = 60
HEADER: Final = 46  # of a frame: its title and its state
MARGIN: Final = 20  # around the picture
GAP: Final = 16  # between boxes, and inside a frame
MAX_WIDTH: Final = 2000  # of the rows of a frame
_LANE: Final = 5  # between two arrows beside each other
_MAX_LANES: Final = 12  # arrows of more sources than that share lanes
_TIP: Final = 12  # room for an arrowhead
_WIDE: Final = 1.6  # how much wider than high a frame should be

OUTSIDE: Final = ""  # the frame without a border around all others


class Way(NamedTuple):
    """How an arrow leaves frames and enters others."""

    up: tuple[str, ...]  # the source, and the frames it leaves
    common: str  # the frame in which both ends stand
    down: tuple[str, ...]  # the frames it enters, and the target

    @property
    def source(self) -> str:
        """Where it begins."""
        return self.up[0]

    @property
    def pair(self) -> Pair:
        """The two parts of the common frame that it connects."""
        return (self.up[-1], self.down[0])


def way_between(source: str, target: str, home: Mapping[str, str]) -> Way:
    """Return the way between two boxes, neither of which stands in the other."""
    own_frame = home.get(source, OUTSIDE)
    if own_frame == home.get(target, OUTSIDE):
        return Way(
            up=(source,),
            common=own_frame,
            down=(target,),
        )
    above = [source]
    while above[-1] != OUTSIDE:
        outer = home.get(above[-1], OUTSIDE)
        above.append(outer)
    places = {task: index for index, task in enumerate(above)}

    down = [target]
    while (frame := home.get(down[-1], OUTSIDE)) not in places:
        down.append(frame)
    up = above[: places[frame]]
    return Way(
        up=tuple(up),
        common=frame,
        down=tuple(reversed(down)),
    )


@dataclass(slots=True)
class Frame:
    """A goal with its rows. Its channels are numbered by the row below them."""

    goal: str
    rows: list[list[str]] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)
    centred: set[int] = field(default_factory=set)  # rows that were not wrapped
    gutter: dict[str, int] = field(default_factory=dict)  # lane by source
    channels: dict[int, dict[str, int]] = field(default_factory=dict)
    row_tops: list[int] = field(default_factory=list)  # from its own top
    row_heights: list[int] = field(default_factory=list)
    channel_tops: list[int] = field(
        default_factory=list
    )  # also of that below the last row
    rows_width: int = 0
    height: int = 0
    x: int = 0
    y: int = 0

    @property
    def border(self) -> int:
        """The room inside its border; the outermost frame has none."""
        return 0 if self.goal == OUTSIDE else GAP

    @property
    def left(self) -> int:
        """The room between its border and its rows."""
        return max(self.border, _room_for(len(self.gutter)))

    @property
    def width(self) -> int:
        """Its width, with its border."""
        return self.left + self.rows_width + self.border

    def channel_height(self, index: int) -> int:
        """Return the height of a channel: room for its arrows, or a plain gap."""
        arrows = self.channels.get(index)
        if arrows:
            return _room_for(len(arrows)) + _TIP
        if index == 0:
            return self.border // 2
        if index == len(self.rows):
            return self.border
        return GAP

    def use_gutter(self, source: str) -> None:
        """Let the arrows of a source run beside the rows."""
        self.gutter.setdefault(source, len(self.gutter))

    def use_channel(self, index: int, source: str) -> None:
        """Let the arrows of a source run above a row."""
        lanes = self.channels.setdefault(index, {})
        lanes.setdefault(source, len(lanes))

    def gutter_x(self, source: str) -> int:
        """Return where the arrows of a source run beside the rows."""
        return self.x + _lane(self.gutter[source])

    def channel_y(self, index: int, source: str) -> int:
        """Return where the arrows of a source run above a row."""
        top = self.y + self.channel_tops[index]
        lane = self.channels[index][source]
        return top + _lane(lane)


def _lane(number: int) -> int:
    return _LANE * (1 + number % _MAX_LANES)


def _room_for(arrows: int) -> int:
    if arrows:
        return _LANE * (1 + min(arrows, _MAX_LANES))
    return 0


class _Size(NamedTuple):
    width: int
    height: int


_BOX: Final = _Size(BOX_WIDTH, BOX_HEIGHT)


def frames_of(outline: Outline, ways: Sequence[Way]) -> dict[str, Frame]:
    """Return the frames of an outline, with their sizes and places."""
    frames = _frames_in_rows(outline, ways)
    for way in ways:
        for frame, channel in channels_on(way, frames):
            frame.use_channel(channel, way.source)
    for frame in frames.values():
        _set_height(frame, frames)

    outside = frames[OUTSIDE]
    outside.x = MARGIN
    outside.y = MARGIN
    for goal in (OUTSIDE, *outline):
        if goal in frames:
            _place_parts(frames[goal], frames)
    return frames


def channels_on(way: Way, frames: Mapping[str, Frame]) -> Iterator[tuple[Frame, int]]:
    """Yield the channels that an arrow runs in, in its order.

    It leaves through the channel below its row, and comes in through the channel above.
    """
    frames_left = (*way.up[1:], way.common)
    for part, outer in zip(way.up, frames_left, strict=True):
        frame = frames[outer]
        yield frame, frame.row_of[part] + 1
    frames_entered = (way.common, *way.down[:-1])
    for part, outer in zip(way.down, frames_entered, strict=True):
        frame = frames[outer]
        yield frame, frame.row_of[part]


def _frames_in_rows(outline: Outline, ways: Sequence[Way]) -> dict[str, Frame]:
    """Return the frames with their rows and widths, the innermost first."""
    goals = [task for task in outline if task in outline.parts]
    frames = {goal: Frame(goal) for goal in (*reversed(goals), OUTSIDE)}
    ways_in: dict[str, list[Way]] = {}
    for way in ways:
        ways_in.setdefault(way.common, []).append(way)
        for goal in (*way.up[1:], *way.down[:-1]):
            frames[goal].use_gutter(way.source)

    sizes: dict[str, _Size] = {}
    for goal, frame in frames.items():
        parts = outline.top if goal == OUTSIDE else outline.parts[goal]
        inside = ways_in.get(goal, [])
        ranks = ranked(parts, [way.pair for way in inside])
        _fill(frame, ranks, sizes)
        for way in inside:
            if not is_straight(way, frame):
                frame.use_gutter(way.source)
        sizes[goal] = _estimated(frame, sizes)
    return frames


def is_straight(way: Way, common: Frame) -> bool:
    """Whether the rows of both ends follow each other: no way around is needed."""
    first, second = way.pair
    return common.row_of[second] == common.row_of[first] + 1


def _fill(frame: Frame, ranks: list[list[str]], sizes: Mapping[str, _Size]) -> None:
    """Wrap the rows of a frame, and find their width."""

    def width_of(part: str) -> int:
        return sizes.get(part, _BOX).width

    most = _widest(ranks, sizes)
    for rank in merged(ranks, sizes):
        pieces = list(wrapped(rank, width_of, GAP, most))
        if len(pieces) == 1:
            frame.centred.add(len(frame.rows))
        frame.rows += pieces
    for index, row in enumerate(frame.rows):
        frame.row_of.update(dict.fromkeys(row, index))
        gaps = GAP * (len(row) - 1)
        width = sum(width_of(part) for part in row) + gaps
        frame.rows_width = max(frame.rows_width, width)


def _widest(ranks: list[list[str]], sizes: Mapping[str, _Size]) -> int:
    """Return how wide rows may become, so that the frame is a little wider than high."""
    area = 0
    for rank in ranks:
        for part in rank:
            size = sizes.get(part, _BOX)
            width = size.width + GAP
            height = size.height + 2 * GAP
            area += width * height
    ideal = int(sqrt(area * _WIDE)) + BOX_WIDTH // 2
    return min(MAX_WIDTH, ideal)


def _estimated(frame: Frame, sizes: Mapping[str, _Size]) -> _Size:
    """Return the size of a frame before anybody knows how many arrows cross it."""
    height = HEADER + GAP
    for row in frame.rows:
        heights = [sizes.get(part, _BOX).height for part in row]
        height += max(heights) + 2 * GAP
    return _Size(frame.width, height)


def _set_height(frame: Frame, frames: Mapping[str, Frame]) -> None:
    height = 0 if frame.goal == OUTSIDE else HEADER
    for index, row in enumerate(frame.rows):
        frame.channel_tops.append(height)
        height += frame.channel_height(index)
        frame.row_tops.append(height)
        row_height = max(_height_of(part, frames) for part in row)
        frame.row_heights.append(row_height)
        height += row_height
    frame.channel_tops.append(height)
    frame.height = height + frame.channel_height(len(frame.rows))


def _height_of(part: str, frames: Mapping[str, Frame]) -> int:
    inner = frames.get(part)
    return BOX_HEIGHT if inner is None else inner.height


def width_of_part(part: str, frames: Mapping[str, Frame]) -> int:
    """Return the width of a box or a frame."""
    inner = frames.get(part)
    return BOX_WIDTH if inner is None else inner.width


def corners_in(
    frame: Frame, frames: Mapping[str, Frame]
) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a frame with their upper left corners."""
    for index, row in enumerate(frame.rows):
        widths = [width_of_part(part, frames) for part in row]
        x = frame.x + frame.left
        if index in frame.centred:
            width = sum(widths) + GAP * (len(row) - 1)
            x += (frame.rows_width - width) // 2
        for part, width in zip(row, widths, strict=True):
            yield part, x, frame.y + frame.row_tops[index]
            x += width + GAP


def _place_parts(frame: Frame, frames: Mapping[str, Frame]) -> None:
    for part, x, y in corners_in(frame, frames):
        inner = frames.get(part)
        if inner is not None:
            inner.x = x
            inner.y = y

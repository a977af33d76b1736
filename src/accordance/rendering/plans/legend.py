"""The legend of a plan's picture: the states, arrows and shapes that occur in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.domain.lifecycle import State
from accordance.rendering.marks import MARKS
from accordance.rendering.plans.folding import Tie
from accordance.rendering.svg import element

_TIES: Final[Mapping[Tie, str]] = MappingProxyType(
    {
        Tie.BEFORE: "must be done before",
        Tie.CHECKS: "is checked by",
        Tie.PART: "has this part, too",
    }
)
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "goal": "goal, around its parts",
        "check": "check",
        "alternative": "alternative, tried in order",
        "folded": "folded goal; the bar shows its parts",
    }
)
_ROW: Final = 24
_SWATCH: Final = 26
_COLUMN: Final = 6.0  # pixels of a character
_GAP: Final = 22
_LEAST_WIDTH: Final = 300


class _Entry(NamedTuple):
    """A thing to explain."""

    kind: str  # state, tie or shape
    name: str
    text: str

    @property
    def width(self) -> int:
        return _SWATCH + 8 + int(len(self.text) * _COLUMN)


class PlacedLegend(NamedTuple):
    """The legend as it is drawn."""

    lines: tuple[str, ...]
    height: int


@dataclass(frozen=True, slots=True)
class Legend:
    """Everything that a picture has to explain."""

    entries: tuple[_Entry, ...]

    @classmethod
    def of(
        cls,
        states: Sequence[State],
        ties: Sequence[Tie],
        words: Sequence[str],
    ) -> Legend:
        """Return the legend for what occurs."""
        entries: list[_Entry] = []
        for state in states:
            name = state.replace("_", " ").lower()
            entries.append(_Entry("state", state, f"{MARKS[state]} {name}"))
        for tie in ties:
            entries.append(_Entry("tie", tie, _TIES[tie]))
        for word in words:
            entries.append(_Entry("shape", word, _WORDS[word]))
        return cls(tuple(entries))

    @property
    def least_width(self) -> int:
        """The least width of a picture that has a legend."""
        return _LEAST_WIDTH if self.entries else 0

    def placed(self, left: int, top: int, width: int) -> PlacedLegend:
        """Return the legend in rows of at most this width."""
        lines: list[str] = []
        right = left + width
        x = left
        y = top
        for entry in self.entries:
            is_full = x > left and x + entry.width > right
            if is_full:
                x = left
                y += _ROW
            lines += _drawn(entry, x, y)
            x += entry.width + _GAP
        height = y - top + _ROW if self.entries else 0
        return PlacedLegend(tuple(lines), height)


def _drawn(entry: _Entry, x: int, y: int) -> Iterator[str]:
    middle = y + 8
    if entry.kind == "state":
        yield element("g", _swatch(x, y, 4), class_=entry.name)
    elif entry.kind == "tie":
        yield element(
            "path",
            class_=f"a {entry.name}",
            d=f"M{x} {middle}L{x + _SWATCH} {middle}",
            marker_end=f"url(#tip-{entry.name})",
        )
    else:
        yield from _drawn_shape(entry.name, x, y)
    text_x = x + _SWATCH + 8
    yield element(
        "text",
        entry.text,
        class_="n",
        x=text_x,
        y=middle + 4,
    )


def _drawn_shape(name: str, x: int, y: int) -> Iterator[str]:
    radius = 8 if name == "check" else 4
    shape = "frame" if name == "goal" else name
    yield element("g", _swatch(x, y, radius), class_=f"PENDING {shape}")
    if name == "folded":
        yield element(
            "rect",
            class_="DONE bar",
            x=x + 4,
            y=y + 11,
            width=12,
            height=3,
        )


def _swatch(x: int, y: int, radius: int) -> str:
    return element(
        "rect",
        class_="b",
        x=x,
        y=y,
        width=_SWATCH,
        height=16,
        rx=radius,
    )

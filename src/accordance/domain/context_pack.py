"""The context pack: what an agent learns beside its task, within a budget.

Essential pieces are kept whole; a pack that cannot hold them is refused. The others are
cut from the least important up: first shortened, where half of it is still of use, then
dropped. Nothing is left out silently: every cut is logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from accordance.domain.prompting import fenced
from accordance.errors import ContextTooLarge

ESSENTIAL: Final = 100  # never shortened
LEAST_BYTES: Final = 400  # a piece that would be shortened below this is dropped
DEFAULT_BUDGET: Final = 220_000
BUDGETS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "doc": 50_000,
        "splitter": 80_000,
        "planner": 80_000,
        "designer": 80_000,
        "reviewer": 100_000,
        "ssot_curator": 100_000,
        "engineer": 200_000,
    }
)
"""Bytes of context for each role; other roles have the default."""

_Placed = TypeVar("_Placed")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of context."""

    name: str
    text: str
    weight: int  # the lowest weight is cut first
    is_data: bool = True  # fenced: it comes from elsewhere and gives no instructions
    whole: int = 0  # bytes of the whole, where the text is only its beginning
    is_whole: bool = False  # kept whole or left out: half of it would mislead

    @property
    def rendered(self) -> str:
        """The text of the piece in the prompt."""
        if self.is_data:
            return fenced(self.name, self.text)
        return self.text

    @property
    def size(self) -> int:
        """Bytes in the prompt."""
        return len(self.rendered.encode())


class Excerpt(NamedTuple):
    """A text from a file; `whole` counts all bytes where it is only the beginning."""

    text: str
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Trim:
    """A piece that was shortened or left out."""

    name: str
    before: int
    after: int  # 0: left out

    def __str__(self) -> str:
        if not self.after:
            return f"{self.name}: left out"
        return f"{self.name}: shortened from {self.before:,} to {self.after:,} bytes"


@dataclass(frozen=True, slots=True)
class Pack:
    """The pieces that are kept, in their order, and those that were cut."""

    pieces: tuple[Piece, ...]
    trims: tuple[Trim, ...] = ()

    @property
    def size(self) -> int:
        """Bytes in the prompt."""
        return sum(piece.size for piece in self.pieces)

    @property
    def note(self) -> str:
        """A note to the agent about what was cut; empty when nothing was."""
        if not self.trims:
            return ""
        rows = [f"- {trim}" for trim in self.trims]
        lines = "\n".join(rows)
        return f"To fit, some of the context was cut:\n{lines}"


def budget_for(role: str | None) -> int:
    """Return how many bytes of context a role gets."""
    return BUDGETS.get(role or "", DEFAULT_BUDGET)


def pack(pieces: Sequence[Piece], budget: int) -> Pack:
    """Fit the pieces into the budget.

    Raises ContextTooLarge when the essential pieces do not fit.
    """
    sizes = [piece.size for piece in pieces]
    essential = _essential_size(pieces, sizes)
    if essential > budget:
        raise ContextTooLarge(essential, budget)

    kept = dict(enumerate(pieces))
    trims: dict[int, Trim] = {}
    for place, piece in enumerate(pieces):
        if piece.whole:
            trims[place] = Trim(piece.name, piece.whole, len(piece.text.encode()))

    excess = sum(sizes) - budget
    for place in _least_important_first(pieces):
        if excess <= 0:
            break
        piece = kept.pop(place)
        shorter = _shortened(piece, excess)
        new_size = 0
        if shorter is not None:
            kept[place] = shorter
            new_size = shorter.size
        excess -= sizes[place] - new_size
        trims[place] = Trim(piece.name, piece.whole or sizes[place], new_size)

    return Pack(_in_order(kept), _in_order(trims))


def _essential_size(pieces: Sequence[Piece], sizes: Sequence[int]) -> int:
    size = 0
    for piece, piece_size in zip(pieces, sizes, strict=True):
        if piece.weight >= ESSENTIAL:
            size += piece_size
    return size


def _least_important_first(pieces: Sequence[Piece]) -> list[int]:
    """Return the places of pieces that may be cut; of equal weight, the last first."""
    cuttable = [place for place, piece in enumerate(pieces) if piece.weight < ESSENTIAL]
    return sorted(cuttable, key=lambda place: (pieces[place].weight, -place))


def _in_order(by_place: Mapping[int, _Placed]) -> tuple[_Placed, ...]:
    return tuple(by_place[place] for place in sorted(by_place))


def _shortened(piece: Piece, excess: int) -> Piece | None:
    """Return the piece with so many bytes cut out of its middle.

    None where that would leave too little, or mislead.
    """
    if piece.is_whole:
        return None
    content = piece.text.encode()
    note = f"\n[... {excess:,} bytes or more cut here ...]\n"
    room = len(content) - excess - len(note)
    if room < LEAST_BYTES:
        return None

    tail_size = room // 4  # the beginning says more than the end
    head_size = room - tail_size
    head = content[:head_size].decode(errors="ignore")
    tail = content[-tail_size:].decode(errors="ignore")
    return replace(piece, text=head + note + tail)

"""The context pack: what an agent is told beside its task, within a budget, with a log of all that was left out.

What must be told is told whole or not at all: a pack that cannot hold it is refused. The rest is cut from the least
important up: first shortened, where half of it still says something, then dropped. Nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.domain.prompting import fenced
from accordance.errors import ContextTooLarge

ESSENTIAL: Final = 100  # never shortened
LEAST_BYTES: Final = (
    400  # what is shortened below this is dropped: a stump says nothing
)
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
"""Bytes of context for each role; others have the default."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to be told."""

    name: str
    text: str
    weight: int  # what weighs least is cut first
    is_data: bool = True  # fenced: it comes from elsewhere and instructs nobody
    whole: int = 0  # bytes of all of it, where the text is only its beginning
    is_whole: bool = False  # told whole or left out: half of it would mislead

    @property
    def rendered(self) -> str:
        """As it stands in the prompt."""
        return fenced(self.name, self.text) if self.is_data else self.text

    @property
    def size(self) -> int:
        """Bytes in the prompt."""
        return len(self.rendered.encode())


class Excerpt(NamedTuple):
    """A text from a file, and how many bytes there are where it is only the beginning."""

    text: str
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Trim:
    """Something that was shortened or left out."""

    name: str
    before: int
    after: int  # 0: left out

    def __str__(self) -> str:
        what = (
            f"shortened from {self.before:,} to {self.after:,} bytes"
            if self.after
            else "left out"
        )
        return f"{self.name}: {what}"


@dataclass(frozen=True, slots=True)
class Pack:
    """What is told, in the order it was given, and what is not."""

    pieces: tuple[Piece, ...]
    trims: tuple[Trim, ...] = ()

    @property
    def size(self) -> int:
        """Bytes in the prompt."""
        return sum(piece.size for piece in self.pieces)

    @property
    def note(self) -> str:
        """What the agent is told about what it is not told; empty when that is nothing."""
        if not self.trims:
            return ""
        lines = "\n".join(f"- {trim}" for trim in self.trims)
        return f"To fit, some of the context was cut:\n{lines}"


def budget_for(role: str | None) -> int:
    """How many bytes of context a role gets."""
    return BUDGETS.get(role or "", DEFAULT_BUDGET)


def pack(pieces: Sequence[Piece], budget: int) -> Pack:
    """Fit the pieces into the budget. Raises ContextTooLarge when what must be told does not fit."""
    must = sum(piece.size for piece in pieces if piece.weight >= ESSENTIAL)
    if must > budget:
        raise ContextTooLarge(must, budget)
    kept: dict[int, Piece] = dict(enumerate(pieces))
    over = sum(piece.size for piece in pieces) - budget
    trims = {
        at: Trim(piece.name, piece.whole, len(piece.text.encode()))
        for at, piece in enumerate(pieces)
        if piece.whole
    }
    for at in sorted(kept, key=lambda at: (pieces[at].weight, -at)):
        if over <= 0 or pieces[at].weight >= ESSENTIAL:
            break
        shorter = _shortened(pieces[at], over)
        over -= pieces[at].size - (shorter.size if shorter else 0)
        before = pieces[at].whole or pieces[at].size
        trims[at] = Trim(pieces[at].name, before, shorter.size if shorter else 0)
        if shorter:
            kept[at] = shorter
        else:
            del kept[at]
    return Pack(tuple(kept.values()), tuple(trims[at] for at in sorted(trims)))


def _shortened(piece: Piece, over: int) -> Piece | None:
    """The piece with its middle cut out, so much shorter; None where that would leave too little, or mislead."""
    if piece.is_whole:
        return None
    body = piece.text.encode()
    note = f"\n[... {over:,} bytes or more cut here ...]\n"
    room = len(body) - over - len(note)
    if room < LEAST_BYTES:
        return None
    head, tail = room - room // 4, room // 4  # the beginning says more than the end
    text = (
        body[:head].decode(errors="ignore")
        + note
        + body[-tail:].decode(errors="ignore")
    )
    return replace(piece, text=text)

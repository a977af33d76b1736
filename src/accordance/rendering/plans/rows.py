"""The rows of a frame: what waits for something stands below it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]  # the first comes before the second


def ranked(parts: Sequence[str], pairs: Sequence[Pair]) -> list[list[str]]:
    """Return the parts in rows, each below what it waits for.

    Frames can wait for each other in a circle, by different parts of theirs. Then the
    order of the plan decides.
    """
    distinct = list(dict.fromkeys(pairs))
    rank = _ranks(parts, distinct)
    by_rank: dict[int, list[str]] = {}
    for part in parts:
        by_rank.setdefault(rank[part], []).append(part)
    rows = [by_rank[number] for number in sorted(by_rank)]
    return _untangled(rows, distinct)


def _ranks(parts: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    after: dict[str, list[str]] = {}
    waits = dict.fromkeys(parts, 0)
    for first, second in pairs:
        after.setdefault(first, []).append(second)
        waits[second] += 1

    rank = dict.fromkeys(parts, 0)
    placed: set[str] = set()
    free = [part for part in parts if not waits[part]]
    in_order = iter(parts)
    while len(placed) < len(parts):
        if not free:  # a circle
            not_placed = (part for part in in_order if part not in placed)
            free.append(next(not_placed))
        part = free.pop()
        placed.add(part)
        next_rank = rank[part] + 1
        for below in after.get(part, ()):
            if below in placed:
                continue
            rank[below] = max(rank[below], next_rank)
            waits[below] -= 1
            if not waits[below]:
                free.append(below)
    return rank


def _untangled(rows: Sequence[list[str]], pairs: Sequence[Pair]) -> list[list[str]]:
    """Return the rows, each in the order of what its parts wait for."""
    before: dict[str, list[str]] = {}
    for first, second in pairs:
        before.setdefault(second, []).append(first)

    place: dict[str, float] = {}
    ordered = []
    for row in rows:
        wished: dict[str, float] = {}
        for index, part in enumerate(row):
            above = [task for task in before.get(part, ()) if task in place]
            if above:
                wished[part] = sum(place[task] for task in above) / len(above)
            else:
                wished[part] = index / len(row)
        sorted_row = sorted(row, key=wished.__getitem__)
        for index, part in enumerate(sorted_row):
            place[part] = index / len(row)
        ordered.append(sorted_row)
    return ordered


def merged(ranks: Sequence[list[str]], frames: Container[str]) -> list[list[str]]:
    """Return the ranks; neighbours that hold nothing but frames are merged.

    Frames are large, and arrows lead from inside to inside: each rank in a row of its
    own would only make the picture long.
    """
    rows: list[list[str]] = []
    is_open = False
    for rank in ranks:
        are_frames = all(part in frames for part in rank)
        if is_open and are_frames:
            rows[-1] += rank
        else:
            rows.append(list(rank))
        is_open = are_frames
    return rows


def wrapped(
    row: Sequence[str],
    width_of: Callable[[str], int],
    gap: int,
    most: int,
) -> Iterator[list[str]]:
    """Yield a row in pieces that are no wider than `most`, if that can be."""
    piece: list[str] = []
    width = 0
    for part in row:
        needed = width_of(part) + gap
        if piece and width + needed - gap > most:
            yield piece
            piece = []
            width = 0
        piece.append(part)
        width += needed
    yield piece

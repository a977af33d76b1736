"""Which plan, task or question a name means: its id, its title, or a beginning of them."""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

LEAST_LETTERS: Final = 4
"""Of the beginning of an id; a shorter beginning would soon fit something else."""
_SMALL: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Named:
    """Something that has an id and a title."""

    id: str
    title: str

    def __str__(self) -> str:
        return f"{self.id} ({self.title})"


def meant_by(name: str, candidates: Iterable[Named]) -> tuple[Named, ...]:
    """Return everything that a name may mean; it is clear if that is a single thing.

    An id is meant before a title, and a whole title before its beginning. A-Z
    and a-z count as the same letters of a title.
    """
    if not name:
        return ()
    things = tuple(candidates)
    small = name.translate(_SMALL)

    by_id = tuple(thing for thing in things if thing.id == name)
    if by_id:
        return by_id
    by_title = tuple(
        thing for thing in things if thing.title.translate(_SMALL) == small
    )
    if by_title:
        return by_title
    return tuple(thing for thing in things if _begins(thing, name, small))


def _begins(thing: Named, name: str, small: str) -> bool:
    is_long_enough = len(name) >= LEAST_LETTERS
    if is_long_enough and thing.id.startswith(name):
        return True
    return thing.title.translate(_SMALL).startswith(small)

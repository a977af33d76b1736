"""Pins are inherited: a child task may reach nothing its parent cannot.

Decided exactly, not by comparing texts: every pin is a small automaton over the letters of a path, and a search looks for a
path that the child allows and the parent does not. If there is one, it is the answer, and it is shown to people.

A bare name may be a file or a directory, and only a tree says which. Where a child pins a name with an extension (`docs/a.md`),
it means the file: otherwise no child could be given one file of its parent's `docs/*.md`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from accordance.contracts.pins import Pins, Reach, folded, reach_of, refusals
from accordance.errors import InvalidPattern

MAX_STEPS: Final = (
    200_000  # pins that need more are refused: nobody could say what they mean
)
_SLASH: Final = "/"
_LETTER: Final = None  # any character but the slash
_Places: TypeAlias = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class _Automaton:
    """Where reading one letter leads from each state; where the pattern has been read; where it takes whatever follows."""

    steps: Mapping[int, tuple[tuple[str | None, int], ...]]
    ends: frozenset[int]
    tail: frozenset[int]


@dataclass(slots=True)
class _Builder:
    """Builds an automaton from left to right; `at` is the state reached so far."""

    steps: dict[int, list[tuple[str | None, int]]] = field(
        default_factory=lambda: {0: []}
    )
    at: int = 0

    def read(self, letter: str | None) -> None:
        """From here on one letter further, to a new state."""
        state = len(self.steps)
        self.steps[state] = []
        self.steps[self.at].append((letter, state))
        self.at = state

    def read_name(self, name: str) -> None:
        """One segment, which is never empty."""
        if not name.strip("*"):
            self.read(_LETTER)
        for letter in name:
            if letter == "*":
                self.steps[self.at].append((_LETTER, self.at))
            else:
                self.read(letter)

    def read_any_directories(self) -> int:
        """Any number of segments, each with its slash, back to here. Returns the state inside a segment."""
        start = self.at
        self.read_name("*")
        inside = self.at
        self.steps[inside].append((_SLASH, start))
        self.at = start
        return inside


@lru_cache(maxsize=1024)
def _automaton(pattern: str) -> _Automaton:
    """The automaton of one normal pattern; it reads exactly what the pattern matches."""
    return _built(pattern, reach_of(pattern))


@lru_cache(maxsize=1024)
def _automaton_of_a_file(pattern: str) -> _Automaton:
    """The same for a bare name that is a file, so that nothing lies below it."""
    return _built(pattern, Reach.ITSELF)


def _names_a_file(pattern: str) -> bool:
    """Whether the last name is bare and has an extension."""
    stem, dot, extension = pattern.rpartition("/")[2].rpartition(".")
    return reach_of(pattern) is Reach.BOTH and bool(stem and dot and extension)


def _built(pattern: str, reach: Reach) -> _Automaton:
    builder = _Builder()
    *directories, last = pattern.removesuffix("/").split("/")
    for name in directories:
        if name == "**":
            builder.read_any_directories()
        else:
            builder.read_name(name)
            builder.read(_SLASH)
    ends: set[int] = set()
    tail: set[int] = set()
    if last != "**":
        builder.read_name(last)
        if reach is not Reach.CONTENT:
            ends.add(builder.at)
        if reach is not Reach.ITSELF:
            builder.read(_SLASH)
    if reach is not Reach.ITSELF:
        inside = builder.read_any_directories()
        ends.add(inside)
        tail |= {builder.at, inside}
    steps = {state: tuple(moves) for state, moves in builder.steps.items()}
    return _Automaton(MappingProxyType(steps), frozenset(ends), frozenset(tail))


def _start(patterns: Iterable[str]) -> _Places:
    return frozenset((pattern, 0) for pattern in patterns)


def _read(places: _Places, letters: str) -> _Places:
    """Where all patterns stand after some more letters. One that takes whatever follows stands for all of them."""
    for letter in letters:
        places = frozenset(
            (pattern, then)
            for pattern, state in places
            for wanted, then in _automaton(pattern).steps[state]
            if wanted == letter or (wanted is _LETTER and letter != _SLASH)
        )
        settled = next(
            (place for place in sorted(places) if _takes_the_rest(place)), None
        )
        places = frozenset((settled,)) if settled else places
    return places


def _takes_the_rest(place: tuple[str, int]) -> bool:
    return place[1] in _automaton(place[0]).tail


def _ended(places: _Places) -> bool:
    return any(state in _automaton(pattern).ends for pattern, state in places)


class _Reading(NamedTuple):
    """How far everybody has come in reading one path: the child's pattern, the parent's pins, the child's own refusals."""

    state: int
    allowed: _Places
    forbidden: _Places
    refused: _Places

    def goes_beyond(self, own: _Automaton) -> bool:
        """Whether the path read so far is allowed to the child and not to the parent."""
        if self.state not in own.ends or _ended(self.refused):
            return False
        return _ended(self.forbidden) or not _ended(self.allowed)

    def is_settled(self) -> bool:
        """Whether nothing that follows could go beyond."""
        if any(map(_takes_the_rest, self.refused)):
            return True
        return not self.forbidden and any(map(_takes_the_rest, self.allowed))


def beyond(child: Pins, parent: Pins) -> str | None:
    """A path that the child's pins allow and its parent's do not; None if there is none, so that the child is within.

    Raises InvalidPattern when the pins are too entangled to compare.
    """
    budget = iter(range(MAX_STEPS))
    for pattern in child.allowed:
        path = _search(pattern, child, parent, budget)
        if path is not None:
            return path
    return None


def _search(
    pattern: str, child: Pins, parent: Pins, budget: Iterator[int]
) -> str | None:
    """Read all paths of one pattern at once, shortest first."""
    own = (
        _automaton_of_a_file(pattern) if _names_a_file(pattern) else _automaton(pattern)
    )
    refused = set(refusals(child.forbidden))
    forbidden = (
        set(refusals(parent.forbidden)) - refused
    )  # what both refuse is no difference
    allowed = ["**"] if pattern in parent.allowed else parent.allowed
    letters = _letters((pattern, *allowed, *forbidden, *refused))
    start = _Reading(0, _start(allowed), _start(forbidden), _start(refused))
    seen, queue = {start}, deque([(start, "")])
    while queue:
        reading, path = queue.popleft()
        if reading.goes_beyond(own):
            return path
        for wanted, state in own.steps[reading.state]:
            for letter in letters if wanted is _LETTER else (wanted,):
                if next(budget, None) is None:
                    raise InvalidPattern(
                        "these pins are too entangled to compare; use fewer ** and *"
                    )
                after = _Reading(
                    state,
                    _read(reading.allowed, letter),
                    _read(reading.forbidden, folded(letter)),
                    _read(reading.refused, folded(letter)),
                )
                if after not in seen and not after.is_settled():
                    seen.add(after)
                    queue.append((after, path + letter))
    return None


def _letters(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The letters that can make a difference: those the patterns name, and one that none of them does."""
    named = set("".join(patterns)) - {"*", _SLASH}
    other = next(
        (letter for letter in ascii_lowercase if letter not in named), "\U0010ffff"
    )
    return (other, *sorted(named))

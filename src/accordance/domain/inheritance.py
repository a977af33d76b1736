"""Pins are inherited: a child task may reach nothing its parent cannot.

This is decided exactly, not by comparing texts: every pin is a small automaton over the
letters of a path, and a search looks for a path that the child allows and the parent
does not. If there is such a path, it is the answer, and people get to see it.

A bare name may be a file or a directory, and only a tree could tell. Where a child pins
a name with an extension (`docs/a.md`), it means the file: otherwise no child could be
given a single file of its parent's `docs/*.md`.
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

MAX_STEPS: Final = 200_000
"""Pins that need more steps are refused: no reader could tell what they mean either."""

_SLASH: Final = "/"
_LETTER: Final = None  # any character but the slash
_UNUSED_LETTER: Final = "\U0010ffff"
_Place: TypeAlias = tuple[str, int]  # a pattern, and the state of its automaton
_Places: TypeAlias = frozenset[_Place]


@dataclass(frozen=True, slots=True)
class _Automaton:
    """Reads the paths that a pattern matches, letter by letter.

    In the states of `ends` the path read so far matches; those of `tail` accept every
    path that continues from there.
    """

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
        """Add a state that is reached by a letter."""
        state = len(self.steps)
        self.steps[state] = []
        self.steps[self.at].append((letter, state))
        self.at = state

    def read_name(self, name: str) -> None:
        """Add a segment of a path, which is never empty."""
        if not name.strip("*"):
            self.read(_LETTER)
        for letter in name:
            if letter == "*":
                self.steps[self.at].append((_LETTER, self.at))
            else:
                self.read(letter)

    def read_any_directories(self) -> int:
        """Add any number of segments, each with its slash, back to the current state.

        Returns the state inside a segment.
        """
        start = self.at
        self.read_name("*")
        inside = self.at
        self.steps[inside].append((_SLASH, start))
        self.at = start
        return inside


@lru_cache(maxsize=1024)
def _automaton(pattern: str) -> _Automaton:
    """Return the automaton that reads exactly what a normal pattern matches."""
    return _build(pattern, reach_of(pattern))


@lru_cache(maxsize=1024)
def _file_automaton(pattern: str) -> _Automaton:
    """Return the automaton of a bare name that is a file, with nothing below it."""
    return _build(pattern, Reach.ITSELF)


def _names_a_file(pattern: str) -> bool:
    """Whether the last name is bare and has an extension."""
    if reach_of(pattern) is not Reach.BOTH:
        return False
    last_name = pattern.rpartition("/")[2]
    stem, _, extension = last_name.rpartition(".")
    return bool(stem and extension)


def _build(pattern: str, reach: Reach) -> _Automaton:
    builder = _Builder()
    *directories, last = pattern.removesuffix("/").split("/")
    for name in directories:
        if name == "**":
            builder.read_any_directories()
        else:
            builder.read_name(name)
            builder.read(_SLASH)

    reaches_below = reach is not Reach.ITSELF
    ends: set[int] = set()
    tail: set[int] = set()
    if last != "**":
        builder.read_name(last)
        if reach is not Reach.CONTENT:
            ends.add(builder.at)
        if reaches_below:
            builder.read(_SLASH)
    if reaches_below:
        inside = builder.read_any_directories()
        ends.add(inside)
        tail |= {builder.at, inside}

    steps = {state: tuple(moves) for state, moves in builder.steps.items()}
    return _Automaton(MappingProxyType(steps), frozenset(ends), frozenset(tail))


def _start(patterns: Iterable[str]) -> _Places:
    return frozenset((pattern, 0) for pattern in patterns)


def _read(places: _Places, letters: str) -> _Places:
    """Return where all patterns stand after some more letters.

    A pattern that accepts every continuation stands for all of them.
    """
    for letter in letters:
        places = frozenset(_next_places(places, letter))
        for place in sorted(places):
            if _accepts_the_rest(place):
                places = frozenset((place,))
                break
    return places


def _next_places(places: _Places, letter: str) -> Iterator[_Place]:
    for pattern, state in places:
        for expected, next_state in _automaton(pattern).steps[state]:
            is_any_letter = expected is _LETTER and letter != _SLASH
            if expected == letter or is_any_letter:
                yield pattern, next_state


def _accepts_the_rest(place: _Place) -> bool:
    pattern, state = place
    return state in _automaton(pattern).tail


def _any_accepts_the_rest(places: _Places) -> bool:
    return any(_accepts_the_rest(place) for place in places)


def _any_matches(places: _Places) -> bool:
    return any(state in _automaton(pattern).ends for pattern, state in places)


class _Reading(NamedTuple):
    """How far all patterns have come in reading a path.

    `state` is that of the child's pattern, `allowed` and `forbidden` belong to the
    parent's pins, `refused` to what the child itself forbids.
    """

    state: int
    allowed: _Places
    forbidden: _Places
    refused: _Places

    def after(self, state: int, letter: str) -> _Reading:
        """Return the reading a letter further. Forbidding ignores letter case."""
        folded_letter = folded(letter)
        return _Reading(
            state,
            _read(self.allowed, letter),
            _read(self.forbidden, folded_letter),
            _read(self.refused, folded_letter),
        )

    def goes_beyond(self, child: _Automaton) -> bool:
        """Whether the child may reach the path read so far, and the parent may not."""
        if self.state not in child.ends or _any_matches(self.refused):
            return False
        return _any_matches(self.forbidden) or not _any_matches(self.allowed)

    def is_settled(self) -> bool:
        """Whether no continuation could go beyond."""
        if _any_accepts_the_rest(self.refused):
            return True
        return not self.forbidden and _any_accepts_the_rest(self.allowed)


def path_beyond(child: Pins, parent: Pins) -> str | None:
    """Return a path that the child's pins allow and its parent's do not, if any.

    Raises InvalidPattern when the pins are too entangled to compare.
    """
    budget = iter(range(MAX_STEPS))
    for pattern in child.allowed:
        path = _path_beyond(pattern, child, parent, budget)
        if path is not None:
            return path
    return None


def _path_beyond(
    pattern: str,
    child: Pins,
    parent: Pins,
    budget: Iterator[int],
) -> str | None:
    """Read all paths of a pattern at once, shortest first."""
    automaton = _automaton(pattern)
    if _names_a_file(pattern):
        automaton = _file_automaton(pattern)

    refused = set(refusals(child.forbidden))
    forbidden = set(refusals(parent.forbidden)) - refused  # refused by both: no matter
    allowed = ["**"] if pattern in parent.allowed else parent.allowed
    letters = _telling_letters((pattern, *allowed, *forbidden, *refused))

    start = _Reading(0, _start(allowed), _start(forbidden), _start(refused))
    seen = {start}
    queue = deque([(start, "")])
    while queue:
        reading, path = queue.popleft()
        if reading.goes_beyond(automaton):
            return path
        for expected, state in automaton.steps[reading.state]:
            choices = letters if expected is _LETTER else (expected,)
            for letter in choices:
                _take_step(budget)
                following = reading.after(state, letter)
                if following not in seen and not following.is_settled():
                    seen.add(following)
                    queue.append((following, path + letter))
    return None


def _take_step(budget: Iterator[int]) -> None:
    if next(budget, None) is None:
        raise InvalidPattern(
            "these pins are too entangled to compare; use fewer ** and *"
        )


def _telling_letters(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the letters that can make a difference.

    These are the letters of the patterns, and a letter that none of them has, which
    stands for all others.
    """
    named = set("".join(patterns)) - {"*", _SLASH}
    unnamed = (letter for letter in ascii_lowercase if letter not in named)
    other = next(unnamed, _UNUSED_LETTER)
    return (other, *sorted(named))

"""Handoffs taken together: no way leads back, and everybody comes after what they require. Linear in the handoffs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Passing(NamedTuple):
    """Who hands over to whom, by canonical id."""

    sender: str
    receiver: str
    parallel: bool = False


@dataclass(frozen=True, slots=True)
class ChainFault:
    """One way in which handoffs do not fit together."""

    code: Literal["cycle", "requires_missing", "unordered", "parallel_dependent"]
    agent: str = ""
    other: str = ""  # what it requires, or what it cannot be parallel to
    cycle: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            self.code
            if self.code == "cycle"
            else f"{self.code}:{self.agent}<-{self.other}"
        )


def chain_faults(
    passings: Sequence[Passing],
    requires: Mapping[str, Collection[str]],
    prior: Collection[str] = (),
) -> tuple[ChainFault, ...]:
    """Every fault: a cycle (one is named), requirements that are missing or not before, parallel ones that are not."""
    return (
        *_cycles(passings),
        *_requirements(passings, requires, frozenset(prior)),
        *_parallels(passings, requires),
    )


def _following(passings: Iterable[Passing]) -> dict[str, list[str]]:
    following: dict[str, list[str]] = {}
    for passing in passings:
        following.setdefault(passing.sender, []).append(passing.receiver)
        following.setdefault(passing.receiver, [])
    return following


def _cycles(passings: Sequence[Passing]) -> Iterator[ChainFault]:
    """Take away agents nobody hands to, again and again; walk back among those that stay."""
    following = _following(passings)
    waiting = dict.fromkeys(following, 0)
    for receivers in following.values():
        for receiver in receivers:
            waiting[receiver] += 1
    free = [agent for agent, count in waiting.items() if not count]
    while free:
        for receiver in following[free.pop()]:
            waiting[receiver] -= 1
            if not waiting[receiver]:
                free.append(receiver)
    before = {
        passing.receiver: passing.sender
        for passing in passings
        if waiting[passing.sender] and waiting[passing.receiver]
    }
    if not before:
        return
    agent, order = next(iter(before)), list[str]()
    while agent not in order:
        order.append(agent)
        agent = before[agent]
    ring = order[order.index(agent) :]
    yield ChainFault("cycle", cycle=tuple(reversed([agent, *ring[1:], agent])))


def _requirements(
    passings: Sequence[Passing],
    requires: Mapping[str, Collection[str]],
    prior: frozenset[str],
) -> Iterator[ChainFault]:
    following = _following(passings)
    for required in _each_once(
        one for agent in following for one in requires.get(agent, ())
    ):
        if required in prior:
            continue
        after = _reachable(required, following) if required in following else set()
        for agent in following:
            if required not in requires.get(agent, ()):
                continue
            if required not in following:
                yield ChainFault("requires_missing", agent, required)
            elif agent not in after:
                yield ChainFault("unordered", agent, required)


def _each_once(names: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(names)


def _reachable(start: str, following: Mapping[str, Collection[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for receiver in following.get(waiting.pop(), ()):
            if receiver not in reached:
                reached.add(receiver)
                waiting.append(receiver)
    return reached


def _parallels(
    passings: Sequence[Passing], requires: Mapping[str, Collection[str]]
) -> Iterator[ChainFault]:
    """Agents that one sender hands to in parallel do not require each other, directly or through others."""
    side_by_side: dict[str, list[str]] = {}
    for passing in passings:
        if passing.parallel:
            side_by_side.setdefault(passing.sender, []).append(passing.receiver)
    for receivers in side_by_side.values():
        for agent in receivers:
            needed = _reachable(agent, requires)
            for other in receivers:
                if other in needed and other != agent:
                    yield ChainFault("parallel_dependent", agent, other)


def in_order(passings: Sequence[Passing]) -> tuple[str, ...]:
    """Everybody who takes part, each after those who hand to them. For handoffs without a cycle."""
    following = _following(passings)
    waiting = dict.fromkeys(following, 0)
    for passing in passings:
        waiting[passing.receiver] += 1
    order = [agent for agent, count in waiting.items() if not count]
    for agent in order:  # grows while it is walked
        for receiver in following[agent]:
            waiting[receiver] -= 1
            if not waiting[receiver]:
                order.append(receiver)
    return tuple(order)

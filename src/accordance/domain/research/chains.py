"""Handoffs taken together: no cycle, and every agent after those it requires.

Everything here is linear in the number of handoffs.
"""

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
    """A reason why handoffs do not fit together."""

    code: Literal["cycle", "requires_missing", "unordered", "parallel_dependent"]
    agent: str = ""
    other: str = ""  # the agent it requires, or cannot work in parallel with
    cycle: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.code == "cycle":
            return self.code
        return f"{self.code}:{self.agent}<-{self.other}"


def chain_faults(
    passings: Sequence[Passing],
    requires: Mapping[str, Collection[str]],
    prior: Collection[str] = (),
) -> tuple[ChainFault, ...]:
    """Return every fault of the handoffs; of several cycles only the first."""
    return (
        *_cycles(passings),
        *_unmet_requirements(passings, requires, frozenset(prior)),
        *_dependent_parallels(passings, requires),
    )


def in_order(passings: Sequence[Passing]) -> tuple[str, ...]:
    """Return all agents, each after those who hand over to it.

    Agents on a cycle, and those behind it, are left out.
    """
    receivers_of = _receivers(passings)
    waiting = _senders_to_wait_for(passings)
    order = [agent for agent, count in waiting.items() if not count]

    for agent in order:  # grows while it is walked
        for receiver in receivers_of[agent]:
            waiting[receiver] -= 1
            if not waiting[receiver]:
                order.append(receiver)

    return tuple(order)


def _receivers(passings: Iterable[Passing]) -> dict[str, list[str]]:
    """Return whom each agent hands over to, with an entry for every agent."""
    receivers: dict[str, list[str]] = {}
    for passing in passings:
        receivers.setdefault(passing.sender, []).append(passing.receiver)
        receivers.setdefault(passing.receiver, [])
    return receivers


def _senders_to_wait_for(passings: Iterable[Passing]) -> dict[str, int]:
    """Return how many handoffs each agent receives, with an entry for every agent."""
    counts: dict[str, int] = {}
    for passing in passings:
        counts.setdefault(passing.sender, 0)
        counts[passing.receiver] = counts.get(passing.receiver, 0) + 1
    return counts


def _cycles(passings: Sequence[Passing]) -> Iterator[ChainFault]:
    """Walk back among the agents that cannot be ordered, until an agent comes twice."""
    ordered = frozenset(in_order(passings))
    sender_of = {
        passing.receiver: passing.sender
        for passing in passings
        if passing.sender not in ordered
    }
    if not sender_of:
        return

    agent = next(iter(sender_of))
    backwards: list[str] = []
    while agent not in backwards:
        backwards.append(agent)
        agent = sender_of[agent]

    ring = backwards[backwards.index(agent) :]
    forwards = [agent, *reversed(ring)]
    yield ChainFault("cycle", cycle=tuple(forwards))


def _unmet_requirements(
    passings: Sequence[Passing],
    requires: Mapping[str, Collection[str]],
    prior: frozenset[str],
) -> Iterator[ChainFault]:
    """Every agent comes after those it requires, unless they have run before."""
    receivers_of = _receivers(passings)

    requiring: dict[str, list[str]] = {}
    for agent in receivers_of:
        for required in dict.fromkeys(requires.get(agent, ())):
            requiring.setdefault(required, []).append(agent)

    for required, agents in requiring.items():
        if required in prior:
            continue

        if required not in receivers_of:
            for agent in agents:
                yield ChainFault("requires_missing", agent, required)
            continue

        later = _reachable(required, receivers_of)
        for agent in agents:
            if agent not in later:
                yield ChainFault("unordered", agent, required)


def _dependent_parallels(
    passings: Sequence[Passing], requires: Mapping[str, Collection[str]]
) -> Iterator[ChainFault]:
    """Agents that a sender hands over to in parallel do not require each other."""
    parallel_to: dict[str, list[str]] = {}
    for passing in passings:
        if passing.parallel:
            parallel_to.setdefault(passing.sender, []).append(passing.receiver)

    for receivers in parallel_to.values():
        for agent in receivers:
            required = _reachable(agent, requires)
            for other in receivers:
                if other in required and other != agent:
                    yield ChainFault("parallel_dependent", agent, other)


def _reachable(start: str, following: Mapping[str, Collection[str]]) -> set[str]:
    """Return everything that follows a start, directly or through others."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in following.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached

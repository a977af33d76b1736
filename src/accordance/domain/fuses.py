"""Fuses: how much a task or a plan may use up before a person is asked. Data, kept with the plan they were set for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.errors import InvalidFuses, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuses:
    """Upper bounds. None: no bound. Those of a run count for a plan, all others for one task.

    Each counts since a person last gave it a chance.
    """

    attempts: int = MAX_ATTEMPTS  # failed ones, parse failures included
    same_error: int = SAME_ERROR_LIMIT  # so often running, and trying again is pointless
    review_rounds: int = 3  # a product is returned at most so often
    review_failures: int = 3
    idle_rounds: int = 2
    calls_per_task: int | None = 10  # messages, whatever became of them
    calls_per_run: int | None = None
    run_seconds: int | None = None
    tokens_per_task: int | None = None  # of models, read and written
    tokens_per_run: int | None = None
    cost_per_task: float | None = None  # in the currency of the prices
    cost_per_run: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in _MONEY and value is not None and not 0 < value < _ENDLESS:
                raise InvalidFuses(f"{name} is more than 0, got {value}")
            if name not in _MONEY and value is not None and value < 1:
                raise InvalidFuses(f"{name} is at least 1, got {value}")


_MONEY: Final = frozenset(("cost_per_task", "cost_per_run"))
_ENDLESS: Final = float("inf")
FUSES: Final = Fuses()
_NAMES: Final = tuple(one.name for one in fields(Fuses))
_NEVER_OFF: Final = frozenset(("attempts", "same_error", "review_rounds", "review_failures", "idle_rounds"))


def fuses_from(settings: Mapping[str, object]) -> Fuses:
    """The fuses of a settings table. An unknown name or a value that is no whole number is refused."""
    chosen: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in _NAMES:
            raise InvalidFuses(f"unknown fuse {name!r}; {did_you_mean(name, _NAMES)}")
        if type(value) is int or (type(value) is float and name in _MONEY):
            chosen[name] = value
        elif value is None and name not in _NEVER_OFF:
            chosen[name] = None
        else:
            raise InvalidFuses(f"{name} is a {'' if name in _MONEY else 'whole '}number, got {value!r}")
    return Fuses(**chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a plan has used up in this run."""

    calls: int
    seconds: float
    tokens: int = 0
    cost: float = 0.0


def blown(fuses: Fuses, spent: Spent) -> str | None:
    """Why the plan must stop and wait for a person, if it must."""
    if fuses.calls_per_run is not None and spent.calls >= fuses.calls_per_run:
        return f"calls_per_run: {spent.calls} of {fuses.calls_per_run} messages are used up"
    if fuses.run_seconds is not None and spent.seconds >= fuses.run_seconds:
        return f"run_seconds: {spent.seconds:.0f} of {fuses.run_seconds} seconds are used up"
    if fuses.tokens_per_run is not None and spent.tokens >= fuses.tokens_per_run:
        return f"tokens_per_run: {spent.tokens:,} of {fuses.tokens_per_run:,} tokens are used up"
    if fuses.cost_per_run is not None and spent.cost >= fuses.cost_per_run:
        return f"cost_per_run: {spent.cost:.2f} of {fuses.cost_per_run:.2f} are used up"
    return None

"""Mode collapse: whether an agent that is asked the same again always says the same.

Counting is streamed. The tally of a group keeps what was selected, in the order it
came, and what was on offer; nothing else of an answer is held, so that a hundred
thousand stored answers fit easily.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.research.names import plain
from accordance.domain.research.quality import items, part
from accordance.errors import InvalidRun

NameForm: TypeAlias = Callable[[str], str]
Status: TypeAlias = Literal["insufficient_runs", "collapsed", "diverse"]
Direction: TypeAlias = Literal["narrowing", "steady", "widening"]

FEWEST_RUNS: Final = 2
COLLAPSED_BELOW: Final = 0.3  # diversity
COLLAPSED_FROM: Final = 0.8  # share of the top answer
FEWEST_FOR_A_TREND: Final = 8
CLEAR_CHANGE: Final = 1.25  # of effective options, between the two halves
_MOST_COMMON: Final = 3
_PLACES: Final = 6  # decimal places in JSON


class StoredSelection(NamedTuple):
    """What a run selected, and from what."""

    selected: str
    offered: tuple[str, ...] = ()


def selection_of(answer: JsonObject) -> StoredSelection:
    """Return the selection of an answer. Raises InvalidRun if it selects nothing."""
    metadata = part(answer, "vs_metadata")
    selected = part(metadata, "final_selection").get("option")
    if not isinstance(selected, str) or not plain(selected):
        raise InvalidRun(
            "missing:vs_metadata.final_selection.option: "
            "an answer that selects nothing cannot be counted"
        )

    offered = []
    for entry in items(metadata, "t_scores"):
        option = entry.get("option") if isinstance(entry, dict) else None
        if isinstance(option, str):
            offered.append(option)
    return StoredSelection(selected, tuple(offered))


@dataclass(slots=True)
class Tally:
    """The selections of a group, counted as they come."""

    form: NameForm = plain
    """The form in which names are compared."""

    names: dict[str, str] = field(default_factory=dict)
    """By that form: the name as it was first written."""

    order: array[int] = field(default_factory=lambda: array("I"))
    """The number of the selected option, for each run."""

    pool: set[str] = field(default_factory=set)
    """All options on offer, in that form."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, selected: str, offered: Iterable[str] = ()) -> None:
        """Count a run."""
        name = self.form(selected)
        number = self._numbers.setdefault(name, len(self._numbers))
        self.order.append(number)
        self.names.setdefault(name, selected)
        self.pool.add(name)
        self.pool.update(map(self.form, offered))

    def counts(self, runs: Sequence[int] | None = None) -> dict[str, int]:
        """Return how often each option was selected, in all runs or in some.

        Options come in the order they were first selected, as first written.
        """
        frequencies = [0] * len(self._numbers)
        for number in self.order if runs is None else runs:
            frequencies[number] += 1

        counts = {}
        for name, number in self._numbers.items():
            if frequencies[number]:
                counts[self.names[name]] = frequencies[number]
        return counts


@dataclass(frozen=True, slots=True)
class Diversity:
    """How evenly selections are spread over the options."""

    runs: int
    entropy_bits: float
    top_share: float

    @property
    def effective_options(self) -> float:
        """The number of equally likely options that would be as diverse."""
        return 2**self.entropy_bits

    def out_of(self, pool: int) -> float:
        """Return the entropy as a share of what these runs could reach in a pool."""
        reachable = math.log2(min(self.runs, pool))
        return self.entropy_bits / reachable if reachable else 0.0


def diversity(counts: Iterable[int]) -> Diversity:
    """Return Shannon entropy in bits, and the share of the most frequent option."""
    frequencies = list(counts)
    runs = sum(frequencies)

    entropy = 0.0
    for frequency in frequencies:
        share = frequency / runs
        if share:
            entropy -= share * math.log2(share)

    top_share = max(frequencies) / runs
    return Diversity(runs, max(entropy, 0.0), top_share)


@dataclass(frozen=True, slots=True)
class Trend:
    """The effective options of the earlier half of the runs, and of the later half."""

    earlier: float
    later: float

    @property
    def direction(self) -> Direction:
        """Narrowing or widening only where the change is clear."""
        if self.later * CLEAR_CHANGE <= self.earlier:
            return "narrowing"
        if self.later >= self.earlier * CLEAR_CHANGE:
            return "widening"
        return "steady"

    def to_json(self) -> JsonObject:
        """Return it as plain JSON."""
        return {
            "direction": self.direction,
            "earlier": round(self.earlier, _PLACES),
            "later": round(self.later, _PLACES),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseReport:
    """The findings about a group; with too few runs, only their number."""

    status: Status
    total_runs: int
    pool_size: int = 0
    entropy_bits: float = 0.0
    diversity: float = 0.0
    effective_options: float = 0.0
    top_share: float = 0.0
    most_common: tuple[tuple[str, int], ...] = ()
    trend: Trend | None = None

    def to_json(self) -> JsonObject:
        """Return it as plain JSON.

        Numbers are rounded, so that the same runs give the same bytes.
        """
        if self.status == "insufficient_runs":
            return {"status": self.status, "total_runs": self.total_runs}

        return {
            "status": self.status,
            "total_runs": self.total_runs,
            "pool_size": self.pool_size,
            "entropy_bits": round(self.entropy_bits, _PLACES),
            "diversity": round(self.diversity, _PLACES),
            "effective_options": round(self.effective_options, _PLACES),
            "top_share": round(self.top_share, _PLACES),
            "most_common": [list(pair) for pair in self.most_common],
            "trend": self.trend.to_json() if self.trend else None,
        }


def collapse(tally: Tally) -> CollapseReport:
    """Report on a group.

    It has collapsed if its diversity is low or a single answer has most of the runs.
    """
    runs = len(tally.order)
    if runs < FEWEST_RUNS:
        return CollapseReport(status="insufficient_runs", total_runs=runs)

    counts = tally.counts()
    pool_size = len(tally.pool)
    spread = diversity(counts.values())
    share = spread.out_of(pool_size)
    collapsed = share < COLLAPSED_BELOW or spread.top_share >= COLLAPSED_FROM

    return CollapseReport(
        status="collapsed" if collapsed else "diverse",
        total_runs=runs,
        pool_size=pool_size,
        entropy_bits=spread.entropy_bits,
        diversity=share,
        effective_options=spread.effective_options,
        top_share=spread.top_share,
        most_common=_most_common(counts),
        trend=_trend(tally),
    )


def _most_common(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    by_frequency = sorted(counts.items(), key=lambda pair: -pair[1])
    return tuple(by_frequency[:_MOST_COMMON])


def _trend(tally: Tally) -> Trend | None:
    runs = len(tally.order)
    if runs < FEWEST_FOR_A_TREND:
        return None

    half = runs // 2
    earlier = diversity(tally.counts(tally.order[:half]).values())
    later = diversity(tally.counts(tally.order[half:]).values())
    return Trend(earlier.effective_options, later.effective_options)


def tally_answers(answers: Iterable[JsonObject], form: NameForm = plain) -> Tally:
    """Count whole answers of a group. Raises InvalidRun."""
    tally = Tally(form)
    for answer in answers:
        tally.add(*selection_of(answer))
    return tally

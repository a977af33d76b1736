"""Mode collapse: whether an agent, asked the same again and again, always says the same.

Counting is streamed: a tally per group keeps what was chosen, in the order it came, and what was on the table. Nothing else
of an answer is held, so that a hundred thousand stored answers fit easily.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.research.names import plain
from accordance.domain.research.quality import part
from accordance.errors import InvalidRun

Same: TypeAlias = Callable[[str], str]
Status: TypeAlias = Literal["insufficient_runs", "collapsed", "diverse"]
Direction: TypeAlias = Literal["narrowing", "steady", "widening"]

FEWEST_RUNS: Final = 2
COLLAPSED_BELOW: Final = 0.3  # diversity
COLLAPSED_FROM: Final = 0.8  # share of the top answer
FEWEST_FOR_A_TREND: Final = 8
CLEAR_CHANGE: Final = 1.25  # of effective options, one half against the other
_TOP: Final = 3


class StoredSelection(NamedTuple):
    """What one run selected and what it selected from."""

    selected: str
    offered: tuple[str, ...] = ()


def choice_of(answer: JsonObject) -> StoredSelection:
    """The choice of an answer. Raises InvalidRun for one that selects nothing."""
    metadata = part(answer, "vs_metadata")
    selected = part(metadata, "final_selection").get("option")
    if not isinstance(selected, str) or not plain(selected):
        raise InvalidRun(
            "missing:vs_metadata.final_selection.option: an answer that selects nothing cannot be counted"
        )
    entries = metadata.get("t_scores")
    offered = [
        option
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(option := entry.get("option"), str)
    ]
    return StoredSelection(selected, tuple(offered))


@dataclass(slots=True)
class Tally:
    """The choices of one group, as they come."""

    same: Same = plain
    names: dict[str, str] = field(
        default_factory=dict
    )  # the plain name -> as it was first written
    order: array[int] = field(
        default_factory=lambda: array("I")
    )  # one number per run: which option
    pool: set[str] = field(default_factory=set)
    _index: dict[str, int] = field(default_factory=dict)

    def add(self, selected: str, offered: Iterable[str] = ()) -> None:
        """Count one run."""
        name = self.same(selected)
        self.order.append(self._index.setdefault(name, len(self._index)))
        self.names.setdefault(name, selected)
        self.offer((selected,))
        self.offer(offered)

    def offer(self, options: Iterable[str]) -> None:
        """Note what was on the table, whether or not it was chosen."""
        self.pool.update(map(self.same, options))

    def counts(self, runs: Sequence[int] | None = None) -> dict[str, int]:
        """How often each option was chosen, as it was first written, in the order of first sight."""
        counted = [0] * len(self._index)
        for at in self.order if runs is None else runs:
            counted[at] += 1
        return {
            self.names[name]: counted[at]
            for name, at in self._index.items()
            if counted[at]
        }


@dataclass(frozen=True, slots=True)
class Diversity:
    """How spread a number of choices is."""

    runs: int
    entropy_bits: float
    top_share: float

    @property
    def effective_options(self) -> float:
        """As many equally likely options would be as diverse."""
        return 2**self.entropy_bits

    def out_of(self, pool: int) -> float:
        """Entropy as a share of what these runs over that pool could reach."""
        reachable = math.log2(min(self.runs, pool))
        return self.entropy_bits / reachable if reachable else 0.0


def diversity(counts: Iterable[int]) -> Diversity:
    """Shannon entropy in bits, and the share of the most frequent."""
    found = list(counts)
    total = sum(found)
    entropy = sum(
        -share * math.log2(share) for count in found if (share := count / total)
    )
    return Diversity(total, max(entropy, 0.0), max(found) / total)


@dataclass(frozen=True, slots=True)
class Trend:
    """The later half of the runs against the earlier one, by effective options."""

    earlier: float
    later: float

    @property
    def direction(self) -> Direction:
        """Narrowing or widening only where the change is clear."""
        if self.later * CLEAR_CHANGE <= self.earlier:
            return "narrowing"
        return "widening" if self.later >= self.earlier * CLEAR_CHANGE else "steady"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseReport:
    """What can be said of one group. With too few runs: nothing but that."""

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
        """As plain JSON, numbers rounded to six places so that the same runs give the same bytes."""
        if self.status == "insufficient_runs":
            return {"status": self.status, "total_runs": self.total_runs}
        return {
            "status": self.status,
            "total_runs": self.total_runs,
            "pool_size": self.pool_size,
            "entropy_bits": round(self.entropy_bits, 6),
            "diversity": round(self.diversity, 6),
            "effective_options": round(self.effective_options, 6),
            "top_share": round(self.top_share, 6),
            "most_common": [list(pair) for pair in self.most_common],
            "trend": self.trend
            and {
                "direction": self.trend.direction,
                "earlier": round(self.trend.earlier, 6),
                "later": round(self.trend.later, 6),
            },
        }


def collapse(tally: Tally) -> CollapseReport:
    """Collapsed if the diversity is low or one answer has most of the runs; silent on fewer than two runs."""
    counts = tally.counts()
    total = len(tally.order)
    if total < FEWEST_RUNS:
        return CollapseReport(status="insufficient_runs", total_runs=total)
    whole = diversity(counts.values())
    share = whole.out_of(len(tally.pool))
    collapsed = share < COLLAPSED_BELOW or whole.top_share >= COLLAPSED_FROM
    return CollapseReport(
        status="collapsed" if collapsed else "diverse",
        total_runs=total,
        pool_size=len(tally.pool),
        entropy_bits=whole.entropy_bits,
        diversity=share,
        effective_options=whole.effective_options,
        top_share=whole.top_share,
        most_common=_most_common(counts),
        trend=_trend(tally),
    )


def _most_common(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: -pair[1])[:_TOP])


def _trend(tally: Tally) -> Trend | None:
    if len(tally.order) < FEWEST_FOR_A_TREND:
        return None
    half = len(tally.order) // 2
    earlier, later = (
        diversity(tally.counts(runs).values())
        for runs in (tally.order[:half], tally.order[half:])
    )
    return Trend(earlier.effective_options, later.effective_options)


def tally_answers(answers: Iterable[JsonObject], same: Same = plain) -> Tally:
    """Count whole answers of one group. Raises InvalidRun."""
    tally = Tally(same)
    for answer in answers:
        tally.add(*choice_of(answer))
    return tally


def harness_report(answers: Sequence[JsonObject]) -> JsonObject:
    """The numbers as the harness beside seed 002 gives them, names compared to the letter. Raises InvalidRun.

    It divides by the distinct answers instead of the options there were, and judges a single run; kept for comparison.
    """
    tally = tally_answers(answers, same=str)
    counts = tally.counts()
    if not counts:
        raise InvalidRun("no runs: nothing can be counted")
    reachable = math.log2(len(counts))
    score = diversity(counts.values()).entropy_bits / reachable if reachable else 0
    return {
        "unique_recommendations": len(counts),
        "total_runs": len(tally.order),
        "diversity_score": score,
        "mode_collapse_detected": score < COLLAPSED_BELOW,
        "most_common": [list(pair) for pair in _most_common(counts)],
    }

"""How many requests each caller may send: a bucket that fills up again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_MOST_BUCKETS: Final = 50_000


@dataclass(slots=True)
class Buckets:
    """A bucket for each caller. It holds `burst` requests, and fills at a rate."""

    per_second: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _levels: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, caller: str) -> float:
        """Take a request out; return the seconds to wait, 0 if a request was left."""
        moment = self.clock()
        level, at = self._levels.get(caller, (self.burst, moment))
        gained = (moment - at) * self.per_second
        level = min(self.burst, level + gained)
        if level < 1:
            self._levels[caller] = level, moment
            return (1 - level) / self.per_second
        if caller not in self._levels and len(self._levels) >= _MOST_BUCKETS:
            self._drop_full(moment)
        self._levels[caller] = level - 1, moment
        return 0.0

    def _drop_full(self, moment: float) -> None:
        """Forget callers whose bucket is full again: a new bucket is the same."""
        full_after = self.burst / self.per_second
        self._levels = {
            caller: (level, at)
            for caller, (level, at) in self._levels.items()
            if moment - at < full_after
        }

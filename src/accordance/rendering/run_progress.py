"""How far a run is, in a line."""

from __future__ import annotations

from dataclasses import dataclass

from accordance.rendering.amounts import counted
from accordance.rendering.durations import duration_text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPace:
    """How far a run is: counts, time and cost so far."""

    done: int
    tasks: int
    elapsed_seconds: float
    seconds_left: float | None  # None: cannot be estimated yet
    tokens: int
    cost: float

    def line(self) -> str:
        """Return it as a line; what is not known is left out."""
        parts = [
            f"{self.done} of {counted(self.tasks, 'task')} done",
            duration_text(self.elapsed_seconds),
        ]
        if self.seconds_left is not None:
            parts.append(f"about {duration_text(self.seconds_left)} left")
        if self.tokens:
            parts.append(counted(self.tokens, "token"))
        if self.cost:
            parts.append(f"cost {self.cost:.4f}")
        return ", ".join(parts)

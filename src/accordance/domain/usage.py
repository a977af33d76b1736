"""What an attempt cost, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the attempt cost, and who made it. None is what was not measured."""

    tokens: int | None = None
    cost: float | None = None
    duration_ms: int | None = None
    model: str | None = None
    executor: str | None = None
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What an attempt may cost, beside the task's timeoutMs. None is no limit."""

    tokens: int | None = None
    cost: float | None = None

"""Whether the attempt cost more than it may."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate, Result


def budget(case: Case) -> Result:
    """Tokens, money and time stay within their limits, where there are limits and somebody measured."""
    return Result(
        Gate.BUDGET,
        (
            *case.noticed(Gate.BUDGET),
            *_over("BUDGET_EXCEEDED", "tokens", case.usage.tokens, case.budget.tokens),
            *_over("BUDGET_EXCEEDED", "cost", case.usage.cost, case.budget.cost),
            *_over("TIMEOUT_EXCEEDED", "milliseconds", case.usage.duration_ms, case.task.timeoutMs),
        ),
    )


def _over(code: str, what: str, used: float | None, limit: float | None) -> Iterator[Finding]:
    if used is not None and limit is not None and used > limit:
        yield Finding(Gate.BUDGET, code, f"{what}: {used} used, {limit} allowed", (what,))

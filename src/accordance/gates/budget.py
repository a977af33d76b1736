"""Whether the attempt cost, or changed, more than it may."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate, Result


def budget(case: Case) -> Result:
    """Tokens, money, time and the size of the change stay within their limits, where somebody set and measured them."""
    pins = case.task.pins
    return Result(
        Gate.BUDGET,
        (
            *case.noticed(Gate.BUDGET),
            *_over("BUDGET_EXCEEDED", "tokens", case.usage.tokens, case.budget.tokens),
            *_over("BUDGET_EXCEEDED", "cost", case.usage.cost, case.budget.cost),
            *_over(
                "TIMEOUT_EXCEEDED",
                "milliseconds",
                case.usage.duration_ms,
                case.task.timeoutMs,
            ),
            *_too_large(
                "files", len(case.facts.changes.changes), "max_files", pins.max_files
            ),
            *_too_large("lines", case.facts.lines, "max_loc", pins.max_loc),
        ),
    )


def _too_large(
    what: str, changed: int | None, bound: str, most: int | None
) -> Iterator[Finding]:
    """A change that is larger than its pins allow. A smaller one may do, so it can be tried again."""
    if most is None:
        return
    if changed is None:
        yield Finding(
            Gate.BUDGET,
            "EVIDENCE_INVALID",
            f"pins.{bound} is {most}, and nobody counted {what}",
        )
    elif changed > most:
        text = f"the change is too large: {changed:,} {what}, pins.{bound} allows {most:,}; make a smaller one"
        yield Finding(Gate.BUDGET, "SPLIT_REQUIRED", text, (bound,))


def _over(
    code: str, what: str, used: float | None, limit: float | None
) -> Iterator[Finding]:
    if used is not None and limit is not None and used > limit:
        yield Finding(
            Gate.BUDGET, code, f"{what}: {used} used, {limit} allowed", (what,)
        )

"""Whether the attempt cost, or changed, more than it may."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate, Result


def budget(case: Case) -> Result:
    """Tokens, money, time and the size of the change stay within their limits.

    A limit that is not set, or that was not measured, holds nothing back. Only the size
    of the change must be measured where the pins limit it.
    """
    findings = (
        *case.noticed(Gate.BUDGET),
        *_costs(case),
        *_sizes(case),
    )
    return Result(Gate.BUDGET, findings)


def _costs(case: Case) -> Iterator[Finding]:
    usage, limits = case.usage, case.budget
    yield from _over("BUDGET_EXCEEDED", "tokens", usage.tokens, limits.tokens)
    yield from _over("BUDGET_EXCEEDED", "cost", usage.cost, limits.cost)

    time_limit = case.task.timeoutMs
    yield from _over("TIMEOUT_EXCEEDED", "milliseconds", usage.duration_ms, time_limit)


def _over(
    code: str,
    unit: str,
    used: float | None,
    limit: float | None,
) -> Iterator[Finding]:
    if used is None or limit is None:
        return
    if used > limit:
        yield Finding(
            Gate.BUDGET,
            code,
            message=f"{unit}: {used} used, {limit} allowed",
            about=(unit,),
        )


def _sizes(case: Case) -> Iterator[Finding]:
    pins = case.task.pins
    file_count = len(case.facts.changes.changes)
    yield from _too_large("files", file_count, "max_files", pins.max_files)
    yield from _too_large("lines", case.facts.lines, "max_loc", pins.max_loc)


def _too_large(
    unit: str,
    changed: int | None,
    pin: str,
    limit: int | None,
) -> Iterator[Finding]:
    """A change larger than its pins allow. A smaller change may be tried again."""
    if limit is None:
        return

    if changed is None:
        yield Finding(
            Gate.BUDGET,
            "EVIDENCE_INVALID",
            message=f"pins.{pin} is {limit}, and {unit} were never counted",
        )
    elif changed > limit:
        text = (
            f"the change is too large: {changed:,} {unit}, "
            f"pins.{pin} allows {limit:,}; make a smaller change"
        )
        yield Finding(
            Gate.BUDGET,
            "SPLIT_REQUIRED",
            message=text,
            about=(pin,),
        )

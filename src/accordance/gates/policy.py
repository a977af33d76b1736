"""Whether anything was done that may not be done: by anybody (constitution), by this role in this task (policy)."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate, Result, listed


def constitution(case: Case) -> Result:
    """No rule was broken that no task can lift."""
    return Result(Gate.CONSTITUTION, case.noticed(Gate.CONSTITUTION))


def policy(case: Case) -> Result:
    """Only permitted tools, models and executors were used, and nothing else was noticed."""
    return Result(
        Gate.POLICY,
        (
            *case.noticed(Gate.POLICY),
            *_denied_tools(case),
            *_not_among(
                case.usage.model, case.task.allowedModels, "model", "allowedModels"
            ),
            *_not_among(
                case.usage.executor,
                case.task.allowedExecutors,
                "executor",
                "allowedExecutors",
            ),
        ),
    )


def _denied_tools(case: Case) -> Iterator[Finding]:
    if denied := sorted(case.usage.tools & case.role.denied_tools):
        message = f"the role {case.role.name} may not use {listed(denied)}"
        yield Finding(Gate.POLICY, "POLICY_VIOLATION", message, tuple(denied))


def _not_among(
    used: str | None, allowed: list[str] | None, what: str, where: str
) -> Iterator[Finding]:
    if used is not None and allowed is not None and used not in allowed:
        message = f"the {what} {used} is not among {where}: {listed(allowed)}"
        yield Finding(Gate.POLICY, "POLICY_VIOLATION", message, (used,))

"""Whether anything forbidden was done.

The constitution holds for every task; the policy is that of this role in this task.
"""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate, Result, listed


def constitution(case: Case) -> Result:
    """No rule was broken that no task can lift."""
    return Result(Gate.CONSTITUTION, case.noticed(Gate.CONSTITUTION))


def policy(case: Case) -> Result:
    """Only permitted tools, models and executors were used."""
    task, usage = case.task, case.usage
    findings = (
        *case.noticed(Gate.POLICY),
        *_denied_tools(case),
        *_not_among(usage.model, task.allowedModels, "model", "allowedModels"),
        *_not_among(
            usage.executor, task.allowedExecutors, "executor", "allowedExecutors"
        ),
    )
    return Result(Gate.POLICY, findings)


def _denied_tools(case: Case) -> Iterator[Finding]:
    denied = sorted(case.usage.tools & case.role.denied_tools)
    if denied:
        yield Finding(
            Gate.POLICY,
            "POLICY_VIOLATION",
            message=f"the role {case.role.name} may not use {listed(denied)}",
            about=tuple(denied),
        )


def _not_among(
    used: str | None,
    allowed: list[str] | None,
    kind: str,
    field: str,
) -> Iterator[Finding]:
    if used is None or allowed is None:
        return
    if used not in allowed:
        yield Finding(
            Gate.POLICY,
            "POLICY_VIOLATION",
            message=f"the {kind} {used} is not among {field}: {listed(allowed)}",
            about=(used,),
        )

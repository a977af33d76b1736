"""Whether the submission honours its contract."""

from __future__ import annotations

from accordance.contracts.violation import Rejected
from accordance.domain.case import Case
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result


def schema(case: Case) -> Result:
    """Every violation of `scc.submit.v1` is told; the submission is one finding."""
    submission = case.submission
    if not isinstance(submission, Rejected):
        return Result(Gate.SCHEMA)
    shown = submission.violations[:MAX_NAMED]
    told = "; ".join(map(str, shown))
    rest = submission.total - len(shown)
    message = f"the submission does not honour its contract: {told}" + (
        f"; and {rest} more" if rest else ""
    )
    about = tuple(f"{violation.path} {violation.code}" for violation in shown)
    return Result(
        Gate.SCHEMA, (Finding(Gate.SCHEMA, "SCHEMA_VIOLATION", message, about),)
    )

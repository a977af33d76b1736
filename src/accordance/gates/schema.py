"""Whether the submission honours its contract."""

from __future__ import annotations

from accordance.contracts.violation import Rejected
from accordance.domain.case import Case
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result


def schema(case: Case) -> Result:
    """The submission honours `scc.submit.v1`; violations make a single finding."""
    submission = case.submission
    if not isinstance(submission, Rejected):
        return Result(Gate.SCHEMA)

    violations = submission.violations[:MAX_NAMED]
    details = "; ".join(str(violation) for violation in violations)
    text = f"the submission does not honour its contract: {details}"
    further = submission.total - len(violations)
    if further:
        text += f"; and {further} more"

    about = tuple(f"{violation.path} {violation.code}" for violation in violations)
    finding = Finding(
        Gate.SCHEMA,
        "SCHEMA_VIOLATION",
        message=text,
        about=about,
    )
    return Result(Gate.SCHEMA, (finding,))

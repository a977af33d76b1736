"""What the agent itself reports: a question, or a failure."""

from __future__ import annotations

from accordance.domain.case import Case
from accordance.domain.fail_codes import normal_reason
from accordance.domain.findings import Finding, Gate, Result


def need_input(case: Case) -> Result:
    """The agent does not ask for input: a question goes to a person first."""
    claim = case.claim
    if claim is None or claim.status != "NEED_INPUT":
        return Result(Gate.NEED_INPUT)

    questions = tuple(question for question in claim.needs_input if question.strip())
    code = normal_reason(claim.reason_code) or "NEED_INPUT_REQUIRED"
    finding = Finding(
        Gate.NEED_INPUT,
        code,
        message=f"the agent asks: {' | '.join(questions)}",
        about=questions,
    )
    return Result(Gate.NEED_INPUT, (finding,))


def status(case: Case) -> Result:
    """The agent does not report a failure: work it calls failed is not done.

    Its reason becomes the verdict's code only if it is a fail code; any other reason
    stands in the text alone.
    """
    claim = case.claim
    if claim is None or claim.status != "FAILED":
        return Result(Gate.STATUS)

    code = normal_reason(claim.reason_code) or "EXECUTOR_ERROR"
    reason = (claim.fail_code or "").strip() or code
    text = f"the submission says that it failed ({reason})"
    if claim.summary:
        text += f": {claim.summary}"
    finding = Finding(
        Gate.STATUS,
        code,
        message=text,
        about=(code,),
    )
    return Result(Gate.STATUS, (finding,))

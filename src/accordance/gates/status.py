"""What the agent itself says: whether it asks for something, whether it has failed."""

from __future__ import annotations

from accordance.contracts.catalogue.submit import Submit
from accordance.domain.case import Case
from accordance.domain.fail_codes import normal_reason
from accordance.domain.findings import Finding, Gate, Result


def need_input(case: Case) -> Result:
    """An agent that asks is answered by a person before anything else is asked of it."""
    claim = case.claim
    if claim is None or claim.status != "NEED_INPUT":
        return Result(Gate.NEED_INPUT)
    questions = tuple(question for question in claim.needs_input if question.strip())
    code = normal_reason(claim.reason_code) or "NEED_INPUT_REQUIRED"
    message = f"the agent asks: {' | '.join(questions)}"
    return Result(
        Gate.NEED_INPUT, (Finding(Gate.NEED_INPUT, code, message, questions),)
    )


def status(case: Case) -> Result:
    """Work the agent itself calls failed is not done, however green it looks."""
    claim = case.claim
    if claim is None or claim.status != "FAILED":
        return Result(Gate.STATUS)
    code = normal_reason(claim.reason_code) or "EXECUTOR_ERROR"
    why = f": {claim.summary}" if claim.summary else ""
    return Result(
        Gate.STATUS,
        (
            Finding(
                Gate.STATUS,
                code,
                f"the submission says that it failed{_in_its_words(claim, code)}{why}",
                (code,),
            ),
        ),
    )


def _in_its_words(claim: Submit, code: str) -> str:
    """The reason as the agent gives it. Only a fail code becomes the verdict's; anything else is told and no more."""
    words = (claim.fail_code or "").strip()
    return f" ({words or code})"

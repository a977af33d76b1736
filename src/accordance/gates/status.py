"""What the agent itself reports: a question, or a failure."""

from __future__ import annotations

from typing import Final

from accordance.contracts.catalogue.submit import Submit
from accordance.domain.case import Case
from accordance.domain.facts import WITH_TEST_REPORTS
from accordance.domain.fail_codes import normal_reason
from accordance.domain.findings import Finding, Gate, Result

_NOTHING_CHANGED: Final = Finding(
    Gate.STATUS,
    "NOTHING_CHANGED",
    message="the submission reports success, but no file was changed",
)


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
    """The agent reports success, and something was changed."""
    claim = case.claim
    if claim is None:
        return Result(Gate.STATUS)
    if claim.status == "FAILED":
        return Result(Gate.STATUS, (_reported_failure(claim),))
    if claim.status == "DONE" and _nothing_changed(case):
        return Result(Gate.STATUS, (_NOTHING_CHANGED,))
    return Result(Gate.STATUS)


def _nothing_changed(case: Case) -> bool:
    """Whether a task that asks for a change has got none.

    What a rebased change does may be there already, from another change.
    """
    if case.is_rebase:
        return False
    facts = case.facts
    is_asked_for = case.role.tests_required and not case.task.allow_no_change
    if facts.version < WITH_TEST_REPORTS or not is_asked_for:
        return False
    return not facts.changes.paths()


def _reported_failure(claim: Submit) -> Finding:
    """Work that the agent calls failed is not done.

    Its reason becomes the verdict's code only if it is a fail code; any other reason
    stands in the text alone.
    """
    code = normal_reason(claim.reason_code) or "EXECUTOR_ERROR"
    stated = claim.fail_code or ""
    reason = stated.strip() or code
    text = f"the submission says that it failed ({reason})"
    if claim.summary:
        text += f": {claim.summary}"
    return Finding(
        Gate.STATUS,
        code,
        message=text,
        about=(code,),
    )

"""The judge: from the results of the gates and the history of the task to a verdict.

Pure, so that a verdict can always be recomputed. The order of judgement is the order of
`Gate`. The first gate with a finding leads: its reason is the verdict's, and the ladder
decides what follows from it. All other findings are reported too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from accordance.domain.attempts import times_in_a_row
from accordance.domain.escalation import LadderPosition, LadderStep, Level, next_step
from accordance.domain.findings import Finding, Gate, Result, in_order
from accordance.domain.verdict import Checks, Outcome, Verdict

REJECTING: Final = frozenset((Gate.SCHEMA, Gate.CONSTITUTION, Gate.POLICY, Gate.SCOPE))
"""Work that these gates refuse needs no other try: it must not be accepted at all."""

ASKING: Final = "NEED_INPUT_REQUIRED"
BROKEN: Final = "ENVIRONMENT_BROKEN"


@dataclass(frozen=True, slots=True)
class History:
    """Where the task stands, and how earlier attempts failed, oldest first."""

    standing: LadderPosition
    earlier: Sequence[str] = ()  # signatures of verdicts


def judge(results: Iterable[Result], history: History) -> Verdict:
    """Return the verdict from the results of all gates. Raises GateNotRun."""
    ordered = in_order(results)
    checks = _checks(ordered)
    findings: list[Finding] = []
    for result in ordered:
        findings += result.findings
    if not findings:
        return Verdict(outcome=Outcome.DONE, checks=checks)

    lead = findings[0]
    step = _step(lead, history)
    return Verdict(
        outcome=_outcome(lead.gate, step),
        checks=checks,
        findings=tuple(findings),
        reason_code=lead.code,
        step=step,
        uses_attempt=_uses_attempt(lead),
    )


def _uses_attempt(lead: Finding) -> bool:
    """Whether a failure counts: a question does not, nor what no agent can help.

    Before there was a gate for the environment, the gate of the tests reported it, and
    only the code BROKEN was free.
    """
    is_free = lead.gate in (Gate.NEED_INPUT, Gate.ENVIRONMENT)
    return not is_free and lead.code != BROKEN


def _checks(results: tuple[Result, ...]) -> Checks:
    passed = {result.gate: result.passed for result in results}
    return Checks(
        schema_valid=passed[Gate.SCHEMA],
        scope_clean=passed[Gate.SCOPE],
        tests_passed=passed[Gate.TESTS] and passed[Gate.ENVIRONMENT],
        artifacts_complete=passed[Gate.EVIDENCE],
        changed_files_match=passed[Gate.FILE_MATCH],
    )


def _step(lead: Finding, history: History) -> LadderStep:
    """Return where the ladder leads.

    A question goes to a person, whatever reason the agent gives for asking.
    """
    repeats = times_in_a_row(history.earlier, lead.signature)
    reason = ASKING if lead.gate is Gate.NEED_INPUT else lead.code
    position = replace(history.standing, same_error_count=repeats)
    return next_step(reason, position)


def _outcome(gate: Gate, step: LadderStep) -> Outcome:
    if gate in REJECTING:
        return Outcome.REJECT
    if step.level is Level.RETRY:
        return Outcome.RETRY
    return Outcome.ESCALATE

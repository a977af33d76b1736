"""The verdict in both wire shapes.

`scc.verdict.v1` is PASS or FAIL (seed 004), `scc.outcome.v1` has four outcomes (seed
003). Both come from the same decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import ConfigDict

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Instant, NotNull, Open, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt

ACTIONS: Final = ("none", "retry", "model_upgrade", "role_escalation", "human", "dlq")
NEXT_ACTIONS: Final = MappingProxyType(
    {
        "DONE": ("none",),
        "RETRY": ("retry",),
        "ESCALATE": ("model_upgrade", "role_escalation", "human", "dlq"),
        "REJECT": ("retry", "model_upgrade", "role_escalation", "human", "dlq"),
    }
)
"""What may follow each verdict (seed 003).

A step up the ladder is an escalation, the same again is a retry.
"""

REJECTING_CHECKS: Final = ("schema_valid", "scope_clean")
"""A submission that fails any of these is refused (seed 003)."""


class VerdictChecks(Open):
    """The four checks of seed 004."""

    schema_valid: bool
    scope_valid: bool
    tests_passed: bool
    evidence_present: bool


class Timestamps(Open):
    """When the submission came in, and when it was judged."""

    submitted_at: Instant
    evaluated_at: Instant


class Links(Open):
    """Where the evidence lies."""

    submit_json: str
    report_md: str
    selftest_log: str
    patch_diff: str
    evidence_dir: str


class VerdictMessage(Open):
    """PASS or FAIL, as dashboards want it."""

    model_config = ConfigDict(title="Verdict")

    schema_version: Literal["scc.verdict.v1"]
    task_id: Text
    verdict: Literal["PASS", "FAIL"]
    reason_code: Annotated[str | None, NotNull] = None
    messages: list[str]
    checks: VerdictChecks
    timestamps: Timestamps
    links: Links


class OutcomeChecks(Open):
    """The five checks of seed 003."""

    schema_valid: bool
    scope_clean: bool
    tests_passed: bool
    artifacts_complete: bool
    changed_files_match: bool


class OutcomeMessage(Open):
    """What becomes of the task, as a scheduler wants it."""

    model_config = ConfigDict(title="Outcome")

    schema_version: Annotated[Literal["scc.outcome.v1"] | None, NotNull] = None
    task_id: Text
    verdict: Literal["DONE", "RETRY", "ESCALATE", "REJECT"]
    reason: str
    checks: OutcomeChecks
    next_action: Literal[
        "none", "retry", "model_upgrade", "role_escalation", "human", "dlq"
    ]


def success_needs_every_check(message: JsonObject, _: Context) -> Iterator[Violation]:
    """PASS and DONE require that every check passed."""
    verdict = message.get("verdict")
    checks = message.get("checks")
    if verdict not in ("PASS", "DONE") or not isinstance(checks, dict):
        return

    for check, passed in checks.items():
        if passed is False:
            expected = f"a verdict other than {verdict}, because {check} is false"
            yield _contradiction(expected, verdict)


def broken_bounds_are_rejected(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Where schema_valid or scope_clean is false, the verdict is REJECT."""
    verdict = message.get("verdict")
    checks = message.get("checks")
    if verdict not in ("RETRY", "ESCALATE") or not isinstance(checks, dict):
        return

    for check in REJECTING_CHECKS:
        if checks.get(check) is False:
            yield _contradiction(f"REJECT, because {check} is false", verdict)


def _contradiction(expected: str, verdict: object) -> Violation:
    return Violation(
        "verdict_contradicts_checks",
        path="$.verdict",
        expected=expected,
        actual=str(verdict),
    )


def next_action_fits(message: JsonObject, _: Context) -> Iterator[Violation]:
    """DONE leads to none, RETRY to retry, ESCALATE higher, REJECT to any but none."""
    verdict = message.get("verdict")
    next_action = message.get("next_action")
    if not isinstance(verdict, str) or next_action not in ACTIONS:
        return
    fitting = NEXT_ACTIONS.get(verdict, ACTIONS)
    if next_action in fitting:
        return

    choices = ", ".join(fitting)
    if len(fitting) > 1:
        choices = f"one of {choices}"
    yield Violation(
        "next_action_contradicts",
        path="$.next_action",
        expected=f"{choices}, because the verdict is {verdict}",
        actual=excerpt(next_action),
    )


VERDICT: Final = Contract(
    version="scc.verdict.v1",
    name="verdict",
    about=(
        "The verdict on a submission as PASS or FAIL, with four checks, messages, "
        "times and links."
    ),
    model=VerdictMessage,
    rules=(is_about_the_task, success_needs_every_check),
)
OUTCOME: Final = Contract(
    version="scc.outcome.v1",
    name="outcome",
    about=(
        "The verdict on a submission as DONE, RETRY, ESCALATE or REJECT, with five "
        "checks and the next action."
    ),
    model=OutcomeMessage,
    rules=(
        is_about_the_task,
        success_needs_every_check,
        broken_bounds_are_rejected,
        next_action_fits,
    ),
)

"""Who a failure is the fault of: the agent's work, the task, or the environment.

A machine that cannot run tests says nothing about a change. So the reader of a verdict
must see at once whether there is something to mend in the change or somewhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.fail_codes import fail_code
from accordance.domain.findings import Finding, Gate
from accordance.domain.verdict import Verdict
from accordance.errors import UnknownCode


class Cause(StrEnum):
    """What has to change before the work can be accepted."""

    CHANGE = "change"  # the agent's work
    TASK = "task"
    ENVIRONMENT = "environment"  # the machine, or what is installed on it
    QUESTION = "question"  # nothing is wrong: the agent asks


CAUSES: Final[Mapping[Cause, str]] = MappingProxyType(
    {
        Cause.CHANGE: "the change",
        Cause.TASK: "the task, not the agent's work",
        Cause.ENVIRONMENT: "the environment, not the agent's work",
        Cause.QUESTION: "a question of the agent's",
    }
)
"""Every cause in words."""


def cause_of(finding: Finding) -> Cause:
    """Return the cause of a finding.

    What the agent itself gives as its reason is no fact about the environment.
    """
    if finding.gate is Gate.NEED_INPUT:
        return Cause.QUESTION
    try:
        owner = fail_code(finding.code).owner
    except UnknownCode:  # a code of the agent's own
        return Cause.CHANGE
    if owner == "system" and finding.gate is not Gate.STATUS:
        return Cause.ENVIRONMENT
    return Cause.TASK if owner == "task" else Cause.CHANGE


def cause_of_verdict(verdict: Verdict) -> Cause | None:
    """Return the cause of the leading finding; None where the work is done."""
    if not verdict.findings:
        return None
    return cause_of(verdict.findings[0])

"""What can go wrong while an executor works: the kinds of fault, the fail code of each, and whether waiting helps."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class Fault(StrEnum):
    """Why a run ended without a message."""

    STOPPED = "stopped"
    REFUSED = "refused"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    UNKNOWN_MODEL = "unknown_model"
    UNAUTHORISED = "unauthorised"
    KEY_MISSING = "key_missing"
    REJECTED = "rejected"
    TOO_LONG = "too_long"
    SERVER_ERROR = "server_error"
    CUT = "cut"
    GARBAGE = "garbage"
    FLOODED = "flooded"
    SILENT = "silent"
    CRASHED = "crashed"
    NOT_INSTALLED = "not_installed"
    NOT_ISOLATED = "not_isolated"
    OVER_BUDGET = "over_budget"
    UNPREPARED = "unprepared"
    NO_EXECUTOR = "no_executor"


class FaultPage(NamedTuple):
    """One kind of fault."""

    code: str
    meaning: str
    passes: bool = False  # the same call may go well a little later


FAULTS: Final[Mapping[Fault, FaultPage]] = MappingProxyType(
    {
        Fault.STOPPED: FaultPage("EXECUTOR_ERROR", "The run was stopped from outside; it says nothing about the task.", True),
        Fault.REFUSED: FaultPage("LLM_REFUSAL", "The model will not do it."),
        Fault.TIMED_OUT: FaultPage("TIMEOUT_EXCEEDED", "The run took longer than it may."),
        Fault.RATE_LIMITED: FaultPage("EXECUTOR_ERROR", "The model's provider wants fewer calls.", True),
        Fault.UNAVAILABLE: FaultPage("MODEL_UNAVAILABLE", "The model's endpoint is not there, is overloaded or has no quota left.", True),
        Fault.UNKNOWN_MODEL: FaultPage("MODEL_UNAVAILABLE", "The endpoint knows no such model."),
        Fault.UNAUTHORISED: FaultPage("PERMISSION_DENIED", "The endpoint does not take this key."),
        Fault.KEY_MISSING: FaultPage("PERMISSION_DENIED", "The environment variable that holds the key is not set."),
        Fault.REJECTED: FaultPage("EXECUTOR_ERROR", "The endpoint will not take the request."),
        Fault.TOO_LONG: FaultPage("SPLIT_REQUIRED", "What the model has to read does not fit into it."),
        Fault.SERVER_ERROR: FaultPage("EXECUTOR_ERROR", "The endpoint failed.", True),
        Fault.CUT: FaultPage("EXECUTOR_ERROR", "The answer broke off.", True),
        Fault.GARBAGE: FaultPage("EXECUTOR_ERROR", "The endpoint's answer is not in its own protocol.", True),
        Fault.FLOODED: FaultPage("EXECUTOR_ERROR", "More was said than may be."),
        Fault.SILENT: FaultPage("EXECUTOR_ERROR", "The run ended and said nothing."),
        Fault.CRASHED: FaultPage("EXECUTOR_ERROR", "The program ended by a signal, by a limit or with an error, and said nothing."),
        Fault.NOT_INSTALLED: FaultPage("DEPENDENCY_MISSING", "The program or package that does the work is not installed."),
        Fault.NOT_ISOLATED: FaultPage("ISOLATION_UNAVAILABLE", "This machine cannot keep the program apart as it must be."),
        Fault.OVER_BUDGET: FaultPage("BUDGET_EXCEEDED", "The run has used up its tokens or its money."),
        Fault.UNPREPARED: FaultPage("PREFLIGHT_FAILED", "The task or the repository it is about cannot be used as it is; nobody was asked to work."),
        Fault.NO_EXECUTOR: FaultPage("DEPENDENCY_MISSING", "No executor is configured for the task, or no route leads to one; nobody was asked to work."),
    }
)  # fmt: skip
"""Every kind. Codes are those of `fail_codes`, but for LLM_REFUSAL, which is an action's own."""

_FIRST_PAUSE: Final = 1.0  # seconds, doubled each time in a row
_LONGEST_PAUSE: Final = 60.0
_LONGEST_ASKED: Final = 600.0  # whatever a provider asks for


def pause_after(fault: Fault | None, asked: float | None, in_a_row: int) -> float:
    """How many seconds the same executor is left in peace: as long as it asks, else longer each time it fails in a row."""
    if fault is None or fault is Fault.STOPPED or not FAULTS[fault].passes:
        return 0.0
    if asked is not None:
        return min(max(0.0, asked), _LONGEST_ASKED)
    return float(min(_FIRST_PAUSE * 2 ** min(in_a_row - 1, 10), _LONGEST_PAUSE))

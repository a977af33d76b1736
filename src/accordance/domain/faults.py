"""What can go wrong while an executor works.

Each kind of fault has a fail code, and waiting either helps or does not.
"""

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
    ENVIRONMENT = "environment"
    OVER_BUDGET = "over_budget"
    UNPREPARED = "unprepared"
    NO_EXECUTOR = "no_executor"
    NO_SPACE = "no_space"
    STORE_AWAY = "store_away"
    CONFLICT = "conflict"
    FOREIGN_PUSH = "foreign_push"
    REMOTE_AWAY = "remote_away"


class FaultPage(NamedTuple):
    """The description of a kind of fault."""

    code: str
    meaning: str
    passes: bool = False  # transient: the same call may succeed a little later
    mend: str = ""  # the cause lies outside the task: what a person does about it


FAULTS: Final[Mapping[Fault, FaultPage]] = MappingProxyType(
    {
        Fault.STOPPED: FaultPage(
            "EXECUTOR_ERROR",
            "The run was stopped from outside, which says nothing about the task.",
            passes=True,
        ),
        Fault.REFUSED: FaultPage(
            "LLM_REFUSAL",
            "The model refused to do it.",
        ),
        Fault.TIMED_OUT: FaultPage(
            "TIMEOUT_EXCEEDED",
            "The run took longer than allowed.",
        ),
        Fault.RATE_LIMITED: FaultPage(
            "EXECUTOR_ERROR",
            "The model's provider wants fewer calls.",
            passes=True,
        ),
        Fault.UNAVAILABLE: FaultPage(
            "MODEL_UNAVAILABLE",
            (
                "The model's endpoint cannot be reached, is overloaded or has no quota"
                " left."
            ),
            passes=True,
            mend="wait until the endpoint answers, or check its address",
        ),
        Fault.UNKNOWN_MODEL: FaultPage(
            "MODEL_UNAVAILABLE",
            "The endpoint knows no such model.",
        ),
        Fault.UNAUTHORISED: FaultPage(
            "PERMISSION_DENIED",
            "The endpoint does not accept the key.",
        ),
        Fault.KEY_MISSING: FaultPage(
            "PERMISSION_DENIED",
            "The environment variable that holds the key is not set.",
            mend="set the variable",
        ),
        Fault.REJECTED: FaultPage(
            "EXECUTOR_ERROR",
            "The endpoint does not accept the request.",
        ),
        Fault.TOO_LONG: FaultPage(
            "SPLIT_REQUIRED",
            "The prompt is too long for the model.",
        ),
        Fault.SERVER_ERROR: FaultPage(
            "EXECUTOR_ERROR",
            "The endpoint failed.",
            passes=True,
        ),
        Fault.CUT: FaultPage(
            "EXECUTOR_ERROR",
            "The answer broke off.",
            passes=True,
        ),
        Fault.GARBAGE: FaultPage(
            "EXECUTOR_ERROR",
            "The endpoint's answer does not follow its own protocol.",
            passes=True,
        ),
        Fault.FLOODED: FaultPage(
            "EXECUTOR_ERROR",
            "The run printed more than allowed.",
        ),
        Fault.SILENT: FaultPage(
            "EXECUTOR_ERROR",
            "The run ended without any output.",
        ),
        Fault.CRASHED: FaultPage(
            "EXECUTOR_ERROR",
            "A signal, a limit or an error ended the program, without any output.",
        ),
        Fault.NOT_INSTALLED: FaultPage(
            "DEPENDENCY_MISSING",
            "The program or package that does the work is not installed.",
            mend="install it",
        ),
        Fault.NOT_ISOLATED: FaultPage(
            "ISOLATION_UNAVAILABLE",
            "This machine cannot isolate the program as required.",
            mend="install what isolates programs",
        ),
        Fault.ENVIRONMENT: FaultPage(
            "ENVIRONMENT_BROKEN",
            "What the tests need could not be prepared; no work was started.",
        ),
        Fault.OVER_BUDGET: FaultPage(
            "BUDGET_EXCEEDED",
            "The run has used up its budget of tokens or money.",
        ),
        Fault.UNPREPARED: FaultPage(
            "PREFLIGHT_FAILED",
            "The task or its repository cannot be used as it is; no work was started.",
            mend="mend the settings, the task or its repository",
        ),
        Fault.NO_EXECUTOR: FaultPage(
            "DEPENDENCY_MISSING",
            (
                "No executor is configured for the task, or no route leads to it; no"
                " work was started."
            ),
            mend="add an executor or a route to accordance.toml",
        ),
        Fault.NO_SPACE: FaultPage(
            "EXECUTOR_ERROR",
            "There is no space left on the disk.",
            mend="make room on the disk",
        ),
        Fault.STORE_AWAY: FaultPage(
            "DEPENDENCY_MISSING",
            "The blob store does not answer; what it holds is needed, or has to go there.",
            mend="wait until the blob store answers, or check [blobs] of accordance.toml",
        ),
        Fault.CONFLICT: FaultPage(
            "MERGE_CONFLICT",
            "The change does not apply to the plan's new head.",
        ),
        Fault.FOREIGN_PUSH: FaultPage(
            "MERGE_CONFLICT",
            "The plan's branch has commits that this ledger did not make.",
            mend=(
                "take them in with `accordance plan rebase`, or give them another name"
                " and delete the branch"
            ),
        ),
        Fault.REMOTE_AWAY: FaultPage(
            "REPOSITORY_UNAVAILABLE",
            (
                "The remote of the repository cannot be reached, wants credentials or"
                " refuses a push."
            ),
            mend="make the remote usable from this machine",
        ),
    }
)
"""Every kind. The codes are those of `fail_codes`; LLM_REFUSAL is an action's own."""

_ADVICE: Final[Mapping[Fault, str]] = MappingProxyType(
    {
        Fault.TIMED_OUT: "Do less, and answer in time.",
        Fault.FLOODED: "Say less: only the message counts.",
        Fault.SILENT: "End with your message.",
        Fault.CRASHED: "End with your message, whatever happens on the way.",
        Fault.CUT: "Keep your answer short.",
        Fault.OVER_BUDGET: "Read and say less.",
    }
)
"""What the next attempt can do about a fault, where it can do anything."""


def describe_fault(fault: Fault, text: str) -> str:
    """Describe a fault for the next attempt."""
    meaning = FAULTS[fault].meaning.removesuffix(".")
    detail = f" ({text})" if text else ""
    description = f"No message came: {meaning}{detail}."
    if fault in _ADVICE:
        return f"{description} {_ADVICE[fault]}"
    return description


_FIRST_PAUSE: Final = 1.0  # seconds, doubled after each failure in a row
_MAX_DOUBLINGS: Final = 10
_LONGEST_PAUSE: Final = 60.0
_LONGEST_REQUESTED_PAUSE: Final = 600.0  # whatever a provider asks for


def pause_after(fault: Fault | None, asked: float | None, in_a_row: int) -> float:
    """Return how many seconds the executor is left alone after a fault.

    That is as long as its provider asks for, else longer after each failure in a row.
    """
    if fault is None or fault is Fault.STOPPED:
        return 0.0
    if not FAULTS[fault].passes:
        return 0.0
    if asked is not None:
        return min(max(0.0, asked), _LONGEST_REQUESTED_PAUSE)
    doublings = min(in_a_row - 1, _MAX_DOUBLINGS)
    pause: float = _FIRST_PAUSE * 2**doublings
    return min(pause, _LONGEST_PAUSE)

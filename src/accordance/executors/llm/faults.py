"""From exceptions of pydantic-ai to kinds of fault."""

from __future__ import annotations

from typing import Final

from pydantic_ai import exceptions

from accordance.domain.faults import Fault
from accordance.executors.redaction import without_key

_FAULTS: Final[tuple[tuple[type[Exception], Fault], ...]] = (
    (exceptions.ContentFilterError, Fault.REFUSED),
    (exceptions.ModelRateLimitError, Fault.RATE_LIMITED),
    (exceptions.ModelQuotaExceededError, Fault.UNAVAILABLE),
    (exceptions.ModelUnavailableError, Fault.UNAVAILABLE),
    (exceptions.ModelServerError, Fault.SERVER_ERROR),
    (exceptions.ModelRequestTimeout, Fault.TIMED_OUT),
    (exceptions.ModelTimeoutError, Fault.TIMED_OUT),
    (exceptions.ModelAuthenticationError, Fault.UNAUTHORISED),
    (exceptions.ModelNotFoundError, Fault.UNKNOWN_MODEL),
    (exceptions.ModelContextWindowExceededError, Fault.TOO_LONG),
    (exceptions.ModelRequestRejectedError, Fault.REJECTED),
    (exceptions.ModelAPIError, Fault.GARBAGE),
    (exceptions.UnexpectedModelBehavior, Fault.GARBAGE),
    (exceptions.UserError, Fault.REJECTED),
    (ValueError, Fault.GARBAGE),
)
"""The first kind that matches counts."""

_TEXT_CHARACTERS: Final = 300


def fault_of(error: Exception) -> Fault:
    """Return the kind of fault.

    A connection that broke is not the same as a connection that was never made.
    """
    is_timeout = isinstance(error, exceptions.ModelTimeoutError)
    if isinstance(error, exceptions.ModelConnectionError) and not is_timeout:
        return Fault.CUT if error.phase == "read" else Fault.UNAVAILABLE

    for kind, fault in _FAULTS:
        if isinstance(error, kind):
            return fault
    return Fault.CRASHED


def never_reached_model(error: Exception) -> bool:
    """Whether the call was not sent, or was turned down before any answer."""
    if isinstance(error, exceptions.ModelConnectionError):
        return error.phase != "read"
    if isinstance(error, exceptions.ModelHTTPError):
        return not error.in_stream
    return isinstance(error, exceptions.UserError)


def seconds_to_wait(error: Exception) -> float | None:
    """Return how long the provider asks to wait, if it does."""
    return error.retry_after if isinstance(error, exceptions.ModelAPIError) else None


def describe_error(error: Exception, key: str) -> str:
    """Return the error as a short line, without the key: some endpoints repeat it."""
    one_line = " ".join(str(error).split())
    text = without_key(one_line, key)
    return f"{type(error).__name__}: {text[:_TEXT_CHARACTERS]}"

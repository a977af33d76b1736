"""What a failed call means: pydantic-ai's exceptions as kinds of fault."""

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
"""The first kind that fits counts."""


def fault_of(error: Exception) -> Fault:
    """The kind of fault. A connection that was there and broke is another one than a connection that never was."""
    if isinstance(error, exceptions.ModelConnectionError) and not isinstance(
        error, exceptions.ModelTimeoutError
    ):
        return Fault.CUT if error.phase == "read" else Fault.UNAVAILABLE
    return next(
        (fault for kind, fault in _FAULTS if isinstance(error, kind)), Fault.CRASHED
    )


def is_turned_away(error: Exception) -> bool:
    """Whether the call never came to a model: not sent, or answered with an error before anything else."""
    if isinstance(error, exceptions.ModelConnectionError):
        return error.phase != "read"
    if isinstance(error, exceptions.ModelHTTPError):
        return not error.in_stream
    return isinstance(error, exceptions.UserError)


def wait_of(error: Exception) -> float | None:
    """How long the provider asks to wait, if it does."""
    return error.retry_after if isinstance(error, exceptions.ModelAPIError) else None


def words_of(error: Exception, key: str) -> str:
    """The error in a line, and not a long one; without the key, which some endpoints repeat."""
    said = without_key(" ".join(str(error).split()), key)
    return f"{type(error).__name__}: {said[:300]}"

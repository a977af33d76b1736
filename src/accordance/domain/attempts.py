"""When something is tried again in the same way: the rule, and its default limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_ATTEMPTS: Final = 3
"""Failed attempts of a task, unless the task, its role or the settings allow fewer."""

SAME_ERROR_LIMIT: Final = 2
"""After the same error so many times in a row, the same way is not tried again."""


def why_not_again(
    failed: int,
    max_attempts: int,
    same: int,
    same_error_limit: int,
) -> str | None:
    """Return why an attempt is not repeated in the same way; None where it may be.

    It is repeated while attempts remain and the same error has not come too often in a
    row. `failed` and `same` include this failure.
    """
    if failed >= max_attempts:
        return "MAX_ATTEMPTS_EXCEEDED"
    if same >= same_error_limit:
        return "REPEATED_ERROR"
    return None


def times_in_a_row(earlier: Sequence[str], error: str) -> int:
    """Return how often in a row an error has come, this time included.

    `earlier` has the oldest first.
    """
    count = 1
    for earlier_error in reversed(earlier):
        if earlier_error != error:
            break
        count += 1
    return count

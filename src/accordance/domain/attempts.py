"""When something is tried again in the same way: the one rule, and its limits where nobody sets others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

MAX_ATTEMPTS: Final = 3
"""Failed attempts of a task, where neither the task nor its role nor the settings say less."""

SAME_ERROR_LIMIT: Final = 2
"""The same error so many times in a row, and trying again in the same way is pointless."""


def why_not_again(
    failed: int, max_attempts: int, same: int, same_error_limit: int
) -> str | None:
    """Why an attempt is not repeated in the same way; None where it may be.

    It is repeated while attempts remain and the same error has not come too often in a row. `failed` and `same` count this
    failure too.
    """
    if failed >= max_attempts:
        return "MAX_ATTEMPTS_EXCEEDED"
    if same >= same_error_limit:
        return "REPEATED_ERROR"
    return None


def times_in_a_row(earlier: Sequence[str], error: str) -> int:
    """How often in a row an error has come, this time included; `earlier` has the oldest first."""
    repeated = takewhile(lambda before: before == error, reversed(earlier))
    return 1 + sum(1 for _ in repeated)

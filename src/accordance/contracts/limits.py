"""The limits on bad input, in a single place so that reader, guard and report agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a message may be. The defaults allow a plan of 50,000 nodes."""

    max_bytes: int = 16 * 1024 * 1024
    max_depth: int = 64  # including the root object
    max_digits: int = 4300  # Python refuses to print longer integers


LIMITS: Final = Limits()
MAX_REPORTED: Final = 50  # violations, and warnings, that are listed; all are counted
MAX_EXCERPT: Final = 80  # characters of the message shown in a violation
MAX_KEY: Final = 100  # characters of a key shown in a path

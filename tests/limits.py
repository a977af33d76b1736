"""How long tests wait for what is sure to come."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT = 600
"""Seconds after which a test that hangs is ended: no test may fail because the machine is busy."""


def until(holds: Callable[[], bool]) -> None:
    """Wait for what other processes do; the limit only keeps a test from hanging."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)

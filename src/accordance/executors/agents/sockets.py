"""Sockets in a folder whose path may be longer than the name of a socket can be."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def within(folder: Path) -> Iterator[str]:
    """A short name for a folder, good while the block runs."""
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{place}"
    finally:
        os.close(place)

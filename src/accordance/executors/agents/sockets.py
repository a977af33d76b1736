"""Unix sockets in folders whose paths exceed the length limit of a socket address."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def within(folder: Path) -> Iterator[str]:
    """Yield a short path to a folder, valid while the block runs."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)

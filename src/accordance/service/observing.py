"""A process that is watched: its logs and its traces, as the settings say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from accordance.project.home import Home
from accordance.telemetry.exporting import exported
from accordance.telemetry.log_formats import LogFormat
from accordance.telemetry.logs import logged

__all__ = ["LogFormat", "observed"]


@contextmanager
def observed(home: Home, *, log_format: LogFormat | None = None) -> Iterator[None]:
    """Write logs and send traces as long as the block runs. Raises TelemetryMissing."""
    settings = home.settings()
    telemetry = settings.telemetry
    with ExitStack() as stack:
        stack.enter_context(
            logged(log_format or settings.logging.format, settings.logging.level)
        )
        stack.enter_context(
            exported(
                telemetry.endpoint,
                telemetry.service,
                contents=telemetry.contents,
                environment=os.environ,
            )
        )
        yield

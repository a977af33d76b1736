"""Running the real command line, as a process."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.limits import LIMIT
from tests.measured import FOR_PROCESSES, environment_of_a_watched_process

ROOT = Path(__file__).parent.parent.parent
READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_")
"""Variables that the interpreter reads when it starts: a command with its own needs an interpreter of its own."""


COMMAND_LINE = "accordance.cli.main"


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


def accordance(
    *args: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> Ran:
    """Run `accordance` in a process of its own. The time limit only keeps a hanging command from hanging the tests."""
    words = [str(word) for word in args]
    environment = {**os.environ, **(env or {})}
    if any(name.startswith(READ_AT_START) for name in env or ()):
        command = [sys.executable, "-m", "accordance.cli.main", *words]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=LIMIT,
            cwd=cwd,
            check=False,
            env=environment,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    return _standby().run(words, stdin, cwd or Path.cwd(), environment)


def run_module(name: str, *words: str | Path | int) -> str:
    """Run a module of the tests in a process of its own, which may fork: it has one thread."""
    texts = [str(word) for word in words]
    done = _standby().run(texts, b"", ROOT, dict(os.environ), module=name)
    assert done.code == 0, done.err[-3000:]
    return done.out


def interruptible() -> dict[str, str]:
    """An environment for a process that gets a signal: coverage is left out.

    Coverage holds a lock while it notes a file. An exception that a signal raises just
    then leaves it locked, and the process waits for ever.
    """
    return {name: value for name, value in os.environ.items() if name != FOR_PROCESSES}


def path_with_accordance() -> str:
    """A PATH on which `accordance` is the command under test, for shell scripts."""
    others = os.environ.get("PATH", os.defpath)
    return os.pathsep.join((programs_with_accordance(), others))


def programs_with_accordance() -> str:
    """The folder with that command alone."""
    return str(_standby().programs)


CALL = """\
import json, os, socket, sys
request = {"module": "accordance.cli.main", "words": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(%r)
    socket.send_fds(connection, [json.dumps(request).encode() + b"\\n"], [0, 1, 2])
    with connection.makefile() as answers:
        answers.readline()
        sys.exit(int(answers.readline()))
"""
"""A program that has the standby process run a command on the caller's streams."""


class Standby:
    """The process of tests/acceptance/standby.py, and how to ask it for a command."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="standby-")
        self._address = str(Path(self._folder.name, "door"))
        command = [sys.executable, "-m", "tests.acceptance.standby", self._address]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment_of_a_watched_process(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        self.programs = Path(self._folder.name, "bin")
        self.programs.mkdir()
        program = self.programs / "accordance"
        program.write_text(f"#!{sys.executable} -IS\n{CALL % self._address}")
        program.chmod(0o755)

    def run(
        self,
        words: list[str],
        stdin: bytes,
        folder: Path,
        environment: dict[str, str],
        module: str = COMMAND_LINE,
    ) -> Ran:
        """One command, from its start to its end."""
        asked = {
            "module": module,
            "words": words,
            "folder": str(folder),
            "environment": environment,
        }
        request = json.dumps(asked).encode() + b"\n"
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            given.write(stdin)
            given.seek(0)
            connection.settimeout(LIMIT)
            connection.connect(self._address)
            socket.send_fds(
                connection, [request], [given.fileno(), out.fileno(), err.fileno()]
            )
            with connection.makefile() as answers:
                command = int(answers.readline())
                try:
                    code = int(answers.readline())
                except TimeoutError:
                    os.kill(command, signal.SIGKILL)
                    raise
            out.seek(0)
            err.seek(0)
            return Ran(code, out.read().decode(), err.read().decode())

    def stop(self) -> None:
        """End it; commands that still run go on to their own end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(LIMIT)
        self._process.stdout.close()
        self._folder.cleanup()


@functools.cache
def _standby() -> Standby:
    standby = Standby()
    atexit.register(standby.stop)
    return standby

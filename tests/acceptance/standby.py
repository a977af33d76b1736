"""A process with accordance already imported: it forks once for every command, so that no command pays for imports.

Each command is still a process of its own, with its own folder, environment, streams and exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from tests.measured import BY_TEST, FOR_PROCESSES, import_everything

IMPORTED_LATE = ("genai_prices.data", "pydantic_ai.models.openai")
"""What commands import when they first ask a model: 0.8 s of each that does."""
REQUEST_PART = 256 * 1024
"""Bytes that are read at once; a request ends with a line feed."""


def main(address: str) -> None:
    """Import everything, then serve requests until standard input ends: the tests are over, or were killed."""
    _prepare()
    commands: dict[int, socket.socket] = {}
    ended = _wake_when_a_command_ends()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select((door, ended, sys.stdin), (), ())
            if ended in ready:
                ended.recv(4096)
                _tell_exit_codes(commands)
            if door in ready:
                _start_a_command(door, commands)
            elif sys.stdin in ready:
                return


def _prepare() -> None:
    with _unwatched():
        import_everything()
        for name in IMPORTED_LATE:
            importlib.import_module(name)
        _build_models()
        _make_a_ledger()
    gc.freeze()


def _build_models() -> None:
    """They are built when they are first used: 30 ms of every command that reads a plan or settings."""
    from pydantic import BaseModel

    models = [BaseModel]
    while models:
        model = models.pop()
        models += model.__subclasses__()
        if model.__module__.startswith("accordance."):
            model.model_rebuild()


def _make_a_ledger() -> None:
    """Its migrations import what nothing else does: 0.4 s of every first command in a project."""
    from accordance.store.opening import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        open_ledger(Path(folder, "ledger.db")).close()


@contextlib.contextmanager
def _unwatched() -> Iterator[None]:
    """Without coverage: the first worker of the tests watches the same imports.

    Every command would inherit what was seen and write it again, 0.2 s for each.
    """
    measured = sys.modules.get("coverage")
    current = measured.Coverage.current() if measured else None
    if current is None:
        yield
        return
    current.stop()
    yield
    current._warn_preimported_source = False
    current.start()


def _wake_when_a_command_ends() -> socket.socket:
    """A socket that can be read after any child has ended, however many did."""
    ended, told = socket.socketpair()
    ended.setblocking(False)
    told.setblocking(False)
    signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return ended


def _start_a_command(door: socket.socket, commands: dict[int, socket.socket]) -> None:
    """Start it in a child, and say its process id."""
    connection, _ = door.accept()
    request, streams, _, _ = socket.recv_fds(connection, REQUEST_PART, 3)
    while not request.endswith(b"\n"):
        request += connection.recv(REQUEST_PART)
    command = os.fork()
    if command == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in (door, connection, *commands.values()):
            other.close()
        _become(json.loads(request), streams)
    for stream in streams:
        os.close(stream)
    commands[command] = connection
    _say(connection, command)


def _tell_exit_codes(commands: dict[int, socket.socket]) -> None:
    """Say how commands that have ended did so."""
    while commands:
        command, status = os.waitpid(-1, os.WNOHANG)
        if command == 0:
            return
        with commands.pop(command) as connection:
            _say(connection, os.waitstatus_to_exitcode(status))


def _say(connection: socket.socket, number: int) -> None:
    """Write a line; nobody reads it if the test was killed."""
    with contextlib.suppress(OSError):
        connection.sendall(f"{number}\n".encode())


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be a module, as if the interpreter had just been started with it and these words."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    time.tzset()
    tempfile.tempdir = None
    _tell_coverage(request["environment"])
    module = importlib.import_module(request["module"])
    try:
        module.main(request["words"])
    except SystemExit as end:
        _end(end.code)
    except Exception:  # noqa: BLE001 - what an interpreter does with it
        traceback.print_exc()
        _end(1)
    _end(0)


def _tell_coverage(environment: dict[str, str]) -> None:
    """Stop where the test that waits is not watched.

    For tools/mutants.py, which asks which tests run which line: these are lines of that test.
    """
    measured = sys.modules.get("coverage")
    current = measured.Coverage.current() if measured else None
    if current is None:
        return
    if FOR_PROCESSES not in environment:
        current.stop()
    elif BY_TEST in environment:
        test, _, _ = environment["PYTEST_CURRENT_TEST"].rpartition(" ")
        current.switch_context(f"{test}|run")


def _end(code: object) -> NoReturn:
    """What an interpreter does when it ends, but for tearing down two thousand modules: that takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main(sys.argv[1])

"""A process with accordance already imported: it forks once for every command, so that no command pays for imports.

Each command is still a process of its own, with its own folder, environment, streams and exit code.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

COMMAND_LIMIT = 256 * 1024
"""Bytes of a request: arguments and environment."""
NOT_IMPORTED = (
    "accordance.store.migrations",
    "accordance.workspace.inside",
    "accordance.asking",
)
"""Modules that other programs load, and those that no command needs."""
BY_TEST = "COVERAGE_BY_TEST"
"""The variable that is set while lines are measured test by test."""


def main(address: str) -> None:
    """Import everything, then serve requests until standard input ends: the tests are over, or were killed."""
    _import_everything()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while door in select.select((door, sys.stdin), (), ())[0]:
            connection, _ = door.accept()
            if os.fork() == 0:
                door.close()
                _serve(connection)
            connection.close()
            _reap()


def _import_everything() -> None:
    import accordance

    for module in pkgutil.walk_packages(accordance.__path__, "accordance."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    _make_a_ledger()
    _write_coverage_of_the_imports()
    gc.freeze()


def _make_a_ledger() -> None:
    """Its migrations import what nothing else does: 0.4 s of every first command in a project."""
    from accordance.store.opening import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        open_ledger(Path(folder, "ledger.db")).close()


def _write_coverage_of_the_imports() -> None:
    """Otherwise every command inherits it and writes it again: 0.2 s for each."""
    measured = sys.modules.get("coverage")
    current = measured.Coverage.current() if measured else None
    if current is not None:
        current.stop()
        current.save()
        current.start()


def _serve(connection: socket.socket) -> None:
    """Start the command in a child, say its process id, then its exit code."""
    request, streams, _, _ = socket.recv_fds(connection, COMMAND_LIMIT, 3)
    command = os.fork()
    if command == 0:
        connection.close()
        _become(json.loads(request), streams)
    connection.sendall(f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Be the command line, as if the interpreter had just been started with these words."""
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
    from accordance.cli.main import main as command_line

    try:
        command_line(request["words"])
    except SystemExit as end:
        _end(end.code)


def _tell_coverage(environment: dict[str, str]) -> None:
    """For tools/mutants.py, which asks which tests run which line: these are lines of the test that waits."""
    if BY_TEST not in environment:
        return
    from coverage import Coverage

    measuring = Coverage.current()
    if measuring is not None:
        test, _, _ = environment["PYTEST_CURRENT_TEST"].rpartition(" ")
        measuring.switch_context(f"{test}|run")


def _end(code: object) -> NoReturn:
    """What an interpreter does when it ends, but for tearing down two thousand modules: that takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


def _reap() -> None:
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            return


if __name__ == "__main__":
    main(sys.argv[1])

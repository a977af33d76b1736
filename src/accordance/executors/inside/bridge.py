"""Starts an agent in a sandbox without a network and gives it one address: its model, behind a socket in its folder.

Runs as `python -I -S -c SOURCE FOLDER SOCKET PORT COMMAND...`: listens on loopback inside, passes everything on to the
socket, and ends with the command. The listener is there before the command begins.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading

CHUNK = 1 << 16


def connect(folder: str, name: str) -> socket.socket:
    """Connect to a socket in a folder, however long the folder's path is."""
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        there = socket.socket(socket.AF_UNIX)
        there.connect(f"/proc/self/fd/{place}/{name}")
    finally:
        os.close(place)
    return there


def copy(source: socket.socket, target: socket.socket) -> None:
    """Pass on until there is no more."""
    with contextlib.suppress(OSError):
        while said := source.recv(CHUNK):
            target.sendall(said)
        target.shutdown(socket.SHUT_WR)


def serve(
    listener: socket.socket, folder: str, name: str
) -> None:  # pragma: no cover - inside a sandbox
    """Pass every connection on."""
    while True:
        here = listener.accept()[0]
        try:
            there = connect(folder, name)
        except OSError:
            here.close()
            continue
        for ends in ((here, there), (there, here)):
            threading.Thread(target=copy, args=ends, daemon=True).start()


def main() -> None:  # pragma: no cover - inside a sandbox
    """Listen, then become the keeper of the command."""
    folder, name, port, *command = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", int(port)))
    threading.Thread(target=serve, args=(listener, folder, name), daemon=True).start()
    with subprocess.Popen(command) as agent:  # noqa: S603 - the agent itself
        code = agent.wait()
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":  # pragma: no cover
    main()

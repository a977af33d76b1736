"""Starts an agent in a sandbox without a network, with a single address: its model.

Runs as `python -I -S -c SOURCE FOLDER SOCKET PORT COMMAND...`: listens on loopback
inside the sandbox, passes everything on to the socket, and ends with the command. The
listener is there before the command begins.
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
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        remote = socket.socket(socket.AF_UNIX)
        remote.connect(f"/proc/self/fd/{descriptor}/{name}")
    finally:
        os.close(descriptor)
    return remote


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until the source ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def serve(  # pragma: no cover - inside a sandbox
    listener: socket.socket, folder: str, name: str
) -> None:
    """Pass every connection on to the socket."""
    while True:
        local = listener.accept()[0]
        try:
            remote = connect(folder, name)
        except OSError:
            local.close()
            continue

        for ends in ((local, remote), (remote, local)):
            threading.Thread(target=copy, args=ends, daemon=True).start()


def main() -> None:  # pragma: no cover - inside a sandbox
    """Listen, run the command, and end with its exit code."""
    folder, name, port, *command = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", int(port)))
    threading.Thread(target=serve, args=(listener, folder, name), daemon=True).start()

    with subprocess.Popen(command) as agent:  # noqa: S603 - the agent itself
        code = agent.wait()

    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":  # pragma: no cover
    main()

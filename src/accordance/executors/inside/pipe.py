"""Connects standard input and output to a socket: how an agent reaches `submit`.

Runs inside the sandbox as `python -I -S -c SOURCE FOLDER SOCKET`, so that the server
itself can stay outside.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

CHUNK = 1 << 16
STDIN = 0
STDOUT = 1


def main() -> None:  # pragma: no cover - inside a sandbox
    """Copy both ways until either side ends."""
    folder, name = sys.argv[1:3]
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    remote = socket.socket(socket.AF_UNIX)
    remote.connect(f"/proc/self/fd/{descriptor}/{name}")

    def send() -> None:
        while data := os.read(STDIN, CHUNK):
            remote.sendall(data)
        remote.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()

    while data := remote.recv(CHUNK):
        while data:
            written = os.write(STDOUT, data)
            data = data[written:]


if __name__ == "__main__":  # pragma: no cover
    main()

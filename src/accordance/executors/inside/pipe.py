"""Standard input and output of this process, connected to a socket outside: how an agent reaches its `submit` tool.

Runs inside the sandbox as `python -I -S -c SOURCE FOLDER SOCKET`, so that the server itself can stay outside.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

CHUNK = 1 << 16


def main() -> None:  # pragma: no cover - inside a sandbox
    """Pass both ways on until one side ends."""
    place = os.open(sys.argv[1], os.O_PATH | os.O_DIRECTORY)
    there = socket.socket(socket.AF_UNIX)
    there.connect(f"/proc/self/fd/{place}/{sys.argv[2]}")

    def outwards() -> None:
        while said := os.read(0, CHUNK):
            there.sendall(said)
        there.shutdown(socket.SHUT_WR)

    threading.Thread(target=outwards, daemon=True).start()
    while said := there.recv(CHUNK):
        while said:
            said = said[os.write(1, said) :]


if __name__ == "__main__":  # pragma: no cover
    main()

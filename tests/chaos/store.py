"""An S3-compatible store that answers 503 when it is told to.

Run as a process of its own (`python -m tests.chaos.store`). It prints its address, then
obeys a command a line: `refuse` and `serve`.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterable
from typing import Any

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)
from werkzeug.serving import make_server

from tests.chaos.helper_process import HelperProcess, say
from tests.s3_server import BUCKET, make_bucket


class _Door:
    """Moto's store, which may be closed for a while."""

    def __init__(self) -> None:
        self._store = DomainDispatcherApplication(create_backend_app)
        self.refuses = False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self.refuses:
            start_response("503 Service Unavailable", [("Content-Length", "0")])
            return []
        answer: Iterable[bytes] = self._store(environ, start_response)
        return answer


def _serve() -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line for each request
    door = _Door()
    server = make_server("127.0.0.1", 0, door, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    make_bucket(address, BUCKET)
    say(address)
    for line in sys.stdin:
        door.refuses = line.strip() == "refuse"
        say("ok")


class Store(HelperProcess):
    """The store, as the process of the faults sees it."""

    def __init__(self) -> None:
        super().__init__("store")
        self.address = self.first_line

    def refuse(self) -> None:
        """Answer every request with 503."""
        self.send("refuse")

    def serve(self) -> None:
        """Answer again."""
        self.send("serve")


if __name__ == "__main__":
    _serve()

"""An S3-compatible server of the tests' own on loopback: moto's, in a thread."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

KEY = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "secret"}
BUCKET = "blobs"


@contextmanager
def s3_server() -> Iterator[str]:
    """Run a server with an empty bucket; yields its address."""
    pytest.importorskip("moto", reason="moto is not installed")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        make_bucket(address, BUCKET)
        yield address
    finally:
        server.stop()


def make_bucket(address: str, name: str) -> None:
    """Make a bucket."""
    request = urllib.request.Request(f"{address}/{name}", method="PUT")
    with urllib.request.urlopen(request):
        pass

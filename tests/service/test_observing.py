"""Traces that really leave the process, and those that do not."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from accordance.project.home import Home
from accordance.project.settings import SETTINGS
from accordance.service.observing import observed
from accordance.telemetry import tracing
from accordance.telemetry.names import SCHEMA_URL


@contextlib.contextmanager
def collector() -> Iterator[tuple[str, queue.Queue[tuple[str, bytes]]]]:
    """A collector on loopback: its address, and what it was sent."""
    got: queue.Queue[tuple[str, bytes]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            got.put((self.path, self.rfile.read(length)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("by", ["settings", "environment"])
def test_spans_reach_a_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Named in the settings or in the environment; at the end of the block at the latest."""
    with collector() as (address, got):
        settings = ""
        if by == "settings":
            settings = f'[telemetry]\nendpoint = "{address}"\nservice = "here"\n'
        else:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
            monkeypatch.setenv("OTEL_SERVICE_NAME", "here")
        (tmp_path / SETTINGS).write_text(settings)
        with observed(Home(tmp_path)), tracing.span("hello", {"a": 1}):
            pass
        path, body = got.get(timeout=60)
    assert not tracing.is_on()
    assert path == "/v1/traces"
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    names = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert names["service.name"] == "here"
    (scope,) = resource.scope_spans
    assert scope.schema_url == SCHEMA_URL
    assert [span.name for span in scope.spans] == ["hello"]


def test_nothing_leaves_by_default(tmp_path: Path) -> None:
    """Neither a span nor a thread."""
    before = threading.active_count()
    with observed(Home(tmp_path)), tracing.span("hello"):
        assert not tracing.is_on()
        assert threading.active_count() == before

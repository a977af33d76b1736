"""Requests and notifications in traces, and requests in logs."""

from __future__ import annotations

import io
import json

from accordance.service.project import Project
from accordance.telemetry.logs import logged
from tests.server.stage import serving
from tests.server.test_webhooks import ALLOWED, Receiver, ask_person
from tests.spans import recorded

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def test_a_request_and_its_problem(project: Project) -> None:
    """A caller's trace goes on; a problem says which, and a query is in no span."""
    with (
        recorded() as spans,
        serving(project) as served,
        served.client(served.key("admin")) as client,
    ):
        headers = {"traceparent": TRACEPARENT}
        found = client.get("/v1/tasks/a?secret=sesame", headers=headers)
        missing = client.get("/v1/tasks/nowhere", headers=headers)
        alone = client.get("/v1/tasks/nowhere")
        stray = client.get("/nowhere")
    assert "trace" not in found.json()
    assert missing.json()["trace"] == TRACE
    assert alone.json()["trace"] not in ("", TRACE)
    assert len(stray.json()["trace"]) == 32

    good, bad, _ = spans.named("GET /v1/tasks/{task}")
    assert good.parent is not None
    assert f"{good.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert (good.attributes or {})["http.response.status_code"] == 200
    assert (bad.attributes or {})["http.response.status_code"] == 404
    assert bad.status.is_unset  # a fault of the caller is none of the server
    assert "sesame" not in "".join(span.to_json() for span in spans.all)


def test_without_traces_a_problem_has_none(project: Project) -> None:
    """Whatever a caller sends."""
    with serving(project) as served, served.client(served.key("admin")) as client:
        headers = {"traceparent": TRACEPARENT}
        answer = client.get("/v1/tasks/nowhere", headers=headers)
    assert "trace" not in answer.json()


def test_a_notification_belongs_to_its_task(project: Project) -> None:
    """Its target gets the span in which it was sent, within the trace of the plan."""
    receiver = Receiver()
    with (
        recorded() as spans,
        receiver.listening() as url,
        serving(project, settings=ALLOWED) as served,
        served.client(served.key("admin")) as client,
    ):
        body = {"url": url, "kinds": ["question.asked"]}
        client.post("/v1/webhooks", json=body).raise_for_status()
        ask_person(client)
        headers, _ = receiver.got.get(timeout=30)
    (sent,) = spans.named("accordance.webhook")
    place = f"00-{sent.context.trace_id:032x}-{sent.context.span_id:016x}-01"
    assert headers["traceparent"] == place
    assert sent.parent is not None
    assert (sent.attributes or {})["accordance.notification"] == "question.asked"


def test_requests_in_the_log(project: Project) -> None:
    """Each has a line, with the place of its span, and no key of anybody."""
    out = io.StringIO()
    with (
        recorded(),
        logged("json", "info", out),
        serving(project) as served,
    ):
        key = served.key("admin")
        with served.client(key) as client:
            client.get("/v1/tasks/a")
            client.get(f"/v1/{key}")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    (line,) = [line for line in lines if line["event"] == "GET /v1/tasks/a 200"]
    assert line["level"] == "info"
    assert len(line["trace"]) == 32
    assert key not in out.getvalue()

"""Webhooks: signed, sent again, logged; never into the private network by accident."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from accordance.project.server_settings import ServerSettings
from accordance.service import webhooks
from accordance.service.project import Project
from accordance.service.webhooks import InvalidWebhook, PrivateTarget, target_of
from tests.server.stage import serving
from tests.server.test_runs import until

ALLOWED = ServerSettings(private_webhooks=True, requests_per_second=1000, burst=1000)


@dataclass
class Receiver:
    """A target on loopback: what has come, and what it answers."""

    statuses: list[int] = field(default_factory=list)
    hangs: threading.Event | None = None
    got: queue.Queue[tuple[dict[str, str], bytes]] = field(default_factory=queue.Queue)

    @contextlib.contextmanager
    def listening(self) -> Iterator[str]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                receiver.got.put(
                    ({k.lower(): v for k, v in self.headers.items()}, body)
                )
                if receiver.hangs is not None:
                    receiver.hangs.wait(30)
                status = receiver.statuses.pop(0) if receiver.statuses else 204
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            if self.hangs is not None:
                self.hangs.set()
            server.shutdown()
            server.server_close()


def ask_person(client: Any) -> None:
    """Have a task ask a person."""
    client.post("/v1/tasks/next", json={}).raise_for_status()
    body = {"attempt": 1, "question": "Which?"}
    client.post("/v1/tasks/a/ask", json=body).raise_for_status()


def test_a_question_is_told_and_signed(project: Project) -> None:
    """With the headers of Standard Webhooks; the log says that it was taken."""
    receiver = Receiver()
    with (
        receiver.listening() as url,
        serving(project, settings=ALLOWED) as served,
        served.client(served.key("admin")) as client,
    ):
        body = {"url": url, "kinds": ["question.asked"]}
        hook = client.post("/v1/webhooks", json=body).json()
        ask_person(client)
        headers, content = receiver.got.get(timeout=30)
        path = f"/v1/webhooks/{hook['webhook_id']}/deliveries"
        (delivery,) = until(
            lambda: client.get(path).json()["items"],
            lambda items: bool(items) and items[0]["state"] == "delivered",
        )
        listed = client.get("/v1/webhooks").json()["items"]

    told = json.loads(content)
    assert told["type"] == "question.asked"
    assert told["data"]["task_id"] == "a"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode()
    key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
    digest = hmac.new(key, signed + content, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert (delivery["attempts"], delivery["status"]) == (1, 204)
    assert "secret" not in listed[0]


def test_a_target_that_hangs_stops_no_other(project: Project) -> None:
    """Its delivery fails and waits; the others are taken meanwhile."""
    hanging = Receiver(hangs=threading.Event())
    ready = Receiver()
    with (
        hanging.listening() as slow,
        ready.listening() as quick,
        serving(project, settings=ALLOWED) as served,
        served.client(served.key("admin")) as client,
    ):
        served.state.senders[0].seconds = 0.5
        hooks = [
            client.post("/v1/webhooks", json={"url": url}).json()["webhook_id"]
            for url in (slow, quick)
        ]
        ask_person(client)
        ready.got.get(timeout=30)
        path = f"/v1/webhooks/{hooks[0]}/deliveries"
        (failed,) = until(
            lambda: client.get(path).json()["items"],
            lambda items: bool(items) and items[0]["attempts"] == 1,
        )
    assert failed["state"] == "waiting"
    assert failed["error"]
    assert failed["next_at"] > failed["made_at"]


def test_a_failed_delivery_is_sent_again(project: Project) -> None:
    """Later by itself, now by an admin."""
    receiver = Receiver(statuses=[500])
    with (
        receiver.listening() as url,
        serving(project, settings=ALLOWED) as served,
        served.client(served.key("admin")) as client,
    ):
        hook = client.post("/v1/webhooks", json={"url": url}).json()["webhook_id"]
        ask_person(client)
        path = f"/v1/webhooks/{hook}/deliveries"
        (failed,) = until(
            lambda: client.get(path).json()["items"],
            lambda items: bool(items) and items[0]["attempts"] == 1,
        )
        assert failed["error"] == "the target answered with 500"
        client.post(f"/v1/deliveries/{failed['delivery_id']}/redeliver")
        until(
            lambda: client.get(path).json()["items"][0]["state"],
            lambda state: state == "delivered",
        )
        client.post(f"/v1/webhooks/{hook}/remove").raise_for_status()
        assert client.get("/v1/webhooks").json() == {"items": []}
        assert client.post(f"/v1/webhooks/{hook}/remove").status_code == 404


def test_a_fault_of_the_sender_is_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts as an attempt, and the notification is sent later."""

    def fail(*_: object) -> None:
        raise KeyError("data")

    receiver = Receiver()
    with (
        receiver.listening() as url,
        serving(project, settings=ALLOWED) as served,
        served.client(served.key("admin")) as client,
    ):
        hook = client.post("/v1/webhooks", json={"url": url}).json()["webhook_id"]
        with monkeypatch.context() as broken:
            broken.setattr(webhooks, "place_of", fail)
            ask_person(client)
            path = f"/v1/webhooks/{hook}/deliveries"
            (failed,) = until(
                lambda: client.get(path).json()["items"],
                lambda items: bool(items) and items[0]["attempts"] == 1,
            )
        assert failed["error"] == "accordance itself failed: KeyError"
        client.post(f"/v1/deliveries/{failed['delivery_id']}/redeliver")
        receiver.got.get(timeout=30)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "http://localhost:80/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
    ],
)
def test_private_targets_are_refused(url: str) -> None:
    """Whatever the address looks like, where it leads counts."""
    with pytest.raises((PrivateTarget, InvalidWebhook)):
        target_of(url)


@pytest.mark.parametrize(
    "url", ["ftp://x/", "http://", "x", "http://u:p@8.8.8.8/", "http://h:99999/"]
)
def test_what_is_no_webhook(url: str) -> None:
    """Only plain web addresses."""
    with pytest.raises(InvalidWebhook):
        target_of(url, private=True)


def test_a_private_webhook_is_a_problem(project: Project) -> None:
    """An admin learns the way out; an unknown notification too."""
    with serving(project) as served, served.client(served.key("admin")) as client:
        body = {"url": "http://127.0.0.1:9/x"}
        private = client.post("/v1/webhooks", json=body)
        unknown = client.post(
            "/v1/webhooks", json={"url": "http://8.8.8.8/", "kinds": ["all"]}
        )
    assert private.json()["code"] == "private-target"
    assert "private_webhooks" in private.json()["way_out"]
    assert unknown.json()["code"] == "invalid-webhook"

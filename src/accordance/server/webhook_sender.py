"""Sends notifications: each in a thread, so that a target that hangs stops no other."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import httpx

from accordance.domain.webhooks import signature
from accordance.errors import AccordanceError
from accordance.project.server_settings import ServerSettings
from accordance.server.event_feed import Feed
from accordance.service import task_pushes, webhooks
from accordance.service.project import Project
from accordance.service.webhooks import DueDelivery, target_of
from accordance.telemetry import names, tracing

log: Final = logging.getLogger("accordance.server")
_SENDERS: Final = 8
_PER_WEBHOOK: Final = 2  # deliveries to one target at once
_LOOK_SECONDS: Final = 5.0
_SECONDS: Final = 10.0  # for a target to answer, from the connection to the status

_FAILURES: Final = (
    AccordanceError,
    httpx.HTTPError,
    OSError,  # also that time is up
    httpx.InvalidURL,
    ValueError,  # a host that fits into no header
)
"""What may go wrong with a delivery. It is noted, and the delivery tried again."""


@dataclass(slots=True)
class WebhookSender:
    """Sends the notifications of a project as long as the server runs."""

    project: Project
    settings: ServerSettings
    feed: Feed
    stopping: threading.Event
    seconds: float = _SECONDS
    _news: threading.Event = field(default_factory=threading.Event)
    _busy: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_SENDERS, "accordance webhook")
    )
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, and look whenever something has happened."""
        self.feed.listen(self._news.set)
        self._news.set()
        name = "accordance webhooks"
        self._thread = threading.Thread(
            target=self._work,
            name=name,
            daemon=True,
        )
        self._thread.start()

    def wake(self) -> None:
        """Look now."""
        self._news.set()

    def close(self) -> None:
        """End; what is under way comes to its end, or is sent again later."""
        self._news.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _work(self) -> None:
        while not self.stopping.is_set():
            self._news.wait(_LOOK_SECONDS)
            self._news.clear()
            if self.stopping.is_set():
                return
            try:
                webhooks.collect(self.project)
                task_pushes.collect(self.project)
                self._send_due()
            except AccordanceError as error:
                log.warning("webhooks wait: %s", error)

    def _send_due(self) -> None:
        for due in webhooks.take_due(self.project, _SENDERS * 4):
            with self._lock:
                is_busy = self._busy[due.webhook.webhook_id] >= _PER_WEBHOOK
                if not is_busy:
                    self._busy[due.webhook.webhook_id] += 1
            if not is_busy:
                self._pool.submit(self._deliver, due)
            # else it is due again when its lease ends

    def _deliver(self, due: DueDelivery) -> None:
        status, error = None, None
        delivery = due.delivery
        about = names.of_webhook(
            delivery.kind, due.webhook.webhook_id, delivery.delivery_id
        )
        try:
            place = webhooks.place_of(self.project, due)
            with tracing.span(
                names.WEBHOOK,
                about,
                within=place,
                kind="producer",
            ) as span:
                status = self._send(due)
                span.set(names.of_response(status, None))
            is_taken = httpx.codes.is_success(status)
            error = None if is_taken else f"the target answered with {status}"
        except _FAILURES as failure:
            error = str(failure) or type(failure).__name__
        except Exception as fault:  # a thread of the pool would hide it
            log.exception("a notification could not be sent")
            error = f"accordance itself failed: {type(fault).__name__}"
        finally:
            with self._lock:
                self._busy[due.webhook.webhook_id] -= 1
        try:
            webhooks.note_result(self.project, due.delivery, status, error)
        except AccordanceError as failure:
            log.warning("the result of a delivery is not kept: %s", failure)
        self._news.set()

    def _send(self, due: DueDelivery) -> int:
        """Send a notification to the address that was checked; return the status."""
        target = target_of(due.webhook.url, private=self.settings.private_webhooks)
        body = json.dumps(due.delivery.payload, ensure_ascii=False).encode()
        moment = int(time.time())
        name = due.delivery.delivery_id
        url = httpx.URL(due.webhook.url)
        headers = {
            "Content-Type": "application/json",
            "Host": url.netloc.decode(),
            "User-Agent": "accordance",
            "webhook-id": name,
            "webhook-timestamp": str(moment),
            "webhook-signature": signature(due.webhook.secret, name, moment, body),
        }
        if due.webhook.push is not None:
            headers.update(due.webhook.push.headers)
        span = tracing.current()
        if span is not None:
            headers["traceparent"] = str(span)
        extensions = {}
        if target.is_secure:
            extensions["sni_hostname"] = url.raw_host.decode()
        request = httpx.Request(
            "POST",
            url.copy_with(host=target.address),
            content=body,
            headers=headers,
            extensions=extensions,
        )
        return asyncio.run(_status_of(request, self.seconds))


async def _status_of(request: httpx.Request, seconds: float) -> int:
    """Send a request; return the status. The body of the answer is not read.

    Raises TimeoutError for a target that is too slow, also for a target that sends a
    byte now and then.
    """
    async with (
        asyncio.timeout(seconds),
        httpx.AsyncClient(follow_redirects=False, trust_env=False) as client,
    ):
        response = await client.send(request, stream=True)
        await response.aclose()
        return response.status_code

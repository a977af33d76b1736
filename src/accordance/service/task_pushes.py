"""Telling a client of a single task, wherever it stands: webhooks that end with it.

They are kept, signed, sent and tried again as all webhooks are.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.domain.access import Identity
from accordance.domain.client_tasks import ClientTask, life_in
from accordance.domain.webhooks import SECRET_PREFIX
from accordance.errors import NotFound
from accordance.rendering.a2a import status_update_json
from accordance.service.client_tasks import (
    client_task,
    events_filter,
    is_root,
    seen_task,
)
from accordance.service.events import EventReader
from accordance.service.project import Project, exact_task
from accordance.service.webhooks import (
    InvalidWebhook,
    new_delivery,
    new_secret,
    new_webhook_id,
    target_of,
    webhooks_of,
)
from accordance.store.clock import now
from accordance.store.webhooks import (
    WAITING,
    PushRecord,
    WebhookRecord,
    WebhooksInLedger,
)

SIGNED: Final = "standard-webhooks"
"""The scheme of targets that check the signature, instead of a header."""
KIND: Final = "a2a.task"
_MOST: Final = 500  # of a project
_MOST_OF_A_TASK: Final = 20
_LONGEST: Final = 2000
_SHORTEST_SECRET: Final = 16  # bytes
_WORD: Final = re.compile(r"[!-~]{1,200}")
_HEADER: Final = re.compile(r"[!-~](?:[ -~]{0,1998}[!-~])?")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,49}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Where a client wants to hear of a task. Secrets are shown once only."""

    task: str
    url: str
    name: str = ""
    token: str = ""
    scheme: str = ""
    credentials: str = ""


# -- made and removed


def make_push(
    project: Project,
    identity: Identity,
    push: Push,
    *,
    private: bool,
) -> Push:
    """Tell a client of a task from now on; return it with the secret.

    A push of the same name is replaced. Raises NotFound, InvalidWebhook, PrivateTarget.
    """
    seen = seen_task(project, identity, push.task)
    must_be_fit(push, private=private)
    store = webhooks_of(project)
    name = push.name or secrets.token_hex(8)
    _make_room(store, identity, seen.name, name)

    view = client_task(project, seen.name, identity.name, known=None)
    with project.ledger.read() as tx:
        number = tx.last_number()
    is_signed = push.scheme in ("", SIGNED)
    secret = push.credentials if push.scheme == SIGNED and push.credentials else None
    record = WebhookRecord(
        webhook_id=new_webhook_id(),
        url=push.url,
        secret=secret or new_secret(),
        kinds=(KIND,),
        made_by=identity.name,
        made_at=now(),
        seen=number,
        push=PushRecord(
            task=seen.name,
            plan_id=seen.task.plan_id,
            client=identity.name,
            name=name,
            scheme=push.scheme or SIGNED,
            headers=_headers(push),
            told=_hash_of(view),
            is_over=view.has_ended,
        ),
    )
    store.add(record)
    shown = _shown(record)
    return replace(shown, credentials=record.secret) if is_signed else shown


def must_be_fit(push: Push, *, private: bool) -> None:
    """Refuse a push that could not be sent. Raises InvalidWebhook, PrivateTarget."""
    target_of(push.url, private=private)
    if len(push.url) > _LONGEST:
        raise InvalidWebhook(f"the address is longer than {_LONGEST} characters")
    if push.name and not _WORD.fullmatch(push.name):
        raise InvalidWebhook("the id of a push is up to 200 letters, without a space")
    if push.scheme and not _SCHEME.fullmatch(push.scheme):
        raise InvalidWebhook("the scheme of the authentication is a single word")
    for value in (push.token, push.credentials):
        if value and not _HEADER.fullmatch(value):
            raise InvalidWebhook("a token does not fit into a header of a request")
    if push.scheme == SIGNED and push.credentials:
        _must_be_secret(push.credentials)


def _must_be_secret(text: str) -> None:
    encoded = text.removeprefix(SECRET_PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _SHORTEST_SECRET or not text.startswith(SECRET_PREFIX):
        raise InvalidWebhook(
            f"the secret is {SECRET_PREFIX} and at least {_SHORTEST_SECRET} bytes in base64",
            way_out="leave it out, and a secret is made",
        )


def _headers(push: Push) -> dict[str, str]:
    headers = {}
    if push.token:
        headers["X-A2A-Notification-Token"] = push.token
    if push.scheme not in ("", SIGNED) and push.credentials:
        headers["Authorization"] = f"{push.scheme} {push.credentials}"
    return headers


def _make_room(
    store: WebhooksInLedger,
    identity: Identity,
    task: str,
    name: str,
) -> None:
    """Remove the push that is replaced. Raises InvalidWebhook where there are too many."""
    pushes = [webhook for webhook in store.active() if webhook.push is not None]
    of_task = _of(pushes, identity, task)
    for webhook in _named(of_task, name):
        store.disable(webhook.webhook_id, by=identity.name)
        return
    if len(of_task) >= _MOST_OF_A_TASK or len(pushes) >= _MOST:
        raise InvalidWebhook(
            f"a task has at most {_MOST_OF_A_TASK} pushes, a project {_MOST}",
            way_out="delete some, or ask for the task instead",
        )


def list_pushes(project: Project, identity: Identity, task: str) -> list[Push]:
    """Return where a client hears of a task. Raises NotFound for the task."""
    seen = seen_task(project, identity, task)
    return [_shown(each) for each in _of_client(project, identity, seen.name)]


def show_push(project: Project, identity: Identity, task: str, name: str) -> Push:
    """Return a push of a client by its name. Raises NotFound."""
    return _shown(_push(project, identity, task, name))


def remove_push(project: Project, identity: Identity, task: str, name: str) -> None:
    """Tell a client no more. Raises NotFound."""
    webhook = _push(project, identity, task, name)
    webhooks_of(project).disable(webhook.webhook_id, by=identity.name)


def _push(project: Project, identity: Identity, task: str, name: str) -> WebhookRecord:
    seen = seen_task(project, identity, task)
    for webhook in _named(_of_client(project, identity, seen.name), name):
        return webhook
    raise NotFound("push", name)


def _of_client(project: Project, identity: Identity, task: str) -> list[WebhookRecord]:
    return _of(webhooks_of(project).active(), identity, task)


def _of(
    webhooks: Sequence[WebhookRecord],
    identity: Identity,
    task: str,
) -> list[WebhookRecord]:
    mine = []
    for webhook in webhooks:
        push = webhook.push
        if push is not None and (push.client, push.task) == (identity.name, task):
            mine.append(webhook)
    return mine


def _named(webhooks: Sequence[WebhookRecord], name: str) -> list[WebhookRecord]:
    named = []
    for webhook in webhooks:
        if webhook.push is not None and webhook.push.name == name:
            named.append(webhook)
    return named


def _shown(webhook: WebhookRecord) -> Push:
    push = webhook.push
    assert push is not None  # noqa: S101 - only pushes are shown
    return Push(
        task=push.task,
        url=webhook.url,
        name=push.name,
        scheme=push.scheme,
    )


# -- sending


def collect(project: Project) -> int:
    """Make deliveries of what has changed in tasks; return how many."""
    store = webhooks_of(project)
    made = 0
    for webhook in store.active():
        if webhook.push is None:
            continue
        if webhook.push.is_over:
            _end(store, webhook)
            continue
        made += _tell(project, store, webhook, webhook.push)
    return made


def _end(store: WebhooksInLedger, webhook: WebhookRecord) -> None:
    """Remove a push whose last word has arrived, or was given up."""
    deliveries = store.deliveries(webhook.webhook_id, _MOST)
    if not any(delivery.state == WAITING for delivery in deliveries):
        store.disable(webhook.webhook_id, by="accordance")


def _tell(
    project: Project,
    store: WebhooksInLedger,
    webhook: WebhookRecord,
    push: PushRecord,
) -> int:
    try:
        seen = _last_number(project, webhook, push)
        if seen is None:
            return 0
        view = client_task(project, push.task, push.client, known=None)
    except NotFound:  # its plan was deleted
        store.disable(webhook.webhook_id, by="accordance")
        return 0

    digest = _hash_of(view)
    deliveries = []
    if digest != push.told:
        deliveries.append(new_delivery(webhook, KIND, status_update_json(view)))
    noted = replace(push, told=digest, is_over=view.has_ended)
    is_ours = store.advance(webhook, seen, deliveries, noted)
    return len(deliveries) if is_ours else 0


def _last_number(
    project: Project,
    webhook: WebhookRecord,
    push: PushRecord,
) -> int | None:
    """Return the number of the last event, if anything has happened to the task.

    Raises NotFound.
    """
    task = exact_task(project, life_in(push.task)[0])
    if task.plan_id != push.plan_id:
        raise NotFound("task", push.task)  # a later plan uses the name again
    text = events_filter(task, is_root=is_root(project, task))
    reader = EventReader(project, text, after=webhook.seen)
    has_news = False
    there_is_more = True
    while there_is_more:
        entries, there_is_more = reader.next_page()
        has_news = has_news or bool(entries)
    return reader.after if has_news else None


def _hash_of(view: ClientTask) -> str:
    """Return the hash of where a task stands, whenever that was."""
    update: dict[str, Any] = status_update_json(replace(view, at=""))
    text = json.dumps(update, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""What the parts of a running server share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final, cast

from starlette.requests import HTTPConnection

from accordance.project.server_settings import ServerSettings
from accordance.server.event_feed import Feeds
from accordance.server.login import Provider
from accordance.server.rate_limits import Buckets
from accordance.server.tenants import Tenants
from accordance.server.webhook_sender import WebhookSender
from accordance.service.hosted_runs import HostedRuns

STATE: Final = "accordance.server"
"""The key of the state in the scope of every request."""


@dataclass(slots=True)
class ServerState:
    """A running server."""

    tenants: Tenants
    settings: ServerSettings  # of the process: those of the first project
    feeds: Feeds
    runs: HostedRuns
    buckets: Buckets
    strangers: Buckets  # for requests without a key that holds, by address
    public_url: str = ""
    is_secure: bool = False  # reached over TLS, here or at a trusted proxy
    doors: tuple[str, ...] = ()  # the paths of the apps that take a key
    provider: Provider | None = (
        None  # once a person logs in, or a client brings a token
    )
    senders: list[WebhookSender] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


def provider_of(state: ServerState) -> Provider:
    """Return the provider of logins and access tokens."""
    if state.provider is None:
        state.provider = Provider(state.settings.login)
    return state.provider


def state_of(connection: HTTPConnection) -> ServerState:
    """Return the state of the server that a request has come to."""
    return cast("ServerState", connection.scope[STATE])

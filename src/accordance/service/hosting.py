"""What a server lends to a face that is mounted in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from accordance.domain.access import Identity
from accordance.service.hosted_runs import HostedRuns
from accordance.service.project import Project

HOST: Final = "accordance.host"
"""The key of the host in the scope of a request."""
PUBLIC_URL: Final = "accordance.public_url"
"""The key of the address that the settings name; empty: they name none."""


class Follower(Protocol):
    """Follows events as they happen."""

    is_too_slow: bool
    """Whether it was cut off, since it did not keep up."""
    has_ended: bool
    """Whether the server stops."""

    async def take(self, seconds: float) -> Sequence[object]:
        """Return what has come; after a while, nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The server, for a request of a known caller."""

    identity: Identity
    project: Project
    runs: HostedRuns
    private_webhooks: bool
    follow: Callable[[str], AbstractAsyncContextManager[Follower]]
    """Follow the events that a filter lets through."""

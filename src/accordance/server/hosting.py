"""Lending the server to faces that are mounted in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.concurrency import run_in_threadpool

from accordance.server.event_feed import Feed, Reader
from accordance.server.state import ServerState
from accordance.server.tenants import Caller
from accordance.service.hosting import Follower, Host
from accordance.service.live_events import EventSieve


def host_for(caller: Caller, state: ServerState) -> Host:
    """Return the server as a face meets it that serves a caller."""
    tenant = caller.tenant
    feed = state.feeds.of(tenant.name, tenant.project)
    return Host(
        identity=caller.identity,
        project=tenant.project,
        runs=state.runs,
        private_webhooks=tenant.settings.private_webhooks,
        follow=_following(feed, state.settings.event_buffer),
    )


def _following(
    feed: Feed, most: int
) -> Callable[[str], AbstractAsyncContextManager[Follower]]:
    @asynccontextmanager
    async def follow(text: str) -> AsyncIterator[Follower]:
        sieve = await run_in_threadpool(EventSieve.of, feed.project, text)
        reader = Reader(sieve, most, asyncio.get_running_loop())
        try:
            await run_in_threadpool(feed.join, reader)
            yield reader
        finally:
            feed.leave(reader)

    return follow

"""What stands before the app of another face: whose page asks, who asks, and their right."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from accordance.domain.access import Right
from accordance.errors import AccordanceError, NotAllowed, NotAuthenticated
from accordance.server import access_tokens
from accordance.server.authentication import (
    CALLER,
    PROJECT_HEADER,
    admitted,
    authenticate,
    bearer_of,
    strangers_must_wait,
)
from accordance.server.hosting import host_for
from accordance.server.problems import problem
from accordance.server.state import state_of
from accordance.server.tenants import Caller
from accordance.service.hosting import HOST, PUBLIC_URL

IDENTITY: Final = "accordance.identity"
PROJECT: Final = "accordance.project"
"""The keys that a mounted app finds in its scope."""


class Guarded:
    """An ASGI app that only callers with a right reach; without a right, everybody.

    They have a key, or an access token for the path of the app.
    """

    def __init__(self, app: ASGIApp, right: Right | None, path: str) -> None:
        self.app = app
        self.right = right
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem."""
        connection = HTTPConnection(scope)
        scope[PUBLIC_URL] = state_of(connection).settings.public_url
        if self.right is None:
            await self.app(scope, receive, send)
            return
        try:
            must_be_own_page(connection)
            caller = await self._caller(connection)
            caller.identity.must(self.right)
        except NotAuthenticated as error:
            challenge = access_tokens.challenge(connection, self.path)
            refusal = problem(error, headers={"WWW-Authenticate": challenge})
            await refusal(scope, receive, send)
            return
        except AccordanceError as error:
            await problem(error)(scope, receive, send)
            return
        scope[IDENTITY] = caller.identity
        scope[PROJECT] = caller.project
        scope[HOST] = host_for(caller, state_of(connection))
        await self.app(scope, receive, send)

    async def _caller(self, connection: HTTPConnection) -> Caller:
        state = state_of(connection)
        token = bearer_of(connection)
        has_token = token is not None and access_tokens.is_access_token(token)
        if token is None or not has_token or not access_tokens.takes_tokens(state):
            return await authenticate(connection)

        wanted = connection.headers.get(PROJECT_HEADER)
        try:
            caller = await run_in_threadpool(
                access_tokens.caller_with_token, state, token, self.path, wanted
            )
        except NotAuthenticated:
            strangers_must_wait(connection)
            raise
        connection.scope[CALLER] = admitted(connection, caller)
        return caller


def must_be_own_page(connection: HTTPConnection) -> None:
    """Refuse a page of another site, also a site whose name leads here. Raises NotAllowed.

    Only browsers send an Origin. It must be the server's public address, or, on this
    machine, the address that was asked.
    """
    origin = connection.headers.get("origin")
    if origin is None:
        return
    public = urlsplit(state_of(connection).settings.public_url)
    own = []
    if public.netloc:
        own.append(f"{public.scheme}://{public.netloc}")
    if _is_loopback(connection.url.hostname or ""):
        url = connection.url
        own.append(f"{url.scheme}://{url.netloc}")
    if origin not in own:
        raise NotAllowed(
            "the request comes from a page of another site",
            way_out="set [server] public_url to the address that browsers use",
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

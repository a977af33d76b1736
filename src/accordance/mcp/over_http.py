"""MCP over streamable HTTP: the tools for agents, as an app beside the API.

The server authenticates each request and puts the caller and their project into its
scope. What an agent has is in the ledger, under the name of its key. So a session holds
nothing that could be lost: after a broken connection, a restart, or at another process,
next_task gives the agent its task back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from accordance.domain.access import Identity, worker_of_key
from accordance.errors import AccordanceError
from accordance.executors.tool_server import ToolOffer, make_server_for
from accordance.mcp.offers import INSTRUCTIONS
from accordance.mcp.tools import Desk
from accordance.service.project import Project

WORKER_HEADER: Final = "accordance-worker"
_LONGEST_NAME: Final = 60
_IDENTITY: Final = "accordance.identity"  # where the server puts them
_PROJECT: Final = "accordance.project"
_MOST_SESSIONS: Final = 2000
_NO_BOUND: Final = 1 << 40  # the server bounds what it reads; see `_whole`


class InvalidWorker(AccordanceError):
    """The name of a worker cannot be used."""

    code = "invalid-worker"


@dataclass(slots=True)
class McpDoor:
    """The app. It answers while its `lifespan` is entered."""

    _sessions: StreamableHTTPSessionManager | None = None

    # Held while an agent takes up a task, so that two sessions of it get the same task.
    _turns: WeakValueDictionary[tuple[int, str], Lock] = field(
        default_factory=WeakValueDictionary
    )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Keep sessions until the server ends."""
        server: Server[Any] = make_server_for(self._offers_for, INSTRUCTIONS)
        sessions = StreamableHTTPSessionManager(
            server,
            max_sessions=_MOST_SESSIONS,
            max_request_body_size=_NO_BOUND,
        )
        async with sessions.run():
            self._sessions = sessions
            yield
            self._sessions = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises InvalidWorker."""
        if self._sessions is None:
            raise RuntimeError("the server has not entered the lifespan")
        identity = _worker(scope[_IDENTITY], Headers(scope=scope))
        scope[_IDENTITY] = identity
        scope["user"] = _user(identity, scope[_PROJECT])
        body = await _whole(receive) if scope["method"] == "POST" else receive
        await self._sessions.handle_request(scope, body, send)

    def _offers_for(self, request: Any) -> Sequence[ToolOffer]:
        project: Project = request.scope[_PROJECT]
        identity: Identity = request.scope[_IDENTITY]
        turn = self._turns.setdefault((id(project.ledger), identity.name), Lock())
        desk = Desk(
            project,
            identity,
            any_task=False,
            resumes=True,
            lock=turn,
        )
        return desk.offers()


def _worker(identity: Identity, headers: Headers) -> Identity:
    """Return who works: the holder of the key, or a worker they name."""
    name = headers.get(WORKER_HEADER)
    if name is None:
        return identity
    has_good_length = 1 <= len(name) <= _LONGEST_NAME
    is_good = has_good_length and name.isprintable() and "/" not in name
    if not is_good or name != name.strip():
        raise InvalidWorker(
            f"Accordance-Worker has 1 to {_LONGEST_NAME} printable characters,"
            " and no slash"
        )
    return replace(identity, name=worker_of_key(identity.name, name))


def _user(identity: Identity, project: Project) -> AuthenticatedUser:
    """Return whom a session belongs to: no other caller, and no other key, may use it."""
    token = AccessToken(
        token="",
        client_id=identity.name,
        scopes=[],
        subject=identity.key_id,
        claims={"iss": str(project.home.root)},
    )
    return AuthenticatedUser(token)


async def _whole(receive: Receive) -> Receive:
    """Read a body to its end, and return what gives it again.

    A body that is too large is refused by the server here, before MCP answers.
    """
    parts: list[Message] = []
    while True:
        message = await receive()
        parts.append(message)
        if message["type"] != "http.request" or not message.get("more_body", False):
            break

    async def again() -> Message:
        return parts.pop(0) if parts else await receive()

    return again

"""What OAuth clients ask before they get a token (RFC 9728)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from accordance.errors import NotFound
from accordance.server import access_tokens
from accordance.server.login import NoLogin
from accordance.server.problems import documented
from accordance.server.routing import RepeatableRoute
from accordance.server.showing import shown
from accordance.server.state import state_of
from accordance.service.views.server import ResourceView

router = APIRouter(
    prefix=access_tokens.METADATA,
    tags=["login"],
    route_class=RepeatableRoute,
    responses=documented(404),
)


@router.get("", response_model=ResourceView)
def server_metadata(request: Request) -> Response:
    """Say where agents get access tokens for this server."""
    return _metadata(request, "")


@router.get("/{door}", response_model=ResourceView)
def door_metadata(
    request: Request, door: Annotated[str, Path(max_length=100)]
) -> Response:
    """Say where agents get access tokens for a door, such as `mcp`."""
    known = [path.removeprefix("/") for path in state_of(request).doors]
    if door not in known:
        raise NotFound("door", door, known)
    return _metadata(request, f"/{door}")


def _metadata(request: Request, path: str) -> Response:
    state = state_of(request)
    if not access_tokens.takes_tokens(state):
        raise NoLogin(
            "agents come with keys only",
            way_out="set [server.login] issuer, and audience or [server] public_url",
        )
    view = ResourceView(**access_tokens.metadata(request, state, path))
    return shown(request, view)

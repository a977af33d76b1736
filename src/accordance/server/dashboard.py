"""The dashboard: its page at every address of a screen, and the files it is made of.

The page is the same for every screen and says which styles may stand in it; the files
have a hash in their names, so browsers keep them.
"""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from accordance.server.problems import NoSuchRoute, problem
from accordance.server.shield import HEADERS

BUNDLE: Final = Path(__file__).with_name("bundle")
LITE: Final = "/lite"
"""Where the pages without JavaScript begin."""
SCREENS: Final = (
    "compare",
    "contracts",
    "dead-letters",
    "inbox",
    "login",
    "plans",
    "research",
    "runs",
    "settings",
    "tasks",
)
"""The first parts of addresses that lead to the dashboard."""
_NONCE: Final = "__STYLE_NONCE__"
_FOREVER: Final = "public, max-age=31536000, immutable"
_STYLES: Final = "style-src 'self'"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the bundle, plain and compressed."""

    content: bytes
    packed: bytes | None
    media_type: str


def add_dashboard(app: FastAPI) -> None:
    """Let an app show the dashboard."""
    app.add_route("/", _page, include_in_schema=False)
    app.add_route("/assets/{name}", _asset, include_in_schema=False)
    app.add_route("/favicon.svg", _icon, include_in_schema=False)
    for screen in SCREENS:
        app.add_route(f"/{screen}", _page, include_in_schema=False)
        app.add_route(f"/{screen}/{{rest:path}}", _page, include_in_schema=False)


async def _page(_: Request) -> Response:
    """Return the page, or send the browser where no JavaScript is needed."""
    files = await run_in_threadpool(_files, BUNDLE)
    page = files.get("index.html")
    if page is None:
        return RedirectResponse(LITE, HTTPStatus.TEMPORARY_REDIRECT)
    nonce = secrets.token_urlsafe(16)
    policy = HEADERS["Content-Security-Policy"]
    headers = {
        "Cache-Control": "no-cache, private",
        "Content-Security-Policy": policy.replace(
            _STYLES, f"{_STYLES} 'nonce-{nonce}'"
        ),
    }
    content = page.content.replace(_NONCE.encode(), nonce.encode())
    return Response(content, headers=headers, media_type=page.media_type)


async def _asset(request: Request) -> Response:
    """Return a file that browsers may keep for ever."""
    return await _file(request, f"assets/{request.path_params['name']}", _FOREVER)


async def _icon(request: Request) -> Response:
    return await _file(request, "favicon.svg", "public, max-age=86400")


async def _file(request: Request, name: str, caching: str) -> Response:
    files = await run_in_threadpool(_files, BUNDLE)
    file = files.get(name)
    if file is None:
        return problem(NoSuchRoute(f"there is nothing at {request.url.path}"))
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    accepted = request.headers.get("accept-encoding", "")
    if file.packed is None or "gzip" not in accepted:
        return Response(file.content, headers=headers, media_type=file.media_type)
    headers["Content-Encoding"] = "gzip"
    return Response(file.packed, headers=headers, media_type=file.media_type)


@cache
def _files(folder: Path) -> Mapping[str, _File]:
    """Read the bundle, once: an address can only name what is in it."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): _read(path)
        for path in paths
        if path.suffix != ".gz"
    }


def _read(path: Path) -> _File:
    packed = path.with_name(f"{path.name}.gz")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(
        content=path.read_bytes(),
        packed=packed.read_bytes() if packed.is_file() else None,
        media_type="text/javascript" if path.suffix == ".js" else kind,
    )

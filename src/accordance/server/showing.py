"""Views as answers: JSON with an ETag, pages with a link to the next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic_core import PydanticSerializationError
from starlette.responses import Response

from accordance.domain.filters import MOST_CHARACTERS
from accordance.domain.paging import MOST_ITEMS, USUAL_ITEMS
from accordance.server.problems import StaleView
from accordance.service.listing import ListQuery
from accordance.service.views.base import PageView, View

_JSON: Final = "application/json"


def shown(
    request: Request,
    view: View,
    *,
    status: int = HTTPStatus.OK,
    etag: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a view as an answer; 304 where the caller has it already."""
    body = as_json(view)
    tag = etag or tag_of(body)
    sent = {**(headers or {}), "ETag": tag}
    if request.method == "GET" and _lists(request.headers.get("if-none-match"), tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=sent)
    return Response(body, status, sent, _JSON)


def paged(request: Request, page: PageView) -> Response:
    """Return a page, with a link to the next page."""
    headers = {}
    if page.next is not None:
        query = {**request.query_params, "cursor": page.next}
        headers["Link"] = f'<{request.url.path}?{urlencode(query)}>; rel="next"'
    return shown(request, page, headers=headers)


def as_json(view: View) -> bytes:
    """Return a view as JSON text."""
    try:
        text = view.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # half a character, as the garbage of a program may hold: it is escaped
        return json.dumps(view.to_json()).encode()


def tag_of(body: bytes) -> str:
    """Return the ETag of a body."""
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def must_match(request: Request, etag: str) -> None:
    """Refuse an act on what has changed since it was looked at. Raises StaleView."""
    wanted = request.headers.get("if-match")
    if wanted is not None and not _lists(wanted, etag):
        raise StaleView(
            "this has changed since you looked", way_out="look again, then decide"
        )


def _lists(header: str | None, tag: str) -> bool:
    if header is None:
        return False
    listed = [each.strip().removeprefix("W/") for each in header.split(",")]
    return tag in listed or listed == ["*"]


def list_query(
    filter: Annotated[  # noqa: A002 - the name of the parameter
        str, Query(max_length=MOST_CHARACTERS, description="See docs/filters.md.")
    ] = "",
    cursor: Annotated[
        str | None, Query(description="`next` of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ITEMS)] = USUAL_ITEMS,
) -> ListQuery:
    """Return which items of a list are wanted."""
    return ListQuery(filter=filter, cursor=cursor, limit=limit)


ListedBy = Annotated[ListQuery, Depends(list_query)]

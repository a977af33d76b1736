"""Files as answers: always saved, never shown as a page of this server."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from accordance.domain.uploads import plain_name
from accordance.service.downloads import Download


def downloaded(file: Download) -> Response:
    """Return a file as an answer."""
    name = quote(plain_name(file.name))
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(file.content, 200, headers, file.media_type)

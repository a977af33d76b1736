"""What the clients share, without sending anything: errors, headers, answers, events."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import quote

from accordance.errors import AccordanceError
from accordance.service.views.base import View

V = TypeVar("V", bound=View)
MESSAGE: Final = "application/json"
TRIES: Final = 4
"""How often a request is sent that may be sent again."""
_AGAIN: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class ServerProblem(AccordanceError):
    """What a server answered to a request that it did not carry out."""

    code = "server-problem"

    def __init__(self, status: int, content: Mapping[str, Any]) -> None:
        detail = content.get("detail", f"the server answered with {status}")
        way_out = content.get("way_out") or ""
        super().__init__(str(detail), way_out=str(way_out))
        self.status = status
        self.content = dict(content)
        self.code = str(content.get("code", type(self).code))


class ServerUnreachable(AccordanceError):
    """The server does not answer."""

    code = "server-unreachable"


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    files: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """As the arguments of httpx. The key is the same however often it is sent."""
        headers = dict(self.headers)
        if self.method != "GET":
            headers.setdefault("Idempotency-Key", secrets.token_hex(16))
        wanted = without_nulls(**self.params)
        arguments: dict[str, Any] = {
            "method": self.method,
            "url": self.path,
            "params": wanted,
            "headers": headers,
        }
        if self.json is not None:
            arguments["json"] = self.json
        if self.content is not None:
            arguments["content"] = self.content
            headers.setdefault("Content-Type", MESSAGE)
        if self.files is not None:
            arguments["files"] = self.files
        return arguments


def segment(name: str) -> str:
    """Return a name as a part of a path."""
    return quote(name, safe="")


def without_nulls(**values: Any) -> dict[str, Any]:
    """Return the values that were given."""
    return {name: value for name, value in values.items() if value is not None}


def may_try_again(status: int, tried: int) -> bool:
    """Whether a request is sent again after an answer."""
    return status in _AGAIN and tried < TRIES


def pause_after(tried: int, header: str | None) -> float:
    """Return the seconds to wait before a request is sent again."""
    if header is not None and header.isdecimal():
        return min(float(header), 10.0)
    return float(min(0.2 * 2.0**tried, 5.0))


def problem_in(status: int, body: bytes) -> ServerProblem:
    """Return the problem that an answer holds."""
    try:
        content = json.loads(body)
    except ValueError:
        content = {}
    return ServerProblem(status, content if isinstance(content, dict) else {})


def message_bytes(message: bytes | str | Mapping[str, Any]) -> bytes:
    """Return a message as it is sent."""
    if isinstance(message, bytes):
        return message
    if isinstance(message, str):
        return message.encode()
    return json.dumps(message, ensure_ascii=False).encode()


@dataclass(slots=True)
class EventLines:
    """Puts the lines of a stream together to events."""

    last: int | None = None
    """The number of the last event, with which a stream is resumed."""
    has_ended: bool = False
    _kind: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, line: str) -> Any | None:
        """Take in a line; return the content of an event that it completes."""
        if line:
            self._part(line)
            return None
        kind, data = self._kind, self._data
        self._kind, self._data = "", []
        if not data:
            return None
        content = json.loads("\n".join(data))
        if kind == "end":
            self.has_ended = True
            return None
        return content

    def _part(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and value.isdecimal():
            self.last = int(value)
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)

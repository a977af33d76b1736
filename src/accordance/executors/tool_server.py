"""A small MCP server: tools as plain functions, over any pair of text streams. Needs the extra `mcp`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from pydantic import ValidationError

from accordance._version import __version__
from accordance.contracts.jsonpath import JsonObject
from accordance.errors import AccordanceError

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

NAME = "accordance"
_NOT_A_MESSAGE = "the line cannot be read: send one JSON-RPC 2.0 message a line, as JSON in UTF-8, without lone surrogates"
_MOST_UNREADABLE: Final = 16  # lines of one client
_Context: TypeAlias = ServerRequestContext[Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool: its name, what it does, what it takes, and the function that does it."""

    name: str
    about: str
    takes: JsonObject
    call: Callable[[JsonObject], JsonObject]


def server_of(offers: Sequence[Offer], instructions: str) -> Server[Any]:
    """A server with these tools. A tool that fails says so to the agent and ends nothing."""
    by_name = {offer.name: offer for offer in offers}

    async def list_tools(
        context: _Context,  # noqa: ARG001
        params: PaginatedRequestParams | None,  # noqa: ARG001
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(name=offer.name, description=offer.about, input_schema=offer.takes)
                for offer in offers
            ]
        )

    async def call_tool(
        context: _Context,  # noqa: ARG001
        params: CallToolRequestParams,
    ) -> CallToolResult:
        offer = by_name.get(params.name)
        if offer is None:
            return _said(
                {"error": f"unknown tool {params.name!r}; known: {', '.join(by_name)}"},
                failed=True,
            )
        try:
            answer = await anyio.to_thread.run_sync(offer.call, params.arguments or {})
        except AccordanceError as error:
            return _said({"error": str(error)}, failed=True)
        return _said(answer)

    return Server(
        NAME,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _said(answer: JsonObject, *, failed: bool = False) -> CallToolResult:
    """The answer as text and as a value: not every client reads both."""
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=answer,
        is_error=failed,
    )


async def serve(
    server: Server[Any],
    stdin: anyio.AsyncFile[str] | None = None,
    stdout: anyio.AsyncFile[str] | None = None,
) -> None:
    """Serve one client until it goes; over this process's own streams unless others are given."""
    async with stdio_server(stdin, stdout) as (reading, writing):
        await server.run(
            _ReadableLines(reading, writing),
            writing,
            server.create_initialization_options(),
        )


@dataclass(slots=True)
class _ReadableLines:
    """The client's messages. A line that is none is answered, so that nobody waits for an answer that never comes.

    A client that sends nothing but noise does not read the answers either: after a few of them it is left.
    """

    reading: ReadStream[SessionMessage | Exception]
    writing: WriteStream[SessionMessage]
    unreadable: int = 0

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self.reading.receive()
            if not isinstance(item, Exception):
                return item
            await self.writing.send(SessionMessage(_unreadable(item)))
            self.unreadable += 1
            if self.unreadable >= _MOST_UNREADABLE:
                raise anyio.EndOfStream

    @property
    def last_context(self) -> Context | None:
        """Of the last message; the server runs its handlers in it."""
        context: Context | None = getattr(self.reading, "last_context", None)
        return context

    async def aclose(self) -> None:
        await self.reading.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _unreadable(error: Exception) -> JSONRPCError:
    """The answer to a line that is no message, to the request it comes from as far as that can be told."""
    line = (
        next((one["input"] for one in error.errors()), None)
        if isinstance(error, ValidationError)
        else None
    )
    try:
        value = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        value = None
    request = value.get("id") if isinstance(value, dict) else None
    known = (
        request
        if isinstance(request, str | int) and not isinstance(request, bool)
        else None
    )
    return JSONRPCError(
        jsonrpc="2.0",
        id=known,
        error=ErrorData(code=PARSE_ERROR, message=_NOT_A_MESSAGE),
    )

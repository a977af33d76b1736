"""A small MCP server: tools as plain functions, over any pair of text streams.

Needs the extra `mcp`.
"""

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
_UNREADABLE_LINE = (
    "the line cannot be read: send one JSON-RPC 2.0 message per line, as JSON in UTF-8,"
    " without lone surrogates"
)
_MOST_UNREADABLE: Final = 16  # lines of a client
_Context: TypeAlias = ServerRequestContext[Any]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool: its name, its description, its input schema, and its function."""

    name: str
    about: str
    takes: JsonObject
    call: Callable[[JsonObject], JsonObject]


def make_server(offers: Sequence[ToolOffer], instructions: str) -> Server[Any]:
    """Return a server with these tools, for whichever client calls."""
    return make_server_for(lambda _: offers, instructions)


def make_server_for(
    offers_for: Callable[[Any], Sequence[ToolOffer]], instructions: str
) -> Server[Any]:
    """Return a server whose tools depend on the request that came: None over stdio.

    A tool that fails answers the agent with its error; the server goes on.
    """

    async def list_tools(
        context: _Context,
        params: PaginatedRequestParams | None,  # noqa: ARG001
    ) -> ListToolsResult:
        offers = offers_for(context.request)
        return ListToolsResult(tools=[_described(offer) for offer in offers])

    async def call_tool(
        context: _Context, params: CallToolRequestParams
    ) -> CallToolResult:
        by_name = {offer.name: offer for offer in offers_for(context.request)}
        offer = by_name.get(params.name)
        if offer is None:
            known = ", ".join(by_name)
            return _failure(f"unknown tool {params.name!r}; known: {known}")

        try:
            answer = await anyio.to_thread.run_sync(offer.call, params.arguments or {})
        except AccordanceError as error:
            return _failure(str(error))
        return _result(answer)

    return Server(
        NAME,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(offer: ToolOffer) -> Tool:
    return Tool(
        name=offer.name,
        description=offer.about,
        input_schema=offer.takes,
    )


def _failure(text: str) -> CallToolResult:
    return _result({"error": text}, is_error=True)


def _result(answer: JsonObject, *, is_error: bool = False) -> CallToolResult:
    """Return the answer as text and as a value: not every client reads both."""
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=answer,
        is_error=is_error,
    )


async def serve(
    server: Server[Any],
    stdin: anyio.AsyncFile[str] | None = None,
    stdout: anyio.AsyncFile[str] | None = None,
) -> None:
    """Serve a client until it disconnects.

    Uses the streams of this process unless others are passed.
    """
    async with stdio_server(stdin, stdout) as (reading, writing):
        await server.run(
            _ReadableLines(reading, writing),
            writing,
            server.create_initialization_options(),
        )


@dataclass(slots=True)
class _ReadableLines:
    """The messages of a client.

    An unreadable line is answered with an error, so that the client does not wait for
    an answer that never comes. After a few of them the client is disconnected: a client that
    sends nothing but noise does not read the answers either.
    """

    reading: ReadStream[SessionMessage | Exception]
    writing: WriteStream[SessionMessage]
    unreadable: int = 0

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self.reading.receive()
            if not isinstance(item, Exception):
                return item
            await self.writing.send(SessionMessage(_parse_error(item)))
            self.unreadable += 1
            if self.unreadable >= _MOST_UNREADABLE:
                raise anyio.EndOfStream

    @property
    def last_context(self) -> Context | None:
        """The context of the last message, in which the server runs its handlers."""
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


def _parse_error(error: Exception) -> JSONRPCError:
    """Return the answer to an unreadable line, with the id of its request if known."""
    return JSONRPCError(
        jsonrpc="2.0",
        id=_request_id(error),
        error=ErrorData(code=PARSE_ERROR, message=_UNREADABLE_LINE),
    )


def _request_id(error: Exception) -> str | int | None:
    if not isinstance(error, ValidationError):
        return None

    problems = error.errors()
    line = problems[0]["input"] if problems else None
    try:
        value = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None

    request_id = value.get("id") if isinstance(value, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    return request_id

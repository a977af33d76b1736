"""A small MCP server: tools as plain functions, over any pair of text streams. Needs the extra `mcp`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from accordance._version import __version__
from accordance.contracts.jsonpath import JsonObject
from accordance.errors import AccordanceError

NAME = "accordance"
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

    async def list_tools(context: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ARG001
        return ListToolsResult(
            tools=[
                Tool(name=offer.name, description=offer.about, input_schema=offer.takes) for offer in offers
            ]
        )

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:  # noqa: ARG001
        offer = by_name.get(params.name)
        if offer is None:
            return _said({"error": f"unknown tool {params.name!r}; known: {', '.join(by_name)}"}, failed=True)
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
        content=[TextContent(type="text", text=text)], structured_content=answer, is_error=failed
    )


async def serve(
    server: Server[Any],
    stdin: anyio.AsyncFile[str] | None = None,
    stdout: anyio.AsyncFile[str] | None = None,
) -> None:
    """Serve one client until it goes; over this process's own streams unless others are given."""
    async with stdio_server(stdin, stdout) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

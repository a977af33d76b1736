"""An agent elsewhere that speaks MCP over HTTP: the official client, and a key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.messages import ACTION
from tests.reviews import node_review
from tests.server.stage import LIMIT

ERAS = ["legacy", "auto"]
"""With a session and without: the handshake of 2025, and the requests of 2026."""
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Agent:
    """A connected agent. Calling it calls a tool."""

    client: Client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, which must not fail."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, result.structured_content
        return dict(result.structured_content or {})

    async def error(self, tool: str, **arguments: Any) -> str:
        """Call a tool, which must fail; return why."""
        result = await self.result(tool, **arguments)
        assert result.is_error, result.structured_content
        return str((result.structured_content or {})["error"])

    async def result(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        return await self.client.call_tool(tool, arguments)


@asynccontextmanager
async def connected(
    url: str, key: str, mode: str = "auto", **headers: str
) -> AsyncIterator[Agent]:
    """Connect an agent with a key; its session ends with the block."""
    headers = {"Authorization": f"Bearer {key}", **headers}
    async with httpx2.AsyncClient(
        headers=headers, timeout=LIMIT, trust_env=False
    ) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        client = Client(transport, mode=mode, read_timeout_seconds=LIMIT)
        async with client:
            yield Agent(client)


def running(act: Callable[[], Awaitable[Answer]]) -> Answer:
    """Run what agents do."""

    async def run() -> Answer:
        with anyio.fail_after(LIMIT):
            return await act()

    return anyio.run(run)


def product(task: str, content: str = "made elsewhere") -> dict[str, Any]:
    """The message of an action."""
    artifact = {"name": "text", "format": "md", "content": content}
    return {**ACTION, "task_id": task, "artifact": artifact}


def approval(task: str) -> dict[str, Any]:
    """The message of a review that approves."""
    return node_review(task)

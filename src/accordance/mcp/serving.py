"""Serving tools over MCP, on standard input and output: the way into this face."""

from __future__ import annotations

from functools import partial

import anyio

from accordance.executors.tool_server import ToolOffer, make_server, serve
from accordance.mcp.offers import INSTRUCTIONS
from accordance.mcp.tools import Desk
from accordance.service.project import Project


def desk_for(
    project: Project, *, holder: str, plan_id: str | None, any_task: bool, resumes: bool
) -> Desk:
    """Return an agent's place at a project."""
    return Desk(project.ledger, project.home, holder, plan_id, any_task, resumes)


def serve_tools(offers: tuple[ToolOffer, ...]) -> None:
    """Answer an agent's calls until it disconnects."""
    server = make_server(offers, INSTRUCTIONS)
    anyio.run(partial(serve, server))

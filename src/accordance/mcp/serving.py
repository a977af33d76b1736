"""Serving the tools of an agent's desk over MCP, on standard input and output. The way into this face."""

from __future__ import annotations

from functools import partial

import anyio

from accordance.executors.tool_server import Offer, serve, server_of
from accordance.mcp.tools import INSTRUCTIONS, Desk
from accordance.service.project import Project


def desk_for(
    project: Project, *, holder: str, plan_id: str | None, any_task: bool, resumes: bool
) -> Desk:
    """An agent's place at a project."""
    return Desk(project.ledger, project.home, holder, plan_id, any_task, resumes)


def serve_tools(offers: tuple[Offer, ...]) -> None:
    """Answer an agent until it goes."""
    anyio.run(partial(serve, server_of(offers, INSTRUCTIONS)))

"""Serving tools over MCP, on standard input and output: the way into this face."""

from __future__ import annotations

from functools import partial

import anyio

from accordance.domain.access import RIGHTS, Identity, Role
from accordance.executors.tool_server import ToolOffer, make_server, serve
from accordance.mcp.offers import INSTRUCTIONS
from accordance.mcp.tools import Desk
from accordance.service.project import Project


def desk_for(
    project: Project,
    *,
    holder: str,
    plan_id: str | None = None,
    any_task: bool = True,
    resumes: bool = False,
) -> Desk:
    """Return the place of an agent that this machine's user has started."""
    identity = Identity(
        name=holder,
        role=Role.ADMIN,
        rights=RIGHTS[Role.ADMIN],
    )
    return Desk(project, identity, plan_id, any_task, resumes)


def serve_tools(offers: tuple[ToolOffer, ...]) -> None:
    """Answer an agent's calls until it disconnects."""
    server = make_server(offers, INSTRUCTIONS)
    anyio.run(partial(serve, server))

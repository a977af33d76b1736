"""What a project's settings come to: its routes, and the contracts they hold tasks to."""

from __future__ import annotations

from accordance.contracts.catalogue.answer import ANSWER
from accordance.domain.research.agents_file import read_agents
from accordance.domain.routing import CONTRACTS, Routing, routing_of
from accordance.errors import InvalidSettings
from accordance.executors.prompt_files import PromptFiles
from accordance.project.home import Home
from accordance.shipped import AGENTS, shipped
from accordance.work.contracts_for import Holding, by_routes


def routing_for(
    home: Home, executor: str | None = None, model: str | None = None
) -> Routing:
    """Who does what in a project; with an executor, that one does everything. Raises InvalidRouting or UnknownName."""
    settings = home.settings()
    routing = routing_of(
        settings.executors, settings.routes, prompts=PromptFiles(home.root).names()
    )
    return routing.everything_to(executor, model) if executor else routing


def holding_for(home: Home, routing: Routing | None = None) -> Holding:
    """Which contracts a project's routes hold actions to. Raises as `routing_for` does, and InvalidAgents."""
    known = routing or routing_for(home)
    asks_agents = any(
        CONTRACTS[route.contract] == ANSWER.version
        for route in known.routes
        if route.contract
    )
    return by_routes(known, _agents(home) if asks_agents else "")


def _agents(home: Home) -> str:
    """The research agents of a project, as `[research] agents` says, else those that come along: linted, as TOML."""
    file = home.settings().research.agents
    try:
        text = (home.root / file).read_text("utf-8") if file else shipped(AGENTS)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(
            f"accordance.toml: [research] agents: {file}: {error}"
        ) from None
    read_agents(text)
    return text

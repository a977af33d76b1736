"""The routes of a project, and the contracts they hold tasks to."""

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
    """Return who does what in a project; a given executor does everything.

    Raises InvalidRouting or UnknownName.
    """
    settings = home.settings()
    prompts = PromptFiles(home.root).names()
    routing = routing_of(settings.executors, settings.routes, prompts=prompts)
    if executor:
        return routing.everything_to(executor, model)
    return routing


def holding_for(home: Home, routing: Routing | None = None) -> Holding:
    """Return a function that holds actions to what a project's routes choose.

    Raises as `routing_for` does, and InvalidAgents.
    """
    routing = routing or routing_for(home)
    contracts = {
        CONTRACTS[route.contract] for route in routing.routes if route.contract
    }
    agents = _agents(home) if ANSWER.version in contracts else ""
    return by_routes(routing, agents)


def _agents(home: Home) -> str:
    """The research agents of a project, as checked TOML.

    They are in the file that `[research] agents` names; by default, the shipped ones.
    """
    file = home.settings().research.agents
    try:
        text = (home.root / file).read_text("utf-8") if file else shipped(AGENTS)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(
            f"accordance.toml: [research] agents: {file}: {error}"
        ) from None

    read_agents(text)
    return text

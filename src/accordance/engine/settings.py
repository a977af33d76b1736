"""What accordance.toml says: fuses and rubrics of plans, reviews, executors and routes. Unknown names are errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accordance.contracts.catalogue.answer import ANSWER
from accordance.domain.fuses import fuses_from
from accordance.domain.records import Rules
from accordance.domain.research.agents_file import read_agents
from accordance.domain.routing import CONTRACTS, Routing, routing_of
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.engine.contracts_for import Holding, by_routes
from accordance.engine.home import Home, InvalidSettings
from accordance.errors import InvalidRubric
from accordance.executors.prompt_files import PromptFiles
from accordance.shipped import AGENTS, shipped

_AT_ONCE: Final = ("concurrency", "plan_concurrency")
_RUBRICS: Final = {"plan": PLAN_RUBRIC, "node": NODE_RUBRIC}


def rules_of(settings: Mapping[str, Any], fuses: Mapping[str, object] | None = None) -> Rules:
    """The rules for a plan: `[fuses]` with `fuses` over it, `[rubric.plan]` and `[rubric.node]`."""
    rubrics = _table(settings, "rubric")
    for name in rubrics:
        if name not in _RUBRICS:
            raise InvalidSettings(f"accordance.toml: unknown rubric {name!r}; known: plan, node")
    return Rules(
        fuses=fuses_from({**_table(settings, "fuses"), **(fuses or {})}),
        plan_rubric=_rubric("plan", rubrics),
        node_rubric=_rubric("node", rubrics),
    )


def routing_for(home: Home, executor: str | None = None, model: str | None = None) -> Routing:
    """Who does what in a project; with an executor, that one does everything. Raises InvalidRouting or UnknownName."""
    routing = routing_of(home.settings(), prompts=PromptFiles(home.root).names())
    return routing.everything_to(executor, model) if executor else routing


def holding_for(home: Home, routing: Routing | None = None) -> Holding:
    """Which contracts a project's routes hold actions to. Raises as `routing_for` does, and InvalidAgents."""
    known = routing or routing_for(home)
    asks_agents = any(CONTRACTS[route.contract] == ANSWER.version for route in known.routes if route.contract)
    return by_routes(known, _agents(home) if asks_agents else "")


def _agents(home: Home) -> str:
    """The research agents of a project, as `[research] agents` says, else those that come along: linted, as TOML."""
    said = _table(home.settings(), "research")
    file = said.get("agents", "")
    if said.keys() - {"agents"} or not isinstance(file, str):
        raise InvalidSettings(
            "accordance.toml: [research] has agents, a file in the project folder, nothing else"
        )
    try:
        text = (home.root / file).read_text("utf-8") if file else shipped(AGENTS)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"accordance.toml: [research] agents: {file}: {error}") from None
    read_agents(text)
    return text


@dataclass(frozen=True, slots=True)
class AtOnce:
    """How much is done at once, beside what each executor allows. None: no bound."""

    in_worker: int | None = None  # runs of one process
    in_plan: int | None = None  # tasks of one plan, in all processes together


def at_once(settings: Mapping[str, Any]) -> AtOnce:
    """What `[run]` says: `concurrency` and `plan_concurrency`."""
    said = _table(settings, "run")
    for name, value in said.items():
        if name not in _AT_ONCE:
            raise InvalidSettings(f"accordance.toml: [run] has no {name!r}; known: {', '.join(_AT_ONCE)}")
        if type(value) is not int or value < 1:
            raise InvalidSettings(f"accordance.toml: [run] {name} is a whole number from 1, got {value!r}")
    return AtOnce(*(said.get(name) for name in _AT_ONCE))


def allows_own_work(settings: Mapping[str, Any]) -> bool:
    """Whether workers and models may review what they made themselves: `[review] own_work`, which is false by default."""
    said = _table(settings, "review")
    allowed = said.get("own_work", False)
    if said.keys() - {"own_work"} or not isinstance(allowed, bool):
        raise InvalidSettings("accordance.toml: [review] has own_work = true or false, nothing else")
    return allowed


def _rubric(name: str, rubrics: Mapping[str, Any]) -> Rubric:
    if name not in rubrics:
        return _RUBRICS[name]
    said = _table(rubrics, name)
    maxima = _table(said, "maxima")
    unknown = said.keys() - {"maxima", "approve_at"}
    if unknown or not all(type(most) is int for most in maxima.values()):
        raise InvalidRubric(f"{name}: a rubric has maxima (whole numbers) and approve_at, nothing else")
    approve_at = said.get("approve_at", _RUBRICS[name].approve_at)
    if type(approve_at) is not int:
        raise InvalidRubric(f"{name}: approve_at is a whole number")
    return Rubric(name, maxima or _RUBRICS[name].maxima, approve_at)


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidSettings(f"accordance.toml: [{name}] is a table")
    return found

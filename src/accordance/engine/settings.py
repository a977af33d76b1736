"""What accordance.toml says, table by table. Unknown names are errors, with the nearest one that is known.

`TABLES` is the one list of what there is at the top; the keys of a table are known to its reader alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accordance.contracts.catalogue.answer import ANSWER
from accordance.domain.fuses import fuses_from
from accordance.domain.records import Rules
from accordance.domain.research.agents_file import read_agents
from accordance.domain.routing import CONTRACTS, Routing, executors_in, routes_in, routing_of
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.engine.contracts_for import Holding, by_routes
from accordance.engine.gateway import gateway_of
from accordance.engine.home import Home, InvalidSettings
from accordance.errors import InvalidRubric, did_you_mean
from accordance.executors.prompt_files import PromptFiles
from accordance.shipped import AGENTS, shipped

_WORKSPACE: Final = ("repo", "base")
_AT_ONCE: Final = ("concurrency", "plan_concurrency")
_RUBRIC_KEYS: Final = ("maxima", "approve_at")
_RUBRICS: Final = {"plan": PLAN_RUBRIC, "node": NODE_RUBRIC}


def rules_of(settings: Mapping[str, Any], fuses: Mapping[str, object] | None = None) -> Rules:
    """The rules for a plan: `[fuses]` with `fuses` over it, `[rubric.plan]` and `[rubric.node]`."""
    rubrics = _table(settings, "rubric")
    for name in rubrics:
        if name not in _RUBRICS:
            raise InvalidSettings(
                f"accordance.toml: [rubric] has no {name!r}; {did_you_mean(name, _RUBRICS)}"
            )
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
    file = research_agents(home.settings())
    try:
        text = (home.root / file).read_text("utf-8") if file else shipped(AGENTS)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"accordance.toml: [research] agents: {file}: {error}") from None
    read_agents(text)
    return text


def research_agents(settings: Mapping[str, Any]) -> str:
    """The file `[research] agents` names, in the project folder; empty where none is named."""
    return _texts(settings, "research", ("agents",)).get("agents", "")


def ledger_of(settings: Mapping[str, Any]) -> str | None:
    """Where the ledger is, if somewhere else: a path or a URL."""
    named = settings.get("ledger")
    if named is not None and not isinstance(named, str):
        raise InvalidSettings("accordance.toml: ledger is a path or a URL, written as a text")
    return named


def workspace_of(settings: Mapping[str, Any]) -> tuple[str, str]:
    """What `[workspace]` says: the repository, and what the first change builds on."""
    said = _texts(settings, "workspace", _WORKSPACE)
    return said.get("repo", "."), said.get("base", "HEAD")


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
            raise InvalidSettings(
                f"accordance.toml: [run] has no key {name!r}; {did_you_mean(name, _AT_ONCE)}"
            )
        if type(value) is not int or value < 1:
            raise InvalidSettings(f"accordance.toml: [run] {name} is a whole number from 1, got {value!r}")
    return AtOnce(*(said.get(name) for name in _AT_ONCE))


def _rubric(name: str, rubrics: Mapping[str, Any]) -> Rubric:
    if name not in rubrics:
        return _RUBRICS[name]
    said = _table(rubrics, name)
    maxima = _table(said, "maxima")
    for key in said:
        if key not in _RUBRIC_KEYS:
            raise InvalidRubric(f"{name}: a rubric has no key {key!r}; {did_you_mean(key, _RUBRIC_KEYS)}")
    if not all(type(most) is int for most in maxima.values()):
        raise InvalidRubric(f"{name}: maxima are whole numbers")
    approve_at = said.get("approve_at", _RUBRICS[name].approve_at)
    if type(approve_at) is not int:
        raise InvalidRubric(f"{name}: approve_at is a whole number")
    return Rubric(name, maxima or _RUBRICS[name].maxima, approve_at)


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidSettings(f"accordance.toml: [{name}] is a table")
    return found


def _texts(settings: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Mapping[str, str]:
    """A table that holds nothing but texts."""
    said = _table(settings, name)
    for key, value in said.items():
        if key not in known:
            raise InvalidSettings(f"accordance.toml: [{name}] has no key {key!r}; {did_you_mean(key, known)}")
        if not isinstance(value, str):
            raise InvalidSettings(f"accordance.toml: [{name}] {key} is a text, got {value!r}")
    return said


Reader: TypeAlias = Callable[[Mapping[str, Any], Path], object]
TABLES: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "ledger": lambda settings, _: ledger_of(settings),
        "workspace": lambda settings, _: workspace_of(settings),
        "run": lambda settings, _: at_once(settings),
        "executors": lambda settings, _: executors_in(settings),
        "routes": lambda settings, _: routes_in(settings),
        "fuses": lambda settings, _: rules_of(settings),
        "rubric": lambda settings, _: rules_of(settings),
        "research": lambda settings, _: research_agents(settings),
        "roles": gateway_of,
        "tiers": gateway_of,
        "judge": gateway_of,
    }
)
"""Everything accordance.toml can say, and who reads it."""


def check_settings(settings: Mapping[str, Any], root: Path) -> None:
    """Every table and every key is known and of the right type, whatever the command at hand needs of it.

    Raises InvalidSettings, InvalidRouting, InvalidFuses, InvalidRubric or InvalidRole.
    """
    for name, value in settings.items():
        if name not in TABLES:
            shown = (
                f"[{name}]"
                if isinstance(value, Mapping)
                else f"[[{name}]]"
                if isinstance(value, list)
                else name
            )
            raise InvalidSettings(f"accordance.toml: unknown {shown}; {did_you_mean(name, TABLES)}")
    for name, read in TABLES.items():
        if name in settings:
            read(settings, root)

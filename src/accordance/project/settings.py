"""What accordance.toml says, table by table. Unknown names are errors, with the nearest one that is known.

`TABLES` is the one list of what there is at the top; the keys of a table are known to its reader alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accordance.contracts.toml import NoToml, read_toml
from accordance.domain.fuses import fuses_from
from accordance.domain.records import Rules
from accordance.domain.routing import executors_in, routes_in
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.errors import InvalidRubric, InvalidSettings, did_you_mean
from accordance.project.policy import SETTINGS, gateway_of

_REVIEW: Final = ("own_work",)
_WORKSPACE: Final = ("repo", "base")
_AT_ONCE: Final = ("concurrency", "plan_concurrency")
_RUBRIC_KEYS: Final = ("maxima", "approve_at")
_RUBRICS: Final = {"plan": PLAN_RUBRIC, "node": NODE_RUBRIC}


def rules_of(settings: Mapping[str, Any], fuses: Mapping[str, object] | None = None) -> Rules:
    """The rules for a plan: `[fuses]` with `fuses` over it, `[rubric.plan]` and `[rubric.node]`."""
    rubrics = _table(settings, "rubric")
    for name in rubrics:
        if name not in _RUBRICS:
            raise InvalidSettings(f"{SETTINGS}: [rubric] has no {name!r}; {did_you_mean(name, _RUBRICS)}")
    return Rules(
        fuses=fuses_from({**_table(settings, "fuses"), **(fuses or {})}),
        plan_rubric=_rubric("plan", rubrics),
        node_rubric=_rubric("node", rubrics),
    )


def research_agents(settings: Mapping[str, Any]) -> str:
    """The file `[research] agents` names, in the project folder; empty where none is named."""
    return _texts(settings, "research", ("agents",)).get("agents", "")


def ledger_of(settings: Mapping[str, Any]) -> str | None:
    """Where the ledger is, if somewhere else: a path or a URL."""
    named = settings.get("ledger")
    if named is not None and not isinstance(named, str):
        raise InvalidSettings(f"{SETTINGS}: ledger is a path or a URL, written as a text")
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
            raise InvalidSettings(f"{SETTINGS}: [run] has no key {name!r}; {did_you_mean(name, _AT_ONCE)}")
        if type(value) is not int or value < 1:
            raise InvalidSettings(f"{SETTINGS}: [run] {name} is a whole number from 1, got {value!r}")
    return AtOnce(*(said.get(name) for name in _AT_ONCE))


def allows_own_work(settings: Mapping[str, Any]) -> bool:
    """Whether workers and models may review what they made themselves: `[review] own_work`, which is false by default."""
    said = _table(settings, "review")
    for key in said:
        if key not in _REVIEW:
            raise InvalidSettings(f"{SETTINGS}: [review] has no key {key!r}; {did_you_mean(key, _REVIEW)}")
    allowed = said.get("own_work", False)
    if not isinstance(allowed, bool):
        raise InvalidSettings(f"{SETTINGS}: [review] own_work is true or false, got {allowed!r}")
    return allowed


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
        raise InvalidSettings(f"{SETTINGS}: [{name}] is a table")
    return found


def _texts(settings: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Mapping[str, str]:
    """A table that holds nothing but texts."""
    said = _table(settings, name)
    for key, value in said.items():
        if key not in known:
            raise InvalidSettings(f"{SETTINGS}: [{name}] has no key {key!r}; {did_you_mean(key, known)}")
        if not isinstance(value, str):
            raise InvalidSettings(f"{SETTINGS}: [{name}] {key} is a text, got {value!r}")
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
        "review": lambda settings, _: allows_own_work(settings),
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
            raise InvalidSettings(f"{SETTINGS}: unknown {shown}; {did_you_mean(name, TABLES)}")
    for name, read in TABLES.items():
        if name in settings:
            read(settings, root)


def parse_settings(content: bytes, where: str, root: Path) -> Mapping[str, Any]:
    """The settings in an accordance.toml. Raises InvalidSettings and the errors of single tables."""
    try:
        settings = read_toml(content.decode())
    except (NoToml, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{where}: {error}") from None
    check_settings(settings, root)
    return settings

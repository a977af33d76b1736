"""Routing, as data: role, node type and tags lead to an executor, a model, a contract and a prompt.

The first route that fits counts. A route that names nothing fits everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from accordance.domain.executor_specs import KINDS, WITHOUT_SETTINGS, Spec, first_fault, spec_of
from accordance.errors import InvalidRouting, NoExecutor, UnknownContract, UnknownExecutor, UnknownPrompt

Kind: TypeAlias = Literal["action", "review", "plan"]
PROMPTS: Final[Mapping[Kind, str]] = MappingProxyType(
    {"action": "worker.v1", "review": "reviewer.v1", "plan": "planner.v1"}
)
"""What an agent is told where no route says otherwise."""

_HINT: Final = "add [executors.NAME] to accordance.toml, or name one with --executor"
_NO_MODEL: Final = (
    "llm needs a model: add --model NAME (OpenAI's, with the key in OPENAI_API_KEY), or to accordance.toml "
    '[executors.llm] with model = "NAME" and, for others, provider, base_url and key_env'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be done, as far as routes look at it."""

    kind: Kind = "action"
    role: str | None = None
    node_type: str | None = None
    tags: frozenset[str] = frozenset()

    def __str__(self) -> str:
        told = (self.kind, self.node_type, self.role and f"of {self.role}", *sorted(self.tags))
        return " ".join(part for part in told if part)


class Route(BaseModel):
    """One row of the table: what it fits, and where it leads."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Kind | None = None
    role: str | None = None
    node_type: Literal["GOAL", "ACTION", "CHECK"] | None = None
    tags: list[str] = []  # all of them
    executor: str
    model: str | None = None
    contract: str | None = None
    prompt: str | None = None

    def fits(self, wanted: Wanted) -> bool:
        """Whether this route is meant."""
        said = ((self.kind, wanted.kind), (self.role, wanted.role), (self.node_type, wanted.node_type))
        return wanted.tags.issuperset(self.tags) and all(mine in (None, theirs) for mine, theirs in said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Who does it, with what."""

    executor: str
    spec: Spec
    model: str | None
    tier: int | None  # of that model
    contract: str | None
    prompt: str


@dataclass(frozen=True, slots=True)
class Routing:
    """The whole table."""

    executors: Mapping[str, Spec] = field(default_factory=dict)
    routes: Sequence[Route] = ()

    def choose(self, wanted: Wanted, tier: int | None = None) -> Choice:
        """Who does this; with `tier`, with a model at least that strong. Raises NoExecutor."""
        route = next((one for one in self.routes if one.fits(wanted)), None)
        if route is None:
            why = f"no route in accordance.toml fits ({wanted})" if self.executors else "none is configured"
            raise NoExecutor(f"no executor for this task: {why}; {_HINT}")
        spec = self.executors[route.executor]
        model = spec.model_for(route.model)
        tiers: Mapping[str, int] = getattr(spec, "tiers", {})
        if tier is not None:
            model = _at_least(tiers, tier) or model
        return Choice(
            executor=route.executor,
            spec=spec,
            model=model,
            tier=tiers.get(model or ""),
            contract=route.contract,
            prompt=route.prompt or PROMPTS[wanted.kind],
        )

    def everything_to(self, executor: str, model: str | None = None) -> Routing:
        """The same executors, with all work going to one. Kinds that need no settings need not be configured."""
        executors = dict(self.executors)
        if executor not in executors:
            executors[executor] = _unconfigured(executor, model, executors)
        executors[executor].model_for(model)
        return replace(self, executors=executors, routes=(Route(executor=executor, model=model),))

    def tiers_for(self, wanted: Wanted) -> frozenset[int]:
        """The strengths this work could be done with, for the ladder."""
        return frozenset(getattr(self.choose(wanted).spec, "tiers", {}).values())


def routing_of(
    settings: Mapping[str, Any], *, contracts: Iterable[str] = (), prompts: Iterable[str] = ()
) -> Routing:
    """What `[executors.NAME]` and `[[routes]]` say. Raises InvalidRouting or UnknownName, with the nearest names.

    Without routes, one executor alone gets everything.
    """
    tables = settings.get("executors", {})
    if not isinstance(tables, Mapping):
        raise InvalidRouting(
            f"accordance.toml: executors are tables, [executors.NAME]; kinds: {', '.join(KINDS)}"
        )
    executors = {name: spec_of(name, said) for name, said in tables.items()}
    rows = settings.get("routes", [])
    if not isinstance(rows, list):
        raise InvalidRouting("accordance.toml: routes are a list, written as [[routes]]")
    routes = [_route(at, said) for at, said in enumerate(rows, 1)]
    if not routes and len(executors) == 1:
        routes = [Route(executor=next(iter(executors)))]
    known, texts = frozenset(contracts), frozenset(prompts)
    for route in routes:
        _check(route, executors, known, texts)
    return Routing(executors, tuple(routes))


def _route(at: int, said: object) -> Route:
    try:
        return Route.model_validate(said)
    except ValidationError as error:
        fault = first_fault(error, Route.model_fields)
        raise InvalidRouting(f"accordance.toml: route {at}: {fault}") from None


def _check(
    route: Route, executors: Mapping[str, Spec], contracts: frozenset[str], prompts: frozenset[str]
) -> None:
    if route.executor not in executors:
        raise UnknownExecutor(route.executor, executors)
    executors[route.executor].model_for(route.model)
    if route.contract is not None and contracts and route.contract not in contracts:
        raise UnknownContract(route.contract, contracts)
    if route.prompt is not None and prompts and route.prompt not in prompts:
        raise UnknownPrompt(route.prompt, prompts)


def _unconfigured(kind: str, model: str | None, executors: Mapping[str, Spec]) -> Spec:
    """An executor that is named by its kind and has no settings. Raises UnknownExecutor, or says what it needs."""
    if kind == "llm":
        if model is None:
            raise NoExecutor(_NO_MODEL)
        return spec_of(kind, {"model": model})
    if kind not in WITHOUT_SETTINGS:
        raise UnknownExecutor(kind, {*executors, *WITHOUT_SETTINGS, "llm"})
    return spec_of(kind, {})


def _at_least(tiers: Mapping[str, int], tier: int) -> str | None:
    """The weakest model that is strong enough."""
    strong = {model: at for model, at in tiers.items() if at <= tier}
    return max(strong, key=lambda model: strong[model], default=None)

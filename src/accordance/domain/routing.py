"""Routing, as data: role, node type and tags lead to an executor, a model, a contract and a prompt.

The first route that fits counts; where the task says who may do it, the first one that leads to one of those. A route that
names nothing fits everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pydantic import Field

from accordance.contracts.catalogue.action import ACTION
from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.context import ALSO_CALLED
from accordance.domain.executor_specs import (
    WITHOUT_SETTINGS,
    ContextBytes,
    Spec,
    spec_of,
)
from accordance.domain.records import TaskRecord
from accordance.domain.setting_tables import SettingTable
from accordance.errors import (
    InvalidRouting,
    NoExecutor,
    NoModel,
    UnknownExecutor,
    UnknownPrompt,
)

Kind: TypeAlias = Literal["action", "review", "plan"]
PROMPTS: Final[Mapping[Kind, str]] = MappingProxyType(
    {"action": "worker.v1", "review": "reviewer.v1", "plan": "planner.v1"}
)
"""What an agent is told where no route says otherwise."""

CONTRACTS: Final[Mapping[str, str]] = MappingProxyType(
    {name: one.version for one in (ACTION, ANSWER) for name in (one.version, one.name)}
)
"""What a route may hold an action to, by its names; a change of a repository has a contract of its own."""

_HINT: Final = "add [executors.NAME] to accordance.toml"
_NO_MODEL: Final = (
    "name one of OpenAI's, with the key in OPENAI_API_KEY, or add to accordance.toml [executors.llm] with "
    'model = "NAME" and, for others, provider, base_url and key_env'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """What is to be done, as far as routes look at it."""

    kind: Kind = "action"
    role: str | None = None
    node_type: str | None = None
    tags: frozenset[str] = frozenset()
    models: frozenset[str] | None = None  # those the task allows; None: any
    executors: frozenset[str] | None = None  # the same, by their names or kinds

    def __str__(self) -> str:
        told = (
            self.kind,
            self.node_type,
            self.role and f"of {self.role}",
            *sorted(self.tags),
        )
        return " ".join(part for part in told if part)


class Route(SettingTable):
    """Which executor gets which work. The first route that fits counts; one that asks for nothing fits everything."""

    kind: Kind | None = Field(
        default=None,
        description="Fits work of this kind; any unless given.",
        examples=["action"],
    )
    role: str | None = Field(
        default=None,
        description="Fits nodes of this owner; any unless given.",
        examples=["engineer"],
    )
    node_type: Literal["GOAL", "ACTION", "CHECK"] | None = Field(
        default=None,
        description="Fits nodes of this type; any unless given.",
        examples=["ACTION"],
    )
    tags: list[str] = Field(
        default_factory=list,
        description="Fits nodes that have all of these tags.",
        examples=[["code"]],
    )
    executor: str = Field(
        description="Who does the work: the NAME of an `[executors.NAME]`.",
        examples=["coder"],
    )
    model: str | None = Field(
        default=None,
        description="The executor's model; its own unless given.",
        examples=["gpt-5"],
    )
    contract: str | None = Field(
        default=None,
        description="What an action is held to: an action, or a research agent's answer.",
        examples=["answer"],
    )
    prompt: str | None = Field(
        default=None,
        description="The prompt file; that of the kind of work unless given.",
        examples=["coder.v1"],
    )
    context_bytes: ContextBytes | None = Field(
        default=None,
        description="How much is told; as the model or the executor has it unless given.",
        examples=[200_000],
    )

    def fits(self, wanted: RouteRequest) -> bool:
        """Whether this route is meant."""
        said = (
            (self.kind, wanted.kind),
            (self.role, wanted.role),
            (self.node_type, wanted.node_type),
        )
        return wanted.tags.issuperset(self.tags) and all(
            mine in (None, theirs) for mine, theirs in said
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Who does it, with what."""

    executor: str
    spec: Spec
    model: str | None
    tier: int | None  # of that model
    tiers: Mapping[str, int]  # all models that could do it, 1 is the strongest
    contract: str  # of an action that changes no repository
    prompt: str
    context_bytes: int | None = None  # None: as the role has it

    @property
    def stronger(self) -> list[int]:
        """The tiers above the model's, the nearest first."""
        return sorted(
            {at for at in self.tiers.values() if self.tier is None or at < self.tier},
            reverse=True,
        )


def wanted(task: TaskRecord, kind: Kind) -> RouteRequest:
    """What routes look at of a task."""
    return RouteRequest(
        kind=kind,
        role=task.owner_agent_id,
        node_type=task.node_type,
        tags=frozenset(task.tags),
    )


def names_of(executor: str, spec: Spec) -> tuple[str, ...]:
    """The names by which a task may allow an executor: its own, its kind, and what else that is called."""
    return executor, spec.kind, ALSO_CALLED.get(spec.kind, spec.kind)


@dataclass(frozen=True, slots=True)
class Routing:
    """The whole table."""

    executors: Mapping[str, Spec] = field(default_factory=dict)
    routes: Sequence[Route] = ()

    def choose(self, wanted: RouteRequest, tier: int | None = None) -> Choice:
        """Who does this; with `tier`, with a model at least that strong. Raises NoExecutor.

        Where the task allows none of those the routes lead to, the first one is left to whoever looks before it begins.
        """
        fitting = [route for route in self.routes if route.fits(wanted)]
        if not fitting:
            why = (
                f"no route in accordance.toml fits ({wanted})"
                if self.executors
                else "none is configured"
            )
            raise NoExecutor(f"no executor for this task: {why}", way_out=_HINT)
        route = next(
            (route for route in fitting if self._is_allowed(route, wanted)), fitting[0]
        )
        spec = self.executors[route.executor]
        model = spec.model_for(route.model)
        tiers = _allowed(getattr(spec, "tiers", {}), wanted.models)
        if wanted.models is not None and model not in wanted.models:
            model = max(tiers, key=lambda one: tiers[one], default=model)
        if tier is not None:
            model = _at_least(tiers, tier) or model
        return Choice(
            executor=route.executor,
            spec=spec,
            model=model,
            tier=tiers.get(model or ""),
            tiers=tiers,
            contract=CONTRACTS[route.contract or ACTION.version],
            prompt=route.prompt or PROMPTS[wanted.kind],
            context_bytes=route.context_bytes or _room(spec, model),
        )

    def _is_allowed(self, route: Route, wanted: RouteRequest) -> bool:
        names = names_of(route.executor, self.executors[route.executor])
        return wanted.executors is None or not wanted.executors.isdisjoint(names)

    def everything_to(self, executor: str, model: str | None = None) -> Routing:
        """The same executors, with all work going to one. Kinds that need no settings need not be configured.

        Routes keep saying which contract holds: who does the work does not change what it is.
        """
        executors = dict(self.executors)
        if executor not in executors:
            executors[executor] = _unconfigured(executor, model, executors)
        executors[executor].model_for(model)
        to_one = {
            "executor": executor,
            "model": model,
            "prompt": None,
            "context_bytes": None,
        }
        kept = (route.model_copy(update=to_one) for route in self.routes)
        return replace(
            self,
            executors=executors,
            routes=(*kept, Route(executor=executor, model=model)),
        )

    def after(self, wanted: RouteRequest, failures: int) -> Choice:
        """Who does this after so many failures: each time the next stronger model, where there is one. Raises NoExecutor."""
        first = self.choose(wanted)
        stronger = first.stronger
        return (
            self.choose(wanted, stronger[min(failures, len(stronger)) - 1])
            if failures and stronger
            else first
        )


def routing_of(
    executors: Mapping[str, Spec],
    routes: Sequence[Route],
    *,
    prompts: Iterable[str] = (),
) -> Routing:
    """The table of `[executors.NAME]` and `[[routes]]`. Raises InvalidRouting or UnknownName, with the nearest names.

    Without routes, one executor alone gets everything.
    """
    if not routes and len(executors) == 1:
        routes = [Route(executor=next(iter(executors)))]
    texts = frozenset(prompts)
    for at, route in enumerate(routes, 1):
        _check(at, route, executors, texts)
    return Routing(executors, tuple(routes))


def _check(
    at: int, route: Route, executors: Mapping[str, Spec], prompts: frozenset[str]
) -> None:
    if route.executor not in executors:
        raise UnknownExecutor(route.executor, executors)
    executors[route.executor].model_for(route.model)
    if route.contract is not None and (
        route.contract not in CONTRACTS or route.kind in ("review", "plan")
    ):
        raise InvalidRouting(
            f"accordance.toml: [[routes]] {at}: contract {route.contract!r}: {ACTION.version} or {ANSWER.version}, for"
            " actions; reviews, plans and changes of a repository have their own, leave it out there"
        )
    if route.prompt is not None and prompts and route.prompt not in prompts:
        raise UnknownPrompt(route.prompt, prompts)


def _allowed(
    tiers: Mapping[str, int], models: frozenset[str] | None
) -> Mapping[str, int]:
    return (
        tiers
        if models is None
        else {model: at for model, at in tiers.items() if model in models}
    )


def _room(spec: Spec, model: str | None) -> int | None:
    """How much of a context fits: as the model has it, else the executor."""
    own = spec.bounds.get(model or "")
    return (own.context_bytes if own else None) or spec.context_bytes


def _unconfigured(kind: str, model: str | None, executors: Mapping[str, Spec]) -> Spec:
    """An executor that is named by its kind and has no settings. Raises UnknownExecutor, or says what it needs."""
    if kind == "llm":
        if model is None:
            raise NoModel("llm needs a model", way_out=_NO_MODEL)
        return spec_of(kind, {"model": model})
    if kind not in WITHOUT_SETTINGS:
        raise UnknownExecutor(kind, {*executors, *WITHOUT_SETTINGS, "llm"})
    return spec_of(kind, {})


def _at_least(tiers: Mapping[str, int], tier: int) -> str | None:
    """The weakest model that is strong enough."""
    strong = {model: at for model, at in tiers.items() if at <= tier}
    return max(strong, key=lambda model: strong[model], default=None)

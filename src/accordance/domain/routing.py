"""Routing, as data: which executor, model, contract and prompt a task gets.

Routes look at role, node type and tags. The first route that fits is used; where the
task limits who may do it, the first fitting route that leads to an allowed executor. A
route without conditions fits everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pydantic import Field

from accordance.contracts.catalogue.versions import (
    ACTION_NAME,
    ACTION_VERSION,
    ANSWER_NAME,
    ANSWER_VERSION,
)
from accordance.contracts.context import EXECUTOR_ALIASES
from accordance.domain.executor_specs import (
    WITHOUT_SETTINGS,
    ContextBytes,
    Spec,
    spec_of,
)
from accordance.domain.records import TaskRecord
from accordance.domain.setting_tables import Label, SettingTable
from accordance.errors import (
    InvalidRouting,
    NoExecutor,
    NoModel,
    UnknownExecutor,
    UnknownPrompt,
)

Kind: TypeAlias = Literal["action", "review", "plan"]
PROMPTS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "action": "worker.v1",
        "review": "reviewer.v1",
        "plan": "planner.v1",
    }
)
"""The prompt for each kind of work, where no route names another."""

CONTRACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ACTION_VERSION: ACTION_VERSION,
        ACTION_NAME: ACTION_VERSION,
        ANSWER_VERSION: ANSWER_VERSION,
        ANSWER_NAME: ANSWER_VERSION,
    }
)
"""The contracts a route may name for actions; a repository change has its own."""

_ADD_EXECUTOR: Final = "add [executors.NAME] to accordance.toml"
_NAME_MODEL: Final = (
    "name an OpenAI model and set OPENAI_API_KEY, or add [executors.llm] to"
    ' accordance.toml with model = "NAME" and, for other providers, provider, base_url'
    " and key_env"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """The work to be done, as far as routes look at it."""

    kind: Kind = "action"
    role: str | None = None
    node_type: str | None = None
    tags: frozenset[str] = frozenset()
    models: frozenset[str] | None = None  # allowed by the task; None: any
    executors: frozenset[str] | None = None  # allowed, by name or kind; None: any

    def __str__(self) -> str:
        words: list[str] = [self.kind]
        if self.node_type:
            words.append(self.node_type)
        if self.role:
            words.append(f"of {self.role}")
        words += sorted(self.tags)
        return " ".join(words)


class Route(SettingTable):
    """Which executor gets which work.

    The first route that fits is used; a route without conditions fits everything.
    """

    kind: Kind | None = Field(
        default=None,
        description="The kind of work it fits; any kind unless given.",
        examples=["action"],
    )
    role: str | None = Field(
        default=None,
        description="The owner of the nodes it fits; any owner unless given.",
        examples=["engineer"],
    )
    node_type: Literal["GOAL", "ACTION", "CHECK"] | None = Field(
        default=None,
        description="The type of the nodes it fits; any type unless given.",
        examples=["ACTION"],
    )
    tags: list[str] = Field(
        default_factory=list,
        description="Tags that a node must have, all of them.",
        examples=[["code"]],
    )
    labels: list[Label] = Field(
        default_factory=list,
        description="Labels that a worker must have to get this work, all of them.",
        examples=[["gpu"]],
    )
    executor: str = Field(
        description="The NAME of the `[executors.NAME]` that does the work.",
        examples=["coder"],
    )
    model: str | None = Field(
        default=None,
        description="The model to use; the executor's own unless given.",
        examples=["gpt-5"],
    )
    contract: str | None = Field(
        default=None,
        description="The contract of an action: an action, or a research answer.",
        examples=["answer"],
    )
    prompt: str | None = Field(
        default=None,
        description="The prompt file; by default that of the kind of work.",
        examples=["coder.v1"],
    )
    context_bytes: ContextBytes | None = Field(
        default=None,
        description="Bytes of context; those of model or executor unless given.",
        examples=[200_000],
    )

    def fits(self, request: RouteRequest) -> bool:
        """Whether the route is meant for this work."""
        conditions = (
            (self.kind, request.kind),
            (self.role, request.role),
            (self.node_type, request.node_type),
        )
        is_wanted = all(wanted in (None, given) for wanted, given in conditions)
        return is_wanted and request.tags.issuperset(self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The executor that does the work, and with what."""

    executor: str
    spec: Spec
    model: str | None
    tier: int | None  # of that model
    tiers: Mapping[str, int]  # of all models that could do it; 1 is the strongest
    contract: str  # of an action that changes no repository
    prompt: str
    context_bytes: int | None = None  # None: those of the role
    labels: frozenset[str] = frozenset()  # that its worker must have

    @property
    def stronger(self) -> list[int]:
        """The tiers above the model's, the nearest first."""
        tiers = set(self.tiers.values())
        if self.tier is not None:
            tiers = {tier for tier in tiers if tier < self.tier}
        return sorted(tiers, reverse=True)


def route_request(task: TaskRecord, kind: Kind) -> RouteRequest:
    """Return the part of a task that routes look at."""
    return RouteRequest(
        kind=kind,
        role=task.owner_agent_id,
        node_type=task.node_type,
        tags=frozenset(task.tags),
    )


def names_of(executor: str, spec: Spec) -> tuple[str, ...]:
    """Return the names by which a task may allow an executor: its own, its kind's."""
    return executor, spec.kind, EXECUTOR_ALIASES.get(spec.kind, spec.kind)


@dataclass(frozen=True, slots=True)
class Routing:
    """All executors, and the routes that lead to them."""

    executors: Mapping[str, Spec] = field(default_factory=dict)
    routes: Sequence[Route] = ()

    def choose(self, request: RouteRequest, tier: int | None = None) -> Choice:
        """Choose who does this work, with a model of at least `tier` where given.

        Where the task allows none of the executors that fit, the first is returned:
        preflight refuses it, with the reason. Raises NoExecutor.
        """
        route = self._route_for(request)
        spec = self.executors[route.executor]
        tiers = _allowed_tiers(spec, request.models)
        model = _model_for(route, spec, request, tiers)
        if tier is not None:
            model = _weakest_model(tiers, tier) or model

        return Choice(
            executor=route.executor,
            spec=spec,
            model=model,
            tier=tiers.get(model or ""),
            tiers=tiers,
            contract=CONTRACTS[route.contract or ACTION_VERSION],
            prompt=route.prompt or PROMPTS[request.kind],
            context_bytes=route.context_bytes or _context_bytes(spec, model),
            labels=frozenset((*spec.labels, *route.labels)),
        )

    def label_sets(self, executor: str) -> set[frozenset[str]]:
        """Return the sets of labels that work for an executor may ask of a worker."""
        own = frozenset(self.executors[executor].labels)
        sets = {own}
        for route in self.routes:
            if route.executor == executor:
                sets.add(own.union(route.labels))
        return sets

    def _route_for(self, request: RouteRequest) -> Route:
        """Return the first fitting route whose executor is allowed, else the first."""
        fitting = [route for route in self.routes if route.fits(request)]
        if not fitting:
            reason = "none is configured"
            if self.executors:
                reason = f"no route in accordance.toml fits ({request})"
            raise NoExecutor(
                f"no executor for this task: {reason}", way_out=_ADD_EXECUTOR
            )
        for route in fitting:
            if self._is_allowed(route, request):
                return route
        return fitting[0]

    def _is_allowed(self, route: Route, request: RouteRequest) -> bool:
        if request.executors is None:
            return True
        names = names_of(route.executor, self.executors[route.executor])
        return not request.executors.isdisjoint(names)

    def everything_to(self, executor: str, model: str | None = None) -> Routing:
        """Return the routing that gives all work to a single executor.

        Kinds that need no settings need not be configured. Routes keep their contracts:
        who does the work does not change what it is.
        """
        executors = dict(self.executors)
        if executor not in executors:
            executors[executor] = _unconfigured(executor, model, executors)
        executors[executor].model_for(model)

        changes = {
            "executor": executor,
            "model": model,
            "prompt": None,
            "context_bytes": None,
        }
        redirected = [route.model_copy(update=changes) for route in self.routes]
        fallback = Route(executor=executor, model=model)
        return replace(self, executors=executors, routes=(*redirected, fallback))

    def after(self, request: RouteRequest, failures: int) -> Choice:
        """Choose who does this after so many failures. Raises NoExecutor.

        Each failure leads to the next stronger model, where it exists.
        """
        first = self.choose(request)
        stronger = first.stronger
        if not failures or not stronger:
            return first
        last = len(stronger) - 1
        tier = stronger[min(failures - 1, last)]
        return self.choose(request, tier)


def routing_of(
    executors: Mapping[str, Spec],
    routes: Sequence[Route],
    *,
    prompts: Iterable[str] = (),
) -> Routing:
    """Return the routing of `[executors.NAME]` and `[[routes]]`.

    Without routes, a single executor gets everything. Raises InvalidRouting or
    UnknownName, with the nearest names.
    """
    if not routes and len(executors) == 1:
        (only_executor,) = executors
        routes = [Route(executor=only_executor)]
    known_prompts = frozenset(prompts)
    for number, route in enumerate(routes, 1):
        _check_route(number, route, executors, known_prompts)
    return Routing(executors, tuple(routes))


def _check_route(
    number: int,
    route: Route,
    executors: Mapping[str, Spec],
    prompts: frozenset[str],
) -> None:
    if route.executor not in executors:
        raise UnknownExecutor(route.executor, executors)
    executors[route.executor].model_for(route.model)

    if route.contract is not None:
        is_for_actions = route.kind not in ("review", "plan")
        if route.contract not in CONTRACTS or not is_for_actions:
            raise InvalidRouting(
                f"accordance.toml: [[routes]] {number}: contract {route.contract!r}:"
                f" {ACTION_VERSION} or {ANSWER_VERSION}, for actions; reviews, plans and"
                " changes of a repository have contracts of their own, so leave it out"
            )

    if route.prompt is not None and prompts and route.prompt not in prompts:
        raise UnknownPrompt(route.prompt, prompts)


def _allowed_tiers(spec: Spec, models: frozenset[str] | None) -> Mapping[str, int]:
    """Return the executor's models with their tiers, as far as the task allows them."""
    tiers: Mapping[str, int] = getattr(spec, "tiers", {})
    if models is None:
        return tiers
    return {model: tier for model, tier in tiers.items() if model in models}


def _model_for(
    route: Route,
    spec: Spec,
    request: RouteRequest,
    tiers: Mapping[str, int],
) -> str | None:
    """Return the route's model; where the task refuses it, the weakest allowed."""
    model = spec.model_for(route.model)
    if request.models is None or model in request.models:
        return model
    return max(tiers, key=tiers.__getitem__, default=model)


def _context_bytes(spec: Spec, model: str | None) -> int | None:
    """Return how much context the model takes, else the executor."""
    bounds = spec.bounds.get(model or "")
    if bounds is not None and bounds.context_bytes is not None:
        return bounds.context_bytes
    return spec.context_bytes


def _unconfigured(kind: str, model: str | None, executors: Mapping[str, Spec]) -> Spec:
    """Return an executor that is named by its kind and has no settings.

    Raises NoModel or UnknownExecutor.
    """
    if kind == "llm":
        if model is None:
            raise NoModel("llm needs a model", way_out=_NAME_MODEL)
        return spec_of(kind, {"model": model})
    if kind not in WITHOUT_SETTINGS:
        raise UnknownExecutor(kind, {*executors, *WITHOUT_SETTINGS, "llm"})
    return spec_of(kind, {})


def _weakest_model(tiers: Mapping[str, int], tier: int) -> str | None:
    """Return the weakest model that is at least of this tier."""
    strong = {model: own_tier for model, own_tier in tiers.items() if own_tier <= tier}
    return max(strong, key=strong.__getitem__, default=None)

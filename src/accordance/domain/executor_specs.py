"""Who can do work, as accordance.toml says it: `[executors.NAME]`, one kind each. Unknown keys are errors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from accordance.contracts.context import EXECUTOR_KINDS
from accordance.domain.spending import Price
from accordance.errors import InvalidRouting, UnknownModel, UnknownName, did_you_mean

Provider: TypeAlias = Literal["openai", "openai-responses", "anthropic", "google", "local"]
Isolation: TypeAlias = Literal["auto", "bwrap", "landlock", "rlimit"]
Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]


ContextBytes: TypeAlias = Annotated[int, Field(ge=1000)]


class Bounds(BaseModel):
    """What one model may use, where its executor says something else."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    concurrency: int | None = Field(default=None, ge=1)
    per_minute: int | None = Field(default=None, ge=1)
    context_bytes: ContextBytes | None = None


class _Spec(BaseModel):
    """What every executor has."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    seconds: Positive = 900  # a run may take so long
    output_bytes: int = Field(default=4 << 20, ge=1024, le=16 << 20)  # and say so much
    concurrency: int | None = Field(default=None, ge=1)  # so many runs at once, in each worker
    per_minute: int | None = Field(
        default=None, ge=1
    )  # so many runs begin in a minute, in all workers together
    context_bytes: ContextBytes | None = None  # it is told so much; else as its role is
    bounds: dict[str, Bounds] = Field(default_factory=dict)  # of single models

    def model_for(self, wanted: str | None) -> str | None:  # noqa: ARG002 - for those that have models
        """The model to use; None where the executor has none."""
        return None


class _Modelled(_Spec):
    """An executor with a model behind it."""

    model: str | None = None
    tiers: dict[str, int] = Field(default_factory=dict)  # models by strength, 1 is the strongest
    base_url: str | None = None
    key_env: str | None = None  # the environment variable that holds the key
    prices: dict[str, dict[Literal["input", "output"], Positive]] = Field(default_factory=dict)

    def model_for(self, wanted: str | None) -> str | None:
        """The wished model, if it is one of these. Raises UnknownModel."""
        known = self.models
        if wanted is not None and known and wanted not in known:
            raise UnknownModel(wanted, known)
        return wanted or self.model

    @property
    def models(self) -> frozenset[str]:
        """Every model that is named."""
        return frozenset((*self.tiers, *((self.model,) if self.model else ())))

    def price_of(self, model: str | None) -> Price | None:
        """What its tokens cost, if that is configured."""
        said = self.prices.get(model or "")
        return Price(said.get("input", 0.0), said.get("output", 0.0)) if said else None


class CommandSpec(_Spec):
    """Any program: the assignment as JSON on standard input, the message on standard output or in a file."""

    kind: Literal["command"]
    command: str | list[str]  # a text goes to a shell
    message: str | None = None  # a file below the work folder that holds the message; else standard output
    isolation: Isolation = "auto"
    environment: dict[str, str] = Field(default_factory=dict)
    readable: list[str] = Field(default_factory=list)  # further folders the program may read


class LlmSpec(_Modelled):
    """A model, asked directly."""

    kind: Literal["llm"]
    model: str
    provider: Provider = "openai"
    output: Literal["auto", "native", "prompt"] = "auto"  # how the schema is told
    reasks: int = Field(default=2, ge=0, le=10)  # so often it is asked again, within one run
    max_tokens: int = Field(default=16_000, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)


class AgentSpec(_Modelled):
    """A coding agent with a command line."""

    kind: Literal["codex", "opencode", "claude"]
    binary: str | None = None  # where the program is; else it is looked for
    isolation: Literal["auto", "bwrap", "rlimit"] = "auto"
    arguments: list[str] = Field(default_factory=list)  # further ones for its command line
    readable: list[str] = Field(default_factory=list)


class ExternalSpec(_Spec):
    """Somebody elsewhere, who asks for work with `accordance task next` and hands it in."""

    kind: Literal["external"]


Spec: TypeAlias = CommandSpec | LlmSpec | AgentSpec | ExternalSpec
KINDS: Final = EXECUTOR_KINDS
WITHOUT_SETTINGS: Final = frozenset(("codex", "opencode", "claude", "external"))  # kinds that need none

_SPECS: Final[Mapping[str, type[Spec]]] = {
    "command": CommandSpec,
    "llm": LlmSpec,
    **dict.fromkeys(("codex", "opencode", "claude"), AgentSpec),
    "external": ExternalSpec,
}


@cache
def _adapter(kind: str) -> TypeAdapter[Spec]:
    return TypeAdapter(_SPECS[kind])


class _UnknownKind(UnknownName):
    kind = "kind of executor"


def spec_of(name: str, said: object) -> Spec:
    """One executor. Raises InvalidRouting, which names the key and the way out."""
    where = f"accordance.toml: [executors.{name}]"
    if not isinstance(said, Mapping):
        raise InvalidRouting(f"{where} is a table")
    kind = said.get("kind", name if name in KINDS else None)
    if kind is None:
        raise InvalidRouting(f"{where} needs a kind: {', '.join(KINDS)}")
    if kind not in KINDS:
        raise InvalidRouting(f"{where}: {_UnknownKind(str(kind), KINDS)}")
    try:
        return _adapter(kind).validate_python({**said, "kind": kind})
    except ValidationError as error:
        raise InvalidRouting(f"{where}: {first_fault(error, _SPECS[kind].model_fields)}") from None


def first_fault(error: ValidationError, known: Mapping[str, Any]) -> str:
    """The first thing that is wrong, in a line; a key nobody knows before one that is missing, for it may be that one."""
    fault = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = ".".join(str(step) for step in fault["loc"])
    if fault["type"] == "extra_forbidden":
        *above, key = (str(step) for step in fault["loc"])
        fields = Bounds.model_fields if "bounds" in above else known
        return f"unknown key {place!r}; {did_you_mean(key, fields)}"
    return f"{place}: {fault['msg'].lower() if fault['type'] == 'missing' else fault['msg']}"

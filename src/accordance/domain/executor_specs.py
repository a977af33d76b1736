"""The executors of accordance.toml: `[executors.NAME]`, of a kind each.

Unknown keys are errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter

from accordance.contracts.context import EXECUTOR_KINDS
from accordance.domain.setting_tables import Count, Label, Positive, SettingTable
from accordance.domain.spending import Price
from accordance.errors import UnknownModel

Provider: TypeAlias = Literal[
    "openai", "openai-responses", "anthropic", "google", "local"
]
Isolation: TypeAlias = Literal["auto", "bwrap", "landlock", "rlimit"]
ContextBytes: TypeAlias = Annotated[int, Field(ge=1000)]


class Bounds(SettingTable):
    """The limits of a model, where they differ from its executor's."""

    concurrency: Count | None = Field(
        default=None,
        description="Concurrent runs with this model, in each worker.",
        examples=[2],
    )
    per_minute: Count | None = Field(
        default=None,
        description="Runs with this model per minute, in all workers together.",
        examples=[30],
    )
    context_bytes: ContextBytes | None = Field(
        default=None,
        description="Bytes of context for this model.",
        examples=[200_000],
    )


class _Spec(SettingTable):
    """What every executor has."""

    seconds: Positive = Field(
        default=900,
        description="How many seconds a run may take.",
        examples=[300],
    )
    output_bytes: int = Field(
        default=4 << 20,
        ge=1024,
        le=16 << 20,
        description="How many bytes a run may print.",
        examples=[1_000_000],
    )
    concurrency: Count | None = Field(
        default=None,
        description="Concurrent runs, in each worker; no limit unless given.",
        examples=[2],
    )
    per_minute: Count | None = Field(
        default=None,
        description="Runs per minute, in all workers together; no limit unless given.",
        examples=[60],
    )
    context_bytes: ContextBytes | None = Field(
        default=None,
        description="Bytes of context; those of the role unless given.",
        examples=[200_000],
    )
    labels: list[Label] = Field(
        default_factory=list,
        description="Labels that a worker must have to run it, all of them.",
        examples=[["gpu"]],
    )
    bounds: dict[str, Bounds] = Field(
        default_factory=dict,
        description="Other limits for single models, by the model's name.",
        examples=[{"large": {"concurrency": 1}}],
    )

    def model_for(self, wanted: str | None) -> str | None:  # noqa: ARG002
        """Return the model to use; None where the executor has none."""
        return None


class _Modelled(_Spec):
    """An executor with a model behind it."""

    model: str | None = Field(
        default=None,
        description="The model to use.",
        examples=["gpt-5"],
    )
    tiers: dict[str, int] = Field(
        default_factory=dict,
        description=(
            "Models by strength, 1 is the strongest; after a failure the next stronger"
            " model tries."
        ),
        examples=[{"small": 2, "large": 1}],
    )
    base_url: str | None = Field(
        default=None,
        description=(
            "An endpoint with the provider's protocol; the provider's own unless given."
        ),
        examples=["http://127.0.0.1:8080/v1"],
    )
    key_env: str | None = Field(
        default=None,
        description="The environment variable that holds the key.",
        examples=["OPENAI_API_KEY"],
    )
    prices: dict[str, dict[Literal["input", "output"], Positive]] = Field(
        default_factory=dict,
        description=(
            "What a million tokens cost, by model: `input` read, `output` written."
        ),
        examples=[{"gpt-5": {"input": 1.25, "output": 10.0}}],
    )

    def model_for(self, wanted: str | None) -> str | None:
        """Return the wanted model, else the executor's own. Raises UnknownModel."""
        known = self.models
        if wanted is not None and known and wanted not in known:
            raise UnknownModel(wanted, known)
        return wanted or self.model

    @property
    def models(self) -> frozenset[str]:
        """Every model that is named."""
        named = set(self.tiers)
        if self.model:
            named.add(self.model)
        return frozenset(named)

    def price_of(self, model: str | None) -> Price | None:
        """Return the price of a model's tokens, if it is configured."""
        prices = self.prices.get(model or "")
        if not prices:
            return None
        return Price(prices.get("input", 0.0), prices.get("output", 0.0))


class CommandSpec(_Spec):
    """Any program that reads an assignment and writes a message.

    It gets the assignment as JSON on standard input and answers on standard output or
    in a file.
    """

    kind: Literal["command"]
    command: str | list[str] = Field(
        description="The program and its arguments; a text goes to a shell.",
        examples=[["python3", "agents/builder.py"]],
    )
    message: str | None = Field(
        default=None,
        description=(
            "The file below the work folder that holds the message; standard output"
            " unless given."
        ),
        examples=["message.json"],
    )
    isolation: Isolation = Field(
        default="auto",
        description="How the program is isolated from the machine.",
        examples=["bwrap"],
    )
    environment: dict[str, str] = Field(
        default_factory=dict,
        description="Further environment variables of the program.",
        examples=[{"TZ": "UTC"}],
    )
    readable: list[str] = Field(
        default_factory=list,
        description="Further folders the program may read.",
        examples=[["/srv/models"]],
    )


class LlmSpec(_Modelled):
    """A model, asked directly."""

    kind: Literal["llm"]
    model: str = Field(
        description=(
            'The model to ask; with `provider = "local"`, the path of a GGUF file.'
        ),
        examples=["small"],
    )
    provider: Provider = Field(
        default="openai",
        description="Whose protocol the model speaks.",
        examples=["anthropic"],
    )
    output: Literal["auto", "native", "prompt"] = Field(
        default="auto",
        description=(
            "How the model gets the schema: by the provider's own means, in the prompt,"
            " or whichever fits."
        ),
        examples=["native"],
    )
    reasks: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often the model is asked again within a run.",
        examples=[3],
    )
    max_tokens: Count = Field(
        default=16_000,
        description="How many tokens an answer may have.",
        examples=[32_000],
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="The model's temperature; its own unless given.",
        examples=[0.2],
    )


class AgentSpec(_Modelled):
    """A coding agent with a command line."""

    kind: Literal["codex", "opencode", "claude"]
    binary: str | None = Field(
        default=None,
        description="The path of the program; searched for unless given.",
        examples=["/usr/local/bin/codex"],
    )
    isolation: Literal["auto", "bwrap", "rlimit"] = Field(
        default="auto",
        description="How the agent is isolated from the machine.",
        examples=["bwrap"],
    )
    arguments: list[str] = Field(
        default_factory=list,
        description="Further arguments for its command line.",
        examples=[["--verbose"]],
    )
    readable: list[str] = Field(
        default_factory=list,
        description="Further folders the agent may read.",
        examples=[["/srv/models"]],
    )


class ExternalSpec(_Spec):
    """An agent or a person elsewhere, who asks for work and submits it."""

    kind: Literal["external"]


Spec: TypeAlias = CommandSpec | LlmSpec | AgentSpec | ExternalSpec
KINDS: Final = EXECUTOR_KINDS
WITHOUT_SETTINGS: Final = frozenset(("codex", "opencode", "claude", "external"))
"""The kinds that need no settings."""


def asks_models(spec: Spec) -> bool:
    """Whether runs of an executor use up tokens that are counted."""
    return isinstance(spec, AgentSpec | LlmSpec)


AnySpec: TypeAlias = Annotated[Spec, Field(discriminator="kind")]
_ANY_SPEC: Final = TypeAdapter[Spec](AnySpec, config=ConfigDict(defer_build=True))


def with_kinds(tables: object) -> object:
    """Add the kind to `[executors.codex]` and its like, which are named after it."""
    if not isinstance(tables, Mapping):
        return tables
    return {name: _with_kind(name, table) for name, table in tables.items()}


def _with_kind(name: str, table: object) -> object:
    if name in KINDS and isinstance(table, Mapping):
        return {"kind": name, **table}
    return table


Executors: TypeAlias = Annotated[dict[str, AnySpec], BeforeValidator(with_kinds)]


def spec_of(name: str, table: Mapping[str, object]) -> Spec:
    """Return the executor of a table. Raises ValidationError."""
    return _ANY_SPEC.validate_python(_with_kind(name, table))

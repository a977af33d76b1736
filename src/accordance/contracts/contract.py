"""What a contract is: a pydantic model, its cross-field rules, its normalising rules as data, under one version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from pydantic import BaseModel

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling
from accordance.contracts.violation import Notice, Repair, Violation, excerpt
from accordance.errors import InvalidContract

M = TypeVar("M", bound=BaseModel)

Rule: TypeAlias = Callable[[JsonObject, Context], Iterable[Violation | Notice]]
"""A rule across fields. Given the normalised message, which may still be wrong in any field; it must not raise."""

Rewrite: TypeAlias = Callable[
    [JsonObject, Context], tuple[JsonObject, Sequence[Repair | Notice]]
]
"""A normalising step that a table cannot say, with its repairs, and notices of what people should know.

Returns the message itself, and nothing, when nothing had to be done.
"""

Settled: TypeAlias = Callable[[JsonObject, Context], bool]
"""A sufficient test for a message that is right in every field: True means no rewrite and no rule has anything to say."""

VERSION_KEY: Final = "schema_version"
_LONGEST_NAME: Final = 100
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_EMPTY: Final = Shape()


@dataclass(frozen=True, slots=True)
class Respell:
    """The rewrite for a field that takes any text but has words of its own: a known word gets its canonical spelling."""

    key: str
    spelling: Spelling
    otherwise: Callable[[str], str | None] = lambda _: (
        None
    )  # what becomes of words that are not known

    def __call__(
        self, message: JsonObject, _: Context
    ) -> tuple[JsonObject, list[Repair]]:
        """Respell one top-level field."""
        written = message.get(self.key)
        if (
            written is None
            or not isinstance(written, str)
            or written in self.spelling.known
        ):
            return message, []
        word = self.spelling.canonical(written) or self.otherwise(written)
        if word is None or word == written:
            return message, []
        return {**message, self.key: word}, [
            Repair("spelling", f"$.{self.key}", written, word)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A use of a contract with a narrower meaning, e.g. a review whose target must be a PLAN."""

    name: str
    aliases: tuple[str, ...] = ()
    narrows: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # top-level key -> the words left
    enums: tuple[
        str, ...
    ] = ()  # the enumerations that the machine-readable summary names


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """How a message of an older version becomes one of this version."""

    source: Contract[Any]
    function: Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contract(Generic[M]):
    """One version of one kind of message. Frozen: a version means the same for ever."""

    version: str  # the word on the wire, e.g. "xiaobo_action_v1"
    model: type[M]
    name: str = ""  # a short name for people, e.g. "action"
    about: str = ""  # one line
    mentions_unknown_keys: bool = True  # as warnings, where the contract is open
    scopes: tuple[Scope, ...] = ()
    shape: Shape = _EMPTY
    mends: tuple[
        Rewrite, ...
    ] = ()  # steps only a message that is not canonical can need
    rewrites: tuple[Rewrite, ...] = ()  # steps every message must go through
    rules: tuple[Rule, ...] = ()
    settled: Settled | None = (
        None  # a quick test that makes rewrites and rules needless
    )
    upgrades: tuple[Upgrade, ...] = ()
    profiles: Mapping[str, Contract[Any]] = field(default_factory=dict)
    scope: str = ""  # set on the narrowed copies only

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.version):
            raise InvalidContract(
                f"{self.version!r} is no version: letters, digits, _ . - only, at most 100"
            )
        model: object = self.model
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise InvalidContract(
                f"{self.version}: the model must be a pydantic model class"
            )
        _check_version_field(self)

    @property
    def closed(self) -> bool:
        """Whether unknown keys at the top are violations: where the model says extra="forbid"."""
        return self.model.model_config.get("extra") == "forbid"

    @property
    def version_key(self) -> Literal["required", "optional", "absent"]:
        """Whether a message must, may or cannot say which contract it follows: as the model has it."""
        found = self.model.model_fields.get(VERSION_KEY)
        return (
            "absent"
            if found is None
            else "required"
            if found.is_required()
            else "optional"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Everything this contract answers to."""
        aliases = (
            alias for scope in self.scopes for alias in (scope.name, *scope.aliases)
        )
        return tuple(name for name in (self.version, self.name, *aliases) if name)

    @property
    def read_versions(self) -> tuple[str, ...]:
        """The versions that can be read, as they are or by upgrades; its own first."""
        return (
            self.version,
            *(
                version
                for upgrade in self.upgrades
                for version in upgrade.source.read_versions
            ),
        )

    def in_scope(self, scope: Scope) -> Contract[M]:
        """The same contract, narrowed."""
        return replace(self.with_rules(*_narrowing(scope)), scope=scope.name)

    def with_rules(self, *rules: Rule) -> Contract[M]:
        """The same contract with further rules, to be registered under its own version."""
        settled = (
            None if rules else self.settled
        )  # the quick test knows nothing of further rules
        return replace(self, rules=(*self.rules, *rules), settled=settled)


def _check_version_field(contract: Contract[Any]) -> None:
    """The model's own version field, where it fixes the words, must name this version."""
    words = _version_words(contract.model)
    if words and contract.version not in words:
        raise InvalidContract(
            f"{contract.version}: {contract.model.__name__}.{VERSION_KEY} must be Literal[{contract.version!r}]"
        )


def _version_words(model: type[BaseModel]) -> list[str]:
    field_info = model.model_fields.get(VERSION_KEY)
    words = _literals(field_info.annotation) if field_info else ()
    return [word for word in words if isinstance(word, str) and _NAME.fullmatch(word)]


def _literals(annotation: object) -> list[object]:
    """The words of a Literal, also inside of a union."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return list(arguments)
    return [word for argument in arguments for word in _literals(argument)]


def _narrowing(scope: Scope) -> Iterable[Rule]:
    for key, words in scope.narrows.items():
        yield _one_of(key, words, scope.name)


def _one_of(key: str, words: tuple[str, ...], scope: str) -> Rule:
    """The rule that a key holds one of the words a scope leaves."""

    def in_this_scope(message: JsonObject, _: Context) -> Iterable[Violation]:
        found = message.get(key)
        if found not in words and isinstance(found, str):
            expected = f"{' or '.join(words)} in scope {scope}"
            return (Violation("not_in_enum", f"$.{key}", expected, excerpt(found)),)
        return ()

    in_this_scope.__doc__ = f"In scope {scope} {key} is {' or '.join(words)}."
    return in_this_scope


_DECLARED: dict[type[BaseModel], Contract[Any]] = {}


def declare(contract: Contract[Any]) -> None:
    """From now on the model stands for this contract."""
    _DECLARED[contract.model] = contract


def contract_of(model: type[M]) -> Contract[M]:
    """The contract that was declared on a model; a model without one is a contract as it stands."""
    declared = _DECLARED.get(model)
    return _implied(model) if declared is None else declared


@lru_cache(maxsize=256)
def _implied(model: type[M]) -> Contract[M]:
    """The contract of a model on which none was declared, under the name of its version or of its class."""
    words = _version_words(model)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", model.__name__).strip("_.-")[:_LONGEST_NAME]
    version = next(iter(words), None) or (name if _NAME.fullmatch(name) else "model")
    return Contract(version=version, model=model)

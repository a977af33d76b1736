"""A contract: a pydantic model, rules across fields and normalising rules.

All of them stand under a single version.
"""

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
"""A rule across fields.

It is given the normalised message, which may still be wrong in any field, and must not
raise.
"""

Rewrite: TypeAlias = Callable[
    [JsonObject, Context], tuple[JsonObject, Sequence[Repair | Notice]]
]
"""A normalising step that no table can express.

It returns the new message with its repairs, and with notices of what people should
know; the message itself and nothing else if there is nothing to do.
"""

Settled: TypeAlias = Callable[[JsonObject, Context], bool]
"""A quick test for a message that is right in every field.

True means that no rewrite and no rule has anything to report.
"""

VERSION_KEY: Final = "schema_version"
_LONGEST_NAME: Final = 100
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_EMPTY: Final = Shape()


@dataclass(frozen=True, slots=True)
class Respell:
    """The rewrite for a field that takes any text but has words of its own.

    A known word gets its canonical spelling; `otherwise` handles the others.
    """

    key: str
    spelling: Spelling
    otherwise: Callable[[str], str | None] = lambda _: None

    def __call__(
        self,
        message: JsonObject,
        _: Context,
    ) -> tuple[JsonObject, list[Repair]]:
        """Respell the field, which is at the top of the message."""
        written = message.get(self.key)
        if not isinstance(written, str) or written in self.spelling.known:
            return message, []
        word = self.spelling.canonical(written) or self.otherwise(written)
        if word is None or word == written:
            return message, []
        repair = Repair(
            rule="spelling",
            path=f"$.{self.key}",
            before=written,
            after=word,
        )
        return {**message, self.key: word}, [repair]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A narrower use of a contract, e.g. a review whose target must be a PLAN.

    `narrows` maps a top-level key to the words that are left. `enums` are the
    enumerations that the machine-readable summary names.
    """

    name: str
    aliases: tuple[str, ...] = ()
    narrows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    enums: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """How a message of an older version is upgraded to this version."""

    source: Contract[Any]
    function: Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contract(Generic[M]):
    """A version of a kind of message. Frozen: a version never changes its meaning.

    `rewrites` are steps that every message goes through, `mends` those that only a
    message that is not canonical can need. `settled` is a quick test that may spare a
    message both rewrites and rules.
    """

    version: str  # the word on the wire, e.g. "xiaobo_action_v1"
    model: type[M]
    name: str = ""  # a short name for people, e.g. "action"
    about: str = ""  # one line
    mentions_unknown_keys: bool = True  # as warnings, where the contract is open
    scopes: tuple[Scope, ...] = ()
    shape: Shape = _EMPTY
    mends: tuple[Rewrite, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    rules: tuple[Rule, ...] = ()
    settled: Settled | None = None
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
        """Whether unknown keys at the top are violations: extra="forbid"."""
        return self.model.model_config.get("extra") == "forbid"

    @property
    def version_key(self) -> Literal["required", "optional", "absent"]:
        """Whether a message must, may or cannot name its contract."""
        version_field = self.model.model_fields.get(VERSION_KEY)
        if version_field is None:
            return "absent"
        return "required" if version_field.is_required() else "optional"

    @property
    def names(self) -> tuple[str, ...]:
        """Everything this contract answers to."""
        names = [self.version, self.name]
        for scope in self.scopes:
            names += [scope.name, *scope.aliases]
        return tuple(name for name in names if name)

    @property
    def read_versions(self) -> tuple[str, ...]:
        """The versions that can be read, as they are or upgraded; its own first."""
        versions = [self.version]
        for upgrade in self.upgrades:
            versions += upgrade.source.read_versions
        return tuple(versions)

    def in_scope(self, scope: Scope) -> Contract[M]:
        """The same contract, narrowed."""
        return replace(self.with_rules(*_narrowing(scope)), scope=scope.name)

    def with_rules(self, *rules: Rule) -> Contract[M]:
        """The same contract with further rules, and so without its quick test."""
        settled = None if rules else self.settled
        return replace(self, rules=(*self.rules, *rules), settled=settled)


def _check_version_field(contract: Contract[Any]) -> None:
    """Refuse a model whose own version field allows only other versions."""
    version = contract.version
    words = _version_words(contract.model)
    if words and version not in words:
        version_field = f"{contract.model.__name__}.{VERSION_KEY}"
        raise InvalidContract(
            f"{version}: {version_field} must be Literal[{version!r}]"
        )


def _version_words(model: type[BaseModel]) -> list[str]:
    field_info = model.model_fields.get(VERSION_KEY)
    words = _literals(field_info.annotation) if field_info else ()
    texts = [word for word in words if isinstance(word, str)]
    return [text for text in texts if _NAME.fullmatch(text)]


def _literals(annotation: object) -> list[object]:
    """The words of a Literal, also inside a union."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return list(arguments)
    words: list[object] = []
    for argument in arguments:
        words += _literals(argument)
    return words


def _narrowing(scope: Scope) -> Iterable[Rule]:
    """The rules by which a scope narrows a contract."""
    for key, words in scope.narrows.items():
        yield _narrowing_rule(key, words, scope.name)


def _narrowing_rule(key: str, words: tuple[str, ...], scope: str) -> Rule:
    """The rule that a key holds a word that a scope leaves."""
    alternatives = " or ".join(words)

    def in_this_scope(message: JsonObject, _: Context) -> Iterable[Violation]:
        value = message.get(key)
        if not isinstance(value, str) or value in words:
            return ()
        violation = Violation(
            code="not_in_enum",
            path=f"$.{key}",
            expected=f"{alternatives} in scope {scope}",
            actual=excerpt(value),
        )
        return (violation,)

    in_this_scope.__doc__ = f"In scope {scope} {key} is {alternatives}."
    return in_this_scope


_DECLARED: dict[type[BaseModel], Contract[Any]] = {}


def declare(contract: Contract[Any]) -> None:
    """Let a model stand for its contract from now on."""
    _DECLARED[contract.model] = contract


def contract_of(model: type[M]) -> Contract[M]:
    """The contract declared on a model; any other model is a contract as it stands."""
    declared = _DECLARED.get(model)
    return _implied_contract(model) if declared is None else declared


@lru_cache(maxsize=256)
def _implied_contract(model: type[M]) -> Contract[M]:
    """The contract of a model on which none is declared."""
    words = _version_words(model)
    version = words[0] if words else _name_of_class(model)
    return Contract(version=version, model=model)


def _name_of_class(model: type[BaseModel]) -> str:
    """The name of a class as a version, which takes fewer characters."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", model.__name__)
    name = name.strip("_.-")[:_LONGEST_NAME]
    return name if _NAME.fullmatch(name) else "model"

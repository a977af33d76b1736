"""Schema export: JSON Schema 2020-12 with an `$id`, and the dialects of providers.

A provider's dialect is lossy, and the export lists what it lost. It steers generation;
it never replaces validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject, without
from accordance.contracts.model_schemas import (
    mapping,
    model_schema,
    resolve,
    sequence,
)
from accordance.errors import InvalidContract, UnknownProfile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Export:
    """A schema, and what the dialect cannot express."""

    schema: JsonObject
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a provider accepts in a schema, as data."""

    about: str
    without: frozenset[str] = frozenset()  # keywords it refuses or ignores
    closed: bool = False  # wants additionalProperties: false everywhere
    all_required: bool = False  # wants every property required
    inline: bool = False  # wants no $ref
    one_item_at_most: bool = False  # takes minItems only as 0 or 1
    typed: bool = False  # wants a type everywhere: nothing may be just anything
    enums_are_texts: bool = False  # takes enum only as a list of strings


_LENGTHS: Final = frozenset(("minLength", "maxLength", "pattern"))
_BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
)
_SIZES: Final = frozenset(("minItems", "maxItems"))
_PROSE: Final = frozenset(("title", "default"))
_RARE: Final = frozenset(
    (
        "$comment",
        "contentEncoding",
        "contentMediaType",
        "deprecated",
        "discriminator",
        "examples",
        "maxProperties",
        "minProperties",
        "multipleOf",
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "readOnly",
        "uniqueItems",
        "writeOnly",
    )
)
_TYPING: Final = frozenset(("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"))
_SCALARS: Final = ("string", "number", "boolean")
_TYPES: Final[Mapping[type, str]] = MappingProxyType(
    {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        type(None): "null",
    }
)

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        "json-schema": Dialect(about="JSON Schema 2020-12, complete"),
        "openai": Dialect(
            about="OpenAI structured outputs, strict: everything required, nothing further, types and words only",
            without=_LENGTHS | _BOUNDS | _SIZES | _PROSE | _RARE | {"format"},
            closed=True,
            all_required=True,
            typed=True,
        ),
        "anthropic": Dialect(
            about="Anthropic structured outputs: nothing further, no bounds, minItems 0 or 1",
            without=(_LENGTHS - {"pattern"}) | _BOUNDS | {"maxItems"} | _PROSE | _RARE,
            closed=True,
            one_item_at_most=True,
            typed=True,
        ),
        "gemini": Dialect(
            about="Gemini response schema: no $ref, no const, no additionalProperties, no $schema",
            without=_LENGTHS
            | _PROSE
            | _RARE
            | {"additionalProperties", "exclusiveMinimum", "exclusiveMaximum"},
            inline=True,
            typed=True,
            enums_are_texts=True,
        ),
        "llguidance": Dialect(
            about="llguidance grammar: complete but for titles", without=_PROSE
        ),
    }
)


def export_schema(contract: Contract[Any], dialect: str = "json-schema") -> Export:
    """A contract's schema in a dialect.

    Rules across fields are in no schema; only `check` applies them.
    """
    try:
        target = DIALECTS[dialect]
    except KeyError:
        raise UnknownProfile(dialect, DIALECTS) from None
    whole = model_schema(contract.model)
    if not whole:
        raise InvalidContract(
            f"{contract.model.__name__} has no JSON Schema: a type in it has none"
        )
    if dialect == "json-schema":
        return Export(_identified(whole, contract))

    writer = _Writer(target, whole, _homes(contract))
    schema = writer.write(whole, "$")
    dropped = tuple(dict.fromkeys(writer.dropped))
    return Export(schema, (*dropped, *_rules_dropped(contract)))


def _identified(schema: JsonObject, contract: Contract[Any]) -> JsonObject:
    """A complete schema with the identity of its contract."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:accordance:contract:{contract.version}",
        **schema,
        "title": contract.version,
        "description": contract.about,
    }


def _rules_dropped(contract: Contract[Any]) -> tuple[str, ...]:
    names = ", ".join(rule.__name__ for rule in contract.rules)
    if names:
        return (f"$: the rules across fields ({names})",)
    return ()


def _homes(contract: Contract[Any]) -> dict[str, str]:
    """Where in a message the model of each definition stands first."""
    root = model_schema(contract.model)
    homes: dict[str, str] = {}
    for field_info in fields_of(contract):
        schema = field_info.schema
        path = field_info.path
        items = schema.get("items")
        if isinstance(items, dict):
            schema = resolve(root, items)
            path = f"{path}[*]"
        homes.setdefault(str(schema.get("title")), path)
    return homes


@dataclass(slots=True)
class _Writer:
    """Rewrites a schema for a dialect and notes every loss."""

    dialect: Dialect
    root: JsonObject
    homes: Mapping[str, str]
    dropped: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)  # definitions being written inline

    def write(self, node: JsonObject, path: str) -> JsonObject:
        """A node of the schema, in the dialect."""
        if self.dialect.typed:
            if self._is_anything(node):
                return self._write_anything(path)
            node = _with_any_of(node)
        if self.dialect.inline:
            return self._write_inline(node, path)
        return self._write_node(node, path)

    def _write_inline(self, node: JsonObject, path: str) -> JsonObject:
        """A node with its references replaced by what they refer to."""
        resolved = without(node, ("$defs",))
        if "$ref" in resolved or "anyOf" in resolved:
            resolved = resolve(self.root, resolved)

        name = ""
        if resolved.get("properties"):
            name = str(resolved.get("title", ""))
        if name and name in self.inside:
            self._drop(path, "contains itself, which needs $ref")
            return {"type": "object"}

        self.inside.append(name)
        written = self._write_node(resolved, path)
        self.inside.pop()
        return written

    def _write_node(self, node: JsonObject, path: str) -> JsonObject:
        written: JsonObject = {}
        for key, value in node.items():
            if self._keeps(key, value, path):
                written[key] = self._write_keyword(key, value, path)

        kind = written.get("type")
        if kind == "object":
            self._finish_object(written, node, path)
        has_open_items = kind == "array" and "items" not in written
        if has_open_items and self.dialect.typed:
            written["items"] = self._write_anything(f"{path}[*]")
        self._finish_words(written, path)
        return written

    def _is_anything(self, node: JsonObject) -> bool:
        """Whether a schema, or the definition it refers to, takes every value."""
        return _TYPING.isdisjoint(resolve(self.root, node))

    def _write_anything(self, path: str) -> JsonObject:
        """The nearest to "anything" that has a type: any value without parts."""
        self._drop(path, "a list or an object (every value needs a type)")
        scalars = [{"type": name} for name in _SCALARS]
        if self.dialect.inline:
            return {"anyOf": scalars, "nullable": True}
        return {"anyOf": [*scalars, {"type": "null"}]}

    def _keeps(self, key: str, value: object, path: str) -> bool:
        """Whether the dialect takes a keyword. The loss is noted if it matters."""
        if key in self.dialect.without:
            is_a_loss = key not in _PROSE and key != "additionalProperties"
            if is_a_loss:
                self._drop(path, f"{key} {value}")
            return False
        is_minimum = self.dialect.one_item_at_most and key == "minItems"
        if is_minimum and value not in (0, 1):
            self._drop(path, f"{key} {value}")
            return False
        return True

    def _write_keyword(self, key: str, value: object, path: str) -> object:
        """The value of a keyword, with the schemas in it rewritten."""
        if key == "$defs" and isinstance(value, dict):
            return self._write_definitions(value, path)
        if key == "properties" and isinstance(value, dict):
            return {
                name: self.write(part, f"{path}.{name}") for name, part in value.items()
            }
        if key == "items" and isinstance(value, dict):
            return self.write(value, f"{path}[*]")
        if key == "anyOf" and isinstance(value, list):
            return [self.write(part, path) for part in value]
        return value

    def _write_definitions(self, definitions: JsonObject, path: str) -> JsonObject:
        """The definitions, without those of "anything", which are written in place."""
        written: JsonObject = {}
        for name, part in definitions.items():
            definition = mapping(part)
            if self.dialect.typed and self._is_anything(definition):
                continue
            home = self.homes.get(name, f"{path}.{name}")
            written[name] = self.write(definition, home)
        return written

    def _finish_object(self, written: JsonObject, node: JsonObject, path: str) -> None:
        """Close an object and require its keys, as far as the dialect wants that."""
        properties = written.get("properties")
        if not isinstance(properties, dict):
            if self.dialect.closed:
                self._drop(path, "any keys (every object must be closed)")
                written["properties"] = {}
                written["required"] = []
                written["additionalProperties"] = False
            return

        if self.dialect.closed:
            # An object that ignores further keys loses nothing when it is closed.
            if node.get("additionalProperties", False) is not False:
                self._drop(path, "further keys")
            written["additionalProperties"] = False

        if self.dialect.all_required:
            required = sequence(written.get("required"))
            for name in sorted(set(properties).difference(required)):
                self._drop(f"{path}.{name}", "may be absent")
            written["required"] = list(properties)

    def _finish_words(self, written: JsonObject, path: str) -> None:
        """List the words of an enumeration as the dialect does.

        Gemini has no const, and lists texts only.
        """
        if self.dialect.inline and "const" in written:
            written["enum"] = [written.pop("const")]
        values = written.get("enum")
        if not self.dialect.typed or not isinstance(values, list):
            return

        types = _types_of(values)
        if types == ["string"]:
            return
        if types == ["boolean"] or self.dialect.enums_are_texts:
            self._drop(path, f"enum {values}")
            del written["enum"]
            if len(types) == 1:
                written["type"] = types[0]
            else:
                written["anyOf"] = [{"type": name} for name in types]

    def _drop(self, path: str, loss: str) -> None:
        self.dropped.append(f"{path}: {loss}")


def _with_any_of(node: JsonObject) -> JsonObject:
    """A node with oneOf, which the typed dialects do not know, written as anyOf."""
    names = {"oneOf": "anyOf"}
    return {names.get(key, key): value for key, value in node.items()}


def _types_of(values: list[object]) -> list[str]:
    """The JSON types of some values. 1 after true does not count: it is true again."""
    distinct: list[object] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return sorted({_TYPES.get(type(value), "object") for value in distinct})

"""Schema export: JSON Schema 2020-12 with an `$id`, and the dialects of providers.

A provider's dialect is lossy, and the export says what it lost. It steers generation; it is never the only validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.model_schemas import model_schema, resolve
from accordance.errors import InvalidContract, UnknownProfile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NAMED: Final = frozenset(
    ("properties", "$defs")
)  # keywords whose keys are names, not keywords


@dataclass(frozen=True, slots=True)
class Export:
    """A schema, and what the dialect could not say."""

    schema: JsonObject
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one reader of schemas can take, as data."""

    about: str
    without: frozenset[str] = frozenset()  # keywords it refuses or ignores
    closed: bool = False  # wants additionalProperties: false everywhere
    all_required: bool = False  # wants every property required
    inline: bool = False  # wants no $ref
    one_item_at_most: bool = False  # takes minItems only as 0 or 1
    typed: bool = False  # wants a type everywhere: "anything" cannot be said
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
    """A contract's schema in a dialect. Rules across fields are in no schema; `check` knows them."""
    try:
        wanted = DIALECTS[dialect]
    except KeyError:
        raise UnknownProfile(dialect, DIALECTS) from None
    whole = model_schema(contract.model)
    if not whole:
        raise InvalidContract(
            f"{contract.model.__name__} has no JSON Schema: a type in it has none"
        )
    if dialect == "json-schema":
        identified: JsonObject = {
            "$schema": DIALECT,
            "$id": f"urn:accordance:contract:{contract.version}",
        }
        return Export(
            {
                **identified,
                **whole,
                "title": contract.version,
                "description": contract.about,
            }
        )
    writer = _Writer(wanted, whole, _homes(contract))
    schema = writer.write(whole, "$")
    dropped = tuple(dict.fromkeys(writer.dropped))
    return Export(schema, (*dropped, *_rules_dropped(contract)))


def _rules_dropped(contract: Contract[Any]) -> tuple[str, ...]:
    names = ", ".join(rule.__name__ for rule in contract.rules)
    return (f"$: the rules across fields ({names})",) if names else ()


def _homes(contract: Contract[Any]) -> dict[str, str]:
    """Where in a message the model of each definition stands first."""
    homes: dict[str, str] = {}
    for one in fields_of(contract):
        items = one.schema.get("items")
        inner = (
            resolve(model_schema(contract.model), items)
            if isinstance(items, dict)
            else one.schema
        )
        homes.setdefault(
            str(inner.get("title")),
            f"{one.path}[*]" if isinstance(items, dict) else one.path,
        )
    return homes


@dataclass(slots=True)
class _Writer:
    """Rewrites a schema for one dialect and notes every loss."""

    dialect: Dialect
    root: JsonObject
    homes: Mapping[str, str]
    dropped: list[str] = field(default_factory=list)
    inside: list[str] = field(
        default_factory=list
    )  # the definitions being written in place

    def write(self, node: JsonObject, path: str) -> JsonObject:
        if self.dialect.typed and self._is_anything(node):
            return self._write_anything(path)
        if self.dialect.typed:
            node = {
                "anyOf" if key == "oneOf" else key: value for key, value in node.items()
            }
        if not self.dialect.inline:
            return self._write(node, path)
        resolved = self._inline(node)
        name = str(resolved.get("title", "")) if resolved.get("properties") else ""
        if name and name in self.inside:
            self.dropped.append(
                f"{path}: contains itself, which cannot be said without $ref"
            )
            return {"type": "object"}
        self.inside.append(name)
        written = self._write(resolved, path)
        self.inside.pop()
        return written

    def _write(self, node: JsonObject, path: str) -> JsonObject:
        kept = {
            key: value for key, value in node.items() if self._keeps(key, value, path)
        }
        written = {key: self._child(key, value, path) for key, value in kept.items()}
        if written.get("type") == "object":
            self._write_object(written, node, path)
        if (
            written.get("type") == "array"
            and self.dialect.typed
            and "items" not in written
        ):
            written["items"] = self._write_anything(f"{path}[*]")
        self._say_words(written, path)
        return written

    def _is_anything(self, node: JsonObject) -> bool:
        """Whether a schema, or the definition it refers to, takes every value."""
        return not _TYPING & resolve(self.root, node).keys()

    def _write_anything(self, path: str) -> JsonObject:
        """The nearest to "anything" that has a type: any value without parts."""
        self.dropped.append(f"{path}: a list or an object (anything cannot be said)")
        scalars = [{"type": name} for name in _SCALARS]
        if self.dialect.inline:
            return {"anyOf": scalars, "nullable": True}
        return {"anyOf": [*scalars, {"type": "null"}]}

    def _inline(self, node: JsonObject) -> JsonObject:
        node = {key: value for key, value in node.items() if key != "$defs"}
        return resolve(self.root, node) if "$ref" in node or "anyOf" in node else node

    def _keeps(self, key: str, value: object, path: str) -> bool:
        refused = key in self.dialect.without
        too_many = (
            self.dialect.one_item_at_most and key == "minItems" and value not in (0, 1)
        )
        if (
            refused and key not in _PROSE and key != "additionalProperties"
        ) or too_many:
            self.dropped.append(f"{path}: {key} {value}")
        return not (refused or too_many)

    def _child(self, key: str, value: object, path: str) -> object:
        if key in _NAMED and isinstance(value, dict):
            if key == "$defs":
                return {
                    name: self.write(part, self.homes.get(name, f"{path}.{name}"))
                    for name, part in value.items()
                    if not (
                        self.dialect.typed and self._is_anything(part)
                    )  # written where it is used
                }
            return {
                name: self.write(part, f"{path}.{name}") for name, part in value.items()
            }
        if key == "items" and isinstance(value, dict):
            return self.write(value, f"{path}[*]")
        if key == "anyOf" and isinstance(value, list):
            return [self.write(part, path) for part in value]
        return value

    def _write_object(self, written: JsonObject, node: JsonObject, path: str) -> None:
        properties = written.get("properties")
        if not isinstance(properties, dict):
            if self.dialect.closed:
                self.dropped.append(f"{path}: any keys (an open object cannot be said)")
                written.update(
                    {"properties": {}, "required": [], "additionalProperties": False}
                )
            return
        if self.dialect.closed:
            if (
                node.get("additionalProperties", False) is not False
            ):  # what is ignored is no loss
                self.dropped.append(f"{path}: further keys")
            written["additionalProperties"] = False
        if self.dialect.all_required:
            required = written.get("required")
            optional = set(properties) - set(
                required if isinstance(required, list) else ()
            )
            self.dropped.extend(
                f"{path}.{name}: may be absent" for name in sorted(optional)
            )
            written["required"] = list(properties)

    def _say_words(self, written: JsonObject, path: str) -> None:
        """The values a place may hold, as the dialect lists them: Gemini has no const, and lists texts only."""
        if self.dialect.inline and "const" in written:
            written["enum"] = [written.pop("const")]
        values = written.get("enum")
        if not (self.dialect.typed and isinstance(values, list)):
            return
        distinct = [
            value for at, value in enumerate(values) if value not in values[:at]
        ]  # 1 is true again
        types = sorted({_TYPES.get(type(value), "object") for value in distinct})
        if types == ["string"]:
            return
        if types == ["boolean"] or self.dialect.enums_are_texts:
            self.dropped.append(f"{path}: enum {values}")
            del written["enum"]
            written.update(
                {"type": types[0]}
                if len(types) == 1
                else {"anyOf": [{"type": t} for t in types]}
            )

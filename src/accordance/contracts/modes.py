"""What the core schema of a model says about how to validate it.

pydantic's strict mode behaves differently for JSON text and for decoded values: from
the text "2026-01-31" it reads a date, while a decoded message would have to hold a date
object. Most contracts use only types that both modes treat alike. These are validated
from the decoded message, which is faster; every other model is validated from text.

The lists below name the types that are known to be safe. A type on neither list is
assumed to behave differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

Node: TypeAlias = Mapping[str, Any]

_CHILDREN: Final = (
    "schema",
    "items_schema",
    "keys_schema",
    "values_schema",
    "fields",
    "extras_schema",
    "extras_keys_schema",
    "choices",
    "definitions",
    "steps",
)
_ALIKE: Final = frozenset(
    (
        "any",
        "bool",
        "default",
        "definition-ref",
        "definitions",
        "dict",
        "float",
        "function-after",
        "function-plain",
        "int",
        "json-or-python",
        "list",
        "literal",
        "model",
        "model-field",
        "model-fields",
        "none",
        "nullable",
        "str",
        "typed-dict",
        "typed-dict-field",
    )
)
_TRANSPARENT: Final = _ALIKE | {
    "bytes",
    "chain",
    "dataclass",
    "dataclass-args",
    "dataclass-field",
    "date",
    "datetime",
    "decimal",
    "enum",
    "frozenset",
    "function-before",
    "is-instance",
    "json",
    "set",
    "tagged-union",
    "time",
    "timedelta",
    "tuple",
    "url",
    "uuid",
}
_PLAIN_TYPES: Final = (str, int, bool, type(None))
_AROUND_FIELDS: Final = ("definitions", "function-after", "model")
_AROUND_VALUE: Final = ("default", "nullable")


def reads_alike(model: type[BaseModel]) -> bool:
    """Whether strict validation treats JSON text and its decoded value alike."""
    return all(map(_is_alike, _nodes(core_schema(model))))


def is_transparent(model: type[BaseModel]) -> bool:
    """Whether forbidding unknown keys reports them and changes nothing else.

    It may change more: a union may choose another type because of an unknown key, and a
    wrapping validator may swallow the error.
    """
    return all(map(_is_transparent, _nodes(core_schema(model))))


def fixed_words(model: type[BaseModel], key: str) -> tuple[str, ...]:
    """The only texts a top-level key may hold; empty if the model fixes none."""
    field = _top_level_field(model, key)
    if field is None:
        return ()

    value = field["schema"]
    while value["type"] in _AROUND_VALUE:
        if not _raises(value):
            return ()
        value = value["schema"]

    if value["type"] != "literal":
        return ()
    return tuple(word for word in value["expected"] if isinstance(word, str))


def _top_level_field(model: type[BaseModel], key: str) -> Node | None:
    """The field that is read from a key of the message and from nothing else."""
    node = core_schema(model)
    while node["type"] in _AROUND_FIELDS and not node.get("custom_init"):
        node = node["schema"]
    if node["type"] != "model-fields":
        return None

    field: Node | None = node["fields"].get(key)
    if field is None:
        return None
    has_alias = field.get("validation_alias", key) != key
    return None if has_alias else field


def core_schema(model: type[BaseModel]) -> Node:
    """The core schema of a model, built now if that was deferred."""
    if not model.__pydantic_complete__:
        model.model_rebuild()
    schema: Node = model.__pydantic_core_schema__
    return schema


def _nodes(node: Node) -> Iterator[Node]:
    """A node and everything below it that strict validation of JSON can reach."""
    yield node
    if node["type"] == "json-or-python":
        yield from _nodes(node["json_schema"])
    for key in _CHILDREN:
        if key in node:
            yield from _below(node[key])


def _below(children: Any) -> Iterator[Node]:
    """The nodes in an entry: a schema, a list of schemas, or schemas by name."""
    if isinstance(children, Mapping):
        if isinstance(children.get("type"), str):
            yield from _nodes(children)
            return
        children = children.values()

    for child in children:
        if isinstance(child, Mapping):  # a dataclass also lists its fields' names
            yield from _nodes(child)


def _is_alike(node: Node) -> bool:
    match node["type"]:
        case "literal":
            return all(type(word) in _PLAIN_TYPES for word in node["expected"])
        case "dict":
            return _has_text_keys(node)
        case "model":
            return not (node.get("custom_init") or node.get("root_model"))
        case "model-field" | "typed-dict-field":
            return isinstance(node.get("validation_alias", ""), str)
        case "function-after" | "function-plain":
            return bool(node["function"]["type"] == "no-info")
        case "json-or-python":
            return _is_any_json(node)
        case kind:
            return kind in _ALIKE and _raises(node)


def _is_transparent(node: Node) -> bool:
    match node["type"]:
        case "model":
            return not node.get("custom_init")
        case "tagged-union":
            return "custom_error_type" not in node
        case kind:
            return kind in _TRANSPARENT and _raises(node)


def _has_text_keys(node: Node) -> bool:
    keys = node.get("keys_schema", {"type": "any"})
    if keys["type"] == "literal":
        return all(isinstance(word, str) for word in keys["expected"])
    return keys["type"] in ("any", "str")


def _is_any_json(node: Node) -> bool:
    """Whether a node is pydantic's JsonValue, which takes every decoded message."""
    python: Node = node["python_schema"]
    is_json_value = python.get("custom_error_type") == "invalid-json-value"
    return bool(is_json_value and node["json_schema"]["type"] == "any")


def _raises(node: Node) -> bool:
    """Whether a wrong value is an error, and not replaced by a default."""
    return bool(node.get("on_error", "raise") == "raise")

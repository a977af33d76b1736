"""What a model's core schema tells about it: how it may be validated without any difference to pydantic's own answer.

pydantic's strict mode has two faces. Given JSON text, it reads a date from "2026-01-31"; given the decoded text, it wants
a date object. Most contracts hold only what both faces treat alike, and those are validated from the decoded message,
which is faster. Every other model is validated from JSON text. Both questions are answered by lists of what is known;
whatever is not on a list is taken for different.
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
_PLAIN_WORDS: Final = (str, int, bool, type(None))


def reads_alike(model: type[BaseModel]) -> bool:
    """Whether strict validation says the same of a JSON text and of what it decodes to."""
    return all(map(_is_alike, _nodes(core_schema(model))))


def is_transparent(model: type[BaseModel]) -> bool:
    """Whether an unknown key, where all are refused, is always told as such, and changes nothing else.

    A union may choose another type on account of it, and a wrapping validator may swallow it.
    """
    return all(map(_is_transparent, _nodes(core_schema(model))))


def fixed_words(model: type[BaseModel], key: str) -> tuple[str, ...]:
    """The only texts that a key at the top may hold, or nothing where the model does not fix them."""
    node = core_schema(model)
    while node["type"] in ("definitions", "function-after", "model") and not node.get(
        "custom_init"
    ):
        node = node["schema"]
    fields = node.get("fields") if node["type"] == "model-fields" else None
    field = fields.get(key) if fields else None
    if field is None or field.get("validation_alias", key) != key:
        return ()
    value = field["schema"]
    while value["type"] in ("default", "nullable"):
        if value.get("on_error", "raise") != "raise":
            return ()
        value = value["schema"]
    if value["type"] != "literal":
        return ()
    return tuple(word for word in value["expected"] if isinstance(word, str))


def core_schema(model: type[BaseModel]) -> Node:
    """The core schema of a model, whose building may have been put off until now."""
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
    if isinstance(children, Mapping) and isinstance(children.get("type"), str):
        yield from _nodes(children)
        return
    for child in children.values() if isinstance(children, Mapping) else children:
        if isinstance(child, Mapping):  # a dataclass lists the names of its fields, too
            yield from _nodes(child)


def _is_alike(node: Node) -> bool:
    match node["type"]:
        case "literal":
            return all(type(word) in _PLAIN_WORDS for word in node["expected"])
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
    """JsonValue: anything goes, and what a reader decoded always is of it."""
    python: Node = node["python_schema"]
    is_json_value = python.get("custom_error_type") == "invalid-json-value"
    return bool(is_json_value and node["json_schema"]["type"] == "any")


def _raises(node: Node) -> bool:
    """Whether a wrong value is an error, and not replaced by a default."""
    return bool(node.get("on_error", "raise") == "raise")

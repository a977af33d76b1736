"""Which places of a message may hold any JSON at all.

pydantic bounds the depth and the numbers of everything it knows a type for. Only where
a model takes anything must a message be searched for infinite numbers and deep nesting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from pydantic import BaseModel

from accordance.contracts.jsonpath import JsonObject, Path
from accordance.contracts.model_schemas import mapping, model_schema, resolve

_WHOLE_MESSAGE: Final[tuple[Path, ...]] = ((),)
_TYPE_KEYWORDS: Final = frozenset(("type", "enum", "const"))


def free_parts(model: type[BaseModel]) -> tuple[Path, ...]:
    """The places where a valid message could nest without bound or be infinite."""
    root = model_schema(model)
    if not _all_numbers_are_finite(model, root):
        return _WHOLE_MESSAGE
    return tuple(_free_below(root, resolve(root, root), (), ()))


def _all_numbers_are_finite(model: type[BaseModel], root: JsonObject) -> bool:
    """Whether every object in the schema belongs to a model that refuses infinity."""
    finite: set[str] = set()
    for part in _models_in(model, set()):
        if part.model_config.get("allow_inf_nan") is False:
            finite.add(part.__name__)

    objects = {model.__name__}
    for name, definition in mapping(root.get("$defs")).items():
        if "properties" in mapping(definition):
            objects.add(name)
    return objects <= finite


def _models_in(annotation: object, seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """Every model a model is made of, itself included."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in seen:
            return seen
        seen.add(annotation)
        for info in annotation.model_fields.values():
            _models_in(info.annotation, seen)
    for argument in get_args(annotation):
        _models_in(argument, seen)
    return seen


def _free_below(
    root: JsonObject,
    node: JsonObject,
    path: Path,
    above: tuple[str, ...],
) -> Iterator[Path]:
    properties = mapping(node.get("properties"))
    name = str(node.get("title", ""))
    is_inside_itself = name in above

    if _is_free(node) or (properties and is_inside_itself):
        yield path  # a model that contains itself nests without bound too
    elif _has_free_items(root, node, path, above):
        yield path  # somewhere in the list, so the whole list has to be searched

    if is_inside_itself:
        return
    for key, part in properties.items():
        child = resolve(root, mapping(part))
        yield from _free_below(root, child, (*path, key), (*above, name))


def _has_free_items(
    root: JsonObject,
    node: JsonObject,
    path: Path,
    above: tuple[str, ...],
) -> bool:
    items = node.get("items")
    if not isinstance(items, dict):
        return False
    free = _free_below(root, resolve(root, items), path, above)
    return next(free, None) is not None


def _is_free(node: JsonObject) -> bool:
    """Whether a schema takes anything, or an object with any keys."""
    if _TYPE_KEYWORDS.isdisjoint(node):
        return True
    return node.get("type") == "object" and "properties" not in node

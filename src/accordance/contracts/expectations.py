"""What a contract expects at a path: its schema there, and the same in words.

Both are read from the published JSON Schema, so that a report, the schema and the
validator can never disagree.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import BaseModel

from accordance.contracts.jsonpath import JsonObject, Path, is_exact
from accordance.contracts.model_schemas import (
    mapping,
    model_schema,
    resolve,
    sequence,
)
from accordance.contracts.schema_words import describe

_ANY_ITEM: Final = "*"  # stands for every index of a list
_EXPECTATIONS_KEPT: Final = 1024


class Expectation(NamedTuple):
    """What may stand at a place."""

    text: str
    schema: JsonObject
    optional: bool

    @property
    def words(self) -> list[object]:
        """The values an enumeration allows; empty for anything else."""
        if "const" in self.schema:
            return [self.schema["const"]]
        return sequence(self.schema.get("enum"))


_EXPECTATIONS: Final[dict[tuple[type[BaseModel], tuple[str, ...]], Expectation]] = {}


def expectation_at(model: type[BaseModel], path: Path) -> Expectation:
    """What a model expects at a path.

    Cached, because the faults of a message are often of one kind. Paths with endless
    keys are not cached, and the cache is emptied when it is full, so that a sender of
    ever new keys cannot fill the memory.
    """
    general = tuple([_ANY_ITEM if isinstance(step, int) else step for step in path])
    place = (model, general)
    cached = _EXPECTATIONS.get(place)
    if cached is not None:
        return cached

    expected = _expectation_at(model, general)
    if is_exact(path):
        if len(_EXPECTATIONS) >= _EXPECTATIONS_KEPT:
            _EXPECTATIONS.clear()
        _EXPECTATIONS[place] = expected
    return expected


def _expectation_at(model: type[BaseModel], path: tuple[str, ...]) -> Expectation:
    root = model_schema(model)
    node = resolve(root, root)
    optional = False
    for step in path:
        if step == _ANY_ITEM:
            optional = False
            child = node.get("items")
        else:
            optional = step not in sequence(node.get("required"))
            child = mapping(node.get("properties")).get(step)
        node = resolve(root, mapping(child))
    return Expectation(describe(node, root), node, optional)

"""From pydantic's location of an error to the place in the message, and to what the contract expects there.

pydantic's locations hold more than places: the type of a union that was tried, the tag of a discriminated one, `[key]`
for a key that is wrong itself. Schema and message are walked side by side, and what is no place is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from accordance.contracts.expectations import (
    Expectation,
    branches_of,
    describe,
    expectation_at,
    mapping,
    model_schema,
    resolve,
)
from accordance.contracts.jsonpath import JsonObject, Path

_KEY: Final = "[key]"
_LISTS: Final = ("list[", "set[", "frozenset[", "tuple[")
_TYPES: Final = {"array": (list,), "object": (dict,), "string": (str,)}


class Place(NamedTuple):
    """Where an error is, and what should stand there."""

    path: Path
    expected: Expectation
    is_key: bool = False  # the key is wrong, not what it holds
    is_certain: bool = True  # the message itself says which type of a union it means, wherever there is a choice
    has_type: bool = False  # one of the union's types is what stands there, so that the fault lies deeper


def place_of(
    model: type[BaseModel],
    details: ErrorDetails,
    message: JsonObject,
    *,
    in_words: bool = True,
) -> Place:
    """The place of an error. What is expected there need not be put into words where nobody reads them."""
    location = details["loc"]
    expected = expectation_at(model, location)
    if expected.schema:
        return Place(location, expected)
    return _Walk(model_schema(model), message).follow(details, in_words=in_words)


class _Walk:
    """Goes down schema and message together."""

    def __init__(self, root: JsonObject, message: JsonObject) -> None:
        self.root = root
        self.node = resolve(root, root)
        self.shown = (
            self.node
        )  # what is told of the place: the whole union, not the type that was tried
        self.value: object = message
        self.path: list[str | int] = []
        self.optional = False
        self.is_key = False
        self.is_certain = True

    def follow(self, details: ErrorDetails, *, in_words: bool) -> Place:
        location, last = details["loc"], len(details["loc"]) - 1
        for at, step in enumerate(location):
            is_absent = not _holds(self.value, step)
            if self._choose(step):
                continue
            if step == _KEY and is_absent:
                self.is_key = True
                self.shown = resolve(
                    self.root, mapping(self.shown.get("propertyNames"))
                )
            elif not is_absent or (details["type"] == "missing" and at == last):
                self._descend(step)
        text = describe(self.shown, self.root) if in_words else ""
        expected = Expectation(text, self.shown, self.optional)
        types = [
            resolve(self.root, branch).get("type") for branch in branches_of(self.shown)
        ]
        has_type = any(
            isinstance(self.value, _TYPES.get(str(kind), ())) for kind in types
        )
        return Place(tuple(self.path), expected, self.is_key, self.is_certain, has_type)

    def _choose(self, step: str | int) -> bool:
        """At a union, the step names one of its types, which is gone on with."""
        if len(branches_of(self.node)) <= 1:
            return False
        self.is_certain = self.is_certain and str(step) in self._tags()
        self.node = next(self._named(str(step)), {})
        return True

    def _named(self, label: str) -> Iterator[JsonObject]:
        while label.startswith("function-"):  # function-after[check(), Invoice]
            label = label.partition(", ")[2].removesuffix("]")
        tags = self._tags()
        if label in tags:
            yield resolve(self.root, {"$ref": tags[label]})
        kind = (
            "array"
            if label.startswith(_LISTS)
            else "object"
            if label.startswith("dict[")
            else ""
        )
        for branch in branches_of(self.node):
            resolved = resolve(self.root, branch)
            if label == resolved.get("title") or (
                kind and kind == resolved.get("type")
            ):
                yield resolved

    def _tags(self) -> JsonObject:
        return mapping(mapping(self.node.get("discriminator")).get("mapping"))

    def _descend(self, step: str | int) -> None:
        required = self.node.get("required")
        self.optional = isinstance(step, str) and not (
            isinstance(required, list) and step in required
        )
        self.node = resolve(self.root, _below(self.node, step))
        self.shown = self.node
        self.value = _at(self.value, step)
        self.path.append(step)


def _below(node: JsonObject, step: str | int) -> JsonObject:
    if isinstance(step, int):
        first = node.get("prefixItems")
        if isinstance(first, list) and step < len(first):
            return mapping(first[step])
        return mapping(node.get("items"))
    properties = mapping(node.get("properties"))
    if step in properties:
        return mapping(properties[step])
    return mapping(node.get("additionalProperties"))


def _holds(value: object, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _at(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None

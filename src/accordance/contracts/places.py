"""From pydantic's location of an error to the place in the message.

pydantic's locations hold more than places: the type of a union that was tried, the tag
of a discriminated union, `[key]` for a key that is wrong itself. Schema and message are
walked side by side, and whatever is not a place is left out.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from accordance.contracts.expectations import Expectation, expectation_at
from accordance.contracts.jsonpath import JsonObject, Path, has_part, part_at
from accordance.contracts.model_schemas import (
    branches_of,
    mapping,
    model_schema,
    resolve,
)
from accordance.contracts.schema_words import describe

_KEY: Final = "[key]"
_LISTS: Final = ("list[", "set[", "frozenset[", "tuple[")
_TYPES: Final = {
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}


class Place(NamedTuple):
    """Where an error is, and what should stand there."""

    path: Path
    expected: Expectation
    is_key: bool = False
    """The key is wrong, not the value it holds."""
    is_certain: bool = True
    """Wherever there is a choice, the message itself says which type it means."""
    has_type: bool = False
    """The value has the type of a branch of the union, so the fault lies deeper."""


def place_of(
    model: type[BaseModel],
    details: ErrorDetails,
    message: JsonObject,
    *,
    in_words: bool = True,
) -> Place:
    """The place of an error; without the expected text if `in_words` is false."""
    location = details["loc"]
    expected = expectation_at(model, location)
    if expected.schema:
        return Place(location, expected)
    return _Walk(model_schema(model), message).follow(details, in_words=in_words)


class _Walk:
    """A walk down schema and message together.

    `node` is the schema of the type that pydantic tried, `shown` the schema that a
    report describes: at a union, all of it.
    """

    def __init__(self, root: JsonObject, message: JsonObject) -> None:
        self.root = root
        self.node = resolve(root, root)
        self.shown = self.node
        self.value: object = message
        self.path: list[str | int] = []
        self.optional = False
        self.is_key = False
        self.is_certain = True

    def follow(self, details: ErrorDetails, *, in_words: bool) -> Place:
        """Walk along the location of an error and return the place where it ends."""
        location = details["loc"]
        last = len(location) - 1
        is_missing = details["type"] == "missing"

        for index, step in enumerate(location):
            is_absent = not has_part(self.value, step)
            if self._choose(step):
                continue
            if step == _KEY and is_absent:
                self._turn_to_key()
            elif not is_absent or (is_missing and index == last):
                self._descend(step)

        text = describe(self.shown, self.root) if in_words else ""
        return Place(
            path=tuple(self.path),
            expected=Expectation(text, self.shown, self.optional),
            is_key=self.is_key,
            is_certain=self.is_certain,
            has_type=self._has_type_of_a_branch(),
        )

    def _has_type_of_a_branch(self) -> bool:
        for branch in branches_of(self.shown):
            kind = resolve(self.root, branch).get("type")
            if isinstance(self.value, _TYPES.get(str(kind), ())):
                return True
        return False

    def _choose(self, step: str | int) -> bool:
        """At a union, go on with the type that the step names."""
        if len(branches_of(self.node)) <= 1:
            return False
        self.is_certain = self.is_certain and str(step) in self._tags()
        self.node = self._branch_labelled(str(step))
        return True

    def _branch_labelled(self, label: str) -> JsonObject:
        """The type of the union that pydantic calls by this label; empty if unknown."""
        while label.startswith("function-"):  # function-after[check(), Invoice]
            label = label.partition(", ")[2].removesuffix("]")

        tags = self._tags()
        if label in tags:
            return resolve(self.root, {"$ref": tags[label]})

        kind = _kind_labelled(label)
        for branch in branches_of(self.node):
            resolved = resolve(self.root, branch)
            if label == resolved.get("title"):
                return resolved
            if kind and kind == resolved.get("type"):
                return resolved
        return {}

    def _tags(self) -> JsonObject:
        discriminator = mapping(self.node.get("discriminator"))
        return mapping(discriminator.get("mapping"))

    def _turn_to_key(self) -> None:
        self.is_key = True
        self.shown = resolve(self.root, mapping(self.shown.get("propertyNames")))

    def _descend(self, step: str | int) -> None:
        required = self.node.get("required")
        is_required = isinstance(required, list) and step in required
        self.optional = isinstance(step, str) and not is_required
        self.node = resolve(self.root, _child(self.node, step))
        self.shown = self.node
        self.value = part_at(self.value, step)
        self.path.append(step)


def _kind_labelled(label: str) -> str:
    """The JSON type that pydantic's label of a container stands for."""
    if label.startswith(_LISTS):
        return "array"
    if label.startswith("dict["):
        return "object"
    return ""


def _child(node: JsonObject, step: str | int) -> JsonObject:
    """The schema a step below a node."""
    if isinstance(step, int):
        first_items = node.get("prefixItems")
        if isinstance(first_items, list) and step < len(first_items):
            return mapping(first_items[step])
        return mapping(node.get("items"))

    properties = mapping(node.get("properties"))
    if step in properties:
        return mapping(properties[step])
    return mapping(node.get("additionalProperties"))

"""How two contracts differ, field by field, and whether old messages still pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import gt, lt
from typing import Any, Final

from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.model_schemas import model_schema, resolve
from accordance.contracts.schema_words import describe

_LOWER_BOUNDS: Final = ("minimum", "minLength", "minItems")
_UPPER_BOUNDS: Final = ("maximum", "maxLength", "maxItems")


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A place of a contract."""

    path: str  # "$.nodes[*].priority"
    required: bool
    expected: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A change between two contracts.

    It is breaking if the new contract refuses a message that the old contract takes.
    """

    path: str
    change: str
    breaking: bool

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {
            "path": self.path,
            "change": self.change,
            "breaking": self.breaking,
        }


def fields_of(contract: Contract[Any]) -> tuple[FieldInfo, ...]:
    """Every place a contract describes, in order."""
    root = model_schema(contract.model)
    return tuple(_fields(root, resolve(root, root), "$", ()))


def _fields(
    root: JsonObject,
    node: JsonObject,
    path: str,
    above: tuple[str, ...],
) -> Iterator[FieldInfo]:
    properties = node.get("properties")
    name = str(node.get("title", ""))
    if not isinstance(properties, dict) or name in above:
        return

    required = node.get("required")
    required_keys = required if isinstance(required, list) else []
    for key, part in properties.items():
        child = resolve(root, part)
        place = f"{path}.{key}"
        yield FieldInfo(
            path=place,
            required=key in required_keys,
            expected=describe(child),
            schema=child,
        )

        items = child.get("items")
        if isinstance(items, dict):
            child = resolve(root, items)
            place = f"{place}[*]"
        yield from _fields(root, child, place, (*above, name))


def compare(old: Contract[Any], new: Contract[Any]) -> tuple[ContractChange, ...]:
    """What changed between two contracts."""
    before = {field.path: field for field in fields_of(old)}
    after = {field.path: field for field in fields_of(new)}
    places_before = {"$", *before}
    places_after = {"$", *after}
    changes = [
        ContractChange(path, "removed", breaking=new.closed)
        for path in before
        if path not in after and _parent(path) in places_after
    ]
    for path, field in after.items():
        if path not in before and _parent(path) in places_before:
            changes.append(_added(field))
    for path, field in before.items():
        if path in after:
            changes.extend(_changed(field, after[path]))

    old_rules = {rule.__name__ for rule in old.rules}
    new_rules = {rule.__name__ for rule in new.rules}
    changes += [
        ContractChange("$", f"new rule: {name}", breaking=True)
        for name in sorted(new_rules - old_rules)
    ]
    return tuple(changes)


def _parent(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("[*]")


def _added(field: FieldInfo) -> ContractChange:
    need = "required" if field.required else "optional"
    change = f"added, {need}: {field.expected}"
    return ContractChange(field.path, change, breaking=field.required)


def _changed(before: FieldInfo, after: FieldInfo) -> Iterator[ContractChange]:
    if before.required != after.required:
        change = "now required" if after.required else "now optional"
        yield ContractChange(after.path, change, breaking=after.required)

    if before.expected != after.expected:
        change = f"was {before.expected}; now {after.expected}"
        is_wider = _widens(before.schema, after.schema)
        yield ContractChange(after.path, change, breaking=not is_wider)


def _widens(before: JsonObject, after: JsonObject) -> bool:
    """Whether everything that was legal still is: more words, wider bounds."""
    old_words = before.get("enum")
    new_words = after.get("enum")
    if isinstance(old_words, list) and isinstance(new_words, list):
        return set(map(str, old_words)) <= set(map(str, new_words))

    if before.get("type") != after.get("type"):
        return False
    for key in _LOWER_BOUNDS:
        if _is_tighter(before.get(key), after.get(key), is_tighter=gt):
            return False
    for key in _UPPER_BOUNDS:
        if _is_tighter(before.get(key), after.get(key), is_tighter=lt):
            return False
    return True


def _is_tighter(
    before: object,
    after: object,
    *,
    is_tighter: Callable[[float, float], bool],
) -> bool:
    """Whether a bound is new, or excludes more than it did."""
    if before is None or after is None:
        return after is not None
    return (
        isinstance(before, int | float)
        and isinstance(after, int | float)
        and is_tighter(after, before)
    )

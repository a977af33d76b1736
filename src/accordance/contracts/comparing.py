"""How two contracts differ, field by field, and whether old messages would still be accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accordance.contracts.contract import Contract
from accordance.contracts.expectations import describe, model_schema, resolve
from accordance.contracts.jsonpath import JsonObject


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """One place of a contract."""

    path: str  # "$.nodes[*].priority"
    required: bool
    expected: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class Difference:
    """One change. Breaking: some message the old contract takes is refused by the new one."""

    path: str
    change: str
    breaking: bool

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {"path": self.path, "change": self.change, "breaking": self.breaking}


def fields_of(contract: Contract[Any]) -> tuple[FieldInfo, ...]:
    """Every place a contract speaks of, in order."""
    root = model_schema(contract.model)
    return tuple(_fields(root, resolve(root, root), "$", ()))


def _fields(
    root: JsonObject, node: JsonObject, path: str, above: tuple[str, ...]
) -> Iterator[FieldInfo]:
    required, properties = node.get("required"), node.get("properties")
    name = str(node.get("title", ""))
    if not isinstance(properties, dict) or name in above:
        return
    for key, part in properties.items():
        below = resolve(root, part)
        is_required = isinstance(required, list) and key in required
        place = f"{path}.{key}"
        yield FieldInfo(place, is_required, describe(below), below)
        items = below.get("items")
        if isinstance(items, dict):
            below, place = resolve(root, items), f"{place}[*]"
        yield from _fields(root, below, place, (*above, name))


def compare(old: Contract[Any], new: Contract[Any]) -> tuple[Difference, ...]:
    """What changed from one contract to the other."""
    before, after = (
        {one.path: one for one in fields_of(old)},
        {one.path: one for one in fields_of(new)},
    )
    changes = [
        *(
            _removed(path, new)
            for path in before
            if path not in after and _parent(path) in {"$", *after}
        ),
        *(
            _added(one)
            for path, one in after.items()
            if path not in before and _parent(path) in {"$", *before}
        ),
        *(
            change
            for path in before
            if path in after
            for change in _changed(before[path], after[path])
        ),
    ]
    rules = {rule.__name__ for rule in new.rules} - {
        rule.__name__ for rule in old.rules
    }
    changes += [
        Difference("$", f"new rule: {name}", breaking=True) for name in sorted(rules)
    ]
    return tuple(changes)


def _parent(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("[*]")


def _removed(path: str, new: Contract[Any]) -> Difference:
    return Difference(path, "removed", breaking=new.closed)


def _added(one: FieldInfo) -> Difference:
    return Difference(
        one.path,
        f"added, {'required' if one.required else 'optional'}: {one.expected}",
        one.required,
    )


def _changed(before: FieldInfo, after: FieldInfo) -> Iterator[Difference]:
    if before.required != after.required:
        change = "now required" if after.required else "now optional"
        yield Difference(after.path, change, breaking=after.required)
    if before.expected != after.expected:
        change = f"was {before.expected}; now {after.expected}"
        yield Difference(
            after.path, change, breaking=not _widens(before.schema, after.schema)
        )


def _widens(before: JsonObject, after: JsonObject) -> bool:
    """Whether everything that was legal still is: more words, wider bounds."""
    old_words, new_words = before.get("enum"), after.get("enum")
    if isinstance(old_words, list) and isinstance(new_words, list):
        return set(map(str, old_words)) <= set(map(str, new_words))
    if before.get("type") != after.get("type"):
        return False
    return _at_most(after, before, ("minimum", "minLength", "minItems")) and _at_most(
        before, after, ("maximum", "maxLength", "maxItems")
    )


def _at_most(lower: JsonObject, higher: JsonObject, keys: tuple[str, ...]) -> bool:
    for key in keys:
        low, high = lower.get(key), higher.get(key)
        bound_is_new = (low is None) != (high is None)
        is_upper = key.startswith("max")
        if bound_is_new and (high is not None if is_upper else low is not None):
            return False
        if (
            isinstance(low, int | float)
            and isinstance(high, int | float)
            and low > high
        ):
            return False
    return True

"""Which keys of a message have no place in its typed value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, Final

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel
from pydantic.fields import FieldInfo

from accordance.contracts.jsonpath import Path

_NOWHERE: Final = object()


def knows(value: object, path: Path) -> bool:
    """Whether the typed value has a field for what stands at a path of its message."""
    *parents, key = path
    holder = value
    for step in parents:
        holder = _part(_unwrapped(holder), step)
    return _part(_unwrapped(holder), key) is not _NOWHERE


def _unwrapped(value: object) -> object:
    while isinstance(value, RootModel):
        value = value.root
    return value


def _part(value: object, step: str | int) -> object:
    """What a typed value has made of a key or an item."""
    if isinstance(step, int):
        items = value if isinstance(value, list | tuple) else ()
        return items[step] if step < len(items) else _NOWHERE
    if isinstance(value, Mapping):
        return value.get(step, _NOWHERE)

    for name, field in _fields(value).items():
        if step == name or step in _aliases(field):
            return getattr(value, name)
    return _NOWHERE


def _fields(value: object) -> Mapping[str, Any]:
    if isinstance(value, BaseModel):
        return type(value).model_fields
    if is_dataclass(value):
        fields: Mapping[str, Any] = getattr(
            value, "__pydantic_fields__", value.__dataclass_fields__
        )
        return fields
    return {}


def _aliases(field: object) -> Iterator[str | int]:
    """The keys a field is read from, besides its name."""
    if not isinstance(field, FieldInfo):
        return
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    for choice in choices:
        if isinstance(choice, AliasPath):
            yield choice.path[0]
        elif choice is not None:
            yield choice

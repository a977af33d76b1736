"""Applying the fixes that violations carry."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.jsonpath import JsonObject, Path, parse, render
from accordance.contracts.violation import Fix, Violation
from accordance.errors import InvalidPath


def apply_fixes(message: JsonObject, violations: Iterable[Violation]) -> JsonObject:
    """A copy of the message with every fix applied.

    Parts that no fix touches are shared with the original. Values are set from the
    outside in; removals come last and backwards, so that indexes stay right. Raises
    InvalidPath for a fix that belongs to another message.
    """
    values: list[tuple[Path, Fix]] = []
    removals: dict[Path, Fix] = {}
    for violation in violations:
        fix = violation.fix
        if fix is None:
            continue
        path = parse(fix.path)
        if fix.op == "set":
            values.append((path, fix))
        else:
            removals[path] = fix

    fixed: object = message
    values.sort(key=_depth)
    for path, fix in values:
        fixed = _edited(fixed, path, fix, 0)
    for path in sorted(removals, key=_position, reverse=True):
        fixed = _edited(fixed, path, removals[path], 0)
    return fixed if isinstance(fixed, dict) else {}


def _depth(edit: tuple[Path, Fix]) -> int:
    return len(edit[0])


def _position(path: Path) -> tuple[tuple[int, str], ...]:
    """A sort key that puts the items of a list in their order."""
    return tuple(map(_rank, path))


def _rank(step: str | int) -> tuple[int, str]:
    if isinstance(step, int):
        return (step, "")
    return (0, step)


def _edited(value: object, path: Path, fix: Fix, depth: int) -> object:
    """A value with an edit made. Only the containers on the way are copied."""
    if depth == len(path):
        return fix.value

    step = path[depth]
    is_last = depth == len(path) - 1
    is_removal = is_last and fix.op == "remove"

    if isinstance(value, dict) and (step in value or is_last):
        changed = dict(value)
        if is_removal:
            del changed[step]
        else:
            changed[step] = _edited(value.get(step), path, fix, depth + 1)
        return changed

    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        items = list(value)
        if is_removal:
            del items[step]
        else:
            items[step] = _edited(value[step], path, fix, depth + 1)
        return items

    raise InvalidPath(f"{render(path)} leads nowhere")

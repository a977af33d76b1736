"""Applying the fixes that violations carry."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.jsonpath import JsonObject, Path, parse, render
from accordance.contracts.violation import Fix, Violation
from accordance.errors import InvalidPath


def apply_fixes(message: JsonObject, violations: Iterable[Violation]) -> JsonObject:
    """A copy of the message with every fix applied; what no fix touches is shared with the original.

    Removals go last and backwards, so that indexes stay right. Raises InvalidPath for a fix that fits another message.
    """
    fixes = [
        (parse(violation.fix.path), violation.fix)
        for violation in violations
        if violation.fix
    ]
    fixed: object = message
    for path, fix in sorted(
        (one for one in fixes if one[1].op == "set"), key=lambda one: len(one[0])
    ):
        fixed = _edited(fixed, path, fix, 0)
    removals = {path: fix for path, fix in fixes if fix.op == "remove"}
    for path in sorted(removals, key=_position, reverse=True):
        fixed = _edited(fixed, path, removals[path], 0)
    return fixed if isinstance(fixed, dict) else {}


def _position(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (0, step) for step in path)


def _edited(value: object, path: Path, fix: Fix, depth: int) -> object:
    """Copy the containers on the way and edit the last one."""
    if depth == len(path):
        return fix.value
    step, is_last = path[depth], depth == len(path) - 1
    if isinstance(value, dict) and (step in value or is_last):
        if is_last and fix.op == "remove":
            return {key: item for key, item in value.items() if key != step}
        return {**value, step: _edited(value.get(step), path, fix, depth + 1)}
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        tail = value[step + 1 :]
        return (
            [*value[:step], *tail]
            if is_last and fix.op == "remove"
            else [
                *value[:step],
                _edited(value[step], path, fix, depth + 1),
                *tail,
            ]
        )
    raise InvalidPath(f"{render(path)} leads nowhere")

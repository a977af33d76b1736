"""Applying the fixes that violations carry."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from accordance.contracts.jsonpath import JsonObject, Path, lookup, parse
from accordance.contracts.violation import Fix, Violation
from accordance.errors import InvalidPath


def apply_fixes(message: JsonObject, violations: Iterable[Violation]) -> JsonObject:
    """A copy of the message with every fix applied. Removals go last and backwards, so that indexes stay right."""
    fixed = copy.deepcopy(message)
    fixes = [violation.fix for violation in violations if violation.fix]
    for fix in sorted((fix for fix in fixes if fix.op == "set"), key=lambda fix: len(parse(fix.path))):
        _set(fixed, parse(fix.path), fix)
    removals = {parse(fix.path) for fix in fixes if fix.op == "remove"}
    for path in sorted(removals, key=_backwards, reverse=True):
        _remove(fixed, path)
    return fixed


def _backwards(path: Path) -> tuple[tuple[int, int, str], ...]:
    return tuple((step, 0, "") if isinstance(step, int) else (0, 1, step) for step in path)


def _set(message: JsonObject, path: Path, fix: Fix) -> None:
    parent, last = lookup(message, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = copy.deepcopy(fix.value)
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        parent[last] = copy.deepcopy(fix.value)
    else:
        raise InvalidPath(f"{fix.path} leads nowhere")


def _remove(message: JsonObject, path: Path) -> None:
    parent, last = lookup(message, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent.pop(last, None)
    elif isinstance(parent, list) and isinstance(last, int):
        parent.pop(last)

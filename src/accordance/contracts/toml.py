"""Reading TOML that a person wrote, within bounds."""

from __future__ import annotations

import tomllib
from typing import Any

from accordance.contracts.limits import LIMITS


class InvalidToml(ValueError):
    """The text is not TOML, or is nested too deep."""


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises only InvalidToml, whatever the text."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # also a number with more digits than Python reads
        raise InvalidToml(str(error)) from None
    if _depth(tables) > LIMITS.max_depth:
        raise _too_deep()
    return tables


def _too_deep() -> InvalidToml:
    return InvalidToml(f"nested too deeply; at most {LIMITS.max_depth} levels are read")


def _depth(tables: dict[str, Any]) -> int:
    """The number of levels, counted without recursion until there are too many."""
    level: list[Any] = [tables]
    depth = 0
    while level and depth <= LIMITS.max_depth:
        depth += 1
        below: list[Any] = []
        for container in level:
            below += _containers_in(container)
        level = below
    return depth


def _containers_in(value: dict[str, Any] | list[Any]) -> list[Any]:
    parts = value.values() if isinstance(value, dict) else value
    return [part for part in parts if isinstance(part, dict | list)]

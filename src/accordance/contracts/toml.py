"""Reading TOML that a person wrote, within bounds."""

from __future__ import annotations

import tomllib
from typing import Any

from accordance.contracts.limits import LIMITS


class NoToml(ValueError):
    """The text is no TOML, or nests deeper than anybody writes."""


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises NoToml, whatever the text."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # also a number with more digits than Python reads
        raise NoToml(str(error)) from None
    if _depth(tables) > LIMITS.max_depth:
        raise _too_deep()
    return tables


def _too_deep() -> NoToml:
    return NoToml(f"nested too deeply; at most {LIMITS.max_depth} levels are read")


def _depth(tables: dict[str, Any]) -> int:
    """How many levels there are, counted without recursion; no further than one more than are allowed."""
    level: list[Any] = [tables]
    depth = 0
    while level and depth <= LIMITS.max_depth:
        depth += 1
        level = [
            part
            for value in level
            for part in _parts(value)
            if isinstance(part, dict | list)
        ]
    return depth


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value

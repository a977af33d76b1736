"""A short plan as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.domain.short_plans.entries import shown
from accordance.domain.short_plans.model import ShortPlan
from accordance.domain.short_plans.writing import plain_plan
from accordance.errors import NotExpressible

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_TASKS: Final = ("tasks", "parts")


def toml_text(plan: ShortPlan) -> str:
    """Return a plan as TOML. Raises NotExpressible where it has a null."""
    return "\n".join(_lines(plain_plan(plan), "")) + "\n"


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    title = str(table["title"])
    for key, value in table.items():
        if key not in _TASKS:
            yield f"{_key(key)} = {_value(value, f'{key} of {shown(title)}')}"
    for key in _TASKS:
        for task in table.get(key, ()):
            inner = f"{path}.{key}" if path else key
            yield ""
            yield f"[[{inner}]]"
            yield from _lines(task, inner)


def _key(key: str) -> str:
    if _BARE_KEY.fullmatch(key):
        return key
    return _text(key)


def _value(value: Any, what: str) -> str:
    if value is None:
        raise NotExpressible(
            f"{what} is null, which TOML cannot say", way_out="choose YAML or Markdown"
        )
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, Mapping):
        items = [f"{_key(key)} = {_value(item, what)}" for key, item in value.items()]
        if items:
            return f"{{ {', '.join(items)} }}"
        return "{}"
    return f"[{', '.join(_value(item, what) for item in value)}]"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

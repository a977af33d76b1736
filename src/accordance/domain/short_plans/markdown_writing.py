"""A short plan as a Markdown checklist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.contracts.jsonpath import without
from accordance.domain.short_plans.entries import bare_value
from accordance.domain.short_plans.model import ShortPlan
from accordance.domain.short_plans.writing import plain_plan

_INDENT: Final = "  "
_TASKS: Final = ("tasks", "parts")
_LOOKS_LIKE_JSON: Final = ("{", "[", '"')
_MARKUP: Final = re.compile(r"[*_<>]")
_PROSE: Final = re.compile(r"[A-Za-z].*[.!?]")
"""A paragraph that cannot be taken for a heading or an item."""


def markdown_text(plan: ShortPlan) -> str:
    """Return a plan as Markdown."""
    table = plain_plan(plan)
    lines = [f"# {_title(table.pop('title'))}", ""]
    goal = table.get("goal")
    if isinstance(goal, str) and _is_paragraph(goal):
        del table["goal"]
        lines += [goal, ""]

    keys = [*_keys(table, "")]
    if keys:
        lines += [*keys, ""]
    for task in table["tasks"]:
        lines += _task(task, "")
    return "\n".join(lines) + "\n"


def _task(task: Mapping[str, Any], indent: str) -> Iterator[str]:
    yield f"{indent}- [ ] {_title(task['title'])}"
    inner = indent + _INDENT
    own = without(task, ("title",))
    yield from _keys(own, inner)
    for part in task.get("parts", ()):
        yield from _task(part, inner)


def _keys(table: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in table.items():
        if key in _TASKS:
            continue
        if isinstance(value, list) and _are_listed(value):
            yield f"{indent}- {key}:"
            for item in value:
                yield f"{indent}{_INDENT}- {_value(item)}"
        else:
            yield f"{indent}- {key}: {_value(value)}"


def _are_listed(values: list[Any]) -> bool:
    """Whether a list is written as items; a list with structure is written as JSON."""
    return bool(values) and all(isinstance(item, str) for item in values)


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return _json(value)
    is_plain = _is_line(value) and not value.startswith(_LOOKS_LIKE_JSON)
    is_text = bare_value(value) == value
    if not is_plain or not is_text:
        return _json(value)
    if "`" in value:
        return _json(value)
    if _MARKUP.search(value):
        return f"`{value}`"
    return value


def _title(title: str) -> str:
    is_plain = _is_line(title) and not title.startswith('"')
    return title if is_plain else _json(title)


def _is_paragraph(text: str) -> bool:
    return _is_line(text) and _PROSE.fullmatch(text) is not None


def _is_line(text: str) -> bool:
    """Whether a text is a line of its own, with nothing that would be trimmed."""
    is_trimmed = text == text.strip()
    is_single = len(text.splitlines()) == 1
    return is_trimmed and is_single and "\t" not in text


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text.splitlines()) == 1:
        return text
    return json.dumps(value)

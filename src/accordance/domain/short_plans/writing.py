"""A short plan as plain keys and values, without what is the default anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from accordance.contracts.jsonpath import without_nulls
from accordance.domain.short_plans.durations import duration_text
from accordance.domain.short_plans.model import (
    CREATED,
    INPUT_KEYS,
    OWNER,
    ROOT_KEYS,
    TASK_KEYS,
    ShortInput,
    ShortPlan,
    ShortTask,
)


def _defaults(shape: type[ShortTask | ShortInput]) -> Mapping[str, object]:
    defaults = {}
    for item in fields(shape):
        if item.default_factory is not MISSING:
            defaults[item.name] = item.default_factory()
        elif item.default is not MISSING:
            defaults[item.name] = item.default
    return defaults


_TASK_DEFAULTS: Final = _defaults(ShortTask)
_INPUT_DEFAULTS: Final = _defaults(ShortInput)
_NOTHING: Final = object()


def plain_plan(plan: ShortPlan) -> dict[str, Any]:
    """Return the keys of a plan, in the order of their table."""
    root = plan.root
    stated: dict[str, Any] = {
        "title": plan.title,
        "id": plan.id,
        "goal": root.goal,
        "why": root.why,
        "owner": None if plan.owner == OWNER else plan.owner,
        "created": None if plan.created == CREATED else plan.created,
        "combine": None if root.combine == "AND" else root.combine,
        "constraints": plan.constraints,
        "root": _root(plan) or None,
    }
    plain = without_nulls(stated)
    plain["tasks"] = [plain_task(task) for task in root.parts]
    return plain


def _root(plan: ShortPlan) -> dict[str, Any]:
    plain = plain_task(plan.root)
    if plan.root.title == plan.title:
        del plain["title"]
    if plan.root.type == "GOAL":
        del plain["type"]
    return {key: value for key, value in plain.items() if key in ROOT_KEYS}


def plain_task(task: ShortTask) -> dict[str, Any]:
    """Return the keys of a task, in the order of their table."""
    plain: dict[str, Any] = {}
    for key in TASK_KEYS:
        value = getattr(task, key)
        if value == _TASK_DEFAULTS.get(key, _NOTHING):
            continue
        match key:
            case "needs":
                plain[key] = _few([name for name, _ in value])
            case "timeout":
                plain[key] = duration_text(value)
            case "inputs":
                plain[key] = _few([_plain_input(need) for need in value])
            case "check":
                plain[key] = _plain_check(task, value)
            case "parts":
                plain[key] = [plain_task(part) for part in value]
            case _:
                plain[key] = _few(list(value)) if isinstance(value, tuple) else value
    return plain


def _few(values: list[Any]) -> Any:
    """Return a single text alone; that is how people write a list of a single text."""
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return values


def _plain_check(task: ShortTask, check: ShortTask) -> Any:
    plain = plain_task(check)
    if check.title == f"Check: {task.title}":
        del plain["title"]
    return plain or True


def _plain_input(need: ShortInput) -> Any:
    plain = {}
    for key in INPUT_KEYS:
        value = getattr(need, key)
        if value == _INPUT_DEFAULTS.get(key, _NOTHING):
            continue
        plain[key] = list(value) if isinstance(value, tuple) else value
    if list(plain) == ["name"]:
        return need.name
    return plain

"""The entries of a plan file become a short plan, or an error that names the line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from accordance.contracts.jsonpath import without
from accordance.domain.short_plans.entries import (
    Entry,
    Fields,
    Items,
    Leaf,
    bare_value,
    expected,
    shown,
    text_in,
)
from accordance.domain.short_plans.model import (
    CHECK_KEYS,
    CODE_KEYS,
    INPUT_KEYS,
    PLAN_KEYS,
    ROOT_KEYS,
    TASK_KEYS,
    Key,
    ShortInput,
    ShortPlan,
    ShortTask,
)
from accordance.errors import InvalidPlanFile, did_you_mean

_OF_THE_ROOT: Final = ("goal", "why", "combine")
"""Keys of the plan that say something about its root."""


def read_plan(table: Fields) -> ShortPlan:
    """Return the plan in a table. Raises InvalidPlanFile."""
    _refuse_unknown(table, PLAN_KEYS, "a plan")
    values = _values(table, PLAN_KEYS)
    if "title" not in values:
        raise InvalidPlanFile(
            "the plan has no title", table.line, way_out="add title: and a text"
        )

    tasks = _tasks(table.entries.get("tasks"), "tasks")
    if not tasks:
        raise InvalidPlanFile(
            "the plan has no tasks", table.line, way_out="list them under tasks"
        )

    root = _root(table.entries.get("root"), values, tasks, table.line)
    own = without(values, _OF_THE_ROOT)
    return ShortPlan(**own, root=root)


def _root(
    entry: Entry | None,
    values: Mapping[str, Any],
    tasks: tuple[ShortTask, ...],
    line: int,
) -> ShortTask:
    """Return the task that stands for the whole plan."""
    stated: dict[str, Any] = {"title": values["title"], "type": "GOAL"}
    stated.update({key: values[key] for key in _OF_THE_ROOT if key in values})
    if entry is not None:
        if not isinstance(entry, Fields):
            raise expected("a table of keys", "root", entry)
        _refuse_unknown(entry, ROOT_KEYS, "root")
        stated.update(_values(entry, TASK_KEYS))
        stated.update(_structured(entry))
    return ShortTask(**stated, parts=tasks, line=line)


def _tasks(entry: Entry | None, key: str) -> tuple[ShortTask, ...]:
    if entry is None:
        return ()
    if not isinstance(entry, Items):
        raise expected("a list of tasks", key, entry)
    return tuple(_task(item) for item in entry.items)


def _task(entry: Entry) -> ShortTask:
    if isinstance(entry, Leaf):
        return ShortTask(title=text_in(entry, "a task"), line=entry.line)
    if isinstance(entry, Items):
        raise expected("a title or a table of keys", "a task", entry)

    _refuse_unknown(entry, TASK_KEYS, "a task")
    if "title" not in entry.entries:
        raise InvalidPlanFile(
            "a task has no title", entry.line, way_out="add title: and a text"
        )
    return _task_of(entry, str(_values(entry, TASK_KEYS)["title"]))


def _task_of(entry: Fields, title: str) -> ShortTask:
    values = {**_values(entry, TASK_KEYS), "title": title}
    values.update(_structured(entry))
    check = entry.entries.get("check")
    if check is not None:
        values["check"] = _check(check, title)
    task = ShortTask(
        **values,
        parts=_tasks(entry.entries.get("parts"), "parts"),
        line=entry.line,
        lines=entry.lines,
    )
    _refuse_code_keys(task, entry)
    return task


def _structured(entry: Fields) -> dict[str, Any]:
    """Return the inputs of a task, if there are any."""
    inputs = entry.entries.get("inputs")
    if inputs is None:
        return {}
    return {"inputs": _inputs(inputs)}


def _refuse_code_keys(task: ShortTask, entry: Fields) -> None:
    """Refuse what means something only for a task that changes code."""
    if task.changes_code:
        return
    for key in CODE_KEYS:
        if key in entry.entries:
            raise InvalidPlanFile(
                f"{key} means nothing for {shown(task.title)}, which changes no code",
                entry.lines[key],
                way_out="name the paths it may change with allowed:, or remove it",
            )


def _check(entry: Entry, title: str) -> ShortTask | None:
    """Return the check that a task asks for; None where it says false."""
    by_default = f"Check: {title}"
    if isinstance(entry, Fields):
        _refuse_unknown(entry, CHECK_KEYS, "a check")
        own = _values(entry, TASK_KEYS).get("title", by_default)
        return _task_of(entry, str(own))
    if isinstance(entry, Items):
        raise expected("true, a title or a table of keys", "check", entry)

    value = entry.value
    if entry.is_bare and isinstance(value, str):
        value = bare_value(value)
    if isinstance(value, bool):
        return ShortTask(title=by_default, line=entry.line) if value else None
    return ShortTask(title=text_in(entry, "check"), line=entry.line)


def _inputs(entry: Entry) -> tuple[ShortInput, ...]:
    items = entry.items if isinstance(entry, Items) else (entry,)
    return tuple(_input(item) for item in items)


def _input(entry: Entry) -> ShortInput:
    if isinstance(entry, Leaf):
        return ShortInput(name=text_in(entry, "an input"), line=entry.line)
    if isinstance(entry, Items):
        raise expected("a name or a table of keys", "an input", entry)

    _refuse_unknown(entry, INPUT_KEYS, "an input")
    values = _values(entry, INPUT_KEYS)
    if "name" not in values:
        raise InvalidPlanFile(
            "an input has no name", entry.line, way_out="add name: and a text"
        )
    return ShortInput(**values, line=entry.line)


def _values(table: Fields, keys: Mapping[str, Key]) -> dict[str, Any]:
    """Return what a table says, of the keys that are read by themselves."""
    values = {}
    for name, entry in table.entries.items():
        read = keys[name].read
        if read is not None:
            values[name] = read(entry, name)
    return values


def _refuse_unknown(table: Fields, known: Collection[str], what: str) -> None:
    for name in table.entries:
        if name not in known:
            raise InvalidPlanFile(
                f"{what} has no key {shown(name)}",
                table.lines[name],
                way_out=did_you_mean(name, known),
            )

"""The stop hook in the settings of Claude Code and codex, which have the same shape.

    {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "..."}]}]}}

Nothing else in the settings is touched, and their order stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from accordance.domain.hooks.kinds import TIMEOUT, HookKind, is_our_command
from accordance.errors import AccordanceError

JsonObject = dict[str, Any]
_EVENT: Final = "Stop"
_FIRST_INDENT: Final = re.compile(r"\{\n([ \t]+)\S")


class HookSettingsUnreadable(AccordanceError):
    """The settings of an agent cannot be changed without losing something of them."""

    code = "hook-settings-unreadable"


def with_stop_hook(text: str, kind: HookKind, command: str) -> str:
    """Return settings in which the stop hook is there once, with this command.

    Raises HookSettingsUnreadable.
    """
    settings = _without(_read(text), kind)
    hooks = settings.setdefault("hooks", {})
    groups = hooks.setdefault(_EVENT, [])
    entry = {
        "type": "command",
        "command": command,
        "timeout": TIMEOUT,
    }
    groups.append({"hooks": [entry]})
    return _written(settings, text)


def without_stop_hook(text: str, kind: HookKind) -> str:
    """Return settings without the stop hook. Raises HookSettingsUnreadable.

    What only held the hook goes with it. Settings without the hook stay as they are
    written.
    """
    settings = _read(text)
    rest = _without(settings, kind)
    return text if rest == settings else _written(rest, text)


def _without(settings: JsonObject, kind: HookKind) -> JsonObject:
    groups = settings.get("hooks", {}).get(_EVENT, [])
    kept_groups = []
    for group in groups:
        entries = group.get("hooks", [])
        kept = []
        for entry in entries:
            command = entry.get("command")
            if not is_our_command(command, kind):
                kept.append(entry)
        if kept == entries:
            kept_groups.append(group)
        elif kept:
            kept_groups.append({**group, "hooks": kept})
    if kept_groups == groups:
        return settings

    hooks = {**settings["hooks"], _EVENT: kept_groups}
    if not kept_groups:
        del hooks[_EVENT]
    rest = {**settings, "hooks": hooks}
    if not hooks:
        del rest["hooks"]
    return rest


def _read(text: str) -> JsonObject:
    """Return the settings. Raises HookSettingsUnreadable."""
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise HookSettingsUnreadable(f"it is not plain JSON: {error}") from None
    if not isinstance(settings, dict):
        raise HookSettingsUnreadable("it is not a JSON object")
    _check_shape(settings)
    return settings


def _check_shape(settings: JsonObject) -> None:
    """Refuse hooks of another shape: what is not understood is not rewritten."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, Mapping):
        raise HookSettingsUnreadable('"hooks" is not an object')
    groups = hooks.get(_EVENT, [])
    if not isinstance(groups, list):
        raise HookSettingsUnreadable(f'"hooks.{_EVENT}" is not a list')
    for group in groups:
        if not _is_group(group):
            raise HookSettingsUnreadable(
                f'"hooks.{_EVENT}" holds something other than groups of hooks'
            )


def _is_group(value: object) -> bool:
    entries = value.get("hooks", []) if isinstance(value, Mapping) else None
    if isinstance(entries, list):
        return all(isinstance(entry, Mapping) for entry in entries)
    return False


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Refuse a key that occurs twice: only the last would be kept."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return fields


def _written(settings: JsonObject, like: str) -> str:
    """Return settings as text, indented as the text that they come from."""
    indent = _FIRST_INDENT.match(like.lstrip())
    unit = indent.group(1) if indent else "  "
    return json.dumps(settings, indent=unit, ensure_ascii=False) + "\n"

"""The hook in `.pre-commit-config.yaml`.

The file is people's own, with comments and an order, so lines are put in and taken out
again; the rest of the text stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

from accordance.domain.hooks.json_settings import HookSettingsUnreadable
from accordance.domain.hooks.kinds import HookKind, hook_command

_REPOS: Final = re.compile(r"^repos:[ \t]*(?:#.*)?\n", re.MULTILINE)
_NEXT_ITEM: Final = re.compile(r"(?:[ \t]*(?:#.*)?\n)*([ \t]*)-[ \t]")
_BEGIN: Final = "# accordance: begin"
_END: Final = "# accordance: end"
_BLOCK: Final = re.compile(
    rf"^[ \t]*{re.escape(_BEGIN)}\n.*?^[ \t]*{re.escape(_END)}\n",
    re.MULTILINE | re.DOTALL,
)


def pre_commit_lines(program: str = "accordance", indent: str = "  ") -> str:
    """Return the lines of the hook, as an item below `repos:`."""
    command = hook_command(HookKind.PRE_COMMIT, program)
    lines = (
        _BEGIN,
        "- repo: local",
        "  hooks:",
        "    - id: accordance",
        "      name: accordance judges the change",
        f"      entry: {command}",
        "      language: system",
        "      pass_filenames: false",
        "      always_run: true",
        _END,
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def with_pre_commit_hook(text: str, program: str = "accordance") -> str:
    """Return a configuration with the hook, first of all.

    Raises HookSettingsUnreadable if no place for it is sure.
    """
    rest = without_pre_commit_hook(text)
    if not rest.strip():
        return f"repos:\n{pre_commit_lines(program)}"

    repos = _REPOS.search(rest)
    if repos is None:
        raise HookSettingsUnreadable("there is no line `repos:` with a list below it")
    following = _NEXT_ITEM.match(rest, repos.end())
    is_empty = not rest[repos.end() :].strip()
    if following is None and not is_empty:
        raise HookSettingsUnreadable("what follows the line `repos:` is not a list")
    indent = "  " if following is None else following.group(1)
    lines = pre_commit_lines(program, indent)
    return rest[: repos.end()] + lines + rest[repos.end() :]


def without_pre_commit_hook(text: str) -> str:
    """Return a configuration without the lines of the hook."""
    return _BLOCK.sub("", text)

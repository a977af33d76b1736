"""The script that git runs before a commit."""

from __future__ import annotations

from typing import Final

from accordance.domain.hooks.kinds import HookKind, hook_command

HOOK: Final = "pre-commit"
OWN: Final = "pre-commit.own"
"""The hook that was there before; it runs first."""

_MARK: Final = "# written by `accordance hook git`; `--remove` takes it out again"
_SCRIPT: Final = """\
#!/bin/sh
{mark}
own="$(dirname "$0")/{own}"
if [ -x "$own" ]; then
    "$own" "$@" || exit
fi
exec {command}
"""


def git_script(program: str = "accordance") -> str:
    """Return the script. `program` is quoted already."""
    command = hook_command(HookKind.GIT, program)
    return _SCRIPT.format(mark=_MARK, own=OWN, command=command)


def is_our_script(content: bytes) -> bool:
    """Whether a hook is the script, of whatever version of accordance."""
    return _MARK.encode() in content

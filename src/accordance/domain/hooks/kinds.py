"""Which programs can be hooked, and the command that each of them calls."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

TIMEOUT: Final = 3600  # seconds; an agent waits no longer for a judgement


class HookKind(StrEnum):
    """A program that calls accordance before work counts as done."""

    CLAUDE = "claude"
    CODEX = "codex"
    OPENCODE = "opencode"
    GIT = "git"
    PRE_COMMIT = "pre-commit"

    @property
    def is_agent(self) -> bool:
        """Whether an agent is stopped, which can be sent back to work."""
        return self in (HookKind.CLAUDE, HookKind.CODEX, HookKind.OPENCODE)


_REPOSITORY: Final = {HookKind.CLAUDE: ' --repo "$CLAUDE_PROJECT_DIR"'}
"""Where a hook is not run in the repository, the variable that names it."""


def hook_command(kind: HookKind, program: str = "accordance") -> str:
    """Return the command line of a hook, for a shell. `program` is quoted already."""
    return f"{program} hook run {kind}{_REPOSITORY.get(kind, '')}"


def is_our_command(command: object, kind: HookKind) -> bool:
    """Whether a command line is that of the hook, wherever accordance is installed."""
    if not isinstance(command, str):
        return False
    pattern = rf"(?:^|.*[/'\"\s])accordance['\"]? hook run {kind}(?:\s.*)?"
    return re.fullmatch(pattern, command.strip(), re.DOTALL) is not None

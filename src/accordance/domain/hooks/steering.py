"""Files that decide what agents and hooks do.

An agent that changes them could switch off the hook that has its work judged.
"""

from __future__ import annotations

from typing import Final

# Bundles store these words and compare them: they must not change.
_FOLDERS: Final = {
    ".claude": "Claude Code",
    ".codex": "codex",
    ".opencode": "opencode",
    ".githooks": "git hooks",
    ".husky": "git hooks",
}
_FILES: Final = {
    ".mcp.json": "Claude Code",
    "opencode.json": "opencode",
    "opencode.jsonc": "opencode",
    ".pre-commit-config.yaml": "pre-commit",
}


def steered_hooks(path: str) -> str:
    """Return whose hooks a file at this path steers, or nothing."""
    *folders, name = path.casefold().split("/")
    for folder in folders:
        if folder in _FOLDERS:
            return _FOLDERS[folder]
    return _FILES.get(name, "")

"""Locating an agent's native program, so that a run does not depend on Node."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

FOLDER_VARIABLE: Final = "ACCORDANCE_AGENTS"
PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "codex": "@openai/codex",
        "opencode": "opencode-ai",
        "claude": "@anthropic-ai/claude-code",
    }
)
_NATIVE_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "codex": (
            "@openai/codex-*/vendor/*/bin/codex",
            "@openai/codex-*/vendor/*/codex/codex",
        ),
        "opencode": (
            "opencode-ai/bin/opencode.exe",
            "opencode-linux-*/bin/opencode",
        ),
        "claude": (
            "@anthropic-ai/claude-code-*/claude",
            "@anthropic-ai/claude-code/bin/claude.exe",
        ),
    }
)
_NODE_MODULES: Final = "node_modules"
_ELF_MAGIC: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """An agent's program, and the folder that must be visible for it to run."""

    program: Path
    folder: Path


def find_agent(kind: str, binary: str | None, root: Path) -> InstalledAgent | None:
    """Return the program of an agent, or None if it is not installed.

    A configured `binary` is the only candidate. Otherwise the agents' folders come
    before the search path.
    """
    if binary is not None:
        if "/" in binary:
            place = root / binary
        else:
            place = Path(shutil.which(binary) or binary)
        return _installed_at(kind, place)

    for modules in _module_folders(root):
        native = _native_in(kind, modules)
        if native is not None:
            return native

    on_path = shutil.which(kind)
    return _installed_at(kind, Path(on_path)) if on_path else None


def _module_folders(root: Path) -> Iterator[Path]:
    configured = os.environ.get(FOLDER_VARIABLE)
    if configured:
        yield Path(configured) / _NODE_MODULES
    yield root / ".agents" / _NODE_MODULES


def _installed_at(kind: str, place: Path) -> InstalledAgent | None:
    """Return the program at a place.

    If that is the script of a package, return the native program of the same package.
    """
    if not os.access(place, os.X_OK):
        return None

    program = place.resolve()
    modules = _enclosing_modules(program)
    if modules is None:
        return InstalledAgent(program, program.parent)

    native = _native_in(kind, modules)
    return native or InstalledAgent(program, modules)


def _enclosing_modules(program: Path) -> Path | None:
    for parent in program.parents:
        if parent.name == _NODE_MODULES:
            return parent
    return None


def _native_in(kind: str, modules: Path) -> InstalledAgent | None:
    folder = modules.resolve()  # links on the way to it do not exist inside a sandbox

    for pattern in _NATIVE_PATTERNS[kind]:
        for place in sorted(folder.glob(pattern)):
            if os.access(place, os.X_OK) and _is_native(place):
                return InstalledAgent(place, folder)
    return None


def _is_native(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(len(_ELF_MAGIC)) == _ELF_MAGIC

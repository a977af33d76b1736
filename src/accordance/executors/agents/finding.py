"""Finding an agent's program: the native one, so that nothing depends on Node."""

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
_NATIVE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "codex": (
            "@openai/codex-*/vendor/*/bin/codex",
            "@openai/codex-*/vendor/*/codex/codex",
        ),
        "opencode": ("opencode-ai/bin/opencode.exe", "opencode-linux-*/bin/opencode"),
        "claude": (
            "@anthropic-ai/claude-code-*/claude",
            "@anthropic-ai/claude-code/bin/claude.exe",
        ),
    }
)
_ELF: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Found:
    """A program, and the folder that has to be seen for it to run."""

    program: Path
    folder: Path


def find_agent(kind: str, wish: str | None, root: Path) -> Found | None:
    """The program of an agent: where it is said to be, in the agents' folder, or on the search path."""
    if wish is not None:
        return _at(
            kind, root / wish if "/" in wish else Path(shutil.which(wish) or wish)
        )
    for modules in _module_folders(root):
        if found := _native_in(kind, modules):
            return found
    on_path = shutil.which(kind)
    return _at(kind, Path(on_path)) if on_path else None


def _module_folders(root: Path) -> Iterator[Path]:
    for folder in (os.environ.get(FOLDER_VARIABLE), root / ".agents"):
        if folder:
            yield Path(folder) / "node_modules"


def _at(kind: str, place: Path) -> Found | None:
    """The program at a place; where it is a script of a package, the native one of the same package."""
    if not os.access(place, os.X_OK):
        return None
    real = place.resolve()
    modules = next(
        (parent for parent in real.parents if parent.name == "node_modules"), None
    )
    if modules is not None and (native := _native_in(kind, modules)):
        return native
    return Found(real, modules or real.parent)


def _native_in(kind: str, modules: Path) -> Found | None:
    folder = modules.resolve()  # inside a sandbox there is nothing on the way to it
    for pattern in _NATIVE[kind]:
        for place in sorted(folder.glob(pattern)):
            if os.access(place, os.X_OK) and _is_native(place):
                return Found(place, folder)
    return None


def _is_native(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(len(_ELF)) == _ELF

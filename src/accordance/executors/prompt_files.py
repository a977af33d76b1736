"""Prompt files: versioned texts, shipped with accordance or kept in the project.

Files in the project's `prompts` folder take precedence. A name ends in its version
(`worker.v1`). A text is identified by its hash, so that every call can be rebuilt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.prompting import Part
from accordance.errors import UnknownPrompt

SHIPPED: Final = Path(__file__).parent / "prompts"
SHARED: Final = "shared.v1"
_NAME: Final = re.compile(r"[a-z0-9_-]+\.v[0-9]+")


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """The prompt files of a project."""

    root: Path

    def names(self) -> frozenset[str]:
        """Return the names of all prompt files."""
        names = set()
        for folder in self._folders():
            for file in folder.glob("*.md"):
                if _NAME.fullmatch(file.stem):
                    names.add(file.stem)
        return frozenset(names)

    def part(self, name: str) -> Part:
        """Return a prompt file as a part of the system prompt. Raises UnknownPrompt."""
        if _NAME.fullmatch(name):
            for folder in self._folders():
                file = folder / f"{name}.md"
                if file.is_file():
                    return Part("system", name, file.read_text("utf-8"))
        raise UnknownPrompt(name, self.names())

    def _folders(self) -> tuple[Path, ...]:
        return (self.root / "prompts", SHIPPED)

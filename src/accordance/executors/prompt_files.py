"""Prompt files: versioned texts, shipped with accordance or kept in the project's `prompts` folder, which come first.

A name ends in its version (`worker.v1`). A text is known by its hash, so that every call can be rebuilt.
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
        """All that can be named."""
        return frozenset(
            file.stem
            for folder in self._folders()
            for file in folder.glob("*.md")
            if _NAME.fullmatch(file.stem)
        )

    def part(self, name: str) -> Part:
        """One of them, as the system says it. Raises UnknownPrompt."""
        for folder in self._folders():
            place = folder / f"{name}.md"
            if _NAME.fullmatch(name) and place.is_file():
                return Part("system", name, place.read_text("utf-8"))
        raise UnknownPrompt(name, self.names())

    def _folders(self) -> tuple[Path, ...]:
        return (self.root / "prompts", SHIPPED)

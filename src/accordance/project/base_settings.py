"""The settings a change is judged by: those of its base, so that no agent writes its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accordance.project.home import find_home
from accordance.project.policy import SETTINGS
from accordance.project.settings import parse_settings
from accordance.workspace.git import show


def settings_at(repository: Path, base: str) -> Mapping[str, Any]:
    """What accordance.toml says at the base; where the repository has none, the nearest one above it. Raises InvalidSettings."""
    text = show(repository, base, SETTINGS)
    if text is None:
        return find_home(repository.resolve().parent).settings()
    return parse_settings(text, f"{SETTINGS} at {base}", repository)

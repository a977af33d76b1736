"""The settings a change is judged by: those of its base, so that no agent writes its own rules."""

from __future__ import annotations

from pathlib import Path

from accordance.project.home import find_home
from accordance.project.settings import SETTINGS, Settings, parse_settings
from accordance.workspace.git import show


def settings_at(repository: Path, base: str) -> Settings:
    """What accordance.toml says at the base; where the repository has none, the nearest one above it. Raises InvalidSettings."""
    text = show(repository, base, SETTINGS)
    if text is None:
        return find_home(repository.resolve().parent).settings()
    return parse_settings(text, f"{SETTINGS} at {base}")

"""The settings a change is judged by.

They are those of its base, so that no agent can write the rules for its own work.
"""

from __future__ import annotations

from pathlib import Path

from accordance.project.home import find_home
from accordance.project.settings import SETTINGS, Settings, parse_settings
from accordance.workspace.git import show


def settings_at(repository: Path, base: str) -> Settings:
    """Return the settings in accordance.toml at the base. Raises InvalidSettings.

    Where the repository has none there, the nearest file above the repository counts.
    """
    content = show(repository, base, SETTINGS)
    if content is not None:
        return parse_settings(content, f"{SETTINGS} at {base}")

    parent_folder = repository.resolve().parent
    return find_home(parent_folder).settings()

"""The user's cache folder, where no isolated agent can write."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def user_cache() -> Path:
    """Return the folder of accordance in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "accordance"


def is_ours_alone(folder: Path) -> bool:
    """Whether no other user can write a folder, or it is not there yet."""
    try:
        about = folder.lstat()
    except OSError:
        return True
    is_private = stat.S_ISDIR(about.st_mode) and not about.st_mode & 0o022
    return is_private and about.st_uid == os.geteuid()

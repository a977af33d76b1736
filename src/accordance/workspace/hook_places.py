"""Where the hooks of a repository are, and where accordance keeps what they need."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Final

from accordance.workspace.baseline import must_be_out_of_reach, shared_directory
from accordance.workspace.caching import is_ours_alone
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.git import git_directory

_DIGITS: Final = 16
_SECONDS: Final = 30


def state_folder(root: Path) -> Path:
    """Return where the task and the baseline of a working tree are kept.

    That is in the user's state, outside the tree. Raises InvalidBaseline where it lies
    in the tree all the same, WorkspaceError where others can write there.
    """
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    digest = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()
    hooks = Path(home) / "accordance" / "hooks"
    folder = hooks / digest[:_DIGITS]
    must_be_out_of_reach(folder, root)
    for place in (hooks, folder):
        if not is_ours_alone(place):
            raise WorkspaceError(
                f"{place} can be written by other users",
                way_out="make it yours alone, or name another with XDG_STATE_HOME",
            )
    return folder


def git_hooks_folder(root: Path) -> Path:
    """Return the folder in which git looks for the hooks of a working tree.

    `core.hooksPath` counts, also where the user has set it. Raises WorkspaceError if
    the folder serves other repositories as well, or if there is no repository.
    """
    directory = git_directory(root)
    if directory is None:
        raise WorkspaceError(
            f"{root} is not a git repository", way_out="make it one with `git init`"
        )
    own = [root.resolve(), shared_directory(directory)]
    configured = _configured_folder(root)
    if configured is None:
        return own[1] / "hooks"

    folder = (root / configured).resolve()
    if not any(folder.is_relative_to(place) for place in own):
        raise WorkspaceError(
            f"git runs the hooks in {folder}, for other repositories as well "
            "(core.hooksPath)",
            way_out="let this repository have its own: "
            "git config core.hooksPath .git/hooks",
        )
    return folder


def _configured_folder(root: Path) -> str | None:
    """Return `core.hooksPath` as git itself reads it: nothing is run by that."""
    result = subprocess.run(
        ("git", "config", "--type=path", "--get", "core.hooksPath"),  # noqa: S607 - git is looked up on the path, as everywhere
        cwd=root,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return os.fsdecode(result.stdout).rstrip("\n") or None

"""Repositories that accordance builds itself: from files, or from a commit with more.

Authors and times are fixed, so that the same content is the same commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from accordance.workspace.errors import GitFailed, WorkspaceError
from accordance.workspace.fetching import check_out
from accordance.workspace.git import Git

_SPECIAL_SIGNS: Final = re.compile(r"[*?[\\]")
"""Signs that a pattern of git's does not take as they are."""


def build_repository(folder: Path, files: Mapping[str, str]) -> str:
    """Make a repository with these files in a new folder, and return its commit."""
    directory = folder / ".git"
    directory.mkdir(parents=True)
    git = Git(directory, folder)
    git("init", "--quiet", "--template=", "--initial-branch=main")
    _write(folder, files)
    return _commit(git, files)


def extend_repository(
    source: Path,
    commit: str,
    folder: Path,
    files: Mapping[str, str],
    patch: str,
) -> str:
    """Check a commit out in a new folder, add to it, and return the new commit.

    Raises WorkspaceError if the patch does not fit.
    """
    git = check_out(source, folder, commit)
    if patch.strip():
        try:
            git("apply", "--index", "--whitespace=nowarn", "-", given=patch.encode())
        except GitFailed as error:
            raise WorkspaceError(
                f"the patch with the tests does not fit the base: {error.output.strip()}"
            ) from None
    _write(folder, files)
    return _commit(git, files)


def apply_without(patch: bytes, work: Path, excluded: Iterable[str]) -> bool:
    """Apply a patch but for some paths, and return whether it fitted.

    A path that ends with a slash stands for all that lies below it.
    """
    if not patch.strip():
        return True
    options = []
    for path in excluded:
        below = "*" if path.endswith("/") else ""
        options.append(f"--exclude={_literal(path)}{below}")
    git = Git(work / ".git", work)
    try:
        git("apply", "--whitespace=nowarn", *options, "-", given=patch)
    except GitFailed:
        return False
    return True


def _literal(path: str) -> str:
    """Return a pattern of git's that fits exactly this path."""
    return _SPECIAL_SIGNS.sub(r"\\\g<0>", path)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files. Raises WorkspaceError where a link would lead them elsewhere."""
    for path, content in files.items():
        place = folder / path
        intended = folder.resolve() / Path(path).parent
        if place.parent.resolve() != intended:
            raise WorkspaceError(f"{path} would be written through a link")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_text(content, "utf-8")


def _commit(git: Git, files: Mapping[str, str]) -> str:
    paths = "\0".join(files).encode()
    if paths:
        options = ("--force", "--pathspec-from-file=-", "--pathspec-file-nul")
        git("--literal-pathspecs", "add", *options, given=paths)
    git("commit", "--quiet", "--allow-empty", "--message", "base")
    return git.text("rev-parse", "HEAD")

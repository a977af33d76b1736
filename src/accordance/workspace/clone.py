"""A clone for each attempt: what the agent does to it cannot reach the repository.

An attempt's folder holds `work`, which is the agent's, and `base.git`, which is ours:
the base commit, in a git directory the agent never sees. Where the work did not begin
as our clone, it also holds `base`, the untouched files; and where reading is bounded,
`withheld`, the rest of the base.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.workspace.errors import UnknownBase, WorkspaceError
from accordance.workspace.fetching import check_out, commit_rows, private_base
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.waiting import refuse_endless_files
from accordance.workspace.withholding import Readable, Withheld, bounded_clone

# Full paths, so that they do not depend on PATH.
_DUPLICATE: Final = ("/bin/cp", "-a", "--reflink=auto", "--no-target-directory", "--")
_REMOVE: Final = ("/bin/rm", "-rf", "--one-file-system", "--")
_OPEN_UP: Final = ("/bin/chmod", "-R", "u+rwx", "--")  # follows no link
_TOOL_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where an attempt happens."""

    work: Path  # the agent's tree
    base: Git  # private; holds the base commit, or nothing for a directory without git
    commit: str  # the recorded base; empty for a directory without git
    pristine: Path | None = None
    """The base's files, untouched, where the work did not begin as our clone."""
    withheld: Withheld | None = None
    """What the agent was not given; None where it was given all of the base."""


def clone(
    repository: Path,
    attempt: Path,
    *,
    base: str = "HEAD",
    readable: Readable | None = None,
    folders: Collection[str] = (),
) -> Workspace:
    """Make a workspace for an attempt in the new folder `attempt`.

    With `readable`, only what it returns is given to the agent. Those of the `folders`
    that the base has exist in any case, even if empty.

    Raises UnknownBase, GitFailed, WorkspaceError.
    """
    if git_directory(repository) is None:
        return _copied(repository, attempt, readable)

    commit = resolve(repository, base)
    _new_folder(attempt)
    work = attempt / "work"
    if readable is None:
        _full_clone(repository, work, commit)
        base_git = private_base(repository, attempt / "base.git", commit)
        return Workspace(work, base_git, commit)

    base_git, withheld = bounded_clone(repository, attempt, commit, readable, folders)
    return Workspace(work, base_git, commit, withheld=withheld)


def adopt(repository: Path, private: Path, *, base: str) -> Workspace:
    """Make a workspace of work done in `repository` itself, judged against `base`.

    Our files go to the new folder `private`. Without git, `base` is an earlier copy of
    the directory. Raises UnknownBase, GitFailed, WorkspaceError.
    """
    if git_directory(repository) is None:
        return _beside_earlier_copy(repository, private, Path(base))

    commit = resolve(repository, base)
    _new_folder(private)
    pristine = private / "base"
    _full_clone(repository, pristine, commit)
    base_git = private_base(repository, private / "base.git", commit)
    return Workspace(repository, base_git, commit, pristine)


def _full_clone(repository: Path, work: Path, commit: str) -> None:
    """Check out a commit with its history, and the submodules that are at hand."""
    git = check_out(repository, work, commit)
    for row in commit_rows(git, commit):
        source = repository / row.name
        if not row.is_submodule:
            continue
        directory = git_directory(source)
        if directory is not None:
            refuse_endless_files(directory)
            _full_clone(source, work / row.name, row.object_id)


def _beside_earlier_copy(directory: Path, private: Path, earlier: Path) -> Workspace:
    """Make a workspace of a directory without git and an earlier copy of it."""
    if not directory.is_dir():
        raise WorkspaceError(f"{directory} is not a directory")
    if not earlier.is_dir():
        raise UnknownBase(
            f"{directory} is not a git repository, so an earlier copy is needed to "
            f"compare it with, and {earlier} is not a directory"
        )

    now = directory.resolve()
    then = earlier.resolve()
    if then.is_relative_to(now) or now.is_relative_to(then):
        raise UnknownBase(
            f"{earlier} cannot be an earlier copy of {directory}: their folders overlap"
        )

    _new_folder(private)
    return Workspace(directory, _empty_git(private / "base.git"), "", earlier)


def _copied(directory: Path, attempt: Path, readable: Readable | None) -> Workspace:
    """Make a workspace of a directory without git, by copying it."""
    if not directory.is_dir():
        raise WorkspaceError(f"{directory} is not a directory")
    if readable is not None:
        raise WorkspaceError(
            f"{directory} is not a git repository, so what an agent reads there cannot "
            "be bounded"
        )

    _new_folder(attempt)
    work = attempt / "work"
    pristine = attempt / "base"
    copy_tree(directory, pristine)
    copy_tree(directory, work)
    return Workspace(work, _empty_git(attempt / "base.git"), "", pristine)


def _empty_git(directory: Path) -> Git:
    """Make a git directory for patches of what has none."""
    directory.mkdir()
    git = Git(directory)
    git("init", "--quiet", "--bare", "--template=")
    return git


def _new_folder(place: Path) -> None:
    try:
        place.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise WorkspaceError(
            f"{place} exists already; every attempt has a folder of its own"
        ) from None


def copy_tree(source: Path, target: Path) -> None:
    """Copy folders, files and links with their modes, and nothing else.

    Links are copied as links, never followed.
    """
    shutil.copytree(
        source,
        target,
        symlinks=True,
        ignore=_special_files,
        ignore_dangling_symlinks=True,
    )


def _special_files(directory: str, names: list[str]) -> set[str]:
    special = set()
    for name in names:
        mode = os.lstat(os.path.join(directory, name)).st_mode  # noqa: PTH118 - texts
        is_ordinary = stat.S_IFMT(mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
        if not is_ordinary:
            special.add(name)
    return special


def duplicate(source: Path, target: Path) -> None:
    """Copy a tree of ours to a new place, with modes and times.

    Blocks are shared where the disk can do so; files never are.
    """
    if not _succeeds(*_DUPLICATE, source, target):
        discard(target)  # what a foreign cp may have begun
        shutil.copytree(source, target, symlinks=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder that may become deeper than Python can delete."""
    folder = Path(tempfile.mkdtemp(prefix="accordance-"))
    try:
        yield folder
    finally:
        discard(folder)


def discard(folder: Path) -> bool:
    """Delete a folder that others wrote to, and return whether it is gone.

    It may be deeper than shutil.rmtree has stack for. What cannot be deleted stays:
    finished work must not fail because tidying up did.
    """
    if _succeeds(*_REMOVE, folder):
        return True
    _succeeds(*_OPEN_UP, folder)  # folders may have been made read-only
    return _succeeds(*_REMOVE, folder)


def _succeeds(*command: str | Path) -> bool:
    try:
        result = subprocess.run(  # noqa: S603 - fixed programs
            command,
            capture_output=True,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0

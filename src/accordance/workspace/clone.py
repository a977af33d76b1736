"""One attempt, one full clone: nothing the agent does to it can reach the repository it came from.

An attempt's folder holds `work` (the agent's), `base.git` (ours: the base commit, in a git directory the agent never sees),
and where the work did not begin as our clone `base` (ours: the untouched files).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.workspace.errors import UnknownBase, WorkspaceError
from accordance.workspace.git import UPLOAD_PACK, Git, git_directory, object_format, resolve

BRANCH: Final = "attempt"
_SETTINGS: Final = (
    "[user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n"  # so nobody need write any
)


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one attempt happens."""

    work: Path  # the agent's tree
    base: Git  # private; holds the base commit, or nothing for a directory without git
    commit: str  # the recorded base; empty for a directory without git
    pristine: Path | None = None  # the base's files, untouched, where the work did not begin as our clone


def clone(repository: Path, attempt: Path, *, base: str = "HEAD") -> Workspace:
    """A workspace for one attempt in the new folder `attempt`. Raises UnknownBase, GitFailed, WorkspaceError."""
    if git_directory(repository) is None:
        return _copied(repository, attempt)
    commit = resolve(repository, base)
    _new_folder(attempt)
    work = attempt / "work"
    _full_clone(repository, work, commit)
    return Workspace(work, _private_base(repository, attempt / "base.git", commit), commit)


def adopt(repository: Path, private: Path, *, base: str) -> Workspace:
    """Work that was done in `repository` itself, to be judged against `base`; ours goes to the new folder `private`.

    Without git, `base` is an earlier copy of the directory. Raises UnknownBase, GitFailed, WorkspaceError.
    """
    if git_directory(repository) is None:
        return _beside(repository, private, Path(base))
    commit = resolve(repository, base)
    _new_folder(private)
    _full_clone(repository, private / "base", commit)
    return Workspace(
        repository, _private_base(repository, private / "base.git", commit), commit, private / "base"
    )


def _beside(directory: Path, private: Path, earlier: Path) -> Workspace:
    """A directory without git and an earlier copy of it."""
    if not directory.is_dir():
        raise WorkspaceError(f"{directory} is no directory")
    if not earlier.is_dir():
        raise UnknownBase(
            f"{directory} is no git repository: without an earlier copy there is nothing to compare, and {earlier} is none"
        )
    inside = earlier.resolve(), directory.resolve()
    if inside[0].is_relative_to(inside[1]) or inside[1].is_relative_to(inside[0]):
        raise UnknownBase(f"{earlier} is no earlier copy of {directory}: one lies in the other")
    _new_folder(private)
    return Workspace(directory, _empty_git(private / "base.git"), "", earlier)


def _full_clone(repository: Path, work: Path, commit: str) -> None:
    """The commit with its history, checked out; submodules too, where the repository has them at hand."""
    _fetch(repository, work / ".git", commit, bare=False)
    git = Git(work / ".git", work)
    with (work / ".git/config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)
    git("checkout", "--quiet", "--force", "-B", BRANCH, commit)
    for path, submodule_commit in _submodules(git, commit):
        source = repository / path
        if git_directory(source) is not None:
            _full_clone(source, work / path, submodule_commit)


def _submodules(git: Git, commit: str) -> Iterator[tuple[str, str]]:
    """Paths of submodules and the commits they are recorded at."""
    for row in git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        if row.startswith(b"160000 "):
            about, _, path = row.partition(b"\t")
            yield os.fsdecode(path), about.split()[2].decode()


def _private_base(repository: Path, directory: Path, commit: str) -> Git:
    """A git directory of ours with just the base commit."""
    _fetch(repository, directory, commit, bare=True)
    return Git(directory)


def copy_tree(source: Path, target: Path) -> None:
    """Copy files, links and modes; leave out what is neither. Links are copied as links, never followed."""
    shutil.copytree(source, target, symlinks=True, ignore=_special_files, ignore_dangling_symlinks=True)


def duplicate(source: Path, target: Path) -> None:
    """Copy a tree of ours to a new place, with modes and times. Blocks are shared where the disk can; files never are."""
    if not _done(*_DUPLICATE, source, target):
        discard(target)  # what a foreign cp may have begun
        shutil.copytree(source, target, symlinks=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for as long as it is needed, into which others may dig as deep as they like."""
    folder = Path(tempfile.mkdtemp(prefix="accordance-"))
    try:
        yield folder
    finally:
        discard(folder)


def discard(folder: Path) -> bool:
    """Delete a folder that others wrote to, however deep it is: shutil.rmtree would run out of stack. Whether it is gone.

    What cannot be deleted stays: nothing that has come to its end may fail for the want of tidying up.
    """
    if _done(*_REMOVE, folder):
        return True
    _done(*_OPEN_UP, folder)
    return _done(*_REMOVE, folder)


_DUPLICATE: Final = ("/bin/cp", "-a", "--reflink=auto", "--no-target-directory", "--")
_REMOVE: Final = ("/bin/rm", "-rf", "--one-file-system", "--")  # wherever PATH leads
_OPEN_UP: Final = (
    "/bin/chmod",
    "-R",
    "u+rwx",
    "--",
)  # folders others have made read-only; no link is followed
_DISCARD_SECONDS: Final = 300


def _done(*command: str | Path) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_DISCARD_SECONDS, check=False)  # noqa: S603 - fixed
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _special_files(directory: str, names: list[str]) -> set[str]:
    kinds = {name: os.lstat(os.path.join(directory, name)).st_mode for name in names}  # noqa: PTH118 - texts
    ordinary = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    return {name for name, mode in kinds.items() if not any(is_kind(mode) for is_kind in ordinary)}


def _fetch(repository: Path, directory: Path, commit: str, *, bare: bool) -> None:
    """Through git's own transport: every object is checked on arrival and none is shared with the source."""
    directory.mkdir(parents=True)
    git = Git(directory, None if bare else directory.parent)
    git("init", "--quiet", "--template=", object_format(commit), *(("--bare",) if bare else ()))
    depth = ("--depth=1",) if bare else ("--update-shallow",)
    source = repository.resolve().as_uri()
    git(
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        *depth,
        f"--upload-pack={UPLOAD_PACK}",
        source,
        commit,
    )


def _new_folder(place: Path) -> None:
    try:
        place.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise WorkspaceError(f"{place} exists already; every attempt has a folder of its own") from None


def _copied(directory: Path, attempt: Path) -> Workspace:
    if not directory.is_dir():
        raise WorkspaceError(f"{directory} is no directory")
    _new_folder(attempt)
    copy_tree(directory, attempt / "base")
    copy_tree(directory, attempt / "work")
    return Workspace(attempt / "work", _empty_git(attempt / "base.git"), "", attempt / "base")


def _empty_git(directory: Path) -> Git:
    """A git directory for making patches of what has none."""
    directory.mkdir()
    git = Git(directory)
    git("init", "--quiet", "--bare", "--template=")
    return git

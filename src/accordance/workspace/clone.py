"""One attempt, one clone: nothing the agent does to it can reach the repository it came from.

An attempt's folder holds `work` (the agent's), `base.git` (ours: the base commit, in a git directory the agent never sees),
and where the work did not begin as our clone `base` (ours: the untouched files).

Where reading is bounded, `work` holds what may be read, in a repository with one commit and no history, and `withheld` (ours)
the rest of the base. The names and the content of what is withheld are in no object of the agent's repository.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from accordance.domain.facts import TreeEntry
from accordance.workspace.errors import UnknownBase, WorkspaceError
from accordance.workspace.git import (
    UPLOAD_PACK,
    Git,
    git_directory,
    object_format,
    resolve,
)
from accordance.workspace.names import text_of
from accordance.workspace.snapshot import take_snapshot

Readable: TypeAlias = Callable[[Collection[str]], Collection[str]]
"""Names those of a repository's paths that may be read."""

BRANCH: Final = "attempt"
_ATTRIBUTES: Final = ".gitattributes"
_SETTINGS: Final = "[user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n"  # so nobody need write any


@dataclass(frozen=True, slots=True)
class Withheld:
    """What of the base was not given to the agent, and where it lies."""

    place: Path
    entries: Mapping[str, TreeEntry]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one attempt happens."""

    work: Path  # the agent's tree
    base: Git  # private; holds the base commit, or nothing for a directory without git
    commit: str  # the recorded base; empty for a directory without git
    pristine: Path | None = (
        None  # the base's files, untouched, where the work did not begin as our clone
    )
    withheld: Withheld | None = None  # None where all of the base was given


def clone(
    repository: Path,
    attempt: Path,
    *,
    base: str = "HEAD",
    readable: Readable | None = None,
    folders: Collection[str] = (),
) -> Workspace:
    """A workspace for one attempt in the new folder `attempt`; with `readable`, only what that names is given.

    Those of the `folders` that the base has are there in any case, be they empty.

    Raises UnknownBase, GitFailed, WorkspaceError.
    """
    if git_directory(repository) is None:
        return _copied(repository, attempt, readable)
    commit = resolve(repository, base)
    _new_folder(attempt)
    work = attempt / "work"
    if readable is not None:
        return _bounded_clone(repository, attempt, commit, readable, folders)
    _full_clone(repository, work, commit)
    return Workspace(
        work, _private_base(repository, attempt / "base.git", commit), commit
    )


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
        repository,
        _private_base(repository, private / "base.git", commit),
        commit,
        private / "base",
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
        raise UnknownBase(
            f"{earlier} is no earlier copy of {directory}: one lies in the other"
        )
    _new_folder(private)
    return Workspace(directory, _empty_git(private / "base.git"), "", earlier)


def _full_clone(repository: Path, work: Path, commit: str) -> None:
    """The commit with its history, checked out; submodules too, where the repository has them at hand."""
    _fetch(repository, work / ".git", commit, bare=False)
    git = Git(work / ".git", work)
    with (work / ".git/config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)
    git("checkout", "--quiet", "--force", "-B", BRANCH, commit)
    for row in _rows(git, commit):
        source = repository / row.name
        if row.is_submodule and git_directory(source) is not None:
            _full_clone(source, work / row.name, row.object_id)


class _Row(NamedTuple):
    """One path of a commit."""

    mode: str
    object_id: str
    name: str  # as the disk has it

    @property
    def is_submodule(self) -> bool:
        return self.mode == "160000"


def _rows(git: Git, commit: str) -> Iterator[_Row]:
    """Every path of a commit that is no folder."""
    for row in git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        about, _, path = row.partition(b"\t")
        if path:
            mode, _kind, object_id = about.decode().split()
            yield _Row(mode, object_id, os.fsdecode(path))


@dataclass(frozen=True, slots=True)
class _Part:
    """A repository at a commit, and the submodules in it that are at hand: what a bounded clone is made of."""

    git: Git  # ours: holds the commit
    commit: str
    prefix: str  # the folder it lies in, with a slash at its end; nothing for the whole
    rows: tuple[_Row, ...]
    submodules: Mapping[str, _Part]  # by their names in this part

    def names(self) -> Iterator[str]:
        """Every file, and every submodule that is not at hand, from the root of the whole."""
        for row in self.rows:
            part = self.submodules.get(row.name)
            if part is None:
                yield self.prefix + row.name
            else:
                yield from part.names()


def _bounded_clone(
    repository: Path,
    attempt: Path,
    commit: str,
    readable: Readable,
    folders: Collection[str],
) -> Workspace:
    """Check out what may be read in a repository of the agent's own, and the rest of the base in a folder of ours."""
    whole = _part(repository, attempt / "base.git", commit, "")
    texts = {text_of(name): name for name in whole.names()}
    given = frozenset(texts[path] for path in readable(texts.keys()))
    work, place = attempt / "work", attempt / "withheld"
    _give(whole, work, given)
    for folder in _folders_of(texts.values()).intersection(folders):
        (work / folder).mkdir(parents=True, exist_ok=True)
    place.mkdir()
    _withhold(whole, place, given)
    return Workspace(
        work, whole.git, commit, withheld=Withheld(place, take_snapshot(place).entries)
    )


def _part(repository: Path, directory: Path, commit: str, prefix: str) -> _Part:
    git = _private_base(repository, directory, commit)
    rows = tuple(_rows(git, commit))
    at_hand = [
        row
        for row in rows
        if row.is_submodule and git_directory(repository / row.name) is not None
    ]
    submodules = {
        row.name: _part(
            repository / row.name,
            directory.with_name(f"{directory.stem}-{number}.git"),
            row.object_id,
            f"{prefix}{row.name}/",
        )
        for number, row in enumerate(at_hand, 1)
    }
    return _Part(git, commit, prefix, rows, submodules)


def _give(part: _Part, work: Path, given: frozenset[str]) -> None:
    """A repository in `work` with one commit of what is given there; so for the submodules of which something is given."""
    commit = _commit_of(part, given)
    _fetch(part.git.directory, work / ".git", commit, bare=False)
    with (work / ".git/config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)
    Git(work / ".git", work)("checkout", "--quiet", "--force", "-B", BRANCH, commit)
    for name, below in part.submodules.items():
        if not given.isdisjoint(below.names()):
            _give(below, work / name, given)


def _commit_of(part: _Part, given: frozenset[str]) -> str:
    """A commit of what is given of a part, without a parent, written to our git directory."""
    rows: list[_Row] = []
    for row in part.rows:
        below = part.submodules.get(row.name)
        if below is None:
            rows += [row] if part.prefix + row.name in given else []
        elif not given.isdisjoint(below.names()):
            rows.append(row._replace(object_id=_commit_of(below, given)))
    git = _with_index(part.git, "given", rows)
    return git.text(
        "commit-tree", "-m", "What this task may read", git.text("write-tree")
    )


def _withhold(part: _Part, place: Path, given: frozenset[str]) -> None:
    """Check out the rest of a part in `place`, by the same attributes as everywhere."""
    own = [row for row in part.rows if row.name not in part.submodules]
    rest = [row for row in own if part.prefix + row.name not in given]
    guests = [
        row
        for row in own
        if row.name.rpartition("/")[2] == _ATTRIBUTES and row not in rest
    ]
    git = _with_index(part.git, "withheld", (*rest, *guests), place)
    git("checkout-index", "--all", "--force", "--quiet")
    for guest in guests:
        (place / guest.name).unlink()
    for folder in sorted(_folders_of([guest.name for guest in guests]), reverse=True):
        with suppress(OSError):  # there is something else in it
            (place / folder).rmdir()
    for name, below in part.submodules.items():
        (place / name).mkdir(parents=True, exist_ok=True)
        _withhold(below, place / name, given)


def _with_index(
    git: Git, name: str, rows: Collection[_Row], work_tree: Path | None = None
) -> Git:
    """Git with a new index of these rows."""
    index = git.directory / name
    index.unlink(missing_ok=True)
    indexed = Git(git.directory, work_tree, index)
    listed = (os.fsencode(f"{row.mode} {row.object_id}\t{row.name}\0") for row in rows)
    indexed("update-index", "-z", "--index-info", given=b"".join(listed))
    return indexed


def _folders_of(names: Collection[str]) -> set[str]:
    """The folders that files lie in, and those above them."""
    direct = {name.rpartition("/")[0] for name in names}
    return {
        folder[:at]
        for folder in direct
        for at, letter in enumerate(f"{folder}/")
        if letter == "/" and at
    }


def _private_base(repository: Path, directory: Path, commit: str) -> Git:
    """A git directory of ours with just the base commit."""
    _fetch(repository, directory, commit, bare=True)
    return Git(directory)


def copy_tree(source: Path, target: Path) -> None:
    """Copy files, links and modes; leave out what is neither. Links are copied as links, never followed."""
    shutil.copytree(
        source,
        target,
        symlinks=True,
        ignore=_special_files,
        ignore_dangling_symlinks=True,
    )


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
        done = subprocess.run(  # noqa: S603 - fixed
            command, capture_output=True, timeout=_DISCARD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _special_files(directory: str, names: list[str]) -> set[str]:
    kinds = {name: os.lstat(os.path.join(directory, name)).st_mode for name in names}  # noqa: PTH118 - texts
    ordinary = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    return {
        name
        for name, mode in kinds.items()
        if not any(is_kind(mode) for is_kind in ordinary)
    }


def _fetch(repository: Path, directory: Path, commit: str, *, bare: bool) -> None:
    """Through git's own transport: every object is checked on arrival and none is shared with the source."""
    directory.mkdir(parents=True)
    git = Git(directory, None if bare else directory.parent)
    git(
        "init",
        "--quiet",
        "--template=",
        object_format(commit),
        *(("--bare",) if bare else ()),
    )
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
        raise WorkspaceError(
            f"{place} exists already; every attempt has a folder of its own"
        ) from None


def _copied(directory: Path, attempt: Path, readable: Readable | None) -> Workspace:
    if not directory.is_dir():
        raise WorkspaceError(f"{directory} is no directory")
    if readable is not None:
        raise WorkspaceError(
            f"{directory} is no git repository: what an agent reads there cannot be bounded"
        )
    _new_folder(attempt)
    copy_tree(directory, attempt / "base")
    copy_tree(directory, attempt / "work")
    return Workspace(
        attempt / "work", _empty_git(attempt / "base.git"), "", attempt / "base"
    )


def _empty_git(directory: Path) -> Git:
    """A git directory for making patches of what has none."""
    directory.mkdir()
    git = Git(directory)
    git("init", "--quiet", "--bare", "--template=")
    return git

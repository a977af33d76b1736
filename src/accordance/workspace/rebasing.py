"""Applying the change of a commit to another commit: three-way, and never by guessing.

It happens in a git directory of ours, where no hook, merge driver or attribute of the
repository counts. So the result follows from the two commits alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.patch import read_patch
from accordance.workspace.clone import scratch
from accordance.workspace.errors import GitFailed, WorkspaceError
from accordance.workspace.fetching import fetch, private_base
from accordance.workspace.git import Git, git_directory

_DIFF: Final = (
    "diff",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)
_PEOPLE: Final = (b"author ", b"committer ")
_APPLY: Final = ("apply", "--3way", "--cached", "--whitespace=nowarn", "-")
_ATTRIBUTES: Final = "* merge -text -filter -ident -working-tree-encoding\n"
"""Of every file: content is merged line by line, whatever the tree says of it."""


@dataclass(frozen=True, slots=True)
class Rebased:
    """A change on top of another commit."""

    patch: bytes  # from that commit
    tree: str  # git's id of the whole tree after the change


@dataclass(frozen=True, slots=True)
class RebaseConflict:
    """A change that does not apply to another commit."""

    files: tuple[str, ...]


def rebase(repository: Path, commit: str, onto: str) -> Rebased | RebaseConflict:
    """Apply what a commit changes to another commit of the repository.

    Nothing is written to the repository. Raises GitFailed, WorkspaceError.
    """
    with scratch() as folder:
        git = private_base(repository, folder / "rebase.git", onto)
        fetch(git, repository, commit, "--depth=2")
        return apply_onto(git, folder, commit, onto)


def apply_onto(
    git: Git,
    folder: Path,
    commit: str,
    onto: str,
) -> Rebased | RebaseConflict:
    """Apply what a commit changes to another, both in a git directory of ours.

    `folder` is empty but for that directory.
    """
    attributes = git.directory / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(_ATTRIBUTES, "utf-8")

    change = git(*_DIFF, f"{commit}^", commit, "--")
    tree_folder = folder / "empty"
    tree_folder.mkdir(exist_ok=True)
    indexed = Git(git.directory, tree_folder, git.directory / "rebasing")
    indexed("read-tree", onto)
    if change.strip():
        try:
            indexed(*_APPLY, given=change)
        except GitFailed as failure:
            return RebaseConflict(_conflicting(indexed, change, failure))

    tree = indexed.text("write-tree")
    patch = git(*_DIFF, onto, tree, "--")
    return Rebased(patch, tree)


def _conflicting(git: Git, change: bytes, failure: GitFailed) -> tuple[str, ...]:
    """The files in which a change does not apply.

    Git leaves those that it could not merge in the index; others it only names.
    """
    unmerged = git("ls-files", "--unmerged", "-z").decode("utf-8", "replace")
    files = set()
    for row in unmerged.split("\0"):
        if row:
            _, _, path = row.partition("\t")
            files.add(path)

    patch = read_patch(change.decode("utf-8", "replace"))
    if not files:
        files = {path for path in patch.touched if path in failure.output}
    return tuple(sorted(files or patch.touched))


@dataclass(frozen=True, slots=True)
class ReplayConflict:
    """A commit that does not apply on top of the others."""

    commit: str
    files: tuple[str, ...]


def replay(
    repository: Path,
    commits: Sequence[str],
    onto: str,
) -> tuple[str, ...] | ReplayConflict:
    """Put commits on top of another, in their order; return the new commits.

    They are written to the repository, under no name. What a commit changes may be
    there already; it is then empty. Raises GitFailed, WorkspaceError.
    """
    with scratch() as folder:
        git = private_base(repository, folder / "rebase.git", onto)
        replayed: list[str] = []
        head = onto
        for commit in commits:
            fetch(git, repository, commit, "--depth=2")
            applied = apply_onto(git, folder, commit, head)
            if isinstance(applied, RebaseConflict):
                return ReplayConflict(commit, applied.files)
            head = _commit_again(git, commit, applied.tree, head)
            replayed.append(head)

        _send(git, repository, head, onto)
    return tuple(replayed)


def _commit_again(git: Git, commit: str, tree: str, parent: str) -> str:
    """Write a commit again, with its author and its words."""
    text = git("cat-file", "commit", commit)
    header, _, message = text.partition(b"\n\n")
    people = [line for line in header.split(b"\n") if line.startswith(_PEOPLE)]
    place = f"tree {tree}\nparent {parent}".encode()
    new_header = b"\n".join([place, *people])
    written = b"%s\n\n%s" % (new_header, message)

    options = ("-t", "commit", "-w", "--stdin")
    answer = git("hash-object", *options, given=written)
    return answer.decode().strip()


def _send(git: Git, repository: Path, head: str, onto: str) -> None:
    """Copy the objects of new commits into the repository."""
    directory = git_directory(repository)
    if directory is None:
        raise WorkspaceError(f"{repository} is not a git repository")
    wanted = f"{head}\n^{onto}\n".encode()
    pack = git("pack-objects", "-q", "--revs", "--stdout", given=wanted)
    Git(directory)("unpack-objects", "-q", given=pack)

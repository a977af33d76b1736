"""Giving an agent only what it may read, and keeping the rest of the base from it.

What may be read is checked out in a repository with a single commit and no history;
the rest in a folder of ours. Neither the names nor the content of what is withheld are
in any object of the agent's repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from accordance.domain.facts import TreeEntry
from accordance.workspace.entries import folders_above
from accordance.workspace.fetching import (
    CommitRow,
    check_out,
    commit_rows,
    private_base,
)
from accordance.workspace.git import Git, git_directory
from accordance.workspace.names import text_of
from accordance.workspace.snapshot import take_snapshot

Readable: TypeAlias = Callable[[Collection[str]], Collection[str]]
"""Returns those of a repository's paths that may be read."""

_ATTRIBUTES: Final = ".gitattributes"


@dataclass(frozen=True, slots=True)
class Withheld:
    """What of the base was not given to the agent, and where it lies."""

    place: Path
    entries: Mapping[str, TreeEntry]


@dataclass(frozen=True, slots=True)
class _Part:
    """A repository at a commit, and those of its submodules that are at hand."""

    git: Git  # ours: holds the commit
    commit: str
    prefix: str  # the folder it lies in, ending in a slash; empty for the whole
    rows: tuple[CommitRow, ...]
    submodules: Mapping[str, _Part]  # by their names in this part

    def names(self) -> Iterator[str]:
        """Yield every file, and every submodule that is not at hand, by full name."""
        for row in self.rows:
            submodule = self.submodules.get(row.name)
            if submodule is None:
                yield self.prefix + row.name
            else:
                yield from submodule.names()

    def has_any(self, names: frozenset[str]) -> bool:
        """Whether any of these names belongs to this part."""
        return not names.isdisjoint(self.names())


def bounded_clone(
    repository: Path,
    attempt: Path,
    commit: str,
    readable: Readable,
    folders: Collection[str],
) -> tuple[Git, Withheld]:
    """Check out what may be read in `attempt/work`, and the rest in `attempt/withheld`.

    Those of the `folders` that the base has exist in any case, even if empty. Returns
    our git directory with the base commit, and what was withheld.
    """
    whole = _part(repository, attempt / "base.git", commit, "")
    names = {text_of(name): name for name in whole.names()}
    given = frozenset(names[path] for path in readable(names.keys()))

    work = attempt / "work"
    _give(whole, work, given)
    folders_of_base = folders_above(names.values())
    for folder in folders_of_base.intersection(folders):
        (work / folder).mkdir(parents=True, exist_ok=True)

    place = attempt / "withheld"
    place.mkdir()
    _withhold(whole, place, given)
    return whole.git, Withheld(place, take_snapshot(place).entries)


def _part(repository: Path, directory: Path, commit: str, prefix: str) -> _Part:
    """Fetch a repository and its submodules into git directories of ours."""
    git = private_base(repository, directory, commit)
    rows = tuple(commit_rows(git, commit))

    submodules: dict[str, _Part] = {}
    for row in rows:
        source = repository / row.name
        if not row.is_submodule or git_directory(source) is None:
            continue
        number = len(submodules) + 1
        own_directory = directory.with_name(f"{directory.stem}-{number}.git")
        own_prefix = f"{prefix}{row.name}/"
        submodule = _part(source, own_directory, row.object_id, own_prefix)
        submodules[row.name] = submodule
    return _Part(git, commit, prefix, rows, submodules)


def _give(part: _Part, work: Path, given: frozenset[str]) -> None:
    """Make a repository in `work` whose only commit is what is given of a part.

    The same is done for its submodules, where something of them is given.
    """
    commit = _commit_of(part, given)
    check_out(part.git.directory, work, commit)
    for name, submodule in part.submodules.items():
        if submodule.has_any(given):
            _give(submodule, work / name, given)


def _commit_of(part: _Part, given: frozenset[str]) -> str:
    """Write a commit without a parent of what is given, and return its id."""
    rows = []
    for row in part.rows:
        submodule = part.submodules.get(row.name)
        if submodule is None:
            if part.prefix + row.name in given:
                rows.append(row)
        elif submodule.has_any(given):
            commit = _commit_of(submodule, given)
            rows.append(row._replace(object_id=commit))

    git = _with_index(part.git, "given", rows)
    tree = git.text("write-tree")
    return git.text("commit-tree", "-m", "What this task may read", tree)


def _withhold(part: _Part, place: Path, given: frozenset[str]) -> None:
    """Check out the rest of a part in `place`.

    Attribute files that are given away are there meanwhile, so that the same attributes
    apply as everywhere.
    """
    rest = []
    attribute_files = []
    for row in part.rows:
        if row.name in part.submodules:
            continue
        if part.prefix + row.name not in given:
            rest.append(row)
        elif row.name.rpartition("/")[2] == _ATTRIBUTES:
            attribute_files.append(row)

    git = _with_index(part.git, "withheld", (*rest, *attribute_files), place)
    git("checkout-index", "--all", "--force", "--quiet")
    _remove_files(place, [row.name for row in attribute_files])

    for name, submodule in part.submodules.items():
        (place / name).mkdir(parents=True, exist_ok=True)
        _withhold(submodule, place / name, given)


def _remove_files(place: Path, names: Collection[str]) -> None:
    """Delete files, and the folders that become empty by it."""
    for name in names:
        (place / name).unlink()
    innermost_first = sorted(folders_above(names), reverse=True)
    for folder in innermost_first:
        with suppress(OSError):  # there is something else in it
            (place / folder).rmdir()


def _with_index(
    git: Git,
    name: str,
    rows: Iterable[CommitRow],
    work_tree: Path | None = None,
) -> Git:
    """Return git with a new index of these rows."""
    index = git.directory / name
    index.unlink(missing_ok=True)
    indexed = Git(git.directory, work_tree, index)

    lines = [f"{row.mode} {row.object_id}\t{row.name}\0" for row in rows]
    listing = os.fsencode("".join(lines))
    indexed("update-index", "-z", "--index-info", given=listing)
    return indexed

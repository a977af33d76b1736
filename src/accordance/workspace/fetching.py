"""Getting a commit out of a repository, into a git directory of its own.

Everything goes through git's own transport: every object is checked on arrival, and
none is shared with the source.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from accordance.workspace.git import UPLOAD_PACK, Git, object_format

BRANCH: Final = "attempt"
_SUBMODULE: Final = "160000"
_CONFIG: Final = """\
[user]
\tname = agent
\temail = agent@localhost
[gc]
\tauto = 0
"""
"""Enough for the agent to commit without changing git's settings."""


class CommitRow(NamedTuple):
    """A path of a commit."""

    mode: str
    object_id: str
    name: str  # as the disk has it

    @property
    def is_submodule(self) -> bool:
        """Whether the path is a commit of another repository."""
        return self.mode == _SUBMODULE


def commit_rows(git: Git, commit: str) -> Iterator[CommitRow]:
    """Yield every path of a commit that is no folder."""
    listing = git("ls-tree", "-r", "-z", "--full-tree", commit)
    for row in listing.split(b"\0"):
        about, _, path = row.partition(b"\t")
        if path:
            mode, _kind, object_id = about.decode().split()
            yield CommitRow(mode, object_id, os.fsdecode(path))


def private_base(repository: Path, directory: Path, commit: str) -> Git:
    """Fetch just the base commit into a git directory of ours."""
    directory.mkdir(parents=True)
    git = Git(directory)
    git("init", "--quiet", "--template=", object_format(commit), "--bare")
    fetch(git, repository, commit, "--depth=1")
    return git


def check_out(repository: Path, work: Path, commit: str) -> Git:
    """Fetch a commit with its history and check it out in a new working tree."""
    directory = work / ".git"
    directory.mkdir(parents=True)
    git = Git(directory, work)
    git("init", "--quiet", "--template=", object_format(commit))
    fetch(git, repository, commit, "--update-shallow")

    with (directory / "config").open("a", encoding="utf-8") as config:
        config.write(_CONFIG)
    git("checkout", "--quiet", "--force", "-B", BRANCH, commit)
    return git


def fetch(git: Git, repository: Path, commit: str, depth: str) -> None:
    """Fetch a commit; `depth` is the option that says how much of its history."""
    source = repository.resolve().as_uri()
    git(
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        depth,
        f"--upload-pack={UPLOAD_PACK}",
        source,
        commit,
    )

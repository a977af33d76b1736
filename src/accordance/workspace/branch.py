"""The branch a plan builds on a repository: changes that were judged, one commit each, no working tree ever touched.

A commit is written as soon as a change is judged, and kept under `refs/accordance/`, where nobody looks, so that git does not
throw it away; the branch moves when the ledger says so.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.patch import read_patch
from accordance.workspace.clone import Workspace
from accordance.workspace.errors import GitFailed, UnknownBase, WorkspaceError
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.patching import ReadablePatch

_HEADS: Final = "refs/heads/"
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MARK: Final = 8
_LONGEST: Final = 80
_SHORT: Final = 12
_REFUSED: Final = re.compile(
    r"^error: (.+): (?:patch does not apply|already exists in .*|No such file or directory)$",
    re.MULTILINE,
)


def branch_name(plan_id: str) -> str:
    """A branch for a plan: `accordance/` and its id."""
    return f"accordance/{_safe(plan_id)}"


def _safe(name: str) -> str:
    """A name git takes; what it would not is told apart by a part of its hash."""
    plain = _ODD.sub("-", name)[:_LONGEST].strip("-") or "plan"
    mark = hashlib.sha256(name.encode()).hexdigest()[:_MARK]
    return plain if plain == name else f"{plain}-{mark}"


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a repository."""

    repository: Path
    name: str

    @property
    def git(self) -> Git:
        """Git on that repository. Raises WorkspaceError."""
        directory = git_directory(self.repository)
        if directory is None:
            raise WorkspaceError(
                f"{self.repository} is no git repository; plans change nothing else"
            )
        return Git(directory)

    @property
    def tip(self) -> str | None:
        """Where it stands; None if there is none."""
        try:
            return resolve(self.repository, f"{_HEADS}{self.name}")
        except UnknownBase:
            return None

    def write(
        self,
        workspace: Workspace,
        change: ReadablePatch,
        name: str,
        message: str,
        at: str,
    ) -> str:
        """The commit of a change, on top of its base; kept by its name until it has landed. Raises WorkspaceError."""
        if change.left_out:
            raise WorkspaceError(
                f"{change.left_out[0]} is too large, or of a kind that cannot be committed"
            )
        git = self.git
        wanted = f"{change.tree}\n^{workspace.commit}^{{tree}}\n".encode()
        git(
            "unpack-objects",
            "-q",
            given=workspace.base(
                "pack-objects", "-q", "--revs", "--stdout", given=wanted
            ),
        )
        who = f"accordance <accordance@localhost> {int(dt.datetime.fromisoformat(at).timestamp())} +0000"
        text = f"tree {change.tree}\nparent {workspace.commit}\nauthor {who}\ncommitter {who}\n\n{message}\n"
        written = git(
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            given=text.encode("utf-8", "replace"),
        )
        commit = written.decode().strip()
        git("update-ref", f"{self._kept}{_safe(name)}-{commit[:_SHORT]}", commit)
        return commit

    @property
    def _kept(self) -> str:
        """Where the commits of changes are kept that have not landed."""
        return f"refs/{self.name}/"

    def move_to(self, commit: str) -> None:
        """Let the branch stand at a commit that lies ahead of it. Raises WorkspaceError."""
        tip = self.tip
        if tip == commit:
            return
        self.must_have(commit)
        if tip is not None and not self.contains(commit, tip):
            raise WorkspaceError(
                f"the branch {self.name} was moved by somebody else; rename it and go on"
            )
        if self.is_checked_out():
            raise WorkspaceError(
                f"the branch {self.name} is checked out; switch to another one and go on"
            )
        self.git(
            "update-ref", "-m", "accordance", f"{_HEADS}{self.name}", commit, tip or ""
        )
        with contextlib.suppress(GitFailed):  # then the next one that lands does it
            landed = self.git(
                "for-each-ref",
                f"--merged={commit}",
                "--format=delete %(refname)",
                self._kept,
            )
            self.git("update-ref", "--stdin", given=landed)

    def must_have(self, commit: str) -> None:
        """A commit of the ledger's is in the repository. Raises WorkspaceError."""
        try:
            self.git("cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            raise WorkspaceError(
                f"the commit {commit} of the branch {self.name} is missing in {self.repository}; "
                "fetch it from a copy of the repository and go on"
            ) from None

    def contains(self, commit: str, earlier: str) -> bool:
        """Whether one commit has the other in its history."""
        try:
            self.git("merge-base", "--is-ancestor", earlier, commit)
        except GitFailed:
            return False
        return True

    def is_checked_out(self) -> bool:
        """Whether some working tree shows it: moving it would change what people see there."""
        trees = self.git.text("worktree", "list", "--porcelain").splitlines()
        return f"branch {_HEADS}{self.name}" in trees


def lay(patch: bytes, work: Path) -> bool:
    """Lay an earlier change into a fresh clone; whether it fitted. If it does not, the clone stays as it was."""
    try:
        if patch.strip():
            Git(work / ".git", work)("apply", "--whitespace=nowarn", "-", given=patch)
    except GitFailed:
        return False
    return True


def conflicts(patch: bytes, work: Path) -> tuple[str, ...]:
    """The files on which an earlier change does not fit the clone it was to be laid into; none if it lies there."""
    git = Git(work / ".git", work)
    if not patch.strip() or _refusal(git, patch, "--reverse") is None:
        return ()
    refused = _refusal(git, patch) or ""
    named = {found[1] for found in _REFUSED.finditer(refused)}
    return tuple(sorted(named or read_patch(patch.decode("utf-8", "replace")).touched))


def _refusal(git: Git, patch: bytes, *options: str) -> str | None:
    """What git says against a patch; None if it would take it."""
    try:
        git("apply", "--check", "--whitespace=nowarn", *options, "-", given=patch)
    except GitFailed as error:
        return error.said
    return None

"""The branch that a plan builds: a commit for each judged change, in no working tree.

A commit is written as soon as a change is judged, and kept under `refs/accordance/`, so
that git does not throw it away. The branch moves when the ledger says so.
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
from accordance.workspace.errors import (
    ForeignPush,
    GitFailed,
    UnknownBase,
    WorkspaceError,
)
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.patching import ReadablePatch

HEADS: Final = "refs/heads/"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_HASH_DIGITS: Final = 8
_MAX_NAME: Final = 80
_SHORT_ID: Final = 12
_REFUSED_FILE: Final = re.compile(
    r"^error: (.+): "
    r"(?:patch does not apply|already exists in .*|No such file or directory)$",
    re.MULTILINE,
)


def branch_name(plan_id: str) -> str:
    """Return the name of a plan's branch: `accordance/` and its id."""
    return f"accordance/{_safe(plan_id)}"


def _safe(name: str) -> str:
    """Return a name that git takes; a changed name gets part of its hash."""
    safe_name = _UNSAFE.sub("-", name)[:_MAX_NAME]
    safe_name = safe_name.strip("-") or "plan"
    if safe_name == name:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{safe_name}-{digest[:_HASH_DIGITS]}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a repository."""

    repository: Path
    name: str
    replaced: tuple[str, ...] = ()
    """Commits it may have pointed to before its changes were put on another base."""

    @property
    def git(self) -> Git:
        """Git on that repository. Raises WorkspaceError."""
        directory = git_directory(self.repository)
        if directory is None:
            raise WorkspaceError(
                f"{self.repository} is not a git repository, so no plan can change it"
            )
        return Git(directory)

    @property
    def tip(self) -> str | None:
        """The commit it points to; None if the branch does not exist."""
        try:
            return resolve(self.repository, f"{HEADS}{self.name}")
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
        """Write the commit of a change on top of its base, and return its id.

        It is kept under `name` until it has landed. Raises WorkspaceError.
        """
        if change.left_out:
            raise WorkspaceError(
                f"{change.left_out[0]} is too large, or of a kind that cannot be "
                "committed"
            )

        git = self.git
        _copy_objects(workspace, change, git)
        text = _commit_text(workspace, change, message, at)
        options = ("-t", "commit", "-w", "--stdin")
        output = git("hash-object", *options, given=text.encode("utf-8", "replace"))
        commit = output.decode().strip()
        self.keep(commit, name)
        return commit

    def keep(self, commit: str, name: str) -> None:
        """Keep a commit of the repository under `name` until it has landed."""
        self.git("update-ref", self.kept_name(commit, name), commit)

    def forget(self, commit: str, name: str) -> None:
        """Keep a commit no longer: it will not land."""
        self.git("update-ref", "-d", self.kept_name(commit, name))

    def kept_name(self, commit: str, name: str) -> str:
        """Return the ref under which a commit is kept until it has landed."""
        return f"{self.kept_refs}{_safe(name)}-{commit[:_SHORT_ID]}"

    @property
    def kept_refs(self) -> str:
        """Where commits are kept that have not landed."""
        return f"refs/{self.name}/"

    def move_to(self, commit: str) -> None:
        """Move the branch forward to a commit. Raises WorkspaceError."""
        tip = self.tip
        if tip == commit:
            return

        self.must_have(commit)
        if tip is not None and not self.comes_before(tip, commit):
            raise ForeignPush(self.name, tip)
        if self.is_checked_out():
            raise WorkspaceError(
                f"the branch {self.name} is checked out; "
                "switch to another branch and go on"
            )

        branch = f"{HEADS}{self.name}"
        try:
            self.git("update-ref", "-m", "accordance", branch, commit, tip or "")
        except GitFailed:
            if not self._was_moved_meanwhile(commit):
                raise
        with contextlib.suppress(GitFailed):  # the next move does it then
            self._forget_landed(commit)

    def _was_moved_meanwhile(self, commit: str) -> bool:
        """Whether another process has moved the branch to the commit, or beyond it."""
        tip = self.tip
        return tip is not None and self.contains(tip, commit)

    def _forget_landed(self, commit: str) -> None:
        """Delete the names of commits that this commit contains."""
        landed = self.git(
            "for-each-ref",
            f"--merged={commit}",
            "--format=delete %(refname)",
            self.kept_refs,
        )
        self.git("update-ref", "--stdin", given=landed)

    def must_have(self, commit: str) -> None:
        """Make sure that the repository has a commit. Raises WorkspaceError."""
        try:
            self.git("cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            raise WorkspaceError(
                f"the commit {commit} of the branch {self.name} is missing in "
                f"{self.repository}; fetch it from a copy of the repository and go on"
            ) from None

    def comes_before(self, tip: str, commit: str) -> bool:
        """Whether the branch may be moved from a tip to a commit: nothing is lost."""
        later = (commit, *self.replaced)
        return any(self.contains(other, tip) for other in later)

    def contains(self, commit: str, earlier: str) -> bool:
        """Whether a commit has an earlier commit in its history."""
        try:
            self.git("merge-base", "--is-ancestor", earlier, commit)
        except GitFailed:
            return False
        return True

    def commits_since(self, base: str, head: str) -> list[str]:
        """Return the commits on the way from a base to a head, the first first.

        What a merge brings counts as the change of the merge.
        """
        options = ("--reverse", "--first-parent")
        return self.git.text("rev-list", *options, f"{base}..{head}").split()

    def is_checked_out(self) -> bool:
        """Whether a working tree shows the branch: moving it would change that tree."""
        lines = self.git.text("worktree", "list", "--porcelain").splitlines()
        return f"branch {HEADS}{self.name}" in lines


def _copy_objects(workspace: Workspace, change: ReadablePatch, target: Git) -> None:
    """Copy the objects that a change adds to its base into another repository."""
    wanted = f"{change.tree}\n^{workspace.commit}^{{tree}}\n"
    options = ("-q", "--revs", "--stdout")
    pack = workspace.base("pack-objects", *options, given=wanted.encode())
    target("unpack-objects", "-q", given=pack)


def _commit_text(
    workspace: Workspace,
    change: ReadablePatch,
    message: str,
    at: str,
) -> str:
    seconds = int(dt.datetime.fromisoformat(at).timestamp())
    author = f"accordance <accordance@localhost> {seconds} +0000"
    return (
        f"tree {change.tree}\n"
        f"parent {workspace.commit}\n"
        f"author {author}\n"
        f"committer {author}\n"
        f"\n{message}\n"
    )


def apply_patch(patch: bytes, work: Path) -> bool:
    """Apply an earlier change to a fresh clone, and return whether it fitted.

    If it does not fit, the clone stays as it was.
    """
    if not patch.strip():
        return True
    git = Git(work / ".git", work)
    try:
        git("apply", "--whitespace=nowarn", "-", given=patch)
    except GitFailed:
        return False
    return True


def conflicts(patch: bytes, work: Path) -> tuple[str, ...]:
    """Return the files in which an earlier change does not fit a clone.

    There are none where the clone has the change already.
    """
    if is_applied(patch, work):
        return ()

    git = Git(work / ".git", work)
    refusal = _refusal(git, patch) or ""
    files = {match[1] for match in _REFUSED_FILE.finditer(refusal)}
    if not files:
        files = set(read_patch(patch.decode("utf-8", "replace")).touched)
    return tuple(sorted(files))


def is_applied(patch: bytes, work: Path) -> bool:
    """Whether a clone has a change already; an empty change it has."""
    git = Git(work / ".git", work)
    return not patch.strip() or _refusal(git, patch, "--reverse") is None


def _refusal(git: Git, patch: bytes, *options: str) -> str | None:
    """Return why git refuses a patch; None if it would take it."""
    try:
        git("apply", "--check", "--whitespace=nowarn", *options, "-", given=patch)
    except GitFailed as error:
        return error.output
    return None

"""The branch of a plan whose repository lives on a remote.

The commit of a judged change is pushed under `refs/accordance/` before anything names
it, so every machine can get what the ledger speaks of. The branch is moved there only
from where it was seen: what others have pushed meanwhile is never overwritten.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from accordance.workspace.branch import HEADS, Branch
from accordance.workspace.errors import (
    ForeignPush,
    GitFailed,
    RemoteProblem,
    RemoteUnavailable,
)
from accordance.workspace.remote_git import RefUpdate, StalePush
from accordance.workspace.repository_cache import KEPT, KEPT_THERE, RepositoryCache

_TRIES: Final = 8
"""Times that a branch is moved while others move it, too."""
_PASSING: Final = frozenset((RemoteProblem.AWAY, RemoteProblem.SILENT))
_FIRST_PAUSE: Final = 1.0  # seconds, doubled after each time in vain


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBranch(Branch):
    """A branch on a remote, seen through the copy of this machine."""

    cache: RepositoryCache
    patience: float = 60.0
    """How many seconds a finished change waits for a remote that is away."""

    def must_have(self, commit: str) -> None:
        """Fetch a commit unless it is here. Raises RemoteUnavailable, WorkspaceError."""
        self.cache.must_have(commit)

    def keep(self, commit: str, name: str) -> None:
        """Keep a commit on the remote until it has landed. Raises RemoteUnavailable.

        Until it is pushed it has its name here: work that was done is not thrown away
        because the remote is.
        """
        ref = self.kept_name(commit, name)
        self.git("update-ref", ref, commit)
        pause = _FIRST_PAUSE
        deadline = time.monotonic() + self.patience
        is_pushed = False
        while not is_pushed:
            try:
                self._push_kept(ref, commit)
                is_pushed = True
            except RemoteUnavailable as error:
                is_over = time.monotonic() + pause > deadline
                if error.problem not in _PASSING or is_over:
                    raise
                time.sleep(pause)
                pause *= 2

    def _push_kept(self, ref: str, commit: str) -> None:
        """Push a commit under its name, which from then on is the remote's."""
        self.cache.push(RefUpdate(ref, commit))
        self.git("update-ref", _there(ref), commit)
        self.git("update-ref", "-d", ref)

    def push_pending(self) -> None:
        """Push what could not be pushed when it was made. Raises RemoteUnavailable."""
        rows = self.git.text(
            "for-each-ref", "--format=%(objectname) %(refname)", self.kept_refs
        )
        for row in rows.splitlines():
            commit, _, ref = row.partition(" ")
            with suppress(StalePush):
                self._push_kept(ref, commit)

    def forget(self, commit: str, name: str) -> None:
        """Keep a commit no longer: it will not land."""
        ref = self.kept_name(commit, name)
        with suppress(GitFailed):
            self.git("update-ref", "-d", ref)
        self._delete_there({ref: commit})

    def move_to(self, commit: str) -> None:
        """Move the branch of the remote forward to a commit, from where it was seen.

        Another machine may have done so already, or have gone on from there. Raises
        ForeignPush if the branch has commits of others, RemoteUnavailable.
        """
        tip = self.tip
        if tip == commit:
            return
        self.must_have(commit)
        branch = f"{HEADS}{self.name}"
        for _ in range(_TRIES):
            if tip is not None and self.contains(tip, commit):
                break
            if tip is not None and not self.comes_before(tip, commit):
                raise ForeignPush(self.name, tip)
            try:
                self.cache.push(RefUpdate(branch, commit, tip))
            except StalePush:
                self.cache.refresh(not_older=0)
                tip = self.tip
                continue
            self.git("update-ref", "-m", "accordance", branch, commit)
            break
        else:
            raise RemoteUnavailable(
                self.cache.address.url, RemoteProblem.BUSY, self.name
            )
        self._forget_landed(commit)

    def _forget_landed(self, commit: str) -> None:
        """Delete the names of commits that the branch contains now.

        The earlier commits of a task that has landed go with them: they were applied to
        a later head.
        """
        kept = self._kept()
        merged = self._kept(f"--merged={commit}")
        landed = {_task_of(ref) for ref in merged}
        over = {ref: tip for ref, tip in kept.items() if _task_of(ref) in landed}
        self._delete_there(over)

    def forget_all(self) -> None:
        """Delete every name of a commit of the plan: nothing of it will land."""
        self._delete_there(self._kept())

    def _kept(self, *options: str) -> dict[str, str]:
        """The names of commits that are kept for the plan, as the remote has them."""
        kept: dict[str, str] = {}
        for place in (self.kept_refs, _there(self.kept_refs)):
            form = "--format=%(objectname) %(refname)"
            rows = self.git.text("for-each-ref", *options, form, place)
            for row in rows.splitlines():
                commit, _, ref = row.partition(" ")
                kept[KEPT + ref.removeprefix(KEPT_THERE).removeprefix(KEPT)] = commit
        return kept

    def _delete_there(self, refs: dict[str, str]) -> None:
        """Delete names of commits on the remote; what fails is done by the next move."""
        if not refs:
            return
        updates = [RefUpdate(ref, "", commit) for ref, commit in refs.items()]
        with suppress(RemoteUnavailable, StalePush, GitFailed):
            self.cache.push(*updates)
        for ref in refs:
            for name in (ref, _there(ref)):
                with suppress(GitFailed):
                    self.git("update-ref", "-d", name)

    def is_checked_out(self) -> bool:
        """Whether a working tree shows the branch: none does, of a remote."""
        return False


def _task_of(ref: str) -> str:
    """The task in the name of a kept commit: `{task}-{attempt}-{commit}`."""
    return ref.rsplit("-", 2)[0]


def _there(ref: str) -> str:
    """The name here of a ref that the remote keeps."""
    return KEPT_THERE + ref.removeprefix(KEPT)

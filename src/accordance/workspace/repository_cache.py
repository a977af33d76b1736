"""What a machine has of a repository on a remote: a bare copy, fetched when needed.

Attempts clone from it as they do from a repository of the user's. It lies where no agent
can read. Whatever happens to it, it can be made anew from the remote.

    refs/heads/*, refs/tags/*    as the remote has them
    refs/remote/HEAD             where the remote's HEAD points
    refs/remote/accordance/*     commits that the remote keeps for plans
    refs/accordance/*            commits that are not pushed yet
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.repository_address import RepositoryAddress
from accordance.workspace.clone import discard, scratch
from accordance.workspace.errors import (
    GitFailed,
    RemoteProblem,
    RemoteUnavailable,
    WorkspaceError,
)
from accordance.workspace.git import Git
from accordance.workspace.remote_git import SECONDS, RefUpdate, RemoteGit

KEPT: Final = "refs/accordance/"
"""Where commits are kept that no branch has yet: here until pushed, then there."""
KEPT_THERE: Final = "refs/remote/accordance/"
"""The commits that the remote keeps, as they were when last fetched."""
_HEAD: Final = "refs/remote/HEAD"
_MIRRORED: Final = (
    "+refs/heads/*:refs/heads/*",
    "+refs/tags/*:refs/tags/*",
    f"+{KEPT}*:{KEPT_THERE}*",
)
_STAMP: Final = "accordance-fetched"
_TIDIED: Final = "accordance-tidied"
_FRESH_SECONDS: Final = 5.0
_TIDY_SECONDS: Final = 24 * 3600.0
_UNUSED_SECONDS: Final = 60 * 24 * 3600.0
_UNREACHABLE: Final = "3.days.ago"
"""Objects that nothing names are removed after so long: longer than any attempt."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]+")
_MAX_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class RepositoryCache:
    """The copy of one remote below a folder of caches."""

    folder: Path
    address: RepositoryAddress
    base: str = "HEAD"  # the branch, tag or commit that plans begin on
    seconds: float = SECONDS

    @property
    def repository(self) -> Path:
        """The folder of the copy: a repository without a working tree."""
        digest = hashlib.sha256(self.address.url.encode()).hexdigest()[:12]
        name = self.address.url.rpartition("/")[2].rpartition(":")[2]
        readable = _UNSAFE.sub("-", name).strip("-.")[:_MAX_NAME]
        return self.folder / f"{readable or 'repository'}-{digest}"

    @property
    def git(self) -> Git:
        """Git on the copy, without network."""
        return Git(self.repository / ".git")

    @property
    def remote(self) -> RemoteGit:
        """Git between the copy and its remote."""
        return RemoteGit(self.repository / ".git", self.address, self.seconds)

    @property
    def base_name(self) -> str:
        """The name that the base of plans has in the copy."""
        return _HEAD if self.base == "HEAD" else self.base

    # -- getting

    def refresh(self, *, not_older: float = _FRESH_SECONDS) -> None:
        """Fetch what the remote has, unless that was done within so many seconds.

        Processes that want it at the same time share one fetch. Raises
        RemoteUnavailable, WorkspaceError.
        """
        asked = time.time()
        if self._fetched_at() > asked - not_older:
            return
        with self._locked():
            if self._fetched_at() < asked - not_older:
                self._fetch()
                self._tidy()

    def must_have(self, commit: str) -> None:
        """Fetch a commit unless it is here. Raises RemoteUnavailable, WorkspaceError."""
        if self.has(commit):
            return
        with self._locked():
            if self.has(commit):
                return
            self._fetch()
            if self.has(commit):
                return
            with suppress(RemoteUnavailable, GitFailed):
                # some remotes give a commit that no name leads to
                self.remote.fetch(
                    [f"+{commit}:{KEPT_THERE}asked/{commit}"], prune=False
                )
        if not self.has(commit):
            raise RemoteUnavailable(
                self.address.url, RemoteProblem.LACKS, commit, ref=commit
            )

    def has(self, commit: str) -> bool:
        """Whether the copy has a commit with its tree."""
        try:
            self.git("cat-file", "-e", f"{commit}^{{tree}}")
        except (GitFailed, WorkspaceError):
            return False
        return True

    def heal(self) -> bool:
        """Make the copy anew if it is broken; return whether that was so.

        What was not pushed yet is lost with it, as it is with its machine.
        """
        with self._locked():
            if self._is_sound():
                return False
            self._make_anew()
        return True

    # -- giving

    def push(self, *updates: RefUpdate) -> None:
        """Move refs of the remote, each only from where it is expected to be.

        Raises StalePush, RemoteUnavailable.
        """
        try:
            self.remote.push(*updates)
        except RemoteUnavailable as error:
            # the ref tells what has to work before anything goes on
            ref = updates[0].ref
            raise RemoteUnavailable(
                error.address, error.problem, error.detail, ref=ref
            ) from None

    def why_not_usable(self) -> str | None:
        """Try to read the remote, and whether it would take a push; None if it does.

        Nothing is fetched or moved there.
        """
        with scratch() as place:
            git = Git(place)
            try:
                git("init", "--quiet", "--bare", "--template=")
                refs = RemoteGit(git.directory, self.address, self.seconds).refs("HEAD")
                if not refs and self.base == "HEAD":
                    return (
                        f"the repository {self.address}: it has no commit to begin on"
                    )
                self._try_push(git)
            except WorkspaceError as error:
                return str(error)
        return None

    def _try_push(self, git: Git) -> None:
        """Ask for the right to push, with a commit that is then not sent."""
        tree = git("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
        commit = git.text("commit-tree", "-m", "never sent", tree)
        remote = RemoteGit(git.directory, self.address, self.seconds)
        remote.push(RefUpdate(f"{KEPT}probe/{commit}", commit), dry_run=True)

    # -- under the lock

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes of this machine from changing the copy."""
        self.folder.mkdir(
            parents=True,
            exist_ok=True,
            mode=0o700,
        )
        lock = self.repository.with_name(f"{self.repository.name}.lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.utime(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _fetch(self) -> None:
        """Fetch into the copy; make it, or make it anew, where that is needed."""
        if not (self.repository / ".git" / _STAMP).exists():
            self._make_anew()
            return
        try:
            self._fetch_into(self.remote)
        except GitFailed:
            if self._is_sound():
                raise
            self._make_anew()
            return
        self._stamp()

    def _make_anew(self) -> None:
        """Fetch everything into a new copy, and put it in the place of the old copy."""
        new = self.repository.with_name(f".{self.repository.name}-new")
        discard(new)
        try:
            self._make_in(new / ".git")
            if self.repository.exists():
                broken = self.repository.with_name(f".{self.repository.name}-broken")
                discard(broken)
                self.repository.rename(broken)
                discard(broken)
            new.rename(self.repository)
        finally:
            if new.exists():
                discard(new)
        self._stamp()

    def _make_in(self, directory: Path) -> None:
        for hash_name in ("sha1", "sha256"):
            discard(directory)
            directory.mkdir(parents=True, mode=0o700)
            options = ("--quiet", "--bare", "--template=")
            Git(directory)("init", *options, f"--object-format={hash_name}")
            remote = RemoteGit(directory, self.address, self.seconds)
            try:
                self._fetch_into(remote)
            except GitFailed as error:
                if "algorithm" not in error.output or hash_name == "sha256":
                    raise
            else:
                return

    def _fetch_into(self, remote: RemoteGit) -> None:
        head = (f"+HEAD:{_HEAD}",) if self.base == "HEAD" else ()
        remote.fetch((*_MIRRORED, *head))

    def _is_sound(self) -> bool:
        """Whether every commit that has a name is here with all that it needs."""
        git = self.git
        try:
            git("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        except (GitFailed, WorkspaceError):
            return False
        return (self.repository / ".git" / _STAMP).exists()

    def _fetched_at(self) -> float:
        try:
            return (self.repository / ".git" / _STAMP).stat().st_mtime
        except OSError:
            return 0.0

    def _stamp(self) -> None:
        (self.repository / ".git" / _STAMP).write_bytes(b"")

    # -- keeping it small

    def _tidy(self) -> None:
        """Pack the copy once a day, and remove copies that are no longer used."""
        mark = self.repository / ".git" / _TIDIED
        with suppress(OSError):
            if mark.stat().st_mtime > time.time() - _TIDY_SECONDS:
                return
        mark.write_bytes(b"")
        with suppress(GitFailed):  # the next day does it then
            self.git("gc", "--quiet", f"--prune={_UNREACHABLE}")
        self._remove_unused()

    def _remove_unused(self) -> None:
        oldest = time.time() - _UNUSED_SECONDS
        for lock in self.folder.glob("*.lock"):
            place = lock.with_suffix("")
            with suppress(OSError):
                if place != self.repository and lock.stat().st_mtime < oldest:
                    discard(place)
                    lock.unlink()

"""The repository that the plans of a project change: on this machine, or on a remote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from accordance.workspace.branch import Branch, branch_name
from accordance.workspace.errors import GitFailed, UnknownBase
from accordance.workspace.git import resolve
from accordance.workspace.remote_branch import RemoteBranch
from accordance.workspace.repository_cache import RepositoryCache

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanRepository:
    """A repository, the commit that plans begin on, and its remote, if any."""

    place: Path  # on this machine; the copy of a remote
    base: str
    cache: RepositoryCache | None = None

    @property
    def address(self) -> str:
        """Where the repository is, for people."""
        return str(self.cache.address if self.cache else self.place)

    def branch(self, plan_id: str, replaced: tuple[str, ...] = ()) -> Branch:
        """Return the branch of a plan; `replaced` are heads it had on another base."""
        name = branch_name(plan_id)
        if self.cache is None:
            return Branch(self.place, name, replaced)
        return RemoteBranch(self.place, name, replaced, cache=self.cache)

    def refresh(self, *, not_older: float | None = None) -> None:
        """Get what a remote has, if that was not done within so many seconds.

        Raises RemoteUnavailable, WorkspaceError.
        """
        if self.cache is None:
            return
        if not_older is None:
            self.cache.refresh()
        else:
            self.cache.refresh(not_older=not_older)

    def base_commit(self) -> str:
        """Return the commit that `base` names, as last seen. Raises UnknownBase."""
        if self.cache is None:
            return resolve(self.place, self.base)
        try:
            return resolve(self.place, self.cache.base_name)
        except UnknownBase:
            raise UnknownBase(f"{self.address} has no commit {self.base!r}") from None

    def read(self, reading: Callable[[], T]) -> T:
        """Read the repository; a copy of a remote that is broken is made anew first.

        Raises WorkspaceError.
        """
        try:
            return reading()
        except GitFailed:
            if self.cache is None:
                raise
            self.cache.heal()
        return reading()

"""The repository that the settings of a project name."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from accordance.project.home import Home
from accordance.workspace.plan_repository import PlanRepository
from accordance.workspace.repository_cache import RepositoryCache

_TRYING_SECONDS: Final = 15
"""How long a remote may stay silent while a person waits for the answer."""


def repository_of(home: Home) -> PlanRepository:
    """Return the repository of a project, by `[workspace]`. Raises InvalidSettings."""
    workspace = home.settings().workspace
    address = workspace.address
    if address is None:
        return PlanRepository(home.repository(), workspace.base)

    folder = home.root / workspace.cache if workspace.cache else home.repositories
    cache = RepositoryCache(
        folder.resolve(), address, workspace.base, workspace.remote_seconds
    )
    return PlanRepository(cache.repository, workspace.base, cache)


def why_remote_not_usable(home: Home) -> str | None:
    """Try the remote of a project; return why it cannot be used; empty without a remote.

    Nothing is moved there. Raises InvalidSettings.
    """
    cache = repository_of(home).cache
    if cache is None:
        return None
    seconds = min(cache.seconds, _TRYING_SECONDS)
    return replace(cache, seconds=seconds).why_not_usable()

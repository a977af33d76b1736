"""The repository that the settings of a project name."""

from __future__ import annotations

from accordance.project.home import Home
from accordance.workspace.plan_repository import PlanRepository
from accordance.workspace.repository_cache import RepositoryCache


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

"""A served project with a plan of two actions in a row, a and b."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from accordance.project.home import Home
from accordance.service.project import Project, open_project
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.server.stage import Served, serving
from tests.service.conftest import brings


def new_project(folder: Path, prepared: PreparedSqlite) -> Project:
    """Return a project without a plan; the caller closes its ledger."""
    folder.mkdir(parents=True, exist_ok=True)
    prepared.copy_to(Home(folder).ledger)
    return open_project(folder, create=True).__enter__()


@pytest.fixture
def empty(tmp_path: Path, prepared_sqlite: PreparedSqlite) -> Iterator[Project]:
    """A project without a plan."""
    project = new_project(tmp_path / "home", prepared_sqlite)
    yield project
    project.ledger.close()


@pytest.fixture
def project(empty: Project) -> Project:
    """A project with a plan."""
    brings(empty, small_plan())
    return empty


@pytest.fixture
def served(project: Project) -> Iterator[Served]:
    """The project, served."""
    with serving(project) as served:
        yield served


@pytest.fixture
def admin(served: Served) -> Iterator[httpx.Client]:
    """A client that may do everything."""
    with served.client(served.key("admin")) as client:
        yield client

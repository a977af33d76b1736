"""Options shared by all tests."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgresql import OwnServer

settings.register_profile("here", deadline=None)  # the machine may be busy; time is measured in bench/
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

GIVEN_VECTORS = Path(__file__).parent / "conformance" / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/conformance --vectors DIR` runs the same kinds of lines from any other folder."""
    parser.addoption(
        "--vectors", type=Path, default=GIVEN_VECTORS, help="folder with conformance vectors (*.jsonl)"
    )


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL, from its wheel, for one worker of the tests."""
    server = OwnServer(tmp_path_factory.mktemp("pg"))
    yield server.start()
    server.stop()


@pytest.fixture
def postgresql_url(postgresql_server: str) -> str:
    """A fresh database on it."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql_server.replace("/postgres?", f"/{name}?")

"""Options shared by all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from tests.postgresql import OwnServer, fresh_database

if TYPE_CHECKING:
    from tests.prepared import PreparedPostgresql, PreparedSqlite

pytest_plugins = ["tests.measured", "tests.scheduling"]

# A shell that starts a command in the background lets it ignore Ctrl-C, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run of the tests tries the same examples, so that a pass can be repeated. HYPOTHESIS=explore rolls the dice.
# No deadline: the machine may be busy, and time is measured in bench/. For tools/mutants.py a failure is enough; making its
# example small takes minutes.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile(
    "unshrunk",
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS", "same"))

GIVEN_VECTORS = Path(__file__).parent / "conformance" / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/conformance --vectors DIR` runs the same kinds of lines from any other folder."""
    parser.addoption(
        "--vectors",
        type=Path,
        default=GIVEN_VECTORS,
        help="folder with conformance vectors (*.jsonl)",
    )


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A real PostgreSQL, from its wheel, for one worker of the tests."""
    server = OwnServer()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture
def postgresql_url(postgresql_server: str) -> str:
    """A fresh database on it."""
    return fresh_database(postgresql_server)


@pytest.fixture(scope="session")
def prepared_sqlite(tmp_path_factory: pytest.TempPathFactory) -> PreparedSqlite:
    """SQLite for every test of a worker."""
    from tests.prepared import PreparedSqlite

    return PreparedSqlite.make(tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="session")
def prepared_postgresql(postgresql_server: str) -> PreparedPostgresql:
    """PostgreSQL for every test of a worker."""
    from tests.prepared import PreparedPostgresql

    return PreparedPostgresql.make(postgresql_server)


@pytest.fixture
def registry_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers in the default registry is gone after it: other tests list the registry."""
    from accordance import registry

    for table in ("_by_name", "_by_version"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))

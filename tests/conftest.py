"""Options shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)  # the machine may be busy; time is measured in bench/
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

GIVEN_VECTORS = Path(__file__).parent / "conformance" / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/conformance --vectors DIR` runs the same kinds of lines from any other folder."""
    parser.addoption(
        "--vectors", type=Path, default=GIVEN_VECTORS, help="folder with conformance vectors (*.jsonl)"
    )

"""Options shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

GIVEN_VECTORS = Path(__file__).parent / "conformance" / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/conformance --vectors DIR` runs the same kinds of lines from any other folder."""
    parser.addoption(
        "--vectors", type=Path, default=GIVEN_VECTORS, help="folder with conformance vectors (*.jsonl)"
    )

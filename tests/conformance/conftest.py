"""Each test module here declares `LINES`; every test in it that takes `line` gets one call per line."""

from __future__ import annotations

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "line" in metafunc.fixturenames:
        metafunc.module.LINES.parametrise(metafunc)

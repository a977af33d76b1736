"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository and a task, before anybody works."""
    made = Checkout(tmp_path)
    made.build()
    made.ask()
    return made

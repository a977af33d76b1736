"""Which tests go to the same worker of pytest-xdist: those of a file that makes something once for all of them.

pytest-xdist 3.8 reads the group of a test from a field that pytest 9.2 does not have any
more, so `--dist loadgroup` alone would spread every group over all workers without a word.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

GROUP = re.compile(r'xdist_group\(\s*"(\w+)"')
FIXTURE_OF_A_FILE = 'scope="module"'


class Scheduling(LoadGroupScheduling):  # type: ignore[misc] # xdist has no types
    """Tests one by one, but for files whose tests share something."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        return _group_of(self.config.rootpath / file) or nodeid


@functools.cache
def _group_of(file: Path) -> str:
    """The name that a file gives to its group, or its own; empty if it shares nothing."""
    text = file.read_text(encoding="utf-8")
    if named := GROUP.search(text):
        return named[1]
    return str(file) if FIXTURE_OF_A_FILE in text else ""


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> Scheduling | None:
    """Take the place of xdist's own."""
    is_grouped = config.getoption("dist") == "loadgroup"
    return Scheduling(config, log) if is_grouped else None

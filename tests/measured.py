"""Which tests coverage watches: those that a gate of `make tests` needs, and no others.

Before Python 3.12 a process that is watched takes about twice the time, whatever it
runs. A test that is not watched can only lower the figures, so the gates stay honest.

A test is watched, and every process it starts, unless it is marked `unmeasured`, lies in
a folder of `UNMEASURED`, is the same test as another but for PostgreSQL, or is not the
first case of a table of commands.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Generator
from dataclasses import dataclass

import pytest
from coverage import Coverage

MARKER = "unmeasured"
_COMMANDS = "tests/acceptance"
UNMEASURED = (
    "tests/deploy/",
    "tests/hostile/",
    f"{_COMMANDS}/test_baseline.py",
    f"{_COMMANDS}/test_bounded_reading.py",
    f"{_COMMANDS}/test_breaches.py",
    f"{_COMMANDS}/test_chosen_tests.py",
    f"{_COMMANDS}/test_completed_evidence.py",
    f"{_COMMANDS}/test_environments.py",
    f"{_COMMANDS}/test_eval.py",
    f"{_COMMANDS}/test_hidden_tests.py",
    f"{_COMMANDS}/test_left_out.py",
    f"{_COMMANDS}/test_real_trees.py",
)
"""Folders and files whose tests run, with other changes, what cheaper tests measure."""
FIRST_CASES = ("tests/acceptance/",)
"""Folders of which the first case of each table is enough."""
FOR_PROCESSES = "COVERAGE_PROCESS_CONFIG"
"""The variable that makes coverage watch a process; without it none does."""
BY_TEST = "COVERAGE_BY_TEST"
"""The variable that is set while lines are measured test by test: of every test."""
NOT_IMPORTED = (
    "accordance.store.migrations",
    "accordance.workspace.inside",
    "accordance.asking",
)
"""Modules that other programs load, and those that no command needs."""


def import_everything() -> None:
    """Import what a command may need, so that none pays for it."""
    import accordance

    for module in pkgutil.walk_packages(accordance.__path__, "accordance."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)


@dataclass
class Watch:
    """Coverage in this process and in those that it starts."""

    coverage: Coverage
    for_processes: str
    is_on: bool = True

    def turn(self, on: bool) -> None:
        """Turn it on or off; nothing where it is so already."""
        if on == self.is_on:
            return
        if on:
            os.environ[FOR_PROCESSES] = self.for_processes
            self.coverage.start()
        else:
            self.coverage.stop()
            os.environ.pop(FOR_PROCESSES, None)
        self.is_on = on


_watches: list[Watch] = []
"""That of this run: pytest-cov begins it, or nobody does."""


def environment_of_a_watched_process() -> dict[str, str]:
    """For a process that outlives the test that starts it: others may be watched."""
    environment = dict(os.environ)
    for watch in _watches:
        environment[FOR_PROCESSES] = watch.for_processes
    return environment


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Making the list of tests shows nothing but imports, and these come first."""
    coverage = Coverage.current()
    if coverage is not None and FOR_PROCESSES in os.environ:
        watch = Watch(coverage, os.environ[FOR_PROCESSES])
        watch.turn(on=_watches_imports())
        if not _only_hands_out(session.config):
            import_everything()
        # Modules that were imported before it is turned on again were watched then.
        coverage._warn_preimported_source = False
        watch.turn(on=False)
        _watches.append(watch)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch a test, with its set-up and its end, or do not."""
    is_wanted = is_measured(item) or BY_TEST in os.environ
    for watch in _watches:
        watch.turn(is_wanted)
    return (yield)


def is_measured(item: pytest.Item) -> bool:
    """Whether a gate needs what a test shows to coverage."""
    if item.get_closest_marker(MARKER) or item.nodeid.startswith(UNMEASURED):
        return False
    case = getattr(item, "callspec", None)
    if case is None:
        return True
    if item.nodeid.startswith(FIRST_CASES):
        return not any(case.indices.values())
    return "postgresql" not in case.id


def _watches_imports() -> bool:
    """Whether this process is the one that does: the first worker, or the only process."""
    return os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"


def _only_hands_out(config: pytest.Config) -> bool:
    """Whether this process has workers, which collect and run the tests."""
    is_worker = hasattr(config, "workerinput")
    return not is_worker and bool(config.getoption("numprocesses", None))

"""The score of the hostile suite: how many verdicts were false, printed at the end of every run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.pythons import environment_with

Score: TypeAlias = Callable[[bool, bool], None]
PROPERTY = "judged"


@pytest.fixture(scope="session")
def tests_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pytest and xdist, for the tests of judged repositories."""
    folder = tmp_path_factory.mktemp("environment") / "tests"
    return environment_with(folder, "pytest", "pytest-xdist")


@pytest.fixture
def active_pytest(tests_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is active, as a person would have activated it."""
    monkeypatch.setenv("PATH", f"{tests_environment}:{os.environ['PATH']}")


@pytest.fixture
def score(record_property: Callable[[str, object], None]) -> Score:
    """Record a verdict: whether it should have been DONE, and whether it was."""

    def record(should_be_done: bool, is_done: bool) -> None:
        record_property(PROPERTY, [should_be_done, is_done])

    return record


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the score; nothing where nothing was judged."""
    verdicts = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            properties = getattr(report, "user_properties", ())
            is_call = getattr(report, "when", None) == "call"
            if is_call:
                verdicts += [value for name, value in properties if name == PROPERTY]
    if not verdicts:
        return

    honest = [is_done for should_be_done, is_done in verdicts if should_be_done]
    hostile = [is_done for should_be_done, is_done in verdicts if not should_be_done]
    false_refusals = honest.count(False)
    false_done = hostile.count(True)
    terminalreporter.write_line(
        f"judged: {len(hostile)} hostile changes, false DONE {false_done}; "
        f"{len(honest)} honest changes, false refusals {false_refusals}"
    )

"""A pytest plugin that tries many mutants, importing and collecting only once.

A process is forked for each mutant. It changes the code of functions that are already
imported and runs the tests that were chosen for it. Starting an interpreter and importing
everything would take longer than most of these tests.

A process that a test starts does not have the change, so a mutant that
is not noticed here has to be tried again by other means.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from tools.mutation import Mutant, put_into_this_process

TRIALS = "WARM_TRIALS"
"""The variable that names the file with the trials, and that of their results."""
RESULTS = "WARM_RESULTS"

PASSED, NOTICED, BROKEN = 0, 1, 2
"""How the process of a trial ends. A broken one says nothing about the mutant."""


@dataclass(frozen=True)
class Trial:
    """A mutant and the tests to run against it."""

    number: int
    mutant: Mutant
    tests: tuple[str, ...]
    cpu_seconds: int

    def as_json(self) -> dict[str, Any]:
        """What `trial_from` reads."""
        return {
            "number": self.number,
            "path": str(self.mutant.path),
            "lines": self.mutant.lines,
            "at": self.mutant.at,
            "change": self.mutant.change,
            "tests": self.tests,
            "cpu_seconds": self.cpu_seconds,
        }


def trial_from(given: dict[str, Any]) -> Trial:
    """The trial that `Trial.as_json` wrote."""
    mutant = Mutant(
        path=Path(given["path"]),
        lines=tuple(given["lines"]),
        at=given["at"],
        change=given["change"],
    )
    return Trial(given["number"], mutant, tuple(given["tests"]), given["cpu_seconds"])


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant instead of running every test, one process for each core."""
    trials = json.loads(Path(os.environ[TRIALS]).read_text(encoding="utf-8"))
    items = {item.nodeid: item for item in session.items}
    running: dict[int, Trial] = {}
    with Path(os.environ[RESULTS]).open("w", encoding="utf-8") as results:
        for given in trials:
            if len(running) >= (os.cpu_count() or 1):
                _write_next_result(running, results)
            trial = trial_from(given)
            child = os.fork()
            if child == 0:
                _try(trial, items)
            running[child] = trial
        while running:
            _write_next_result(running, results)
    return True


def _write_next_result(running: dict[int, Trial], results: Any) -> None:
    """Wait for a trial to end. One that was killed by a signal ran for ever: noticed."""
    child, status = os.waitpid(-1, 0)
    if child in running:
        is_noticed = os.waitstatus_to_exitcode(status) not in (PASSED, BROKEN)
        result = {"number": running.pop(child).number, "is_noticed": is_noticed}
        results.write(json.dumps(result) + "\n")
        results.flush()


def _try(trial: Trial, items: dict[str, pytest.Item]) -> NoReturn:
    """Be the process of a trial."""
    resource.setrlimit(resource.RLIMIT_CPU, (trial.cpu_seconds, trial.cpu_seconds))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    code = BROKEN
    try:
        put_into_this_process(trial.mutant)
        chosen = [items[name] for name in trial.tests if name in items]
        code = NOTICED if any(_failures(chosen)) else PASSED
    finally:
        sys.stdout.flush()
        os._exit(code)


def _failures(chosen: list[pytest.Item]) -> Iterator[bool]:
    """Of every phase of every test, whether it failed."""
    for item, next_item in zip_longest(chosen, chosen[1:]):
        for report in runtestprotocol(item, log=False, nextitem=next_item):
            yield report.failed

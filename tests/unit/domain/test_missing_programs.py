"""What a command lacked, by its exit code and its last line."""

from __future__ import annotations

import pytest

from accordance.domain.facts import AttemptFacts, CommandRun
from accordance.domain.missing_programs import missing_program
from accordance.domain.test_runs import missing_in_environment

PYTEST = "python -m pytest -q"
NO_PYTEST = "/usr/bin/python3: No module named pytest"


@pytest.mark.parametrize(
    ("command", "exit_code", "lines", "missing"),
    [
        ("pytest -q", 127, ["sh: 1: pytest: not found"], "pytest"),
        ("./x", 126, ["sh: line 1: ./x: Permission denied"], "./x"),
        ("sh x", 127, ["gone"], "sh x"),
        ("sh x", 127, [], "sh x"),
        (PYTEST, 1, ["", NO_PYTEST], "pytest"),
        (PYTEST, 0, [NO_PYTEST], ""),
        (PYTEST, 1, [NO_PYTEST, "1 failed"], ""),
        (PYTEST, 1, ["/usr/bin/python3: No module named demo"], ""),
        ("make", 2, ["sh: 1: pytest: not found"], ""),
    ],
)
def test_what_was_missing(
    command: str, exit_code: int, lines: list[str], missing: str
) -> None:
    """A module counts only if it is the test runner itself: any other may be the change's own."""
    assert missing_program(command, exit_code, lines) == missing


def run(command: str, missing: str = "") -> CommandRun:
    """A run that lacked something, or nothing."""
    return CommandRun(command, 127 if missing else 0, missing=missing)


@pytest.mark.parametrize(
    ("head", "base", "lacking"),
    [
        ([run("a", "x")], [run("a", "x")], ["a"]),
        ([run("a", "x")], [], ["a"]),  # the base was not run
        ([run("a", "x")], [run("a")], []),  # the change took it away
        ([run("a")], [run("a", "x")], []),
    ],
)
def test_what_the_base_lacks_too_is_no_fault_of_the_change(
    head: list[CommandRun], base: list[CommandRun], lacking: list[str]
) -> None:
    """An agent cannot blame the environment for what it broke itself."""
    facts = AttemptFacts(runs=tuple(head), base_runs=tuple(base))
    assert [found.command for found in missing_in_environment(facts)] == lacking

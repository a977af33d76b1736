"""Which runner a command calls."""

from __future__ import annotations

import pytest

from accordance.domain.test_runners import foreign_runner, runners_of

KNOWN = [
    ("pytest", ("pytest",)),
    ("pytest -q tests/test_a.py::test_b", ("pytest",)),
    ("python -m pytest", ("pytest",)),
    ("python3.12 -X dev -m pytest -q", ("pytest",)),
    (".venv/bin/python -m pytest tests", ("pytest",)),
    ("/opt/venv/bin/pytest", ("pytest",)),
    ("PYTHONPATH=src python -m pytest", ("pytest",)),
    ("PYTHONPATH=src:lib@2 python -m pytest", ("pytest",)),
    ("uv run pytest", ("pytest",)),
    ("uv run --frozen python -m pytest", ("pytest",)),
    ("poetry run pytest -x", ("pytest",)),
    ("coverage run -m pytest", ("pytest",)),
    ("env A=1 pytest", ("pytest",)),
    ("python -m unittest", ("unittest",)),
    ("python -m unittest discover -s tests", ("unittest",)),
    ("cd lib && pytest", ("pytest",)),
    ("pytest a && python -m unittest b", ("pytest", "unittest")),
    ("(pytest; pytest)", ("pytest",)),
    ("pytest 2>&1 | tail", ("pytest",)),
    ("cd lib&&pytest;true", ("pytest",)),
    ("'/opt/my venv/bin/pytest' -q", ("pytest",)),
    ("python -B -m pytest", ("pytest",)),
    ("node --test", ("node",)),
    ("node --test test/a.test.js", ("node",)),
]
PLAIN = [
    "make test",
    "A=1",
    "python -X dev",
    "python -X",
    "node server.js",
    "npm test",
    "tox -e py311",
    "python run_tests.py",
    "python -c 'import pytest'",
    "echo pytest",
    "grep pytest setup.cfg",
    "./pytest.sh",
    "python tests/test_a.py -m pytest",
    "",
    "echo 'unclosed",
]


@pytest.mark.parametrize(("command", "runners"), KNOWN)
def test_a_runner_is_known_by_the_words_of_its_command(
    command: str, runners: tuple[str, ...]
) -> None:
    assert runners_of(command) == runners


@pytest.mark.parametrize("command", PLAIN)
def test_any_other_command_is_plain(command: str) -> None:
    assert runners_of(command) == ()


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("go test -json ./...", "go"),
        ("cd lib && CGO_ENABLED=0 go test -json", "go"),
        ("go test ./...", ""),
        ("go vet -json", ""),
        ("cargo test --workspace", "cargo"),
        ("cargo test -- --nocapture", ""),
        ("cargo test -q", ""),
        ("cargo build", ""),
        ("npx jest --json", "jest"),
        ("node_modules/.bin/jest --json --ci", "jest"),
        ("jest", ""),
        ("pnpm exec vitest run --reporter=json", "vitest"),
        ("vitest run --reporter json", "vitest"),
        ("vitest run", ""),
        ("env A=1 go test -json", "go"),
        ("make test", ""),
        ("A=1", ""),
        ("npx", ""),
        ("", ""),
    ],
)
def test_a_tool_that_prints_a_report_of_its_own(command: str, runner: str) -> None:
    assert foreign_runner(command) == runner

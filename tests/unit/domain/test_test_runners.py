"""Which runner a command calls."""

from __future__ import annotations

import pytest

from accordance.domain.test_runners import (
    foreign_runner,
    programs_of,
    runners_of,
    scripts_of,
)

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
    "python -m",
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


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("python -B tests/run.py", ("tests/run.py",)),
        ("python3.11 -X dev -W error ./run.py src/app.py", ("run.py",)),
        ("python -m mypy src/app.py", ()),
        ("python -c 'print(1)' src/app.py", ()),
        ("python -X", ()),
        ("./check.sh src/app.py && sh -e tools/more.sh", ("check.sh", "tools/more.sh")),
        ("cd tests && CI=1 bash run.sh", ("tests/run.sh",)),
        ("env A=1 tools/run", ("tools/run",)),
        ("node tests/run.js", ("tests/run.js",)),
        ("node -e 'x' tests/run.js", ()),
        ("make test", ("make",)),
        ("A=1", ()),
        ("bash", ()),
        ("'", ()),
    ],
)
def test_the_scripts_of_a_command(command: str, scripts: tuple[str, ...]) -> None:
    """What is run, not what it is given."""
    assert scripts_of(command) == scripts


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("make test", ("make",)),
        ("CI=1 A=2 tools/bin/run --fast", ("run",)),
        ("cd lib && cargo test", ("cd", "cargo")),
        ("A=1", ()),
        ("", ()),
    ],
)
def test_the_programs_of_a_command(command: str, programs: tuple[str, ...]) -> None:
    """By name, wherever they lie."""
    assert programs_of(command) == programs

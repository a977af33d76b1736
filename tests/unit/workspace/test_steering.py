"""Files that decide how a test run ends: by their name, by their place, and by the command that runs them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    WITH_LEFT_OUT,
    WITH_TEST_REPORTS,
    ChangeKind,
    ChangeSet,
    EntryKind,
    PathChange,
    TreeEntry,
)
from accordance.domain.findings import Gate
from accordance.gates.running import GATES
from accordance.workspace.steering import steering_files
from tests.unit.cases import FACTS, a_case, a_submit, a_task


def change(path: str, kind: ChangeKind = ChangeKind.ADDED, size: int = 1) -> ChangeSet:
    """A change of one file."""
    entry = TreeEntry(path, EntryKind.FILE, size=size)
    before = None if kind is ChangeKind.ADDED else entry
    after = None if kind is ChangeKind.DELETED else entry
    return ChangeSet((PathChange(path, kind, before=before, after=after),))


@pytest.mark.parametrize(
    ("path", "steers"),
    [
        (".pytest.toml", True),
        ("pytest.py", True),
        ("src/_pytest/__init__.py", True),
        ("src/argparse.py", True),
        ("tests/unittest/__init__.py", True),
        ("tests/random.cpython-311-x86_64-linux-gnu.so", True),
        ("tests/__init__.py", True),
        ("src/app/tests/__init__.py", True),
        ("src/app/argparse.py", False),
        ("src/app/__init__.py", False),
        ("src/app.py", False),
        ("docs/random.md", False),
        ("random.md", False),
    ],
)
def test_new_files(path: str, steers: bool) -> None:
    """A module that Python finds before the real one, and code that runs before the tests."""
    assert bool(steering_files(change(path))) == steers
    assert steering_files(change(path), WITH_TEST_REPORTS) == ()


@pytest.mark.parametrize(
    ("given", "steers"),
    [
        (change("src/queue.py", ChangeKind.MODIFIED), False),
        (change("src/queue.py", ChangeKind.DELETED), False),
        (change("src/queue.py", ChangeKind.TYPE), True),
        (change("tests/__init__.py", size=0), False),
        (change("tests/__init__.py", ChangeKind.MODIFIED), True),
        (change("tests/__init__.py", ChangeKind.DELETED), True),
    ],
)
def test_what_was_there_before(given: ChangeSet, steers: bool) -> None:
    """A project may have a module of such a name; an empty file does nothing."""
    assert bool(steering_files(given)) == steers


@pytest.mark.parametrize(
    ("command", "pins", "version", "codes"),
    [
        ("sh tests/run.sh", [], WITH_LEFT_OUT, ["TEST_STEERING_CHANGED"]),
        ("sh tests/run.sh", ["tests/run.sh"], WITH_LEFT_OUT, []),
        ("sh tests/run.sh", [], WITH_TEST_REPORTS, []),
        ("sh tests/other.sh", [], WITH_LEFT_OUT, []),
        ("pytest tests/run.sh", [], WITH_LEFT_OUT, ["TESTS_NOT_RUN"]),
    ],
)
def test_the_script_that_a_command_names(
    command: str, pins: list[str], version: int, codes: list[str]
) -> None:
    """Its exit code is all that is known of it: it may change only if the task names it."""
    run = replace(FACTS.runs[0], command=command)
    changes = change("tests/run.sh", ChangeKind.MODIFIED)
    case = a_case(
        task=a_task(
            allowedTests=[command],
            pins={"allowed_paths": ["tests/**", *pins], "forbidden_paths": []},
        ),
        submit=a_submit(
            changed_files=["tests/run.sh"],
            tests={"commands": [command], "passed": True, "summary": ""},
        ),
        facts=replace(FACTS, runs=(run,), changes=changes, version=version),
    )
    findings = GATES[Gate.TESTS](case).findings
    assert [finding.code for finding in findings] == codes

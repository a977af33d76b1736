"""Tests on the base: its files, whatever the agent did to its tree, and the cache of runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from accordance.domain.facts import CommandRun, EntryKind, Snapshot
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.workspace.base_tests import FROM_THE_CACHE, base_runs, lay_out_base
from accordance.workspace.clone import Workspace, adopt, clone
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.isolation import Room
from accordance.workspace.overlay import whole_tree
from accordance.workspace.snapshot import take_snapshot
from tests.unit.workspace.repositories import FILES, commit, repository, write


def clone_of(place: Path) -> Workspace:
    """A clone for an agent that may read everything."""
    return clone(repository(place / "r"), place / "attempt")


def bounded_clone_of(place: Path) -> Workspace:
    """A clone for an agent that may read a single file."""
    source = repository(place / "r")
    return clone(source, place / "attempt", readable=lambda _: {"src/app.py"})


def adopted(place: Path) -> Workspace:
    """A tree that was changed where it stands."""
    source = repository(place / "r")
    return adopt(source, place / "ours", base=commit_of(source))


def commit_of(source: Path) -> str:
    """The commit that stands in a repository."""
    (source / "more.txt").write_text("more\n", "utf-8")
    return commit(source, "more")


def files_in(place: Path) -> dict[str, str]:
    """Every file below a folder, without git's own."""
    snapshot = take_snapshot(place)
    return {
        path: (place / path).read_text("utf-8")
        for path, entry in snapshot.entries.items()
        if entry.kind is EntryKind.FILE
    }


@pytest.mark.parametrize("make", [clone_of, bounded_clone_of, adopted])
def test_the_base_is_laid_out_as_it_was(tmp_path: Path, make: object) -> None:
    assert callable(make)
    workspace: Workspace = make(tmp_path)
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "CHANGED = 1\n", "src/new.py": "NEW = 1\n"})
    (workspace.work / "docs/guide.md").unlink(missing_ok=True)

    copy = lay_out_base(workspace, before, whole_tree(workspace), tmp_path / "copy")

    assert copy is not None
    laid_out = files_in(copy.place)
    laid_out.pop("more.txt", None)
    assert laid_out == FILES


def test_a_base_without_its_files_is_not_laid_out(tmp_path: Path) -> None:
    workspace = replace(clone_of(tmp_path), commit="")
    before = base_snapshot(workspace)

    copy = lay_out_base(workspace, before, before, tmp_path / "copy")

    assert copy is None


PASSED = TestReport("pytest", (TestResult("t", TestOutcome.PASSED),))
RUN = CommandRun("pytest", 0, report=PASSED)


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which is not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "accordance" / "base-tests"


@pytest.mark.usefixtures("cache_folder")
def test_a_run_is_remembered_for_the_same_surroundings(tmp_path: Path) -> None:
    room = Room(tmp_path / "room")
    tree = Snapshot({})
    base_runs(tree, room, {"isolation": "bwrap"}).keep(RUN)

    known = base_runs(tree, room, {"isolation": "bwrap"})
    elsewhere = base_runs(tree, room, {"isolation": "landlock"})
    otherwise = base_runs(tree, replace(room, environment={"A": "1"}), {})

    assert known.read("pytest") == replace(RUN, note=FROM_THE_CACHE)
    assert known.read("pytest tests") is None
    assert elsewhere.read("pytest") is None
    assert otherwise.read("pytest") is None


@pytest.mark.usefixtures("cache_folder")
@pytest.mark.parametrize(
    "report",
    [None, replace(PASSED, incomplete="broke off"), replace(PASSED, tampered="forged")],
)
def test_a_run_that_shows_nothing_is_not_remembered(
    tmp_path: Path, report: TestReport | None
) -> None:
    known = base_runs(Snapshot({}), Room(tmp_path / "room"), {})

    known.keep(replace(RUN, report=report))

    assert known.read("pytest") is None


def test_a_damaged_cache_is_not_believed(tmp_path: Path, cache_folder: Path) -> None:
    known = base_runs(Snapshot({}), Room(tmp_path / "room"), {})
    known.keep(RUN)
    for file in cache_folder.iterdir():
        file.write_text("{}", "utf-8")

    assert known.read("pytest") is None


def test_a_cache_that_others_can_write_is_not_used(
    tmp_path: Path, cache_folder: Path
) -> None:
    cache_folder.mkdir(parents=True)
    cache_folder.chmod(0o777)
    known = base_runs(Snapshot({}), Room(tmp_path / "room"), {})

    known.keep(RUN)

    assert os.listdir(cache_folder) == []  # noqa: PTH208 - names are enough
    assert known.read("pytest") is None

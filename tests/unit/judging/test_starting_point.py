"""Where an attempt began: which tree, which commit, and what was done to git's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.errors import NotFound
from accordance.judging.starting_point import (
    settings_breaches,
    starting_commit,
    top_of,
)
from accordance.workspace.baseline import record_baseline
from accordance.workspace.errors import BasesDiffer, NoEarlierCopy
from tests.hostile.stage import git
from tests.unit.workspace.repositories import repository


def test_the_top_is_that_of_the_repository(tmp_path: Path) -> None:
    """Whichever folder of it is named."""
    root = repository(tmp_path / "tree")
    assert top_of(root / "src") == root
    assert top_of(root) == root
    with pytest.raises(NotFound, match="no directory"):
        top_of(root / "src/app.py")


def test_a_directory_without_git_is_its_own_top(tmp_path: Path) -> None:
    """It may lie in a repository, if an earlier copy of it says where it began."""
    root = repository(tmp_path / "tree")
    (tmp_path / "copy").mkdir()
    copy = str(tmp_path / "copy")
    assert top_of(tmp_path) == tmp_path
    assert top_of(root / "src", copy) == root / "src"
    assert top_of(root, copy) == root
    assert top_of(root / "src", "0" * 40) == root


def test_a_baseline_names_the_commit(tmp_path: Path) -> None:
    """So no other may be named beside it."""
    root = repository(tmp_path / "tree")
    baseline = record_baseline(root)
    commit = baseline.commit
    for base in (None, commit):
        assert starting_commit(root, base, baseline) == commit
    with pytest.raises(BasesDiffer, match=f"main is not the commit .* {commit}"):
        starting_commit(root, "main", baseline)


def test_without_a_baseline_the_commit_is_named(tmp_path: Path) -> None:
    """Or the earlier copy, where there is no git."""
    root = repository(tmp_path / "tree")
    commit = git(root, "rev-parse", "HEAD").strip()
    assert starting_commit(root, commit, None) == commit

    plain = tmp_path / "plain"
    plain.mkdir()
    assert starting_commit(plain, str(root), None) == str(root)
    with pytest.raises(NoEarlierCopy, match="an earlier copy is needed"):
        starting_commit(plain, None, None)


def test_what_was_done_to_the_settings_of_git(tmp_path: Path) -> None:
    """A baseline shows what is new; without one only a strict judge asks."""
    root = repository(tmp_path / "tree")
    baseline = record_baseline(root)
    for recorded in (baseline, None):
        assert settings_breaches(root, recorded, strict=True) == ()

    git(root, "config", "core.fsmonitor", "./spy")
    assert settings_breaches(root, None, strict=False) == ()
    (unknown,) = settings_breaches(root, None, strict=True)
    assert unknown.code == "SCOPE_CONFLICT"
    assert "no baseline says" in unknown.what
    assert "core.fsmonitor = ./spy" in unknown.what
    for strict in (False, True):
        (new,) = settings_breaches(root, baseline, strict=strict)
        assert new.code == "SCOPE_CONFLICT"
        assert "changed since the baseline" in new.what
        assert "core.fsmonitor" in new.what

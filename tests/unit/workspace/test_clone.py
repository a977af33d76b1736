"""Clones: complete, at the recorded commit, and tied to nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from accordance.workspace import git as gits
from accordance.workspace.clone import adopt, clone, discard, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.errors import GitFailed, UnknownBase, WorkspaceError
from accordance.workspace.fetching import BRANCH
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot
from tests.hostile.stage import git
from tests.unit.workspace.repositories import (
    FILES,
    commit,
    repository,
    with_submodule,
    write,
)

_NOBODY = 65534


def test_a_clone_is_the_base_with_its_history(tmp_path: Path) -> None:
    """The files of the commit, the commits before it, none after it, a branch to work on, no remote."""
    source = repository(tmp_path / "r")
    first = git(source, "rev-parse", "HEAD").strip()
    write(source, {"src/app.py": "APP = 2\n"})
    second = commit(source, "second")
    write(source, {"src/app.py": "APP = 3\n"})
    commit(source, "third")
    made = clone(source, tmp_path / "attempt", base="HEAD~1")
    assert made.commit == second
    assert (made.work / "src/app.py").read_text("utf-8") == "APP = 2\n"
    assert git(made.work, "log", "--format=%H").split() == [second, first]
    assert git(made.work, "branch", "--show-current").strip() == BRANCH
    assert git(made.work, "remote") == git(made.work, "status", "--porcelain") == ""
    assert "third" not in git(made.work, "log", "--all", "--format=%s")


def test_nothing_is_shared_with_the_source(tmp_path: Path) -> None:
    """No hard link, no alternates, no worktree: config and branches of the clone do not reach the source."""
    source = repository(tmp_path / "r")
    before = take_snapshot(source)
    made = clone(source, tmp_path / "attempt")
    for place in (tmp_path / "attempt").rglob("*"):
        assert place.is_dir() or place.lstat().st_nlink == 1, place
    assert not list((tmp_path / "attempt").rglob("alternates"))
    git(made.work, "config", "core.hooksPath", "/planted")
    git(made.work, "branch", "planted")
    assert take_snapshot(source) == before
    assert git(source, "branch", "--list", "planted") == ""


def test_commits_that_no_branch_holds_can_be_cloned(tmp_path: Path) -> None:
    """A base is a commit, not a branch."""
    source = repository(tmp_path / "r")
    write(source, {"src/app.py": "APP = 2\n"})
    lost = commit(source, "lost")
    git(source, "reset", "--quiet", "--hard", "HEAD~1")
    assert (
        clone(source, tmp_path / "attempt", base=lost).work / "src/app.py"
    ).read_text("utf-8") == "APP = 2\n"


def test_shallow_repositories_can_be_cloned(tmp_path: Path) -> None:
    """Continuous integration checks out one commit only."""
    source = repository(tmp_path / "r")
    write(source, {"src/app.py": "APP = 2\n"})
    commit(source, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", source.as_uri(), "shallow")
    made = clone(tmp_path / "shallow", tmp_path / "attempt")
    assert (made.work / "src/app.py").read_text("utf-8") == "APP = 2\n"


def test_submodules_are_cloned_too(tmp_path: Path) -> None:
    """Also the submodules of submodules, and a change in them is seen."""
    source = with_submodule(tmp_path)
    made = clone(source, tmp_path / "attempt")
    assert (made.work / "vendor/lib.txt").read_text("utf-8") == "library\n"
    assert (made.work / "vendor/inner/inner.txt").read_text("utf-8") == "inner\n"
    before = base_snapshot(made)
    assert before.nested == ("vendor", "vendor/inner")
    write(made.work, {"vendor/inner/inner.txt": "mine\n"})
    found = difference(before, take_snapshot(made.work), ignored=BaseRules(made))
    assert [change.path for change in found.changes] == ["vendor/inner/inner.txt"]


def test_submodules_that_are_not_at_hand_stay_empty(tmp_path: Path) -> None:
    """Nothing is fetched from anywhere else."""
    source = with_submodule(tmp_path)
    git(source, "submodule", "--quiet", "deinit", "--force", "vendor")
    made = clone(source, tmp_path / "attempt")
    assert list((made.work / "vendor").iterdir()) == []


def test_linked_worktrees_can_be_cloned(tmp_path: Path) -> None:
    """Their git directory is a file that points elsewhere."""
    source = repository(tmp_path / "r")
    git(source, "worktree", "add", "--quiet", os.fspath(tmp_path / "linked"))
    assert git_directory(tmp_path / "linked") is not None
    made = clone(tmp_path / "linked", tmp_path / "attempt")
    assert set(base_snapshot(made).entries) >= set(FILES)


def test_directories_without_git_are_copied(tmp_path: Path) -> None:
    """Twice: one for the agent, one untouched to compare with; special files stay behind."""
    source = write(tmp_path / "plain", {"a.txt": "a", "d/b.txt": "b"})
    (source / "link").symlink_to("/nowhere")
    os.mkfifo(source / "pipe")
    made = clone(source, tmp_path / "attempt")
    assert made.commit == ""
    assert set(base_snapshot(made).entries) == {"a.txt", "d", "d/b.txt", "link"}
    write(made.work, {"a.txt": "mine", "d/__pycache__/x.pyc": "c"})
    found = difference(
        base_snapshot(made), take_snapshot(made.work), ignored=BaseRules(made)
    )
    assert [change.path for change in found.changes] == ["a.txt"]
    assert [change.path for change in found.ignored] == ["d/__pycache__/x.pyc"]


def test_work_done_elsewhere_is_adopted(tmp_path: Path) -> None:
    """The user's own tree is judged against a base; it is not written to."""
    place = repository(tmp_path / "r")
    base = git(place, "rev-parse", "HEAD").strip()
    write(place, {"src/app.py": "APP = 2\n"})
    commit(place, "mine")
    write(place, {"src/new.py": "NEW = 1\n"})
    before = take_snapshot(place)
    made = adopt(place, tmp_path / "private", base=base)
    found = difference(
        base_snapshot(made), take_snapshot(made.work), internals_known=False
    )
    assert [change.path for change in found.changes] == ["src/app.py", "src/new.py"]
    assert not found.internals_known
    assert take_snapshot(place) == before


@pytest.mark.parametrize("base", ["nowhere", "--output=/planted", "HEAD~5", ""])
def test_an_unknown_base_is_an_error(tmp_path: Path, base: str) -> None:
    """One clear line, and nothing was made."""
    source = repository(tmp_path / "r")
    with pytest.raises(UnknownBase, match="has no commit"):
        clone(source, tmp_path / "attempt", base=base)
    assert not (tmp_path / "attempt").exists()


def test_what_cannot_be_cloned(tmp_path: Path) -> None:
    """Each with the way out."""
    (tmp_path / "plain").mkdir()
    repository(tmp_path / "r")
    (tmp_path / "there").mkdir()
    with pytest.raises(WorkspaceError, match="not a directory"):
        clone(tmp_path / "nothing", tmp_path / "attempt")
    with pytest.raises(WorkspaceError, match="every attempt has a folder of its own"):
        clone(tmp_path / "r", tmp_path / "there")
    with pytest.raises(WorkspaceError, match="an earlier copy is needed"):
        adopt(tmp_path / "plain", tmp_path / "private", base="HEAD")
    with pytest.raises(UnknownBase, match="not a git repository"):
        resolve(tmp_path / "plain", "HEAD")
    (tmp_path / "plain/.git").write_text("gitdir: nowhere", "utf-8")
    assert git_directory(tmp_path / "plain") is None


def test_git_says_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own words, its code; and a missing or endless git is told apart."""
    with pytest.raises(
        GitFailed, match=r"git rev-parse HEAD failed with exit code 128: fatal"
    ) as failure:
        Git(tmp_path)("rev-parse", "HEAD")
    assert failure.value.exit_code == 128
    (tmp_path / "file").touch()
    for place in (tmp_path / "gone", tmp_path / "file"):
        with pytest.raises(
            WorkspaceError,
            match=f"{place.name} is not a folder, so git cannot work there",
        ):
            Git(place)("version")
    monkeypatch.setattr(gits, "TIMEOUT", 0.0)
    with pytest.raises(GitFailed, match="no end after"):
        Git(tmp_path)("version")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(WorkspaceError, match="git is not installed"):
        Git(tmp_path)("version")


@pytest.mark.parametrize(
    ("path", "is_ignored"),
    [
        ("build/x", True),
        ("deep/build/x", True),
        ("a.cache", True),
        ("deep/local.txt", True),
        ("local.txt", False),
        ("src/new.py", False),
        ("forced.cache", False),
        ("name with\nbreak.cache", True),
        ("caf\\xe9.cache", True),
        ("mine.hidden", False),
    ],
)
def test_only_the_rules_of_the_base_ignore(
    tmp_path: Path, path: str, is_ignored: bool
) -> None:
    """Rules the agent writes, its exclude file and global settings have no say; what the base tracks is never ignored."""
    source = repository(tmp_path / "r")
    (source / "forced.cache").write_text("tracked", "utf-8")
    git(source, "add", "--force", "forced.cache")
    git(source, "commit", "--quiet", "--message=forced")
    made = clone(source, tmp_path / "attempt")
    write(made.work, {".gitignore": "*.hidden\n", ".git/info/exclude": "*.hidden\n"})
    assert BaseRules(made)([path]) == ({path} if is_ignored else set())


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "core.pager",
        "core.editor",
        "credential.helper",
    ],
)
def test_settings_of_the_judged_repository_run_nothing(
    tmp_path: Path, key: str
) -> None:
    """The agent may have worked in the user's own repository: its settings are the agent's then."""
    place = repository(
        tmp_path / "r", {**FILES, ".gitattributes": "* filter=evil diff=evil\n"}
    )
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n", "utf-8")
    script.chmod(0o755)
    git(place, "config", key, os.fspath(script))
    write(
        place,
        {
            ".git/hooks/post-checkout": script.read_text("utf-8"),
            "src/app.py": "APP = 2\n",
        },
    )
    (place / ".git/hooks/post-checkout").chmod(0o755)
    made = adopt(place, tmp_path / "private", base="HEAD")
    found = difference(
        base_snapshot(made),
        take_snapshot(place),
        ignored=BaseRules(made),
        internals_known=False,
    )
    patch = readable_patch(made, found)
    assert found.paths() == {"src/app.py"}
    assert b"+APP = 2" in patch.text
    assert not (tmp_path / "ran").exists()


@contextmanager
def ordinary_user() -> Iterator[Path]:
    """Have the rights of somebody whom permissions stop, and a folder of theirs.

    No fixture: what pytest and its plugins do between fixture and test needs our rights.
    """
    place = Path(tempfile.mkdtemp())
    user = os.geteuid()
    if user == 0:
        os.chown(place, _NOBODY, -1)
        os.seteuid(_NOBODY)
    try:
        yield place
    finally:
        os.seteuid(user)
        discard(place)


def test_what_others_have_closed_is_gone() -> None:
    """Folders that may not be written to, or not even be looked into."""
    with ordinary_user() as folder:
        place = folder / "attempt"
        for inner, mode in (("cache", 0o555), ("shut", 0)):
            (place / inner / "deep").mkdir(parents=True)
            (place / inner / "deep/file").write_text("x")
            for closed in (place / inner / "deep", place / inner):
                closed.chmod(mode)
        assert discard(place)
        assert not place.exists()


def test_what_cannot_be_deleted_stays() -> None:
    """Tidying up never fails: whoever has come to its end has come to its end."""
    with ordinary_user() as folder:
        theirs = folder / "theirs"
        theirs.mkdir()
        folder.chmod(0o555)
        assert not discard(theirs)
        assert theirs.exists()
        folder.chmod(0o755)
        assert discard(theirs)
        assert discard(theirs), "nothing is there: it is gone"


def test_what_others_dug_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand folders deep: deeper than a recursive removal gets."""
    with scratch() as folder:
        monkeypatch.chdir(folder)
        for _ in range(2000):
            os.mkdir("d")  # noqa: PTH102 - the whole path would be too long
            os.chdir("d")
        monkeypatch.chdir("/")
    assert not folder.exists()

"""Snapshots: everything is seen, nothing is followed or opened that must not be."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.facts import EntryKind
from accordance.domain.left_out import IGNORED, LeftOut
from accordance.workspace import snapshot as snapshots
from accordance.workspace.clone import discard
from accordance.workspace.describing import sha256_of
from accordance.workspace.errors import UnsafeName, WorkspaceChanging
from accordance.workspace.names import folder_name, name_of, text_of
from accordance.workspace.snapshot import WalkLimits, take_snapshot
from tests.unit.workspace.repositories import repository, write


def test_every_kind_of_entry_is_described(tmp_path: Path) -> None:
    """Files with hash and mode, links with target, folders, pipes and sockets by name."""
    write(tmp_path, {"a/file.txt": "text", "tool.sh": "#!/bin/sh"})
    (tmp_path / "tool.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("a/file.txt")
    (tmp_path / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(tmp_path / "socket"))
        found = take_snapshot(tmp_path).entries
    file = found["a/file.txt"]
    assert (file.kind, file.size, file.sha256) == (
        EntryKind.FILE,
        4,
        hashlib.sha256(b"text").hexdigest(),
    )
    assert found["tool.sh"].carried_mode == 0o755
    assert (found["link"].kind, found["link"].target) == (
        EntryKind.SYMLINK,
        "a/file.txt",
    )
    assert found["nowhere"].target == "gone"
    assert found["a"].kind is EntryKind.DIRECTORY
    assert (found["pipe"].kind, found["pipe"].note) == (EntryKind.SPECIAL, "fifo")
    assert (found["socket"].kind, found["socket"].note) == (EntryKind.SPECIAL, "socket")
    assert len(found) == 7


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    """A circle of links ends where it begins."""
    (tmp_path / "round").symlink_to(".")
    assert set(take_snapshot(tmp_path).entries) == {"round"}


def test_large_files_are_hashed_in_pieces(tmp_path: Path) -> None:
    """The hash does not depend on how a file is read."""
    content = os.urandom((1 << 20) + 7)
    (tmp_path / "large").write_bytes(content)
    assert (
        take_snapshot(tmp_path).entries["large"].sha256
        == hashlib.sha256(content).hexdigest()
    )


def test_git_directories_stand_apart(tmp_path: Path) -> None:
    """Steering files are listed, objects and refs are not, nested repositories are named and looked into."""
    place = repository(tmp_path / "r")
    repository(place / "inner", {"x.txt": "x"})
    write(
        place,
        {
            ".git/hooks/post-commit": "#!/bin/sh",
            ".git/objects/info/alternates": "/x",
            ".git/modules/m/config": "c",
            ".git/opencode": "what an agent calls the project",
        },
    )
    found = take_snapshot(place)
    assert found.nested == ("inner",)
    assert "inner/x.txt" in found.entries
    assert not any(".git/" in path for path in found.entries)
    assert {
        ".git/config",
        ".git/hooks/post-commit",
        ".git/objects/info/alternates",
        ".git/modules/m/config",
    } <= set(found.internals)
    assert "inner/.git/config" in found.internals
    quiet = ("HEAD", "/index", "/opencode")
    assert not any(path.endswith(quiet) or "/refs/" in path for path in found.internals)


def test_ordinary_work_with_git_changes_no_internals(tmp_path: Path) -> None:
    """Commits, branches, stashes and merges leave the steering files alone."""
    from tests.hostile.stage import git

    place = repository(tmp_path / "r")
    before = take_snapshot(place).internals
    write(place, {"src/app.py": "APP = 2\n"})
    for command in (
        ("stash",),
        ("stash", "pop"),
        ("commit", "-qam", "two"),
        ("checkout", "-qb", "side"),
        ("tag", "t"),
    ):
        git(place, *command)
    git(place, "checkout", "-q", "main")
    git(place, "merge", "-q", "--no-edit", "side")
    git(place, "gc", "-q")
    assert {path for path in take_snapshot(place).internals if path not in before} <= {
        ".git/info/refs"
    }


def test_a_git_file_is_an_internal(tmp_path: Path) -> None:
    """A `.git` that points elsewhere is itself a steering file."""
    write(tmp_path, {".git": "gitdir: /elsewhere\n", "sub/.git": "gitdir: ../x\n"})
    found = take_snapshot(tmp_path)
    assert set(found.internals) == {".git", "sub/.git"}
    assert found.nested == ("sub",)


@pytest.mark.parametrize("top", [".git/hooks", "src"])
def test_trees_deeper_than_any_stack(tmp_path: Path, top: str) -> None:
    """They are walked down to where a path would be too long to copy; what lies there cannot be judged."""
    place = os.fspath(tmp_path / top)
    os.makedirs(place)  # noqa: PTH103
    for _ in range((4000 - len(place)) // 2):
        place += "/d"
        os.mkdir(place)  # noqa: PTH102
    found = take_snapshot(tmp_path)
    last = max(
        (*found.entries.values(), *found.internals.values()),
        key=lambda entry: len(entry.path),
    )
    discard(tmp_path / top.split("/", maxsplit=1)[0])
    assert (last.kind, last.note) == (
        EntryKind.UNREADABLE,
        "a path of more than 1,024 characters",
    )
    assert found.incomplete == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("reach", "why"),
    [
        pytest.param(
            WalkLimits(entries=3), "more than 3 entries", id="too many entries"
        ),
        pytest.param(
            WalkLimits(total_bytes=10), "more than 10 bytes", id="too many bytes"
        ),
    ],
)
def test_a_walk_that_goes_too_far_says_so(
    tmp_path: Path, reach: WalkLimits, why: str
) -> None:
    """An endless tree ends in a fact, not in an endless walk."""
    write(tmp_path, {f"{number}.txt": "text of some length" for number in range(9)})
    assert take_snapshot(tmp_path, reach=reach).incomplete == why


def test_a_file_that_is_too_large_is_unreadable(tmp_path: Path) -> None:
    """It is named and cannot be judged as harmless."""
    write(tmp_path, {"large": "x" * 100})
    entry = take_snapshot(tmp_path, reach=WalkLimits(file_bytes=99)).entries["large"]
    assert (entry.kind, entry.note) == (EntryKind.UNREADABLE, "larger than 99 bytes")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    """Closed files and folders are facts."""
    write(tmp_path, {"closed.txt": "x", "folder/x": "x"})
    (tmp_path / "closed.txt").chmod(0)
    (tmp_path / "folder").chmod(0)
    found = take_snapshot(tmp_path).entries
    (tmp_path / "folder").chmod(0o700)
    assert found["closed.txt"].kind is EntryKind.UNREADABLE
    assert found["folder"].kind in (EntryKind.UNREADABLE, EntryKind.DIRECTORY)


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    """Something still runs there; the snapshot would be of no moment at all."""
    write(tmp_path, {"a": "one"})
    earlier = (tmp_path / "a").stat()
    (tmp_path / "a").write_text("longer", "utf-8")
    with pytest.raises(WorkspaceChanging, match="replaced while it was read"):
        sha256_of(os.open(tmp_path, os.O_DIRECTORY), "a", earlier)


@given(
    st.binary(min_size=1).filter(
        lambda raw: not set(raw) & {0, 47} and raw not in (b".", b"..")
    )
)
def test_names_are_told_apart_and_come_back(raw: bytes) -> None:
    """Every name has its own text, and the text leads back to the name."""
    name = os.fsdecode(raw)
    text = text_of(name)
    assert os.fsencode(name_of(text)) == raw
    text.encode("utf-8")
    assert ("\\" in text) == (
        b"\\" in raw or any("\udc80" <= sign <= "\udcff" for sign in name)
    )


@pytest.mark.parametrize(
    "task_id", ["72c84e9c-0975-4c1a-b9a5-864c2725dc8a", "T-1", "a.b_c"]
)
def test_ordinary_task_ids_name_folders(task_id: str) -> None:
    """Ids are used as they are."""
    assert folder_name(task_id) == task_id


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc",
        "a\\b",
        "a\0b",
        "a..b",
        "-rf",
        ".git",
        "x" * 101,
        "a b",
        "ü",
    ],
)
def test_a_task_id_that_is_a_path_is_refused(task_id: str) -> None:
    """No id leads out of the folder of artifacts."""
    with pytest.raises(UnsafeName, match="cannot name a folder"):
        folder_name(task_id)


def test_what_is_left_out_is_neither_opened_nor_hashed(tmp_path: Path) -> None:
    """A hole of a terabyte, a pipe and a thousand files cost a look at their names."""
    build = tmp_path / "build/deep"
    build.mkdir(parents=True)
    with (build / "hole").open("wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(build / "pipe")
    (build / "link").symlink_to("/")
    (tmp_path / "kept").write_text("x", "utf-8")

    def leaving(path: str, *, is_folder: bool, holds: Callable[[str], bool]) -> str:
        return IGNORED if path == "build" and is_folder else ""

    seen = take_snapshot(tmp_path, leaving=leaving)
    assert set(seen.entries) == {"kept"}
    assert seen.incomplete == ""
    assert seen.left_out == (
        LeftOut(
            "build",
            IGNORED,
            is_folder=True,
            files=("build/deep/hole", "build/deep/link", "build/deep/pipe"),
        ),
    )


def test_the_names_in_ignored_folders_are_listed_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are left out all the same."""
    monkeypatch.setattr(snapshots, "_MAX_LISTED", 3)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(5):
            (tmp_path / name / str(number)).write_text("x", "utf-8")

    def leaving(path: str, *, is_folder: bool, holds: Callable[[str], bool]) -> str:
        return IGNORED

    seen = take_snapshot(tmp_path, leaving=leaving)
    assert {item.path for item in seen.left_out} == {"a", "b"}
    assert sum(len(item.files) for item in seen.left_out) == 3

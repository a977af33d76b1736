"""What an agent has left is kept as a patch and laid into another clone: the same tree to the last bit, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from accordance.domain.left_out import IGNORED, LeftOut
from accordance.workspace.clone import Workspace, clone
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.leftovers import leftovers_in, restore_leftovers
from accordance.workspace.snapshot import take_snapshot
from tests.hostile.stage import FILES, git

NOISE = bytes(range(256)) * 40


def write(
    path: str, content: bytes = b"new\n", mode: int | None = None
) -> Callable[[Path], object]:
    """A file is written."""

    def act(work: Path) -> None:
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(content)
        if mode is not None:
            (work / path).chmod(mode)

    return act


def both(*acts: Callable[[Path], object]) -> Callable[[Path], object]:
    """One after the other."""
    return lambda work: [act(work) for act in acts]


ACTS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "changed": write("src/app.py", b"changed, without an end of line"),
    "untracked": write("src/new/deep.py"),
    "empty": write("src/empty.py", b""),
    "binary": both(write("logo.png", NOISE), write("src/app.py", NOISE)),
    "executable": both(
        write("run.sh", b"#!/bin/sh\n", 0o755),
        lambda work: (work / "README.md").chmod(0o755),
    ),
    "no longer executable": both(write("tools/run.sh", mode=0o644)),
    "links": both(
        lambda work: (work / "here").symlink_to("src/app.py"),
        lambda work: (work / "away").symlink_to("/etc/passwd"),
        lambda work: (work / "nowhere").symlink_to("gone"),
    ),
    "a file became a link": both(
        lambda work: (work / "README.md").unlink(),
        lambda work: (work / "README.md").symlink_to("docs/api.md"),
    ),
    "deleted": both(
        lambda work: (work / "docs/api.md").unlink(),
        lambda work: (work / "docs/guide.md").unlink(),
    ),
    "renamed": lambda work: (work / "docs/guide.md").rename(work / "docs/manual.md"),
    "a folder became a file": both(
        lambda work: (work / "tools/run.sh").unlink(),
        lambda work: (work / "tools").rmdir(),
        write("tools"),
    ),
    "evidence": both(
        write("artifacts/t/submit.json", b"{}"), write("artifacts/t/evidence/log.txt")
    ),
    "empty folders": both(
        lambda work: (work / "a/b/c").mkdir(parents=True), write("a/d.txt")
    ),
    "odd names": both(write('a b\\c\n"d".txt'), write(os.fsdecode(b"\xff\xfe.bin"))),
    "line ends": write("src/app.py", b"one\r\ntwo\r\n \t \n\n\n"),
    "committed": both(
        write("src/app.py"),
        lambda work: git(work, "commit", "--all", "--quiet", "--message=mine"),
    ),
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository."""
    root = tmp_path / "repository"
    for path, text in FILES.items():
        write(path, text.encode())(root)
    (root / "tools/run.sh").chmod(0o755)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=base")
    return root


def shown(workspace: Workspace) -> dict[str, tuple[object, ...]]:
    """Everything that is there."""
    found = take_snapshot(workspace.work).entries.values()
    return {
        one.path: (one.content, one.carried_mode if one.sha256 else 0) for one in found
    }


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_the_same_tree_again(
    repository: Path, tmp_path: Path, act: Callable[[Path], object]
) -> None:
    """Whatever was done to it."""
    first, second = (clone(repository, tmp_path / name) for name in ("first", "second"))
    before = base_snapshot(first)
    act(first.work)
    left = leftovers_in(first, before)
    assert left is not None
    assert restore_leftovers(left, second, base_snapshot(second))
    assert shown(second) == shown(first)


def test_what_the_base_ignores_is_listed_and_not_kept(
    repository: Path, tmp_path: Path
) -> None:
    """It is no part of what is judged."""
    first, second = (clone(repository, tmp_path / name) for name in ("first", "second"))
    before = base_snapshot(first)
    write("build/out.o", NOISE)(first.work)
    write("x.cache")(first.work)
    left = leftovers_in(first, before)
    assert left is not None
    assert left.patch == b""
    assert left.left_out == (
        LeftOut("build", IGNORED, is_folder=True, files=("build/out.o",)),
        LeftOut("x.cache", IGNORED),
    )
    assert restore_leftovers(left, second, base_snapshot(second))


def test_caches_matter_only_where_tests_need_them(
    repository: Path, tmp_path: Path
) -> None:
    """Else they would be most of what is kept."""
    first, second, third = (
        clone(repository, tmp_path / name) for name in ("first", "second", "third")
    )
    before = base_snapshot(first)
    write("src/__pycache__/app.pyc", NOISE)(first.work)
    bare, carried = (
        leftovers_in(first, before),
        leftovers_in(first, before, ("src/__pycache__",)),
    )
    assert bare is not None
    assert carried is not None
    assert bare.patch == b""
    assert restore_leftovers(
        carried, second, base_snapshot(second), ("src/__pycache__/",)
    )
    assert (second.work / "src/__pycache__/app.pyc").read_bytes() == NOISE
    write("src/app.py")(third.work)
    assert not restore_leftovers(
        carried, third, base_snapshot(second), ("src/__pycache__",)
    )  # not the tree it was


BEYOND: dict[str, Callable[[Path], object]] = {
    "a hook": write(".git/hooks/pre-commit", b"#!/bin/sh\n", 0o755),
    "a pipe": lambda work: os.mkfifo(work / "pipe"),
    "another repository": lambda work: git(work, "init", "--quiet", "inner"),
    "a set-id bit": write("run.sh", mode=0o4755),
    "too large": write("large.bin", b"x" * (17 << 20)),
    "a folder's bits": lambda work: (work / "src").chmod(0o1755),
}


@pytest.mark.parametrize("act", BEYOND.values(), ids=BEYOND)
def test_what_a_patch_cannot_tell_is_not_kept(
    repository: Path, tmp_path: Path, act: Callable[[Path], object]
) -> None:
    """Half of it would be judged as if it were all."""
    workspace = clone(repository, tmp_path / "first")
    before = base_snapshot(workspace)
    act(workspace.work)
    assert leftovers_in(workspace, before) is None


def test_another_base_is_noticed(repository: Path, tmp_path: Path) -> None:
    """What does not fit is not forced."""
    first, second = (clone(repository, tmp_path / name) for name in ("first", "second"))
    before = base_snapshot(first)
    write("src/app.py", b"mine\n")(first.work)
    left = leftovers_in(first, before)
    assert left is not None
    write("src/app.py", b"somebody else's\n")(second.work)
    assert not restore_leftovers(left, second, base_snapshot(second))

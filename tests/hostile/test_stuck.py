"""Agents that try to keep the judge waiting: pipes, devices, holes and depths where it expects a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from accordance import judge
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.snapshot import SeenFiles, take_snapshot
from tests.acceptance.checkout import Checkout
from tests.hostile.stage import FOLDER, git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository in which the work is done."""
    made = Checkout(tmp_path)
    made.build()
    made.ask()
    made.work_honestly()
    return made


@pytest.mark.parametrize(
    "name", ["HEAD", "config", "packed-refs", "index", "refs/heads/x", "objects/p"]
)
def test_a_pipe_in_place_of_a_file_of_git(checkout: Checkout, name: str) -> None:
    """Git would wait for a writer: the tree is refused instead."""
    place = checkout.work / ".git" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    ran = checkout.judge()
    assert ran.code == 2, ran.out + ran.err
    assert "is a pipe or a device" in ran.err


def test_a_link_to_a_device(checkout: Checkout) -> None:
    """A file without end."""
    (checkout.work / ".git/packed-refs").symlink_to("/dev/zero")
    assert "is a pipe or a device" in checkout.judge().err


def test_a_socket_of_git_is_no_harm(checkout: Checkout) -> None:
    """Git's own monitor listens on one."""
    place = checkout.work / ".git/fsmonitor--daemon.ipc"
    os.mknod(place, 0o140600)
    assert checkout.judge().code == 0


def test_a_pipe_in_a_linked_working_tree(checkout: Checkout) -> None:
    """What all working trees share is looked at, too."""
    git(checkout.work, "worktree", "add", "--quiet", "--detach", "../linked")
    os.mkfifo(checkout.work / ".git/refs/heads/x")
    checkout.place = checkout.place / "beside"
    checkout.place.mkdir()
    (checkout.place.parent / "linked").rename(checkout.work)
    assert "is a pipe or a device" in checkout.judge().err


def pipe(place: Path) -> None:
    """Reading it waits for ever."""
    os.mkfifo(place / "manifest.json")


def deep(place: Path) -> None:
    """Reading it needs more stack than there is."""
    (place / "manifest.json").write_text("[" * 200_000, "utf-8")


def giant(place: Path) -> None:
    """A hole of a terabyte, with a manifest that lists it."""
    with (place / "hole").open("wb") as file:
        file.truncate(1 << 40)
    files = {"hole": {"sha256": "0" * 64, "size": 1 << 40}}
    manifest = {"schema_version": "accordance.bundle.v1", "files": files}
    (place / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def giant_manifest(place: Path) -> None:
    """The manifest itself is one."""
    with (place / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("plant", [pipe, deep, giant, giant_manifest])
def test_a_planted_earlier_bundle(
    checkout: Checkout, plant: Callable[[Path], None]
) -> None:
    """It tells nothing about earlier attempts, and the second is judged."""
    place = checkout.work / FOLDER / "attempt-1"
    place.mkdir(parents=True)
    plant(place)
    ran = checkout.judge("--attempt", "2", "--json")
    assert ran.code in (0, 1), ran.out + ran.err
    verified = json.loads(ran.out)
    assert verified["attempt"] == 2


def test_a_report_that_is_a_hole(checkout: Checkout) -> None:
    """It is too large to be read, and that is said."""
    checkout.hand_in()
    with (checkout.work / FOLDER / "report.md").open("wb") as file:
        file.truncate(1 << 40)
    ran = checkout.judge("--json")
    assert ran.code == 1, ran.out + ran.err
    assert "larger than" in ran.out


def test_a_write_after_the_tree_was_read(checkout: Checkout) -> None:
    """What lies there in the end is not what was judged: there is no verdict."""

    def write(step: str) -> None:
        if step.startswith("running"):
            checkout.write("src/app.py", "import evil\n")

    with pytest.raises(
        WorkspaceChanging, match="was changed while the tree was judged"
    ):
        judge(checkout.task, repo=checkout.work, base=checkout.begun_at, tell=write)
    assert not checkout.bundle.exists()


def test_a_tree_that_stays_is_read_once(checkout: Checkout) -> None:
    """The second look asks the kernel, and hashes nothing again."""
    seen: SeenFiles = {}
    first = take_snapshot(checkout.work, seen=seen)
    hashed = dict(seen)
    assert take_snapshot(checkout.work, seen=seen) == first
    assert seen == hashed
    checkout.write("src/app.py", "other\n")
    assert take_snapshot(checkout.work, seen=seen) != first

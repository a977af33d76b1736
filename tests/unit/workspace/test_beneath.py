"""Reading a tree that somebody still changes: whatever is swapped for a link, nothing outside the tree is read."""

from __future__ import annotations

import errno
import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from accordance.domain.facts import ArtifactName, ChangeSet, EntryKind, TreeEntry
from accordance.workspace import beneath
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.beneath import (
    FILE,
    FOLDER,
    content_of,
    copy_below,
    file_below,
    open_below,
    opened,
)
from accordance.workspace.bundle import Papers, write_bundle
from accordance.workspace.clone import Workspace, clone
from accordance.workspace.collecting import CollectedFacts, base_snapshot, collect
from accordance.workspace.difference import difference
from accordance.workspace.errors import WorkspaceChanging, WorkspaceError
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot
from accordance.workspace.testing import lay_out
from tests.unit.workspace.repositories import repository, write

SECRET = "hunter2"


@pytest.fixture(params=["the kernel keeps paths below", "step by step"], autouse=True)
def _means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of opening, wherever the kernel has both."""
    if request.param == "step by step":
        monkeypatch.setattr(beneath, "_kernel_can", lambda: False)
    elif not beneath._kernel_can():
        pytest.skip("this kernel has no openat2")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that looks like one of the tree, with secrets in it."""
    write(
        tmp_path / "outside",
        dict.fromkeys(
            ("b/c/file", "b/file", "file", "report.md", "selftest.log"), SECRET
        ),
    )
    return tmp_path / "outside"  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A clone."""
    return clone(repository(tmp_path / "repository"), tmp_path / "attempt")


def _swap(folder: Path, outside: Path) -> None:
    folder.rename(folder.with_name("moved-away"))
    folder.symlink_to(outside)


def _when_listed(
    monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None]
) -> None:
    """Act at the moment when the walk has listed so many folders."""
    listed, listdir = itertools.count(1), os.listdir

    def then_act(folder: int) -> list[str]:
        names = listdir(folder)
        if next(listed) == number:
            act()
        return names

    monkeypatch.setattr(os, "listdir", then_act)


@pytest.mark.parametrize("number", [2, 3])
def test_a_folder_swapped_for_a_link_while_the_tree_is_walked(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Once it was seen as a folder it is an error, and nothing behind the link is seen."""
    write(
        tmp_path / "tree", {"a/b/c/file": "mine", "a/b/file": "mine", "a/file": "mine"}
    )
    _when_listed(monkeypatch, number, lambda: _swap(tmp_path / "tree/a", outside))
    with pytest.raises(WorkspaceChanging, match="something still runs there"):
        take_snapshot(tmp_path / "tree")


def test_a_name_that_vanishes_while_the_tree_is_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was listed and is gone: an error of its own, no crash."""
    write(tmp_path / "tree", {"file": "mine"})
    _when_listed(monkeypatch, 1, (tmp_path / "tree/file").unlink)
    with pytest.raises(WorkspaceChanging, match="something still runs there"):
        take_snapshot(tmp_path / "tree")


def test_a_race_for_real(tmp_path: Path, outside: Path) -> None:
    """Somebody swaps folder and link as fast as they can; whatever a walk ends with, no secret is in it."""
    write(
        tmp_path / "tree", {"a/b/c/file": "mine", "a/b/file": "mine", "a/file": "mine"}
    )
    secrets = {
        entry.sha256
        for entry in take_snapshot(outside).entries.values()
        if entry.sha256
    }
    folder, aside, over = (
        tmp_path / "tree/a",
        tmp_path / "tree/aside",
        threading.Event(),
    )

    def swap() -> None:
        while not over.is_set():
            folder.rename(aside)
            folder.symlink_to(outside)
            folder.unlink()
            aside.rename(folder)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(300):
            try:
                seen = take_snapshot(tmp_path / "tree").entries.values()
            except WorkspaceChanging:
                continue
            assert not secrets & {entry.sha256 for entry in seen}
    finally:
        over.set()
        swapping.join()


def _changed(workspace: Workspace) -> CollectedFacts:
    before = base_snapshot(workspace)
    files = {
        "new/b/file": "mine\n",
        "artifacts/T-1/report.md": "mine\n",
        "artifacts/T-1/selftest.log": "mine\n",
    }
    write(workspace.work, files)
    return collect(
        workspace,
        before,
        workspace.work.parent / "scratch",
        EvidenceRequest.usually("T-1"),
    )


def test_a_folder_swapped_before_the_patch_is_made(
    workspace: Workspace, outside: Path
) -> None:
    """The patch would have shown what the link leads to."""
    changes = _changed(workspace).facts.changes
    _swap(workspace.work / "new", outside)
    with pytest.raises(
        WorkspaceChanging, match="new/b/file is no longer what the snapshot saw"
    ):
        readable_patch(workspace, changes)


def test_a_file_changed_before_the_patch_is_made(workspace: Workspace) -> None:
    """A patch is of what was seen, byte for byte; more or less of it is another thing."""
    changes = _changed(workspace).facts.changes
    for text in ("mine\nmore\n", "min", "MINE\n"):
        (workspace.work / "new/b/file").write_text(text, "utf-8")
        with pytest.raises(WorkspaceChanging):
            readable_patch(workspace, changes)


def test_a_folder_swapped_before_the_copy_is_made(
    workspace: Workspace, outside: Path, tmp_path: Path
) -> None:
    """Tests would have printed what the link leads to."""
    after = _changed(workspace).after
    _swap(workspace.work / "new", outside)
    with pytest.raises(WorkspaceChanging):
        lay_out(workspace, after, ChangeSet(), tmp_path / "copy")
    assert not any(
        SECRET in place.read_text() for place in (tmp_path / "copy").rglob("file")
    )


def test_a_folder_swapped_before_the_evidence_is_looked_at(
    workspace: Workspace, outside: Path
) -> None:
    """It lies elsewhere then, and is not opened."""
    (workspace.work / "artifacts").mkdir()
    (workspace.work / "artifacts/T-1").symlink_to(outside)
    before = base_snapshot(workspace)
    found = collect(
        workspace,
        before,
        workspace.work.parent / "scratch",
        EvidenceRequest.usually("T-1"),
    ).facts.evidence
    report = found.artifact(ArtifactName.REPORT_MD)
    assert report is not None
    assert (report.inside, report.exists, report.sha256, found.selftest) == (
        False,
        False,
        "",
        None,
    )


def test_a_folder_swapped_before_the_evidence_is_kept(
    workspace: Workspace, outside: Path, tmp_path: Path
) -> None:
    """The bundle would have held what the link leads to; changed evidence is not kept either."""
    collected = _changed(workspace)
    _swap(workspace.work / "artifacts/T-1", outside)
    with pytest.raises(WorkspaceChanging):
        write_bundle(
            tmp_path / "bundle", collected, workspace.work, Papers(b"{}", b"{}")
        )
    assert not any(
        SECRET in place.read_text() for place in (tmp_path / "bundle/agent").iterdir()
    )


def test_objects_that_lead_elsewhere_are_a_fact(
    workspace: Workspace, outside: Path
) -> None:
    """Git would find objects behind the link; we do not look there, and say so."""
    before = take_snapshot(workspace.work)
    (workspace.work / ".git/objects/info").rename(workspace.work / ".git/objects/other")
    (workspace.work / ".git/objects/info").symlink_to(outside)
    found = difference(before, take_snapshot(workspace.work)).internals
    assert [change.path for change in found] == [".git/objects/info"]


def test_what_can_be_opened_below_a_folder(tmp_path: Path) -> None:
    """Names below it, and nothing that leads out of it, by whatever way."""
    write(tmp_path / "tree", {"a/file": "mine", "outside-file": "mine"})
    write(tmp_path, {"secret": SECRET})
    tree = tmp_path / "tree"
    (tree / "link").symlink_to("a")
    (tree / "a/up").symlink_to("../..")
    (tree / "a/magic").symlink_to("/proc/self/root")
    os.mkfifo(tree / "fifo")
    with opened(tree) as root:
        for name, flags in (("a", FOLDER), ("a/file", FILE)):
            os.close(open_below(root, name, flags))
        for name in ("link/file", "a/up/secret", "a/magic/etc/hostname", "link"):
            with pytest.raises(OSError, match="symbolic links"):
                open_below(root, name, FILE)
        with pytest.raises(OSError, match="symbolic links"):
            open_below(root, "link", FOLDER)
        for name in (
            "../secret",
            "a/../../secret",
            "/etc/hostname",
            "",
            ".",
            "a//file",
        ):
            with pytest.raises(OSError, match="no name below a folder") as refused:
                open_below(root, name, FILE)
            assert refused.value.errno == errno.EINVAL
        with pytest.raises(NotADirectoryError):
            open_below(root, "a/file/x", FILE)
        for name in ("fifo", "a"):
            with (
                pytest.raises(OSError, match="no ordinary file"),
                file_below(root, name),
            ):
                pass


def test_content_counts_only_with_its_hash(tmp_path: Path) -> None:
    """And a copy that does not have it is not left behind."""
    write(tmp_path / "tree", {"file": "mine"})
    (entry,) = take_snapshot(tmp_path / "tree").entries.values()
    other = TreeEntry("file", EntryKind.FILE, size=4, sha256="0" * 64)
    with opened(tmp_path / "tree") as root:
        assert content_of(root, entry) == b"mine"
        copy_below(root, entry, tmp_path / "copy")
        with pytest.raises(WorkspaceChanging):
            copy_below(root, other, tmp_path / "other")
    assert (tmp_path / "copy").read_text("utf-8") == "mine"
    assert not (tmp_path / "other").exists()


def test_a_readable_folder_of_the_tree_is_no_link(
    workspace: Workspace, outside: Path, tmp_path: Path
) -> None:
    """The agent could have laid it; a folder of the tree, and a link that is not the agent's, are as good as ever."""
    said, before = EvidenceRequest.usually("T-1", ["ls"]), base_snapshot(workspace)
    (workspace.work / "tools").symlink_to(outside)
    (tmp_path / "tools").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="by a link in the tree that is judged"):
        collect(
            workspace,
            before,
            tmp_path / "a",
            said,
            AttemptSetting(readable=(workspace.work / "tools",)),
        )
    (workspace.work / "tools").unlink()
    (workspace.work / "tools").mkdir()
    readable = (workspace.work / "tools", tmp_path / "tools")
    done = collect(
        workspace, before, tmp_path / "b", said, AttemptSetting(readable=readable)
    )
    assert [run.passed for run in done.facts.runs] == [True]

"""The readable patch, and the agent's own held against it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accordance.domain.facts import ChangeSet
from accordance.workspace import patching
from accordance.workspace.clone import Workspace, clone
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.lfs import pointer_to, read_pointer
from accordance.workspace.patching import ReadablePatch, compare_patch, readable_patch
from accordance.workspace.snapshot import take_snapshot
from tests.hostile.stage import git
from tests.unit.workspace.repositories import FILES, repository, write


def _workspace(tmp_path: Path, *, with_git: bool) -> Workspace:
    source = repository(tmp_path / "r") if with_git else write(tmp_path / "r", FILES)
    return clone(source, tmp_path / "attempt")


def _busy(work: Path) -> None:
    """Every kind of change at once."""
    write(work, {"src/app.py": "APP = 2\n", "a b/caf\u00e9.txt": "new\n", "empty": ""})
    (work / "docs/guide.md").rename(work / "docs/moved.md")
    (work / "src/other.py").unlink()
    (work / "deep/.gitignore").chmod(0o755)
    (work / "bytes").write_bytes(bytes(range(256)))
    (work / "link").symlink_to("src/app.py")
    with open(os.fsencode(work) + b'/odd\xff\n"name\\', "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("odd\n")


def _changed(workspace: Workspace) -> tuple[ChangeSet, ReadablePatch]:
    before = base_snapshot(workspace)
    if workspace.pristine is None:
        _busy(workspace.work)
    else:
        _busy(workspace.work)
    changes = difference(
        before, take_snapshot(workspace.work), ignored=BaseRules(workspace)
    )
    return changes, readable_patch(workspace, changes)


@pytest.mark.parametrize(
    "with_git", [True, False], ids=["a repository", "a directory without git"]
)
def test_the_patch_leads_from_the_base_to_the_change(
    tmp_path: Path, with_git: bool
) -> None:
    """Applied by plain git to another copy it gives the same tree."""
    workspace = _workspace(tmp_path, with_git=with_git)
    changes, patch = _changed(workspace)
    assert patch.left_out == ()
    fresh = tmp_path / "fresh"
    if with_git:
        git(tmp_path, "clone", "--quiet", os.fspath(tmp_path / "r"), "fresh")
    else:
        repository(fresh)
    (tmp_path / "patch").write_bytes(patch.text)
    git(fresh, "apply", os.fspath(tmp_path / "patch"))
    left = difference(
        take_snapshot(fresh), take_snapshot(workspace.work), internals_known=False
    )
    assert left.changes == ()
    same = compare_patch(workspace, changes, patch.text, patch)
    assert (same.parseable, same.missing, same.extra, same.same_content) == (
        True,
        (),
        (),
        True,
    )


def test_the_patch_is_the_same_every_time(tmp_path: Path) -> None:
    """No clock and no order of the disk has a say."""
    workspace = _workspace(tmp_path, with_git=True)
    changes, patch = _changed(workspace)
    assert readable_patch(workspace, changes) == patch


def test_what_cannot_be_shown_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large files, special files, files of nested repositories."""
    monkeypatch.setattr(patching, "LARGEST_FILE", 100)
    monkeypatch.setattr(patching, "LARGEST_PATCH", 160)
    workspace = _workspace(tmp_path, with_git=True)
    before = base_snapshot(workspace)
    write(
        workspace.work,
        {
            "large": "x" * 101,
            "inner/.git/HEAD": "",
            "inner/x": "x",
            "z1": "y" * 60,
            "z2": "z" * 60,
        },
    )
    os.mkfifo(workspace.work / "pipe")
    changes = difference(before, take_snapshot(workspace.work))
    patch = readable_patch(workspace, changes)
    assert patch.left_out == ("inner/x", "large", "pipe", "z1", "z2")
    assert compare_patch(workspace, changes, b"", patch).same_content is None
    assert not compare_patch(workspace, changes, b"x" * 161, patch).parseable


@pytest.mark.parametrize(
    ("patch", "missing", "extra", "same"),
    [
        pytest.param("", ("src/app.py",), (), False, id="empty"),
        pytest.param("-APP = 1\n+APP = 2\n", (), (), True, id="the truth"),
        pytest.param("-APP = 1\n+APP = 3\n", (), (), False, id="other content"),
        pytest.param("-APP = 9\n+APP = 2\n", (), (), False, id="does not apply"),
    ],
)
def test_the_agents_patch_is_compared(
    tmp_path: Path,
    patch: str,
    missing: tuple[str, ...],
    extra: tuple[str, ...],
    same: bool,
) -> None:
    """By files, and by where it leads."""
    workspace = _workspace(tmp_path, with_git=True)
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "APP = 2\n"})
    changes = difference(before, take_snapshot(workspace.work))
    real = readable_patch(workspace, changes)
    raw = (
        f"--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n{patch}".encode()
        if patch
        else b""
    )
    found = compare_patch(workspace, changes, raw, real)
    assert (found.missing, found.extra, found.same_content) == (missing, extra, same)


def test_a_patch_without_binary_content_is_compared_by_files_only(
    tmp_path: Path,
) -> None:
    """Plain `git diff` leaves the bytes out; that is no lie."""
    workspace = _workspace(tmp_path, with_git=True)
    before = base_snapshot(workspace)
    (workspace.work / "src/bytes").write_bytes(bytes(range(256)))
    changes = difference(before, take_snapshot(workspace.work))
    git(workspace.work, "add", "--all")
    raw = git(workspace.work, "diff", "--cached").encode()
    found = compare_patch(workspace, changes, raw, readable_patch(workspace, changes))
    assert (found.missing, found.extra, found.same_content) == ((), (), None)
    assert "git diff --binary" in found.problem


def test_two_looks_at_one_attempt_do_not_meet(tmp_path: Path) -> None:
    """Each writes to a ref of its own: a late one cannot change what the other has seen."""
    workspace = _workspace(tmp_path, with_git=True)
    changes, patch = _changed(workspace)
    first = git(
        workspace.base.directory,
        "for-each-ref",
        "--format=%(objectname)",
        "refs/accordance",
    ).split()
    (workspace.work / "src/app.py").write_text("APP = 3\n")
    changes = difference(
        base_snapshot(workspace),
        take_snapshot(workspace.work),
        ignored=BaseRules(workspace),
    )
    readable_patch(workspace, changes)
    both = git(
        workspace.base.directory, "for-each-ref", "--format=%(tree)", "refs/accordance"
    ).split()
    assert (len(first), len(both), patch.tree in both) == (1, 2, True)


ATTRIBUTES = """\
* text=auto
*.bat eol=crlf
*.txt working-tree-encoding=UTF-16LE
*.py ident
*.bin filter=lfs
"""
CONTENTS = {
    "plain": b"one\r\ntwo\r\n",
    "run.bat": b"echo 1\r\n",
    "names.txt": "caf\u00e9\n".encode("utf-16-le"),
    "broken.txt": b"\x00\xd8\x00",
    "version.py": b"ID = '$Id: 0123 $'\n",
    "bytes": b"\x00\r\n",
    "as-it-is": b"one\ntwo\n",
}


def test_the_tree_is_what_git_would_commit(tmp_path: Path) -> None:
    """Files are converted by the base's attributes; what git cannot convert stays as it is."""
    source = repository(tmp_path / "r")
    (source / ".gitattributes").write_text(ATTRIBUTES, "utf-8")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=attributes")
    workspace = clone(source, tmp_path / "attempt")
    before = base_snapshot(workspace)
    for path, content in CONTENTS.items():
        (workspace.work / path).write_bytes(content)

    patch = readable_patch(workspace, difference(before, take_snapshot(workspace.work)))
    shown = workspace.base("ls-tree", patch.tree, "broken.txt").decode()
    raw = git(workspace.work, "hash-object", "--no-filters", "broken.txt").strip()
    assert raw in shown
    (workspace.work / "broken.txt").unlink()
    patch = readable_patch(workspace, difference(before, take_snapshot(workspace.work)))
    git(workspace.work, "add", "--all")
    assert patch.tree == git(workspace.work, "write-tree").strip()


def test_a_file_of_lfs_becomes_its_pointer(tmp_path: Path) -> None:
    """As its filter would make it, without running one; a pointer stays a pointer."""
    source = repository(tmp_path / "r")
    (source / ".gitattributes").write_text(ATTRIBUTES, "utf-8")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=attributes")
    workspace = clone(source, tmp_path / "attempt")
    before = base_snapshot(workspace)
    content = b"large\n" * 100
    (workspace.work / "a.bin").write_bytes(content)
    (workspace.work / "b.bin").write_bytes(pointer_to(content))

    patch = readable_patch(workspace, difference(before, take_snapshot(workspace.work)))
    kept = [workspace.base("show", f"{patch.tree}:{name}.bin") for name in "ab"]
    assert kept == [pointer_to(content)] * 2
    named = read_pointer(kept[0])
    assert named is not None
    assert named.size == len(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version https://git-lfs.github.com/spec/v1\n",
        b"oid sha256:" + b"0" * 64,
        pointer_to(b"x") + b" " * 1024,
    ],
)
def test_what_is_no_pointer(content: bytes) -> None:
    """Only what Git LFS itself would write is taken for one."""
    assert read_pointer(content) is None

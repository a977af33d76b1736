"""The change as a patch people can read, made in a private git directory, and the agent's own patch held against it."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.facts import (
    ChangeSet,
    EntryKind,
    PatchFacts,
    PathChange,
    TreeEntry,
)
from accordance.domain.patch import read_patch
from accordance.workspace.beneath import content_of, opened
from accordance.workspace.clone import Workspace
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git
from accordance.workspace.names import name_of, text_of

LARGEST_FILE: Final = 16 << 20  # larger files are named, not shown
LARGEST_PATCH: Final = 64 << 20  # of content; an agent's patch beyond this is not read

_DIFF: Final = (
    "diff",
    "--binary",
    "--full-index",
    "--find-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)


@dataclass(frozen=True, slots=True)
class ReadablePatch:
    """The real change as git would tell it."""

    text: bytes
    base: str  # git's id of the commit it begins from
    tree: str  # git's id of the whole tree after the change
    left_out: tuple[
        str, ...
    ] = ()  # changed, but too large, no ordinary file, or inside another repository


def readable_patch(workspace: Workspace, changes: ChangeSet) -> ReadablePatch:
    """The patch from the base to what the agent left. Raises GitFailed."""
    shown: list[PathChange] = []
    left_out: list[PathChange] = []
    room = LARGEST_PATCH
    for change in changes.changes:
        room -= change.after.size if change.after else 0
        can = room >= 0 and _can_be_shown(change, changes.nested)
        (shown if can else left_out).append(change)
    git = workspace.base
    before = workspace.commit or _import(git, "", _earlier(shown, workspace))
    with opened(workspace.work) as work:
        after = _import(git, before, _later(shown, work))
    text = git(*_DIFF, before, after, "--")
    tree = git.text("rev-parse", f"{after}^{{tree}}")
    return ReadablePatch(text, before, tree, tuple(change.path for change in left_out))


def _can_be_shown(change: PathChange, nested: tuple[str, ...]) -> bool:
    if any(
        path == inner or path.startswith(f"{inner}/")
        for inner in nested
        for path in change.paths
    ):
        return False
    entries = [entry for entry in (change.before, change.after) if entry is not None]
    kinds = {entry.kind for entry in entries}
    return kinds <= {EntryKind.FILE, EntryKind.SYMLINK} and all(
        entry.size <= LARGEST_FILE for entry in entries
    )


def _earlier(shown: Iterable[PathChange], workspace: Workspace) -> Iterator[bytes]:
    """The files as they were, for a directory without git."""
    if workspace.pristine is None:
        return
    with opened(workspace.pristine) as pristine:
        for change in shown:
            if change.before is not None:
                yield from _written(change.before, pristine)


def _later(shown: Iterable[PathChange], work: int) -> Iterator[bytes]:
    """Removals first: what stood in the way of a new file is gone by then."""
    shown = tuple(shown)
    for change in shown:
        if change.before is not None and (change.after is None or change.old_path):
            yield b"D %s\n" % _quoted(change.before.path)
    for change in shown:
        if change.after is not None:
            yield from _written(change.after, work)


def _written(entry: TreeEntry, root: int) -> Iterator[bytes]:
    link = entry.kind is EntryKind.SYMLINK
    content = os.fsencode(name_of(entry.target)) if link else content_of(root, entry)
    mode = b"120000" if link else b"100755" if entry.mode & 0o100 else b"100644"
    yield b"M %s inline %s\ndata %d\n" % (mode, _quoted(entry.path), len(content))
    yield content
    yield b"\n"


def _quoted(path: str) -> bytes:
    raw = os.fsencode(name_of(path))
    return b'"%s"' % raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(
        b"\n", b"\\n"
    )


def _import(git: Git, parent: str, commands: Iterable[bytes]) -> str:
    """Write a commit straight from bytes: no index, no filter, no attribute has a say in it."""
    ref = f"refs/accordance/{secrets.token_hex(8)}"  # others may look at the same attempt meanwhile
    head = [
        f"commit {ref}\ncommitter accordance <accordance@localhost> 1700000000 +0000\ndata 0\n".encode()
    ]
    if parent:
        head.append(f"from {parent}\n".encode())
    stream = b"".join((f"reset {ref}\n\n".encode(), *head, *commands, b"\ndone\n"))
    git("fast-import", "--quiet", "--force", "--done", given=stream)
    return git.text("rev-parse", ref)


def compare_patch(
    workspace: Workspace, changes: ChangeSet, raw: bytes, real: ReadablePatch
) -> PatchFacts:
    """How the agent's patch stands to the real change: which files, and whether it leads to the same tree."""
    if len(raw) > LARGEST_PATCH:
        return PatchFacts(
            parseable=False, problem=f"larger than {LARGEST_PATCH:,} bytes"
        )
    patch = read_patch(raw.decode("utf-8", "surrogateescape"))
    if patch.problem:
        return PatchFacts(parseable=False, problem=patch.problem)
    paths = frozenset(map(text_of, patch.touched))
    touched = changes.paths()
    same, problem = _leads_to(workspace, raw, real)
    return PatchFacts(
        paths=tuple(sorted(paths)),
        missing=tuple(sorted(touched - paths)),
        extra=tuple(sorted(paths - touched)),
        same_content=same,
        problem=problem,
    )


def _leads_to(
    workspace: Workspace, raw: bytes, real: ReadablePatch
) -> tuple[bool | None, str]:
    """Apply the patch to the base in a private index and compare whole trees."""
    if real.left_out:
        return None, f"not compared: {real.left_out[0]} cannot be shown in a patch"
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        git = Git(workspace.base.directory, Path(folder), Path(folder) / "index")
        git("read-tree", real.base)
        try:
            if raw.strip():
                git(
                    "apply",
                    "--cached",
                    "--whitespace=nowarn",
                    "--allow-empty",
                    "-",
                    given=raw,
                )
            tree = git.text("write-tree")
        except GitFailed as failure:
            if "without full index line" in failure.said:
                return (
                    None,
                    "not compared: it has no content for binary files; make it with git diff --binary",
                )
            return (
                False,
                f"does not apply to the base: {' '.join(failure.said.split())[:300]}",
            )
    same = tree == real.tree
    return (
        same,
        ""
        if same
        else "applied to the base it gives other content than the real change",
    )

"""The change as a readable patch, and the agent's own patch compared with it.

The patch is made in a private git directory, from bytes that we read ourselves.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

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
from accordance.workspace.converting import CheckIn, check_in
from accordance.workspace.entries import is_executable
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git
from accordance.workspace.names import lies_in_any, name_of, text_of

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
_COMMITTER: Final = "accordance <accordance@localhost> 1700000000 +0000"
_PATCH_KINDS: Final = frozenset((EntryKind.FILE, EntryKind.SYMLINK))


@dataclass(frozen=True, slots=True)
class ReadablePatch:
    """The real change as git would show it."""

    text: bytes
    base: str  # git's id of the commit it begins from
    tree: str  # git's id of the whole tree after the change
    left_out: tuple[str, ...] = ()
    """Changed, but too large, no ordinary file, or inside another repository."""


def readable_patch(workspace: Workspace, changes: ChangeSet) -> ReadablePatch:
    """Return the patch from the base to what the agent left. Raises GitFailed."""
    shown: list[PathChange] = []
    left_out: list[str] = []
    bytes_left = LARGEST_PATCH
    for change in changes.changes:
        if change.after is not None:
            bytes_left -= change.after.size
        if bytes_left >= 0 and _can_be_shown(change, changes.nested):
            shown.append(change)
        else:
            left_out.append(change.path)

    git = workspace.base
    before = workspace.commit or _import(git, "", _files_before(shown, workspace))
    paths = [change.path for change in shown if change.after is not None]
    with opened(workspace.work) as work, check_in(workspace, paths) as conversion:
        after = _import(git, before, _edits(shown, work, conversion))

    text = git(*_DIFF, before, after, "--")
    tree = git.text("rev-parse", f"{after}^{{tree}}")
    return ReadablePatch(text, before, tree, tuple(left_out))


def _can_be_shown(change: PathChange, nested: Sequence[str]) -> bool:
    for path in change.paths:
        if lies_in_any(path, nested):
            return False

    for entry in (change.before, change.after):
        if entry is None:
            continue
        if entry.kind not in _PATCH_KINDS or entry.size > LARGEST_FILE:
            return False
    return True


def _files_before(
    changes: Iterable[PathChange], workspace: Workspace
) -> Iterator[bytes]:
    """Yield the files as they were, for a directory without git."""
    if workspace.pristine is None:
        return
    with opened(workspace.pristine) as pristine:
        for change in changes:
            if change.before is not None:
                yield from _file_command(change.before, pristine, CheckIn())


def _edits(
    changes: Sequence[PathChange],
    work: int,
    conversion: CheckIn,
) -> Iterator[bytes]:
    """Yield the commands of a change.

    Removals come first, so that nothing stands in the way of a new file.
    """
    for change in changes:
        leaves_its_path = change.after is None or bool(change.old_path)
        if change.before is not None and leaves_its_path:
            yield b"D %s\n" % _quoted(change.before.path)

    for change in changes:
        if change.after is not None:
            yield from _file_command(change.after, work, conversion)


def _file_command(entry: TreeEntry, root: int, conversion: CheckIn) -> Iterator[bytes]:
    """Yield the command of `git fast-import` that writes a file or a link."""
    path = _quoted(entry.path)
    if entry.kind is EntryKind.SYMLINK:
        mode = b"120000"
        content = os.fsencode(name_of(entry.target))
    else:
        mode = b"100755" if is_executable(entry.mode) else b"100644"
        content = content_of(root, entry)
        converted = conversion.kept(entry.path, content)
        if converted is not None:
            yield b"M %s %s %s\n" % (mode, converted.encode(), path)
            return

    yield b"M %s inline %s\ndata %d\n" % (mode, path, len(content))
    yield content
    yield b"\n"


def _quoted(path: str) -> bytes:
    raw = os.fsencode(name_of(path))
    raw = raw.replace(b"\\", b"\\\\")
    raw = raw.replace(b'"', b'\\"')
    raw = raw.replace(b"\n", b"\\n")
    return b'"%s"' % raw


def _import(git: Git, parent: str, commands: Iterable[bytes]) -> str:
    """Write a commit straight from bytes: no index, filter or attribute interferes."""
    # A name of its own, because the same attempt may be looked at twice at a time.
    ref = f"refs/accordance/{secrets.token_hex(8)}"
    head = f"reset {ref}\n\ncommit {ref}\ncommitter {_COMMITTER}\ndata 0\n"
    if parent:
        head += f"from {parent}\n"

    stream = b"".join((head.encode(), *commands, b"\ndone\n"))
    git("fast-import", "--quiet", "--force", "--done", given=stream)
    return git.text("rev-parse", ref)


def compare_patch(
    workspace: Workspace,
    changes: ChangeSet,
    raw: bytes,
    real: ReadablePatch,
) -> PatchFacts:
    """Compare the agent's patch with the real change.

    Both the files it names and the tree it leads to are compared.
    """
    if len(raw) > LARGEST_PATCH:
        problem = f"larger than {LARGEST_PATCH:,} bytes"
        return PatchFacts(parseable=False, problem=problem)

    patch = read_patch(raw.decode("utf-8", "surrogateescape"))
    if patch.problem:
        return PatchFacts(parseable=False, problem=patch.problem)

    named = frozenset(text_of(name) for name in patch.touched)
    changed = changes.paths()
    beside = frozenset(path for path in named if _is_left_out(path, changes))
    comparison = _compare_content(workspace, raw, real, beside - changed)
    missing = changed - named - _not_in_patches(changes, real)
    extra = named - changed - beside - _bumped(changes)
    return PatchFacts(
        paths=tuple(sorted(named)),
        missing=tuple(sorted(missing)),
        extra=tuple(sorted(extra)),
        same_content=comparison.is_same,
        problem=comparison.problem,
    )


def _is_left_out(path: str, changes: ChangeSet) -> bool:
    """Whether tools left a path there: a patch may name it or not."""
    return any(item.covers(path) for item in changes.left_out)


def _not_in_patches(changes: ChangeSet, real: ReadablePatch) -> frozenset[str]:
    """Return the paths that changed and that no patch has to show."""
    left_out = frozenset(real.left_out)
    paths: set[str] = set()
    for change in changes.changes:
        if change.path in left_out:
            paths.update(change.paths)
    return frozenset(paths)


def _bumped(changes: ChangeSet) -> frozenset[str]:
    """Return the submodules in which something changed.

    A patch of git's shows such a change as another commit at the submodule's own path.
    """
    changed = changes.paths()
    bumped = set()
    for folder in changes.nested:
        if any(path.startswith(f"{folder}/") for path in changed):
            bumped.add(folder)
    return frozenset(bumped)


class _Comparison(NamedTuple):
    """Whether a patch leads to the real tree; None where that could not be tried."""

    is_same: bool | None
    problem: str = ""


def _compare_content(
    workspace: Workspace,
    raw: bytes,
    real: ReadablePatch,
    beside: Iterable[str],
) -> _Comparison:
    """Apply the patch to the base in a private index, and compare whole trees.

    What tools left `beside` the change counts for nothing.
    """
    if real.left_out:
        problem = f"not compared: {real.left_out[0]} cannot be shown in a patch"
        return _Comparison(None, problem)

    try:
        tree = _tree_after(workspace, raw, real.base, beside)
    except GitFailed as failure:
        return _not_applied(failure)

    if tree != real.tree:
        problem = "applied to the base it gives other content than the real change"
        return _Comparison(is_same=False, problem=problem)
    return _Comparison(is_same=True)


def _tree_after(
    workspace: Workspace,
    raw: bytes,
    base: str,
    beside: Iterable[str],
) -> str:
    """Return git's id of the tree that a patch leads to. Raises GitFailed."""
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        git = Git(workspace.base.directory, Path(folder), Path(folder) / "index")
        git("read-tree", base)
        if raw.strip():
            options = ("--cached", "--whitespace=nowarn", "--allow-empty")
            git("apply", *options, "-", given=raw)
        encoded = [os.fsencode(name_of(path)) for path in beside]
        names = b"\0".join(encoded)
        if names:
            git("update-index", "--force-remove", "-z", "--stdin", given=names)
        return git.text("write-tree")


def _not_applied(failure: GitFailed) -> _Comparison:
    if "without full index line" in failure.output:
        problem = (
            "not compared: it has no content for binary files; "
            "make it with git diff --binary"
        )
        return _Comparison(None, problem)

    reason = " ".join(failure.output.split())[:300]
    return _Comparison(is_same=False, problem=f"does not apply to the base: {reason}")

"""Trees that cannot be compared with their base as they are.

Git can lay a base out in other ways than we do: only in part (a sparse checkout), with
other line ends (core.autocrlf), with the files that Git LFS keeps elsewhere, or as they
were before attributes came that convert them. The last two are put right; the others
are refused with the way out, for no agent is to blame.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from accordance.domain.facts import Snapshot, TreeEntry
from accordance.workspace.beneath import content_of, copy_below, opened
from accordance.workspace.clone import Workspace
from accordance.workspace.converting import (
    Attributes,
    base_attributes,
    is_converted_on_checkout,
    is_kept_in_lfs,
)
from accordance.workspace.entries import is_file
from accordance.workspace.errors import (
    GitFailed,
    IncomparableTree,
    WorkspaceChanging,
)
from accordance.workspace.git import Git, git_directory
from accordance.workspace.lfs import LARGEST_POINTER, read_pointer
from accordance.workspace.names import name_of, text_of
from accordance.workspace.snapshot import take_snapshot

_NOT_CHECKED_OUT: Final = b"S "
_LARGEST_TEXT: Final = 1 << 20
_ENOUGH_FILES: Final = 2  # with other line ends; a single file says nothing


def base_like(workspace: Workspace) -> Snapshot:
    """Return the base's files as an unchanged judged tree would have them.

    Files that Git LFS keeps, and files that lie in the judged tree as git keeps them, are
    laid out in the base in that form. Raises IncomparableTree for a sparse checkout.
    """
    pristine = workspace.pristine
    if pristine is None or not workspace.commit:
        raise ValueError("only a tree that was worked on in place is compared so")

    _refuse_sparse(workspace)
    before = take_snapshot(pristine)
    files = _text_sized_files(before)
    attributes = base_attributes(workspace, files.keys())
    other_forms = [
        *_pointed_to(pristine, files, attributes),
        *_kept_unconverted(workspace, files, attributes),
    ]
    laid_out = _lay_out(workspace, pristine, other_forms)
    if not laid_out:
        return before
    return replace(before, entries={**before.entries, **laid_out})


def _refuse_sparse(workspace: Workspace) -> None:
    """Refuse a tree of which git has left a part on purpose."""
    directory = git_directory(workspace.work)
    if directory is None:
        return
    try:
        listing = Git(directory)("ls-files", "-t", "-z", "--cached")
    except GitFailed:
        return  # no index that git can read: the tree is compared as it is

    rows = listing.split(b"\0")
    skipped = [row for row in rows if row.startswith(_NOT_CHECKED_OUT)]
    missing = []
    for row in skipped:
        name = os.fsdecode(row.removeprefix(_NOT_CHECKED_OUT))
        if not os.path.lexists(workspace.work / name):
            missing.append(text_of(name))
    if missing:
        raise IncomparableTree(
            f"this is a sparse checkout: {len(missing)} files of the base are not in "
            f"the tree, such as {missing[0]}",
            way_out="run `git sparse-checkout disable` and judge again",
        )


def _lay_out(
    workspace: Workspace,
    pristine: Path,
    other_forms: list[TreeEntry],
) -> dict[str, TreeEntry]:
    """Put files into the base in another form of theirs, and return their entries.

    A file is taken from the judged tree if it has exactly this form there, and from
    nowhere else.
    """
    laid_out = {}
    for entry in other_forms:
        place = pristine / name_of(entry.path)
        copy = pristine.parent / "other-form"
        try:
            with opened(workspace.work) as work:
                copy_below(work, entry, copy)
        except WorkspaceChanging:
            continue  # it is not laid out, or it is a change
        copy.replace(place)
        laid_out[entry.path] = entry
    return laid_out


def _text_sized_files(before: Snapshot) -> dict[str, TreeEntry]:
    return {
        path: entry
        for path, entry in before.entries.items()
        if is_file(entry) and entry.size <= _LARGEST_TEXT
    }


def _pointed_to(
    pristine: Path,
    files: Mapping[str, TreeEntry],
    attributes: Attributes,
) -> Iterator[TreeEntry]:
    """Yield the files that pointers of the base name."""
    with opened(pristine) as root:
        for path, given in sorted(attributes.items()):
            entry = files[path]
            if not is_kept_in_lfs(given) or entry.size > LARGEST_POINTER:
                continue
            pointer = read_pointer(content_of(root, entry))
            if pointer is not None:
                size, digest = pointer.size, pointer.sha256
                yield replace(entry, size=size, sha256=digest)


def _kept_unconverted(
    workspace: Workspace,
    files: Mapping[str, TreeEntry],
    attributes: Attributes,
) -> Iterator[TreeEntry]:
    """Yield the files that git converts on their way to disk, as git keeps them.

    Attributes that are committed alone change no file: git keeps the old form, and so
    does every tree that was there before. Files that are as in the base need no second
    look.
    """
    for path, given in sorted(attributes.items()):
        entry = files[path]
        if not is_converted_on_checkout(given) or _lies_in(workspace.work, entry):
            continue
        name = f"{workspace.commit}:{name_of(path)}"
        kept = workspace.base("cat-file", "blob", name)
        digest = hashlib.sha256(kept).hexdigest()
        yield replace(entry, size=len(kept), sha256=digest)


def _lies_in(work: Path, entry: TreeEntry) -> bool:
    """Whether a tree has exactly this file."""
    try:
        with opened(work) as root:
            content_of(root, entry)
    except WorkspaceChanging:
        return False
    return True


def _has_unix_lines(content: bytes) -> bool:
    """Whether this is a text whose lines all end in a plain line feed."""
    is_text = b"\0" not in content
    return is_text and b"\n" in content and b"\r" not in content


def refuse_other_line_ends(
    workspace: Workspace,
    before: Snapshot,
    after: Snapshot,
) -> None:
    """Refuse a tree in which every text file has other line ends than the base.

    That is what a clone with core.autocrlf looks like. Where an agent has changed the
    line ends of some files, others still have the base's.
    """
    pristine = workspace.pristine
    if pristine is None or not workspace.commit:
        return

    converted = []
    with opened(pristine) as base, opened(workspace.work) as work:
        for path, entry in _text_sized_files(before).items():
            now = after.entries.get(path)
            if not is_file(now):
                continue
            text = content_of(base, entry)
            if not _has_unix_lines(text):
                continue
            if now.sha256 == entry.sha256:
                return
            with_crlf = text.replace(b"\n", b"\r\n")
            has_its_size = now.size == len(with_crlf)
            if has_its_size and content_of(work, now) == with_crlf:
                converted.append(path)

    if len(converted) >= _ENOUGH_FILES:
        raise IncomparableTree(
            f"the text files of this tree have other line ends than the base, such as "
            f"{converted[0]}: it is a clone with core.autocrlf",
            way_out="judge a clone without it: git clone -c core.autocrlf=false",
        )

"""What git keeps of a file is not always what lies in the tree.

Attributes have git convert line ends and encodings, and collapse `$Id$`; Git LFS keeps a
pointer. A patch is made of what git keeps, so files are converted as `git add` would,
by the attributes of the base. No filter program is ever run.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.workspace.clone import Workspace
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git
from accordance.workspace.lfs import is_pointer, pointer_to
from accordance.workspace.names import name_of
from accordance.workspace.rule_files import ATTRIBUTES, lay_out_rules

_ENCODING: Final = "working-tree-encoding"
_ASKED: Final = ("text", "eol", "crlf", "ident", _ENCODING, "filter")
_LINE_ENDS: Final = ("text", "eol", "crlf")
_NOT_SET: Final = frozenset(("unspecified", "unset"))

Attributes = Mapping[str, Mapping[str, str]]
"""The attributes that are set, by path and name."""


@dataclass(frozen=True, slots=True)
class CheckIn:
    """Turns what lies in a tree into what git keeps of it."""

    git: Git | None = None
    attributes: Attributes = field(default_factory=dict)

    def kept(self, path: str, content: bytes) -> str | None:
        """Write what git keeps of a file, and return its object id.

        Returns None where git keeps the content as it is, or cannot convert it. Raises
        GitFailed.
        """
        attributes = self.attributes.get(path)
        if self.git is None or not attributes:
            return None

        is_lfs = is_kept_in_lfs(attributes)
        if is_lfs and not is_pointer(content):
            return _written(self.git, pointer_to(content), "--no-filters")
        if is_lfs or not _would_change(attributes, content):
            return None
        try:
            return _written(self.git, content, f"--path={name_of(path)}")
        except GitFailed:  # such as bytes that are not in the encoding
            return None


def _written(git: Git, content: bytes, option: str) -> str:
    answer = git("hash-object", "-w", "--stdin", option, given=content)
    return answer.decode().strip()


def _would_change(attributes: Mapping[str, str], content: bytes) -> bool:
    """Whether git could convert this content; most content is as git keeps it."""
    if _ENCODING in attributes:
        return True
    if "ident" in attributes and b"$Id:" in content:
        return True
    converts_line_ends = not attributes.keys().isdisjoint(_LINE_ENDS)
    return converts_line_ends and b"\r" in content


@contextmanager
def check_in(workspace: Workspace, paths: Collection[str]) -> Iterator[CheckIn]:
    """Yield what converts these files by the attributes of the base."""
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        git = None
        if workspace.commit and paths:
            base, commit = workspace.base, workspace.commit
            git = lay_out_rules(base, commit, ATTRIBUTES, Path(folder))
        if git is None:
            yield CheckIn()
            return
        yield CheckIn(git, _attributes(git, paths))


def _attributes(git: Git, paths: Collection[str]) -> Attributes:
    ordered = sorted(paths)
    encoded = [os.fsencode(name_of(path)) for path in ordered]
    names = b"\0".join(encoded)
    answer = git("check-attr", "-z", "--stdin", *_ASKED, given=names)
    values = answer.split(b"\0")[2::3]  # of each row: path, attribute, value

    attributes: dict[str, dict[str, str]] = {}
    for number, raw_value in enumerate(values):
        value = raw_value.decode("utf-8", "replace")
        if value not in _NOT_SET:
            path = ordered[number // len(_ASKED)]
            name = _ASKED[number % len(_ASKED)]
            attributes.setdefault(path, {})[name] = value
    return attributes


def base_attributes(workspace: Workspace, paths: Collection[str]) -> Attributes:
    """Return the attributes that the base sets for these paths."""
    with check_in(workspace, paths) as conversion:
        return conversion.attributes


def is_kept_in_lfs(attributes: Mapping[str, str]) -> bool:
    """Whether Git LFS keeps a file with these attributes."""
    return attributes.get("filter") == "lfs"


def is_converted_on_checkout(attributes: Mapping[str, str]) -> bool:
    """Whether git changes the content of such a file when it lays it out."""
    has_crlf = attributes.get("eol") == "crlf"
    return has_crlf or "ident" in attributes or _ENCODING in attributes

"""The files by which a repository tells git what to ignore and what to convert.

They are taken from a commit and laid out in a tree of ours that holds nothing else, so
that git answers by the base's rules alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from accordance.workspace.fetching import commit_rows
from accordance.workspace.git import Git

IGNORE: Final = ".gitignore"
ATTRIBUTES: Final = ".gitattributes"
_LINK: Final = "120000"


def lay_out_rules(base: Git, commit: str, name: str, folder: Path) -> Git | None:
    """Lay out the files of this name in `folder`, and return git on that tree.

    Returns None where the commit has no such file.
    """
    rule_files = []
    for row in commit_rows(base, commit):
        is_rule_file = row.name.rpartition("/")[2] == name
        if is_rule_file and row.mode != _LINK:  # git follows no such link either
            rule_files.append(os.fsencode(row.name))
    if not rule_files:
        return None

    tree = folder / "tree"
    tree.mkdir()
    git = Git(base.directory, tree, folder / "index")
    git("read-tree", commit)
    git("checkout-index", "-z", "--stdin", given=b"\0".join(rule_files))
    return git

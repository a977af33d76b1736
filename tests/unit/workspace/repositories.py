"""Small real repositories for tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tests.hostile.stage import git

FILES: Mapping[str, str] = {
    "src/app.py": "APP = 1\n",
    "src/other.py": "OTHER = 1\n",
    "docs/guide.md": "A guide.\n",
    ".gitignore": "build/\n*.cache\n",
    "deep/.gitignore": "local.txt\n",
}


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


def repository(place: Path, files: Mapping[str, str] = FILES) -> Path:
    """A repository with one commit."""
    write(place, files)
    git(place, "init", "--quiet", "--initial-branch=main")
    commit(place, "first")
    return place


def commit(place: Path, message: str) -> str:
    """Commit everything; returns the commit."""
    git(place, "add", "--all")
    git(place, "commit", "--quiet", f"--message={message}")
    return git(place, "rev-parse", "HEAD").strip()


def with_submodule(place: Path) -> Path:
    """A repository with the submodule `vendor`, which has one of its own, `inner`."""
    inner = repository(place / "inner", {"inner.txt": "inner\n"})
    library = repository(place / "library", {"lib.txt": "library\n"})
    git(library, "submodule", "--quiet", "add", os.fspath(inner), "inner")
    commit(library, "inner")
    whole = repository(place / "whole")
    git(whole, "submodule", "--quiet", "add", os.fspath(library), "vendor")
    git(whole, "submodule", "--quiet", "update", "--init", "--recursive")
    commit(whole, "vendor")
    return whole

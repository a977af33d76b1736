"""A map of the code a task may change: its files, and their top-level definitions.

Definitions are listed for Python files only. The size of the map is bounded.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from accordance.domain.prompting import plain
from accordance.executors.shown_files import (
    pinned_paths,
    read_small_file,
    tracked_files,
)

MOST_FILES: Final = 400
MOST_NAMES: Final = 60  # of a file


def code_map(work: Path, change: Mapping[str, Any]) -> dict[str, Any]:
    """Map the files that a task of scc.task.v1 may change in the clone in `work`.

    Raises GitFailed.
    """
    pinned = pinned_paths(change, tracked_files(work))
    paths = [path for path in pinned if plain(path) == path]

    files = {path: _definitions(work, path) for path in paths[:MOST_FILES]}
    mapped: dict[str, Any] = {"files": files}
    if len(paths) > MOST_FILES:
        mapped["left_out"] = len(paths) - MOST_FILES
    return mapped


def _definitions(work: Path, path: str) -> list[str]:
    """Return the top-level definitions of a Python file.

    Nothing for other files, and for files that cannot be read.
    """
    if not path.endswith(".py"):
        return []

    raw = read_small_file(work, path)
    if raw is None:
        return []

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about code that is not ours
            tree = ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_signatures(tree))[:MOST_NAMES]


def _signatures(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield f"class {statement.name}"
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = ", ".join(argument.arg for argument in statement.args.args)
            yield f"def {statement.name}({arguments})"

"""A map of the code a task may change: its files, and what Python files define at their top level. Bounded in size."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from accordance.contracts.pins import Pins
from accordance.domain.prompting import plain
from accordance.executors.run_folder import read_left
from accordance.executors.showing import LARGEST_FILE, tracked_files

MOST_FILES: Final = 400
MOST_NAMES: Final = 60  # of one file


def code_map(work: Path, change: Mapping[str, Any]) -> dict[str, Any]:
    """The files a task of scc.task.v1 may change in the clone in `work`, each with what it defines. Raises GitFailed."""
    pins = Pins.of(
        change["pins"]["allowed_paths"], change["pins"].get("forbidden_paths", ())
    )
    pinned = [
        path for path in tracked_files(work) if path in pins and plain(path) == path
    ]
    told: dict[str, Any] = {
        "files": {path: _defined(work, path) for path in pinned[:MOST_FILES]}
    }
    if len(pinned) > MOST_FILES:
        told["left_out"] = len(pinned) - MOST_FILES
    return told


def _defined(work: Path, path: str) -> list[str]:
    """The top-level definitions of a Python file; nothing for other files and for what cannot be read."""
    if not path.endswith(".py"):
        return []
    raw = read_left(work, path, LARGEST_FILE + 1)
    if raw is None or len(raw) > LARGEST_FILE:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about code that is none of ours
            tree = ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_names(tree))[:MOST_NAMES]


def _names(tree: ast.Module) -> Iterator[str]:
    for part in tree.body:
        if isinstance(part, ast.ClassDef):
            yield f"class {part.name}"
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"def {part.name}({', '.join(argument.arg for argument in part.args.args)})"

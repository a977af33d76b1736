"""The peers of bench/engine.py, where they are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def run(name: str, module: str, folder: Path, tasks: int, runs: int) -> str:
    """One line about a peer."""
    del name, folder, tasks, runs
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    return "not installed" if found is None else "not measured"

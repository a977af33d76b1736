"""Files that come with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

AGENTS: Final = "agents.toml"
GOLDEN: Final = "golden.toml"
EVAL_TASKS: Final = "eval/tasks.toml"


def shipped(name: str) -> str:
    """Return the text of a file that comes with the package."""
    path = files("accordance").joinpath("data", name)
    return path.read_text(encoding="utf-8")

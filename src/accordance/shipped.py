"""Files that come with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

AGENTS: Final = "agents.toml"
GOLDEN: Final = "golden.toml"


def shipped(name: str) -> str:
    """The text of one of them."""
    return files("accordance").joinpath("data", name).read_text(encoding="utf-8")

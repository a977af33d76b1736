"""The formats of plan files, and which name of a file stands for which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

ShortFormat: TypeAlias = Literal["yaml", "toml", "md"]
PlanFormat: TypeAlias = Literal["json"] | ShortFormat

FORMATS: Final[tuple[PlanFormat, ...]] = ("json", *get_args(ShortFormat))

_ENDINGS: Final[Mapping[str, PlanFormat]] = {
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "md": "md",
    "markdown": "md",
}


def format_of(name: str) -> PlanFormat | None:
    """Return the format that the name of a file stands for, if it is known."""
    _, dot, ending = name.rpartition(".")
    if dot:
        return _ENDINGS.get(ending.casefold())
    return None

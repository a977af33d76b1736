"""Errors as the command line tells them: where a command is the way out, it is named."""

from __future__ import annotations

from accordance.cli.reading import is_file
from accordance.errors import AccordanceError, NoPlan, NotFound


def in_words(error: AccordanceError) -> str:
    """What went wrong, and which command helps."""
    if isinstance(error, NoPlan):
        return f"{error}; `accordance plan import FILE` brings one"
    if isinstance(error, NotFound) and error.what == "plan" and is_file(error.name):
        name = error.name
        way_out = (
            f"bring it with `accordance plan import {name}`, then name the plan by its id, or not at all"
        )
        return f"{name} is a file, and no plan of this ledger; {way_out}"
    return str(error)

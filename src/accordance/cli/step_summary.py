"""The page that GitHub shows with a job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from accordance.cli.exits import print_error

_VARIABLE: Final = "GITHUB_STEP_SUMMARY"


def append_to_step_summary(markdown: str) -> None:
    """Add a text to the summary of the job, if the job has a summary.

    A summary that cannot be written is no reason to fail what it is about.
    """
    place = os.environ.get(_VARIABLE)
    if not place:
        return
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(markdown)
    except (OSError, ValueError) as error:
        print_error(f"the summary of the job could not be written: {error}")

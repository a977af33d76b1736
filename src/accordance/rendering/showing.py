"""Texts from outside, made harmless where they are shown.

They control neither the terminal nor the log of a CI job.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from accordance.contracts.printable import printable, printable_lines

# a workflow command of GitHub, at the beginning of a line or as `##[`
_COMMAND: Final = re.compile(r"^(\s*)(?=::)|(?<=#)(?=#\[)")


def shown(line: str) -> str:
    """A line of text from anywhere, made safe to print."""
    return _COMMAND.sub(lambda match: f"{match[1] or ''}\\", printable(line))


def as_json_text(value: Any) -> str:
    """A value as JSON. Control characters are escaped, so that the value is kept."""
    return printable_lines(
        json.dumps(
            value,
            indent=2,
            ensure_ascii=False,
            default=str,
        )
    )

"""Printing lines for people.

Text from outside controls neither the terminal nor the log of a CI job.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import click

from accordance.contracts.printable import printable, printable_lines

# a workflow command of GitHub, at the beginning of a line or as `##[`
_COMMAND: Final = re.compile(r"^(\s*)(?=::)|(?<=#)(?=#\[)")
_SECRET_IN_URL: Final = re.compile(
    r"(?i)(?P<user>\b[a-z][a-z0-9+.-]*://[^/\s:@?]*:)[^/\s@]*(?=@)|(?P<query>[?&](?:ssl)?password=)[^&\s'\"]*"
)


def shown(line: str) -> str:
    """A line of text from anywhere, made safe to print."""
    return _COMMAND.sub(lambda match: f"{match[1] or ''}\\", printable(line))


def print_line(line: str) -> None:
    """Print a line."""
    click.echo(shown(line))


def tell_document(text: str) -> None:
    """Print a text of several lines that ends with its own line break."""
    click.echo("\n".join(map(shown, text.split("\n"))), nl=False)


def as_json_text(value: Any) -> str:
    """A value as JSON. Control characters are escaped, so that the value is kept."""
    return printable_lines(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def without_passwords(text: str) -> str:
    """A text without the passwords of its URLs, before the host or in the query."""
    return _SECRET_IN_URL.sub(
        lambda match: f"{match['user'] or match['query']}***", text
    )

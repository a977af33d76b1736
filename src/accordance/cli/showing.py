"""Every line a command shows to people. What comes from outside steers neither the terminal nor the log of a CI job."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import click

from accordance.contracts.printable import printable, printable_lines

_COMMAND: Final = re.compile(
    r"^(\s*)(?=::)|(?<=#)(?=#\[)"
)  # a workflow command of GitHub, at the begin of a line or as `##[`
_SECRET_IN_URL: Final = re.compile(
    r"(?i)(?P<user>\b[a-z][a-z0-9+.-]*://[^/\s:@?]*:)[^/\s@]*(?=@)|(?P<query>[?&](?:ssl)?password=)[^&\s'\"]*"
)


def shown(line: str) -> str:
    """One line of text from anywhere, as it may be shown."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\", printable(line))


def tell(line: str) -> None:
    """Print one line."""
    click.echo(shown(line))


def tell_document(text: str) -> None:
    """Print a text of several lines that ends with its own line break."""
    click.echo("\n".join(map(shown, text.split("\n"))), nl=False)


def as_json_text(value: Any) -> str:
    """A value as JSON; what a terminal would obey is escaped, so that the value stays the same."""
    return printable_lines(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def without_passwords(text: str) -> str:
    """A text in which no URL shows its password, be it before the host or in the query."""
    return _SECRET_IN_URL.sub(
        lambda found: f"{found['user'] or found['query']}***", text
    )

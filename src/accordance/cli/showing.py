"""Printing lines for people.

Text from outside controls neither the terminal nor the log of a CI job.
"""

from __future__ import annotations

import re
from typing import Final

import click

from accordance.rendering.showing import as_json_text, shown

__all__ = ["as_json_text", "print_line", "shown", "tell_document", "without_passwords"]

_SECRET_IN_URL: Final = re.compile(
    r"(?i)(?P<user>\b[a-z][a-z0-9+.-]*://[^/\s:@?]*:)[^/\s@]*(?=@)|(?P<query>[?&](?:ssl)?password=)[^&\s'\"]*"
)


def print_line(line: str) -> None:
    """Print a line."""
    click.echo(shown(line))


def tell_document(text: str) -> None:
    """Print a text of several lines that ends with its own line break."""
    click.echo("\n".join(map(shown, text.split("\n"))), nl=False)


def without_passwords(text: str) -> str:
    """A text without the passwords of its URLs, before the host or in the query."""
    return _SECRET_IN_URL.sub(
        lambda match: f"{match['user'] or match['query']}***", text
    )

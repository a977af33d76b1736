"""Exit codes, the same for every command."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

import click

from accordance.cli.showing import shown, without_passwords
from accordance.errors import Category


class Exit(IntEnum):
    """The exit codes."""

    OK = 0
    REJECTED = 1  # rejected, or findings
    USAGE = 2
    WAITING = 3  # for a person
    AUTH = 4
    NOT_FOUND = 5
    CONFLICT = 6
    INTERNAL = 70


EXITS: Final[Mapping[Category, Exit]] = MappingProxyType(
    {
        Category.USAGE: Exit.USAGE,
        Category.NOT_FOUND: Exit.NOT_FOUND,
        Category.CONFLICT: Exit.CONFLICT,
        Category.AUTH: Exit.AUTH,
        Category.REJECTED: Exit.REJECTED,
        Category.UNAVAILABLE: Exit.USAGE,
    }
)
"""The exit code of each category of errors."""

_LONGEST: Final = 1000  # characters of a line on standard error


def shortened(text: str, length: int = 100) -> str:
    """A text from outside; the middle of a long text is left out."""
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]}…{text[-half:]}"


def print_error(message: str) -> None:
    """Print an error on standard error, always as a single line."""
    line = without_passwords(" ".join(message.split()))
    click.echo(f"accordance: {shown(shortened(line, _LONGEST))}", err=True)


class Failure(Exception):
    """Ends the command with a line on standard error and an exit code."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.code = code

"""Lines with a label in front, in a column of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def labelled(label: str, text: object) -> str:
    """A line with its label; without a label it continues the line before it."""
    return f"{label:<9} {text}"


def labelled_lines(rows: Iterable[tuple[str, object]]) -> Iterator[str]:
    """The lines of all rows that have a text."""
    for label, text in rows:
        if text:
            yield labelled(label, text)

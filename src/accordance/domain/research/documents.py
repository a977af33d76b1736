"""A report as blocks, written as Markdown or HTML. The same blocks give the same bytes; whatever agents say is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.domain.research.names import visible

_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_PIPE: Final = re.compile(r"(\\*)\|")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_BLOCK_MARK: Final = re.compile(r"(?=[#>+*=`~|-])|\d{1,9}(?=[.)]\s)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of a level from 1."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text of agents or people."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values, one a line."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A label with a list of items."""

    label: str
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as the head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    rule: str = ""  # the line under the head in Markdown, where it is laid down


Block: TypeAlias = Heading | Paragraph | Facts | Bullets | Table


def as_markdown(blocks: Sequence[Block], _language: str = "en") -> str:
    """The blocks as Markdown, ending with a line break."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {inline(text)}"
        case Paragraph(text):
            return _begin(inline(text))
        case Facts(rows):
            return "\n".join(
                f"- **{inline(name)}**: {inline(value)}" for name, value in rows
            )
        case Bullets(label, items):
            return "\n".join(
                [
                    f"**{inline(label)}**:",
                    *(f"- {_begin(inline(item))}" for item in items),
                ]
            )
    return "\n".join(table_lines(block))


def table_lines(table: Table) -> list[str]:
    """A Markdown table, line by line."""
    return [
        _row(table.head),
        table.rule or "|---" * len(table.head) + "|",
        *map(_row, table.rows),
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(cell, cells)) + " |"


def cell(text: str) -> str:
    """A text inside of a Markdown table: one line, and no bar that would begin another column."""
    return _PIPE.sub(lambda bar: f"{bar[1]}{bar[1]}\\|", inline(text))


def inline(text: str) -> str:
    """A text inside of a Markdown line: no line breaks, no tags, no links or pictures that would fetch something."""
    one_line = visible(_LINE_BREAK.sub(" ", text))
    return _TAG.sub(r"\\<", one_line).replace("](", "]\\(")


def _begin(text: str) -> str:
    """What stands first in a line must not look like a heading, a list or a rule."""
    mark = _BLOCK_MARK.match(text)
    return f"{mark[0]}\\{text[mark.end() :]}" if mark else text


_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:left;"
    "vertical-align:top}th{background:#f6f8fa}dt{font-weight:600}dd{margin:0 0 .4rem}"
)


def as_html(blocks: Sequence[Block], language: str = "en") -> str:
    """The blocks as one HTML page that fetches nothing and runs nothing."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_text(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_text(text)}</p>"
        case Facts(rows):
            told = "".join(
                f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in rows
            )
            return f"<dl>{told}</dl>"
        case Bullets(label, items):
            told = "".join(f"<li>{_text(item)}</li>" for item in items)
            return f"<p><strong>{_text(label)}</strong></p>\n<ul>{told}</ul>"
    head, body = _html_row(block.head, "th"), _html_rows(block.rows)
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody>\n</table>"


def _text(text: str) -> str:
    return html.escape(visible(_LINE_BREAK.sub(" ", text)))


def _html_rows(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{_html_row(row, 'td')}\n" for row in rows)


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{_text(text)}</{tag}>" for text in cells) + "</tr>"


WRITERS: Final[Mapping[str, Callable[[Sequence[Block], str], str]]] = MappingProxyType(
    {"markdown": as_markdown, "html": as_html}
)
"""Every form a report can take."""

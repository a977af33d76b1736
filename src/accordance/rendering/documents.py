"""A report as blocks, written as Markdown or HTML.

The same blocks give the same bytes. Everything that comes from agents is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.domain.research.names import visible
from accordance.rendering.showing import shown


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
    """Names with their values, each on a line."""

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
    rule: str = ""  # the line under the head in Markdown, where it is prescribed


@dataclass(frozen=True, slots=True)
class Details:
    """Lines of output under a summary, folded until a reader opens them."""

    summary: str
    lines: Sequence[str]


Block: TypeAlias = Heading | Paragraph | Facts | Bullets | Table | Details


# -- Markdown

_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_PIPE: Final = re.compile(r"(\\*)\|")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_BLOCK_MARK: Final = re.compile(r"(?=[#>+*=`~|\[-])|\d{1,9}(?=[.)]\s)")


def as_markdown(blocks: Sequence[Block], _language: str = "en") -> str:
    """Return the blocks as Markdown, ending with a line break."""
    parts = [_markdown(block) for block in blocks]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {inline(text)}"
        case Paragraph(text):
            return _line_start(inline(text))
        case Facts(rows):
            return "\n".join(_fact(name, value) for name, value in rows)
        case Bullets(label, items):
            lines = [f"- {_line_start(inline(item))}" for item in items]
            return "\n".join([f"**{inline(label)}**:", *lines])
        case Details():
            return _folded(block)
        case _:
            return "\n".join(table_lines(block))


def _fact(name: str, value: str) -> str:
    return f"- **{inline(name)}**: {inline(value)}"


def table_lines(table: Table) -> list[str]:
    """Return a Markdown table, line by line."""
    rule = table.rule or "|---" * len(table.head) + "|"
    rows = [_row(row) for row in table.rows]
    return [_row(table.head), rule, *rows]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(cell, cells)) + " |"


def cell(text: str) -> str:
    """Return a text for a cell: on a single line, without a bar that begins a column.

    Backslashes before a bar are doubled, so that they do not escape its escape.
    """
    return _PIPE.sub(lambda bar: f"{bar[1]}{bar[1]}\\|", inline(text))


def inline(text: str) -> str:
    """Return a text for a Markdown line.

    It has no line breaks, no tags, and no links or pictures that would fetch anything.
    """
    without_tags = _TAG.sub(r"\\<", _on_one_line(text))
    return without_tags.replace("](", "]\\(")


def _line_start(text: str) -> str:
    """Escape a text that would begin a heading, a list, a rule or a link's target."""
    mark = _BLOCK_MARK.match(text)
    if mark is None:
        return text
    return f"{mark[0]}\\{text[mark.end() :]}"


def _on_one_line(text: str) -> str:
    return visible(_LINE_BREAK.sub(" ", text))


# -- HTML

_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "th,td{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:left;"
    "vertical-align:top}"
    "th{background:#f6f8fa}dt{font-weight:600}dd{margin:0 0 .4rem}"
)


def as_html(blocks: Sequence[Block], language: str = "en") -> str:
    """Return the blocks as an HTML page that fetches nothing and runs nothing."""
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    title = html.escape(headings[0]) if headings else ""
    body = "\n".join(_html(block) for block in blocks)
    return f"""\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return _element(f"h{level}", text)
        case Paragraph(text):
            return _element("p", text)
        case Facts(rows):
            return _html_facts(rows)
        case Bullets(label, items):
            listed = "".join(_element("li", item) for item in items)
            return f"<p>{_element('strong', label)}</p>\n<ul>{listed}</ul>"
        case Details():
            return _folded(block)
        case _:
            return _html_table(block.head, block.rows)


def _html_facts(rows: Sequence[tuple[str, str]]) -> str:
    pairs = []
    for name, value in rows:
        pairs.append(_element("dt", name) + _element("dd", value))
    return f"<dl>{''.join(pairs)}</dl>"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = "".join(f"{_html_row(row, 'td')}\n" for row in rows)
    head_row = _html_row(head, "th")
    return f"<table>\n<thead>{head_row}</thead>\n<tbody>\n{body}</tbody>\n</table>"


def _html_row(cells: Sequence[str], tag: str) -> str:
    elements = [_element(tag, text) for text in cells]
    return f"<tr>{''.join(elements)}</tr>"


def _element(tag: str, text: str) -> str:
    content = html.escape(_on_one_line(text))
    return f"<{tag}>{content}</{tag}>"


def _folded(details: Details) -> str:
    """Return folded lines in HTML, which Markdown takes over as it is.

    Blank lines stand where Markdown ends a block, and none within the summary.
    """
    lines = [html.escape(shown(line)) for line in details.lines]
    return "\n".join(
        [
            f"<details>{_element('summary', details.summary)}",
            "",
            "<pre>",
            *lines,
            "</pre>",
            "",
            "</details>",
        ]
    )


WRITERS: Final[Mapping[str, Callable[[Sequence[Block], str], str]]] = MappingProxyType(
    {"markdown": as_markdown, "html": as_html}
)
"""Every form a report can take."""

"""Reading Markdown: a heading, a paragraph, and a checklist.

    # Spring catalogue

    A catalogue that customers can order from.

    - [ ] Collect the prices
      - inputs: price list
    - [ ] Write the pages
      - needs: Collect the prices
      - [ ] Pages for print
      - [ ] Pages for the web

An item with a box is a task, an item without a box a key of the task it lies in. A
value is a text, nested items, or JSON where it begins with `{`, `[` or a quotation
mark.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.contracts.limits import LIMITS
from accordance.domain.short_plans.entries import Entry, Fields, Items, Leaf, shown
from accordance.domain.short_plans.yaml_text import empty_file
from accordance.errors import InvalidPlanFile

_BULLET: Final = re.compile(r"( *)[-*+] +(\S.*)")
_BOX: Final = re.compile(r"\[([ xX])\] +(\S.*)")
_KEY: Final = re.compile(r"([A-Za-z_]+):(?: +(.*))?")
_HEADING: Final = re.compile(r"(#+) +(\S.*)")
_CODE: Final = re.compile(r"`([^`]+)`")
_NO_TASK: Final = "write a task as - [ ] TITLE and a key as - KEY: VALUE"


@dataclass(slots=True)
class _Item:
    """An item of the list, with the items below it."""

    indent: int
    line: int
    text: str
    is_task: bool
    below: list[_Item] = field(default_factory=list)


def read_markdown(text: str) -> Fields:
    """Return the plan in a Markdown text. Raises InvalidPlanFile."""
    title, goal, items = _parts(text)
    entries: dict[str, Entry] = {}
    lines: dict[str, int] = {}
    if title is not None:
        entries["title"] = title
        lines["title"] = title.line
    if goal is not None:
        entries["goal"] = goal
        lines["goal"] = goal.line
    _take_items(items, "tasks", entries, lines)
    return Fields(entries, 1, lines)


# -- lines


def _parts(text: str) -> tuple[Leaf | None, Leaf | None, list[_Item]]:
    """Return the heading, the paragraphs below it, and the items of the list."""
    title: Leaf | None = None
    paragraph: list[tuple[str, int]] = []
    items: list[_Item] = []
    path: list[_Item] = []
    for number, written in enumerate(text.splitlines(), 1):
        line = written.rstrip()
        if not line:
            continue
        heading = _HEADING.fullmatch(line)
        bullet = _bullet(line, number)
        if heading is not None:
            title = _heading(heading, title, number)
        elif bullet is not None:
            _place(bullet, path, items)
        elif path:
            _continue(path[-1], line, number)
        else:
            paragraph.append((line.strip(), number))

    if title is None and not paragraph and not items:
        raise empty_file()
    return title, _joined(paragraph), items


def _continue(item: _Item, line: str, number: int) -> None:
    """Add a line to the item above it, which it has to be indented below."""
    indentation = " " * (item.indent + 1)
    if not line.startswith(indentation):
        raise InvalidPlanFile("text outside the list", number, way_out=_NO_TASK)
    item.text += f" {line.strip()}"


def _heading(heading: re.Match[str], title: Leaf | None, line: int) -> Leaf:
    if len(heading[1]) > 1 or title is not None:
        raise InvalidPlanFile(
            f"a second heading, {shown(heading[2])}",
            line,
            way_out="make it a task, and nest its parts below it",
        )
    return Leaf(_title(heading[2]), line)


def _title(text: str) -> str:
    """Return a title; a title in JSON quotes is read as JSON."""
    is_quoted = text.startswith('"') and text.endswith('"')
    if is_quoted and len(text) > 1:
        with contextlib.suppress(ValueError):
            return str(json.loads(text))
    return text


def _joined(paragraph: Sequence[tuple[str, int]]) -> Leaf | None:
    if not paragraph:
        return None
    _, first_line = paragraph[0]
    texts = [text for text, _ in paragraph]
    return Leaf(" ".join(texts), first_line)


def _bullet(line: str, number: int) -> _Item | None:
    content = line.lstrip()
    indentation = line.removesuffix(content)
    if "\t" in indentation:
        raise InvalidPlanFile(
            "a tab cannot indent a plan", number, way_out="use spaces"
        )
    bullet = _BULLET.fullmatch(line)
    if bullet is None:
        return None

    indent = len(bullet[1])
    box = _BOX.fullmatch(bullet[2])
    if box is None:
        return _Item(indent, number, bullet[2], is_task=False)
    if box[1] != " ":
        raise InvalidPlanFile(
            f"{shown(box[2])} is ticked off, and a plan begins with nothing done",
            number,
            way_out="write [ ], or remove the task",
        )
    return _Item(indent, number, box[2], is_task=True)


def _place(item: _Item, path: list[_Item], items: list[_Item]) -> None:
    """Put an item below the nearest item that is indented less."""
    is_first = not path
    while path and path[-1].indent >= item.indent:
        path.pop()
    siblings = path[-1].below if path else items

    column = item.indent
    if siblings:
        column = siblings[0].indent
    elif is_first:
        column = 0
    if item.indent != column:
        raise InvalidPlanFile(
            "the indentation does not fit the items above",
            item.line,
            way_out="align the items of a task in the same column, with spaces",
        )
    if len(path) >= LIMITS.max_depth:
        raise InvalidPlanFile(
            f"nested too deeply; at most {LIMITS.max_depth} levels are read", item.line
        )
    siblings.append(item)
    path.append(item)


# -- items


def _take_items(
    items: Sequence[_Item],
    tasks: str,
    entries: dict[str, Entry],
    lines: dict[str, int],
) -> None:
    """Take keys and tasks; the tasks are kept under the key `tasks`."""
    boxes: list[Entry] = []
    for item in items:
        if item.is_task:
            boxes.append(_task(item))
            lines.setdefault(tasks, item.line)
            continue
        key, value = _key_and_value(item)
        if key in entries or key == tasks:
            raise InvalidPlanFile(
                f"the key {shown(key)} appears twice", item.line, way_out=_nest(key)
            )
        entries[key] = value
        lines[key] = item.line
    if boxes:
        entries[tasks] = Items(tuple(boxes), lines[tasks])


def _nest(key: str) -> str:
    return f"list several values as items below a single {key}:"


def _task(item: _Item) -> Fields:
    entries: dict[str, Entry] = {"title": Leaf(_title(item.text), item.line)}
    lines = {"title": item.line}
    _take_items(item.below, "parts", entries, lines)
    return Fields(entries, item.line, lines)


def _key_and_value(item: _Item) -> tuple[str, Entry]:
    match = _KEY.fullmatch(item.text)
    if match is None:
        raise InvalidPlanFile(
            f"{shown(item.text)} is neither a task nor a key",
            item.line,
            way_out=_NO_TASK,
        )
    key, text = match[1], match[2]
    if not item.below:
        return key, _value(text or "", item.line)
    if text:
        raise InvalidPlanFile(
            f"{key} has a value and items below it", item.line, way_out=_nest(key)
        )
    return key, Items(tuple(_listed(item.below)), item.line)


def _listed(items: Sequence[_Item]) -> Iterator[Entry]:
    for item in items:
        if item.is_task or item.below:
            raise InvalidPlanFile(
                f"{shown(item.text)} lies in the values of a key",
                item.line,
                way_out="indent a task as deep as the keys of its goal",
            )
        yield _value(item.text, item.line)


def _value(text: str, line: int) -> Entry:
    """Return a value: JSON where it looks like it, else the text itself."""
    if text[:1] in ("{", "[", '"'):
        return _json_entry(_json(text, line), line)
    code = _CODE.fullmatch(text)
    if code is not None:
        return Leaf(code[1], line)
    return Leaf(text, line, is_bare=True)


def _json(text: str, line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, line))
    except (ValueError, RecursionError):
        raise InvalidPlanFile(
            f"{shown(text)} is no JSON",
            line,
            way_out="a text that begins like JSON needs quotation marks",
        ) from None


def _object(pairs: list[tuple[str, Any]], line: int) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise InvalidPlanFile("a key appears twice", line, way_out="keep one of them")
    return value


def _json_entry(value: Any, line: int) -> Entry:
    if isinstance(value, dict):
        entries = {key: _json_entry(item, line) for key, item in value.items()}
        lines = dict.fromkeys(value, line)
        return Fields(entries, line, lines)
    if isinstance(value, list):
        items = [_json_entry(item, line) for item in value]
        return Items(tuple(items), line)
    return Leaf(value, line)

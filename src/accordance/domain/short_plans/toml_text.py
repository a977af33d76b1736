"""Reading TOML, with the lines that its parser does not tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from accordance.contracts.toml import InvalidToml, read_toml
from accordance.domain.short_plans.entries import Fields, Items, Leaf
from accordance.domain.short_plans.yaml_text import empty_file
from accordance.errors import InvalidPlanFile

Path: TypeAlias = tuple[str | int, ...]

_AT_LINE: Final = re.compile(r"(.*) \(at line ([0-9]+), column [0-9]+\)")
_HEADER: Final = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_QUOTES: Final = ('"""', "'''")
_STRINGS: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def read_toml_plan(text: str) -> Fields:
    """Return the keys of a TOML text. Raises InvalidPlanFile."""
    try:
        tables = read_toml(text)
    except InvalidToml as error:
        match = _AT_LINE.fullmatch(str(error))
        if match is None:
            raise InvalidPlanFile(f"not TOML: {error}") from None
        reason = f"{match[1][:1].lower()}{match[1][1:]}"
        raise InvalidPlanFile(f"not TOML: {reason}", int(match[2])) from None
    if not tables:
        raise empty_file()

    entry = _entry(tables, (), lines_in(text))
    return Fields(entry.entries, 1, entry.lines) if isinstance(entry, Fields) else entry


def _entry(value: Any, path: Path, lines: Mapping[Path, int]) -> Any:
    """Return a value of TOML as an entry; dates and times are texts."""
    line = _nearest(path, lines)
    if isinstance(value, dict):
        entries = {
            key: _entry(item, (*path, key), lines) for key, item in value.items()
        }
        key_lines = {key: _nearest((*path, key), lines) for key in value}
        return Fields(entries, line, key_lines)
    if isinstance(value, list):
        items = [_entry(item, (*path, at), lines) for at, item in enumerate(value)]
        return Items(tuple(items), line)
    if isinstance(value, str | int | float):
        return Leaf(value, line)
    return Leaf(value.isoformat(), line)


def _nearest(path: Path, lines: Mapping[Path, int]) -> int:
    while path not in lines and path:
        path = path[:-1]
    return lines.get(path, 1)


@dataclass(slots=True)
class _Lines:
    """The lines of tables and keys, while a text is read line by line."""

    lines: dict[Path, int] = field(default_factory=dict)
    last: dict[Path, int] = field(default_factory=dict)
    """The index of the last table of each list of tables."""
    at: Path = ()

    def begin(self, name: str, line: int, *, is_in_list: bool) -> None:
        """Begin a table."""
        path: Path = ()
        names = [part.strip().strip("\"'") for part in name.split(".")]
        for part in names[:-1]:
            path = self._inside((*path, part))
        path = (*path, names[-1])
        if is_in_list:
            self.last[path] = self.last.get(path, -1) + 1
            path = (*path, self.last[path])
        self.at = path
        self.lines[path] = line

    def _inside(self, path: Path) -> Path:
        if path in self.last:
            return (*path, self.last[path])
        return path


def lines_in(text: str) -> Mapping[Path, int]:
    """Return the lines in which tables and keys begin, by path."""
    reader = _Lines()
    quote = ""
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        if quote:
            quote = "" if quote in line else quote
            continue
        if depth:
            depth = max(0, depth + _brackets(line))
            continue

        header = _HEADER.fullmatch(line)
        if header is not None:
            reader.begin(header[2], number, is_in_list=header[1] == "[[")
            continue
        key = _KEY.match(line)
        if key is not None:
            reader.lines[(*reader.at, key[1])] = number
            value = line[key.end() :]
            quote = _left_open(value)
            depth = 0 if quote else max(0, _brackets(value))
    return reader.lines


def _left_open(value: str) -> str:
    """Return the quotes of a text that goes on in the next line, if any."""
    beginning = value.strip()[:3]
    is_long = beginning in _QUOTES
    if is_long and value.count(beginning) % 2:
        return beginning
    return ""


def _brackets(line: str) -> int:
    """Return how many brackets a line opens more than it closes."""
    code = _STRINGS.sub("", line).partition("#")[0]
    opened = code.count("[") + code.count("{")
    return opened - code.count("]") - code.count("}")

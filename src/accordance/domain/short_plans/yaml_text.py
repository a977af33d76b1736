"""Reading YAML: plain values only, and every word as it was written.

Refused are the parts of YAML that make a file mean something else than it shows, or
that make a small file large: anchors, tags, a key twice, a second document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.contracts.limits import LIMITS
from accordance.domain.short_plans.entries import Entry, Fields, Items, Leaf, shown
from accordance.errors import InvalidPlanFile

_INDENTATION: Final = "the indentation does not fit the lines above"
_ALIGN: Final = "align the keys of a task in the same column, with spaces"
_FAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "found character '\\t'": ("a tab cannot indent YAML", "use spaces"),
    "expected <block end>": (_INDENTATION, _ALIGN),
    "mapping values are not allowed": (
        "a colon where no key can be",
        "put the text in quotes, or mend the indentation",
    ),
    "could not find expected ':'": (
        "a key without its colon, or wrong indentation",
        "write key: value, aligned with the keys above",
    ),
    "found undefined alias": ("an alias is not read", "write the value out"),
}
"""What PyYAML finds wrong, in words that name the way out."""


def read_yaml(text: str) -> Fields:
    """Return the keys of a YAML text. Raises InvalidPlanFile."""
    import yaml

    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            builder.take(type(event).__name__, event)
    except yaml.YAMLError as error:
        raise _fault(error) from None
    return builder.table()


def _fault(error: Any) -> InvalidPlanFile:
    problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 0
    for beginning, (reason, way_out) in _FAULTS.items():
        if problem.startswith(beginning):
            return InvalidPlanFile(reason, line, way_out=way_out)
    return InvalidPlanFile(f"not YAML: {problem}", line)


@dataclass(slots=True)
class _Open:
    """A list or a table that has begun and not ended."""

    line: int
    is_table: bool
    items: list[Entry] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    key: str | None = None
    key_line: int = 0

    def closed(self) -> Entry:
        if self.is_table:
            return Fields(self.entries, self.line, self.lines)
        return Items(tuple(self.items), self.line)


@dataclass(slots=True)
class _Builder:
    """Builds entries from the events of PyYAML's parser."""

    open: list[_Open] = field(default_factory=list)
    whole: list[Entry] = field(default_factory=list)
    documents: int = 0

    def take(self, name: str, event: Any) -> None:
        """Take the next event."""
        line = event.start_mark.line + 1
        _refuse_extras(name, event, line)
        match name:
            case "DocumentStartEvent":
                self.documents += 1
                if self.documents > 1:
                    raise InvalidPlanFile(
                        "a second document begins",
                        line,
                        way_out="a file holds a single plan",
                    )
            case "MappingStartEvent" | "SequenceStartEvent":
                self._begin(line, is_table=name.startswith("Mapping"))
            case "MappingEndEvent" | "SequenceEndEvent":
                self._add(self.open.pop().closed())
            case "ScalarEvent":
                is_bare = event.style is None
                self._add(Leaf(event.value, line, is_bare))
            case _:
                pass  # the beginning and the end of the stream

    def _begin(self, line: int, *, is_table: bool) -> None:
        inner = self.open[-1] if self.open else None
        if inner is not None and inner.is_table and inner.key is None:
            raise InvalidPlanFile("a key must be a word", line)
        if len(self.open) >= LIMITS.max_depth:
            raise InvalidPlanFile(
                f"nested too deeply; at most {LIMITS.max_depth} levels are read", line
            )
        self.open.append(_Open(line, is_table))

    def _add(self, entry: Entry) -> None:
        if not self.open:
            self.whole.append(entry)
            return

        around = self.open[-1]
        if not around.is_table:
            around.items.append(entry)
        elif around.key is None:
            self._add_key(around, entry)
        else:
            around.entries[around.key] = entry
            around.key = None

    def _add_key(self, around: _Open, entry: Entry) -> None:
        # a list or a table is refused before it can be a key
        key = str(entry.value) if isinstance(entry, Leaf) else ""
        if key in around.entries:
            first = around.lines[key]
            raise InvalidPlanFile(
                f"the key {shown(key)} appears twice (lines {first} and {entry.line})",
                entry.line,
                way_out="keep one of them",
            )
        around.key = key
        around.lines[key] = entry.line

    def table(self) -> Fields:
        """Return the whole. Raises InvalidPlanFile if it is no table of keys."""
        whole = next(iter(self.whole), None)
        if whole is None:
            raise empty_file()
        if not isinstance(whole, Fields):
            raise InvalidPlanFile(
                "this is no plan", whole.line, way_out="begin with title: and tasks:"
            )
        return whole


def empty_file() -> InvalidPlanFile:
    """Return the error for a file that says nothing."""
    return InvalidPlanFile(
        "the file is empty", way_out="write a title and a list of tasks"
    )


def _refuse_extras(name: str, event: Any, line: int) -> None:
    for what in _extras(name, event):
        raise InvalidPlanFile(f"{what} is not read", line, way_out="write it out")


def _extras(name: str, event: Any) -> Iterator[str]:
    """Yield the parts of YAML that a plan may not have."""
    if name == "AliasEvent":
        yield f"the alias *{event.anchor}"
    elif getattr(event, "anchor", None):
        yield f"the anchor &{event.anchor}"
    elif getattr(event, "tag", None):
        yield f"the tag {event.tag}"

"""Read a patch without applying it: which paths it touches, where its links lead.

It understands git's diffs (renames, copies, modes, binary files, quoted names), plain
unified diffs and the patch envelope of coding agents (`*** Begin Patch`). Lines inside
a hunk are counted off, so that content which looks like a header stays content. A patch
that cannot be read for certain has a problem; it is never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MODE: Final = re.compile(
    r"(?:new file mode|new mode|index [0-9a-f]+\.\.[0-9a-f]+) (\d{6})$"
)
_BINARY: Final = re.compile(r"Binary files (.+) and (.+) differ$")
_ENVELOPE: Final = re.compile(
    r"\*\*\* (?:Add File|Update File|Delete File|Move to): (.*)"
)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_FILE_START: Final = re.compile(  # no line of content begins like this
    r"^(?=diff --git )", re.MULTILINE
)

_PREFIX_PAIRS: Final = frozenset(
    ("a/b/", "b/a/", "i/w/", "c/i/", "c/w/", "o/w/", "1/2/")
)
_PREFIX_LENGTH: Final = len("a/")
_MERGE_STARTS: Final = ("diff --cc ", "diff --combined ", "@@@")
_GIT_START: Final = "diff --git "
_NO_FILE: Final = "/dev/null"
_LINK_MODE: Final = "120000"
_LEFT_OUT: Final = "[left out: a change of files that this task may not read]\n"

_OCTAL_DIGITS: Final = 3
_C_ESCAPES: Final[Mapping[bytes, bytes]] = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}


@dataclass(frozen=True, slots=True)
class Patch:
    """What a patch would touch.

    `links` are the links it makes or changes, with their targets. `problem` is why the
    patch cannot be read for certain; it is empty when it can.
    """

    touched: tuple[str, ...] = ()  # every path, both ends of a rename, sorted
    links: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


class _Unreadable(Exception):  # never leaves this module
    """The patch cannot be read for certain."""


@dataclass(slots=True)
class _Section:
    """The part of a patch about a file, as far as it has been read."""

    prefixed: bool = False
    paths: set[str] = field(default_factory=set)
    is_link: bool = False
    has_hunk: bool = False
    added: list[str] = field(default_factory=list)


def patch_within(text: str, may_be_shown: Callable[[str], bool]) -> str:
    """Return a patch of git's without the files that may not be shown.

    A part that cannot be read for certain is left out, too.
    """
    return "".join(
        part if _is_within(part, may_be_shown) else _LEFT_OUT for part in parts_of(text)
    )


def parts_of(text: str) -> list[str]:
    """Return a patch of git's in parts, each about a file."""
    return [part for part in _FILE_START.split(text) if part]


def _is_within(part: str, may_be_shown: Callable[[str], bool]) -> bool:
    patch = read_patch(part)
    if patch.problem or not patch.touched:
        return False
    return all(may_be_shown(path) for path in patch.touched)


def read_patch(text: str) -> Patch:
    """Return every path a patch touches, and whether it can be read at all.

    What was read before a problem counts, too.
    """
    reader = _Reader(text.removesuffix("\n").split("\n"))
    problem = ""
    try:
        reader.read()
    except _Unreadable as fault:
        problem = str(fault)

    touched: set[str] = set()
    links: dict[str, str] = {}
    for section in reader.sections:
        touched |= section.paths
        if section.is_link and section.added:
            target = "\n".join(section.added)
            links.update(dict.fromkeys(section.paths, target))

    if text.strip() and not touched and not problem:
        problem = "it names no file"
    return Patch(tuple(sorted(touched)), links, problem)


def changed_lines(text: str) -> int:
    """Count the lines that a patch of ours adds and removes. Binary files have none."""
    changed = old_left = new_left = 0
    for line in text.split("\n"):
        if old_left <= 0 and new_left <= 0:
            hunk = _HUNK.match(line)
            if hunk is not None:
                old_left, new_left = _line_counts(hunk)
            continue
        sign = line[:1]
        old_left -= sign in ("-", " ", "")
        new_left -= sign in ("+", " ", "")
        changed += sign in ("+", "-")
    return changed


def _line_counts(hunk: re.Match[str]) -> tuple[int, int]:
    """Return how many old and new lines a hunk has. A count left out is 1."""
    old, new = hunk.groups(default="1")
    return int(old), int(new)


@dataclass(slots=True)
class _Reader:
    """Reads a patch line by line; `at` is the line being read."""

    lines: list[str]
    at: int = 0
    sections: list[_Section] = field(default_factory=list)
    section: _Section = field(default_factory=_Section)
    in_git: bool = False  # the section began with git's header

    def read(self) -> None:
        """Read the patch to its end. Raises _Unreadable."""
        while self.at < len(self.lines):
            self._read_line(self.lines[self.at].rstrip("\r"))
            self.at += 1

    def _read_line(self, line: str) -> None:
        """Read a line, with those that belong to it."""
        if line.startswith("*** Begin Patch"):
            self._begin(_Section())
            self._read_envelope()
        elif line.startswith(_GIT_START):
            self._begin(_git_section(line.removeprefix(_GIT_START)))
            self.in_git = True
        elif line.startswith(_MERGE_STARTS):
            raise _Unreadable("it is the diff of a merge")
        elif line.startswith("--- ") and self._next_line().startswith("+++ "):
            self._read_file_names(line, self._next_line().rstrip("\r"))
        elif hunk := _HUNK.match(line):
            self._read_hunk(hunk)
        elif binary := _BINARY.match(line):
            self._read_binary(binary)
        else:
            _read_extended_header(line, self.section)

    def _begin(self, section: _Section) -> None:
        self.section = section
        self.sections.append(section)

    def _next_line(self) -> str:
        following = self.at + 1
        if following < len(self.lines):
            return self.lines[following]
        return ""

    def _read_file_names(self, old_line: str, new_line: str) -> None:
        """Read `---` and `+++`: of git's header, or the start of a plain section."""
        names = (_file_name(old_line), _file_name(new_line))
        if self.in_git and not self.section.has_hunk:
            _add_names(names, self.section)
        else:
            self._begin(_plain_section(names))
            self.in_git = False
        self.at += 1

    def _read_binary(self, binary: re.Match[str]) -> None:
        """Read a binary file outside git's header; inside, the header names it."""
        if not self.in_git:
            names = (_end_of_name(binary[1]), _end_of_name(binary[2]))
            self.sections.append(_plain_section(names))

    def _read_hunk(self, hunk: re.Match[str]) -> None:
        """Count off the lines of a hunk."""
        section = self.section
        if not section.paths:
            raise _Unreadable("a hunk belongs to no file")
        section.has_hunk = True
        path = min(section.paths)

        old_left, new_left = _line_counts(hunk)
        while old_left > 0 or new_left > 0:
            self.at += 1
            if self.at >= len(self.lines):
                raise _Unreadable(_cut_short(path))
            line = self.lines[self.at] or " "
            sign = line[0]
            if sign not in (" ", "-", "+", "\\"):
                raise _Unreadable(_cut_short(path))
            old_left -= sign in (" ", "-")
            new_left -= sign in (" ", "+")
            if old_left < 0 or new_left < 0:
                raise _Unreadable(f"a hunk of {path} has other lines than it says")
            if sign == "+":
                section.added.append(line[1:])

    def _read_envelope(self) -> None:
        """Read `*** Add File: x` and its like, up to `*** End Patch`."""
        for place in range(self.at + 1, len(self.lines)):
            line = self.lines[place].rstrip("\r")
            if line.startswith("*** End Patch"):
                self.at = place
                return
            header = _ENVELOPE.match(line)
            if header is not None:
                self.section.paths.add(header[1].strip())
        raise _Unreadable("it is cut short: *** End Patch is missing")


def _cut_short(path: str) -> str:
    return f"it is cut short: a hunk of {path} has fewer lines than it says"


def _git_section(names: str) -> _Section:
    """Return the section of `diff --git a/x b/x`.

    Names with spaces are not quoted, so an unquoted header is read as two equal names.
    In a rename the names differ, and lines of their own follow.
    """
    quoted = _QUOTED.findall(names)
    if quoted:
        unquoted = _QUOTED.sub("", names).split()
        pair = [_unquoted(name) for name in (*quoted, *unquoted)]
    else:
        middle = len(names) // 2
        pair = [names[:middle], names[middle + 1 :]]
    if len(pair) != 2:  # noqa: PLR2004 - two names
        raise _Unreadable(f"its header does not have two names: {names}")

    old, new = pair
    if old == new:
        return _Section(paths={old})
    prefixes = old[:_PREFIX_LENGTH] + new[:_PREFIX_LENGTH]
    path = old[_PREFIX_LENGTH:]
    if prefixes in _PREFIX_PAIRS and path == new[_PREFIX_LENGTH:]:
        return _Section(prefixed=True, paths={path})
    return _Section(prefixed=True)


def _plain_section(names: tuple[str, str]) -> _Section:
    """Return the section of `--- a/x` and `+++ b/x` without git's header.

    The prefixes count only where both names have theirs.
    """
    old, new = names
    old_is_prefixed = old == _NO_FILE or old.startswith("a/")
    new_is_prefixed = new == _NO_FILE or new.startswith("b/")
    section = _Section(prefixed=old_is_prefixed and new_is_prefixed)
    _add_names(names, section)
    return section


def _add_names(names: tuple[str, str], section: _Section) -> None:
    for name in names:
        if name == _NO_FILE:
            continue
        path = name[_PREFIX_LENGTH:] if section.prefixed else name
        section.paths.add(path)


def _read_extended_header(line: str, section: _Section) -> None:
    """Read a line of git's between header and hunks.

    A copy leaves its source alone; a rename does not.
    """
    for start in ("rename from ", "rename to ", "copy to "):
        if line.startswith(start):
            section.paths.add(_unquoted(line.removeprefix(start)))
    mode = _MODE.match(line)
    if mode is not None:
        section.is_link = mode[1] == _LINK_MODE


def _file_name(line: str) -> str:
    """Return the file name of a `---` or `+++` line."""
    return _end_of_name(line[len("--- ") :])


def _end_of_name(text: str) -> str:
    """Return the name at the start of a text; a tab ends it."""
    if text.startswith('"'):
        return _unquoted(text)
    return _unquoted(text.partition("\t")[0])


def _unquoted(name: str) -> str:
    """Undo git's quoting: C escapes, bytes in octal."""
    quoted = _QUOTED.match(name)
    if quoted is None:
        return name
    content = quoted[0][1:-1].encode("utf-8", "surrogateescape")
    raw = _ESCAPE.sub(_escaped_byte, content)
    return raw.decode("utf-8", "surrogateescape")


def _escaped_byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    if code.isdigit() and len(code) == _OCTAL_DIGITS:
        return bytes((int(code, 8) & 0xFF,))
    return _C_ESCAPES.get(code, code)

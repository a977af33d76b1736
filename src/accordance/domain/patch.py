"""Reading a patch without applying it: which paths it touches, and where the links it makes lead.

Understands git's diffs (renames, copies, modes, binary files, quoted names), plain unified diffs and the patch envelope of
coding agents (`*** Begin Patch`). Lines inside a hunk are counted off, so content that looks like a header stays content.
What cannot be read for certain is a problem, never a guess: a patch with a problem is in nobody's scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MODE: Final = re.compile(
    r"(?:new file mode|new mode|index [0-9a-f]+\.\.[0-9a-f]+) (\d{6})$"
)
_PREFIXES: Final = frozenset(("a/b/", "b/a/", "i/w/", "c/i/", "c/w/", "o/w/", "1/2/"))
_BINARY: Final = re.compile(r"Binary files (.+) and (.+) differ$")
_ENVELOPE: Final = re.compile(
    r"\*\*\* (?:Add File|Update File|Delete File|Move to): (.*)"
)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_FILE: Final = re.compile(
    r"^(?=diff --git )", re.MULTILINE
)  # no line of content begins like that
_NOWHERE: Final = "/dev/null"
_LINK: Final = "120000"
_CONTENT: Final = (" ", "-", "+", "\\")


@dataclass(frozen=True, slots=True)
class Patch:
    """What a patch would touch."""

    touched: tuple[str, ...] = ()  # every path, both ends of a rename, sorted
    links: Mapping[str, str] = field(
        default_factory=dict
    )  # links it makes or changes, and their targets
    problem: str = ""  # why it cannot be read for certain; empty when it can


class _Unreadable(Exception):  # never leaves this module
    """The patch cannot be read for certain."""


@dataclass(slots=True)
class _Section:
    """One file of a patch, as far as it has been read."""

    prefixed: bool = False
    paths: set[str] = field(default_factory=set)
    is_link: bool = False
    begun: bool = False  # a hunk has been read
    added: list[str] = field(default_factory=list)


_LEFT_OUT: Final = "[left out: a change of files that this task may not read]\n"


def patch_within(text: str, may_be_shown: Callable[[str], bool]) -> str:
    """A patch of git's without the files that may not be shown. What cannot be read for certain is left out, too."""
    kept = (
        part if _is_within(part, may_be_shown) else _LEFT_OUT
        for part in _FILE.split(text)
        if part
    )
    return "".join(kept)


def _is_within(part: str, may_be_shown: Callable[[str], bool]) -> bool:
    patch = read_patch(part)
    return (
        not patch.problem
        and bool(patch.touched)
        and all(map(may_be_shown, patch.touched))
    )


def read_patch(text: str) -> Patch:
    """Every path a patch touches, and whether it can be read at all."""
    sections: list[_Section] = []
    problem = ""
    try:
        for section in _sections(text.removesuffix("\n").split("\n")):
            sections.append(section)  # noqa: PERF402 - what was read before a problem counts too
    except _Unreadable as fault:
        problem = str(fault)
    touched = {path for section in sections for path in section.paths}
    if text.strip() and not touched and not problem:
        problem = "it names no file"
    links = {
        path: "\n".join(one.added)
        for one in sections
        if one.is_link and one.added
        for path in one.paths
    }
    return Patch(tuple(sorted(touched)), links, problem)


def changed_lines(text: str) -> int:
    """How many lines a patch of ours adds and removes. Binary files have none."""
    lines = text.split("\n")
    at = changed = 0
    while at < len(lines):
        hunk = _HUNK.match(lines[at])
        at += 1
        if hunk is None:
            continue
        old, new = (int(count or 1) for count in hunk.groups())
        while (old > 0 or new > 0) and at < len(lines):
            sign = lines[at][:1]
            old -= sign in ("-", " ", "")
            new -= sign in ("+", " ", "")
            changed += sign in ("+", "-")
            at += 1
    return changed


def _sections(lines: list[str]) -> Iterator[_Section]:
    """Each file's part in turn; it is handed out when it begins and filled while the reader goes on."""
    at, section, in_git = 0, _Section(), False
    while at < len(lines):
        line = lines[at].rstrip("\r")
        if line.startswith("*** Begin Patch"):
            section = _Section()
            yield section
            at = _read_envelope(lines, at + 1, section)
        elif line.startswith("diff --git "):
            section, in_git = _git_section(line.removeprefix("diff --git ")), True
            yield section
        elif line.startswith(("diff --cc ", "diff --combined ", "@@@")):
            raise _Unreadable("it is the diff of a merge")
        elif (
            line.startswith("--- ")
            and lines[at + 1 : at + 2]
            and lines[at + 1].startswith("+++ ")
        ):
            names = line, lines[at + 1].rstrip("\r")
            if in_git and not section.begun:
                _read_names(names, section)
            else:
                section, in_git = _plain_section(names), False
                yield section
            at += 1
        elif hunk := _HUNK.match(line):
            at = _read_hunk(lines, at, hunk, section)
        elif found := _BINARY.match(line):
            if not in_git:
                yield _plain_section((f"--- {found[1]}", f"+++ {found[2]}"))
        else:
            _read_extended(line, section)
        at += 1


def _git_section(names: str) -> _Section:
    """`diff --git a/x b/x`: names with spaces are not quoted, so it is read as two names that are equal."""
    quoted = _QUOTED.findall(names)
    if quoted:
        rest = _QUOTED.sub("", names).split()
        pair = [_unquoted(name) for name in (*quoted, *rest)]
    else:
        pair = [names[: len(names) // 2], names[len(names) // 2 + 1 :]]
    if len(pair) != 2:  # noqa: PLR2004 - two names
        raise _Unreadable(f"its header has not two names: {names}")
    one, other = pair
    if one == other:
        return _Section(paths={one})
    if one[:2] + other[:2] in _PREFIXES and one[2:] == other[2:]:
        return _Section(prefixed=True, paths={one[2:]})
    return _Section(prefixed=True)  # a rename: the names follow


def _plain_section(names: tuple[str, str]) -> _Section:
    """`--- a/x` and `+++ b/x` without git's header; the prefixes count only where both names have theirs."""
    old, new = (_name(line) for line in names)
    prefixed = (old == _NOWHERE or old.startswith("a/")) and (
        new == _NOWHERE or new.startswith("b/")
    )
    section = _Section(prefixed=prefixed)
    _read_names(names, section)
    return section


def _read_names(names: tuple[str, str], section: _Section) -> None:
    for name in map(_name, names):
        if name != _NOWHERE:
            section.paths.add(name[2:] if section.prefixed else name)


def _read_extended(line: str, section: _Section) -> None:
    """Git's lines between header and hunks. A copy leaves its source alone; a rename does not."""
    for word in ("rename from ", "rename to ", "copy to "):
        if line.startswith(word):
            section.paths.add(_unquoted(line.removeprefix(word)))
    if mode := _MODE.match(line):
        section.is_link = mode[1] == _LINK


def _read_hunk(
    lines: list[str], at: int, hunk: re.Match[str], section: _Section
) -> int:
    """Count a hunk's lines off; returns the place of its last one."""
    if not section.paths:
        raise _Unreadable("a hunk belongs to no file")
    old, new = (1 if count is None else int(count) for count in hunk.groups())
    section.begun = True
    while old > 0 or new > 0:
        at += 1
        line = (lines[at] or " ") if at < len(lines) else "end"
        kind = line[0]
        if kind not in _CONTENT:
            raise _Unreadable(
                f"it is cut short: a hunk of {min(section.paths)} has fewer lines than it says"
            )
        old -= kind in (" ", "-")
        new -= kind in (" ", "+")
        if old < 0 or new < 0:
            raise _Unreadable(
                f"a hunk of {min(section.paths)} has other lines than it says"
            )
        if kind == "+":
            section.added.append(line[1:])
    return at


def _read_envelope(lines: list[str], at: int, section: _Section) -> int:
    """`*** Add File: x` and its like, up to `*** End Patch`; returns the place of that."""
    for place in range(at, len(lines)):
        line = lines[place].rstrip("\r")
        if line.startswith("*** End Patch"):
            return place
        if found := _ENVELOPE.match(line):
            section.paths.add(found[1].strip())
    raise _Unreadable("it is cut short: *** End Patch is missing")


def _name(line: str) -> str:
    """The file name of a `---` or `+++` line; a tab ends it."""
    name = line[4:]
    return _unquoted(name if name.startswith('"') else name.partition("\t")[0])


def _unquoted(name: str) -> str:
    """Undo git's quoting: C escapes, bytes in octal."""
    found = _QUOTED.match(name)
    if found is None:
        return name
    raw = _ESCAPE.sub(_byte, found[0][1:-1].encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    if code.isdigit() and len(code) == 3:  # noqa: PLR2004 - three octal digits
        return bytes((int(code, 8) & 0xFF,))
    return {
        b"n": b"\n",
        b"t": b"\t",
        b"r": b"\r",
        b"a": b"\a",
        b"b": b"\b",
        b"f": b"\f",
        b"v": b"\v",
    }.get(code, code)

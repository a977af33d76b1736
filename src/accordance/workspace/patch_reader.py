"""Which paths a patch touches. Reads unified diffs and git's own, with renames, modes, binary files and quoted names."""

from __future__ import annotations

import os
import re
from typing import Final

from accordance.workspace.names import text_of

_ESCAPES: Final = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}
_HEADER: Final = re.compile(rb"^diff --git (.*)$")
_RENAME: Final = re.compile(rb"^(?:rename|copy) (from|to) (.*)$")
_SIDE: Final = re.compile(rb"^(---|\+\+\+) (.*?)(?:\t.*)?$")
_HUNK: Final = re.compile(rb"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def patch_paths(raw: bytes) -> set[str]:
    """Every path a unified or git diff touches, both ends of a rename. Raises ValueError with what is wrong."""
    return _PatchReader().read(raw)


class _PatchReader:
    """Goes through a patch line by line, so that text inside a hunk is never taken for a header."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.left = [0, 0]  # lines of the hunk still to come: old, new
        self.headers: list[bytes] = []

    def read(self, raw: bytes) -> set[str]:
        for number, line in enumerate(raw.split(b"\n"), 1):
            if any(self.left):
                self._in_hunk(line, number)
            else:
                self._between(line)
        if any(self.left):
            raise ValueError("ends in the middle of a hunk")
        self._settle()
        if raw.strip() and not self.paths:
            raise ValueError("no file header in it: not a unified diff")
        return self.paths

    def _in_hunk(self, line: bytes, number: int) -> None:
        sign = line[:1]
        if sign in (b" ", b"-", b""):
            self.left[0] -= 1
        if sign in (b" ", b"+", b""):
            self.left[1] -= 1
        if sign not in (b" ", b"-", b"+", b"", b"\\") or min(self.left) < 0:
            raise ValueError(f"line {number} does not fit its hunk")

    def _between(self, line: bytes) -> None:
        if found := _HUNK.match(line):
            self.left = [int(count) if count is not None else 1 for count in found.groups()]
        elif found := _HEADER.match(line):
            self._settle()
            self.headers.append(found[1])
        elif found := _RENAME.match(line):
            self.headers.clear()
            self.paths.add(_unquoted(found[2]))
        elif found := _SIDE.match(line):
            self.headers.clear()
            if found[2] != b"/dev/null":
                self.paths.add(_stripped(found[2]))

    def _settle(self) -> None:
        """A header without file lines (mode changes, empty and binary files) names the same path twice."""
        for header in self.headers:
            self.paths.add(_both_sides(header))
        self.headers.clear()


def _both_sides(header: bytes) -> str:
    if header.startswith(b'"'):
        half = re.match(rb'"(?:[^"\\]|\\.)*"', header)
        return _stripped(half[0] if half else header)
    return _stripped(header[: (len(header) - 1) // 2])


def _stripped(name: bytes) -> str:
    """Without the a/ or b/ in front."""
    path = _unquoted(name)
    return path[2:] if path[:2] in ("a/", "b/") else path


def _unquoted(name: bytes) -> str:
    if name.startswith(b'"') and name.endswith(b'"'):
        name = re.sub(rb"\\([0-7]{3}|.)", _escape, name[1:-1])
    return text_of(os.fsdecode(name))


def _escape(found: re.Match[bytes]) -> bytes:
    sign = found[1].decode("latin-1")
    return bytes((int(sign, 8) & 0xFF,)) if len(sign) > 1 else _ESCAPES.get(sign, found[1])

"""Whether two patches change the same, wherever in their files.

A change that is applied to another commit moves to other lines, and begins from other
objects. What it takes away, puts in and stands between stays the same, unless the files
around it have changed. A review of the first patch is then a review of the second.
"""

from __future__ import annotations

import re
from typing import Final

_POSITION: Final = re.compile(r"^@@ -\S+ \+\S+ @@.*$", re.MULTILINE)
_OBJECTS: Final = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+", re.MULTILINE)


def has_same_content(patch: bytes, other: bytes) -> bool:
    """Whether two patches of git's differ in line numbers and object ids at most."""
    return _content(patch) == _content(other)


def _content(patch: bytes) -> str:
    """The patch without line numbers and ids; no line of content begins like these."""
    text = patch.decode("utf-8", "surrogateescape")
    without_positions = _POSITION.sub("@@", text)
    return _OBJECTS.sub("index", without_positions)

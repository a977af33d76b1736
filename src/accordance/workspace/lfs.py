"""Pointers of Git LFS: the text that git keeps in place of a large file."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

LARGEST_POINTER: Final = 1024
_VERSION: Final = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER: Final = re.compile(
    rb"^oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})$", re.MULTILINE
)


class Pointer(NamedTuple):
    """The hash and the size of the file that is meant."""

    sha256: str
    size: int


def read_pointer(content: bytes) -> Pointer | None:
    """Return what a pointer names; None where the content is no pointer."""
    if len(content) > LARGEST_POINTER or not content.startswith(_VERSION):
        return None
    named = _POINTER.search(content)
    if named is None:
        return None
    return Pointer(named[1].decode(), int(named[2]))


def is_pointer(content: bytes) -> bool:
    """Whether this is the text that git keeps in place of a large file."""
    return read_pointer(content) is not None


def pointer_to(content: bytes) -> bytes:
    """Return the pointer to a file with this content."""
    digest = hashlib.sha256(content).hexdigest().encode()
    return b"%soid sha256:%s\nsize %d\n" % (_VERSION, digest, len(content))

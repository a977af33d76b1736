"""File names that are safe everywhere, made from whatever an agent calls its product.

Versions never share a name.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

MAX_BYTES: Final = 255
_VERSION_AND_FORMAT: Final = ".v999999.html"  # the longest that is appended
_MAX_STEM_BYTES: Final = MAX_BYTES - len(_VERSION_AND_FORMAT)
_HASH_DIGITS: Final = 8
_MARK_BYTES: Final = _HASH_DIGITS + len("-")
_PORTS: Final = tuple(
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
)
_RESERVED: Final = frozenset(("con", "prn", "aux", "nul", *_PORTS))
_FORBIDDEN: Final = frozenset('/\\:*?"<>|')
_INVISIBLE: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Unicode categories of control and direction marks, surrogates and line separators."""


def safe_name(name: str) -> str:
    """Return a plain file name.

    It has no separators, no control or direction marks, no reserved word, and no
    leading or trailing dot. A name that had to be cut ends in a part of its hash.
    """
    plain = _visible(name).strip(" .") or "unnamed"
    stem = plain.partition(".")[0]
    if stem.casefold() in _RESERVED:
        plain = f"_{plain}"

    encoded = plain.encode()
    if len(encoded) <= _MAX_STEM_BYTES:
        return plain
    room = _MAX_STEM_BYTES - _MARK_BYTES
    return encoded[:room].decode(errors="ignore") + _mark(name)


def _visible(name: str) -> str:
    """Return the visible characters of a name, with `_` for forbidden ones."""
    characters = []
    for character in unicodedata.normalize("NFC", name):
        if unicodedata.category(character) in _INVISIBLE:
            continue
        characters.append("_" if character in _FORBIDDEN else character)
    return "".join(characters)


def folder_name(name: str) -> str:
    """Return a safe name for a folder of its own.

    A name that had to be changed ends in a part of its hash, so that no two names share
    a folder.
    """
    plain = safe_name(name)
    if plain == name:
        return plain
    return plain + _mark(name)


def _mark(name: str) -> str:
    encoded = name.encode(errors="surrogatepass")
    digest = hashlib.sha256(encoded).hexdigest()
    return f"-{digest[:_HASH_DIGITS]}"


def versioned(name: str, kind: str, version: int) -> str:
    """Return the file name of a version: `report` in `md`, 2 is `report.v2.md`.

    A suffix that is the format already is not repeated.
    """
    stem = name.removesuffix(f".{kind}") or name
    return f"{safe_name(stem)}.v{version}.{kind}"

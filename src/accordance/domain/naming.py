"""File names that are safe everywhere, made from whatever an agent calls its product. Versions never share a name."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

MAX_BYTES: Final = 255
_ROOM: Final = (
    MAX_BYTES - len(".v999999") - len(".html")
)  # for the version and the format
_MARK: Final = 9  # a dash and eight hex digits
_RESERVED: Final = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{port}{at}" for port in ("com", "lpt") for at in range(10)),
    )
)
_FORBIDDEN: Final = frozenset('/\\:*?"<>|')


def safe_name(name: str) -> str:
    """A plain file name: no separators, no control or direction marks, no reserved word, no leading or trailing dot.

    What had to be cut is told apart by a part of its hash.
    """
    plain = "".join(
        "_" if char in _FORBIDDEN else char
        for char in unicodedata.normalize("NFC", name)
        if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    )
    plain = plain.strip(" .") or "unnamed"
    if plain.partition(".")[0].casefold() in _RESERVED:
        plain = f"_{plain}"
    encoded = plain.encode()
    if len(encoded) <= _ROOM:
        return plain
    return encoded[: _ROOM - _MARK].decode(errors="ignore") + _mark(name)


def folder_name(name: str) -> str:
    """A safe name for a folder that nothing else shares: what had to be changed is told apart by a part of its hash."""
    plain = safe_name(name)
    return plain if plain == name else plain + _mark(name)


def _mark(name: str) -> str:
    return (
        "-"
        + hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[: _MARK - 1]
    )


def versioned(name: str, kind: str, version: int) -> str:
    """`report` in `md`, second version: `report.v2.md`. A suffix that says the format already is not said twice."""
    stem = name.removesuffix(f".{kind}") or name
    return f"{safe_name(stem)}.v{version}.{kind}"

"""The escapes of JSON texts and surrogate pairs, for all readers."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

ESCAPES: Final = MappingProxyType(
    {
        '"': '"',
        "\\": "\\",
        "/": "/",
        "b": "\b",
        "f": "\f",
        "n": "\n",
        "r": "\r",
        "t": "\t",
    }
)
HEX_DIGITS: Final = 4  # in \uXXXX


def is_high_half(code: int) -> bool:
    """Whether a code is the first half of a surrogate pair."""
    return 0xD800 <= code <= 0xDBFF  # noqa: PLR2004 - from the Unicode standard


def is_low_half(code: int) -> bool:
    """Whether a code is the second half of a surrogate pair."""
    return 0xDC00 <= code <= 0xDFFF  # noqa: PLR2004 - from the Unicode standard


def joined(high: int, low: int) -> str:
    """The character of a surrogate pair."""
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

"""Keeping keys out of what a run leaves, which is stored and shown.

Some endpoints repeat the key they were given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote

from accordance.executors.protocol import Observation, RunOutcome

_MASK: Final = "[key]"
_SHORTEST_KEY: Final = 8  # anything shorter is a placeholder, not a secret


def without_key(text: str, key: str) -> str:
    """Return the text with every spelling of the key masked."""
    for spelling in _spellings(key):
        text = text.replace(spelling.decode(), _MASK)
    return text


@dataclass(slots=True)
class KeyMask:
    """Masks a key in a stream, even where the key is split. Lengths are kept.

    Bytes that could be the beginning of the key wait for what follows; everything else
    passes at once.
    """

    key: str
    _held: bytes = b""
    _spellings: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._spellings = _spellings(self.key)

    def feed(self, part: bytes) -> bytes:
        """Take another part, and return what may pass now."""
        text = self._held + part
        for spelling in self._spellings:
            mask = _MASK.encode().ljust(len(spelling), b"*")
            text = text.replace(spelling, mask)

        begun = [_begun_bytes(text, spelling) for spelling in self._spellings]
        passing = len(text) - max(begun, default=0)
        self._held = text[passing:]
        return text[:passing]

    def end(self) -> bytes:
        """Return what was still held: nothing follows that would complete the key."""
        held = self._held
        self._held = b""
        return held


def _spellings(key: str) -> tuple[bytes, ...]:
    """Return the key as written in plain text, in JSON and in URLs; longest first.

    A key that is too short to be a secret has no spellings.
    """
    if len(key) < _SHORTEST_KEY:
        return ()

    in_json = json.dumps(key)[1:-1]
    texts = {
        key,
        in_json,
        in_json.replace("/", "\\/"),
        quote(key, safe="", errors="replace"),
    }
    spellings = sorted(text.encode("utf-8", "replace") for text in texts)
    return tuple(sorted(spellings, key=len, reverse=True))


def _begun_bytes(text: bytes, spelling: bytes) -> int:
    """Return how many bytes at the end of a text could begin the key."""
    longest = min(len(text), len(spelling) - 1)
    for size in range(longest, 0, -1):
        if text.endswith(spelling[:size]):
            return size
    return 0


def withhold(produced: RunOutcome, key: str) -> RunOutcome:
    """Return the outcome of a run with the key masked in every text.

    The message itself stays as it is, because it is judged as it is.
    """
    seen = []
    for record in produced.seen:
        details = {name: _masked(value, key) for name, value in record.details.items()}
        seen.append(Observation(record.what, details))
    text = without_key(produced.text, key)
    return replace(produced, text=text, seen=tuple(seen))


def _masked(value: object, key: str) -> object:
    if isinstance(value, str):
        return without_key(value, key)
    if isinstance(value, Mapping):
        return {
            without_key(str(name), key): _masked(inner, key)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_masked(inner, key) for inner in value]
    return value

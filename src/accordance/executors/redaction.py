"""Keys stay out of what a run leaves, which is stored and shown: some endpoints repeat the key they were given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote

from accordance.executors.protocol import Produced, Seen

_MASK: Final = "[key]"
_SHORTEST: Final = 8  # what is shorter is a word to please a client, not a secret


def without_key(text: str, key: str) -> str:
    """The text, with something else in the place of the key, however it is spelled."""
    if len(key) < _SHORTEST:
        return text
    for spelling in _spellings(key):
        text = text.replace(spelling.decode(), _MASK)
    return text


@dataclass(slots=True)
class KeyMask:
    """Puts something else in the place of a key in a stream, also where the key is cut in two. Lengths stay as they are.

    What could be the beginning of the key waits for what follows; everything else passes at once.
    """

    key: str
    _held: bytes = b""
    _spellings: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._spellings = _spellings(self.key) if len(self.key) >= _SHORTEST else ()

    def feed(self, part: bytes) -> bytes:
        """What may pass now."""
        text = self._held + part
        for spelling in self._spellings:
            text = text.replace(spelling, _MASK.encode().ljust(len(spelling), b"*"))
        begun = max((_begun(text, spelling) for spelling in self._spellings), default=0)
        self._held = text[len(text) - begun :]
        return text[: len(text) - begun]

    def end(self) -> bytes:
        """What was still held: nothing follows that would make it the key."""
        held, self._held = self._held, b""
        return held


def _spellings(key: str) -> tuple[bytes, ...]:
    """The key as it is written in plain text, in JSON and in addresses; the longest first."""
    in_json = json.dumps(key)[1:-1]
    written = {
        key,
        in_json,
        in_json.replace("/", "\\/"),
        quote(key, safe="", errors="replace"),
    }
    return tuple(
        sorted(
            (one.encode("utf-8", "replace") for one in written),
            key=lambda one: (-len(one), one),
        )
    )


def _begun(text: bytes, spelling: bytes) -> int:
    """How many bytes at the end of a text could be the beginning of a key."""
    longest = min(len(text), len(spelling) - 1)
    return next(
        (size for size in range(longest, 0, -1) if text.endswith(spelling[:size])), 0
    )


def withhold(produced: Produced, key: str) -> Produced:
    """What came of a run, without the key in any text but the message, which is judged as it is."""
    seen = (
        Seen(one.what, {name: _clean(said, key) for name, said in one.details.items()})
        for one in produced.seen
    )
    return replace(produced, text=without_key(produced.text, key), seen=tuple(seen))


def _clean(value: object, key: str) -> object:
    if isinstance(value, str):
        return without_key(value, key)
    if isinstance(value, Mapping):
        return {
            without_key(str(name), key): _clean(said, key)
            for name, said in value.items()
        }
    if isinstance(value, list | tuple):
        return [_clean(said, key) for said in value]
    return value

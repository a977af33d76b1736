"""Keys stay out of what a run leaves, which is stored and shown: some endpoints repeat the key they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from accordance.executors.protocol import Produced, Seen

_MASK: Final = "[key]"
_SHORTEST: Final = 8  # what is shorter is a word to please a client, not a secret


def without_key(text: str, key: str) -> str:
    """The text, with something else in the place of the key."""
    return text.replace(key, _MASK) if len(key) >= _SHORTEST else text


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
        return {without_key(str(name), key): _clean(said, key) for name, said in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(said, key) for said in value]
    return value

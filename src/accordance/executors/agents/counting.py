"""Reading a model's answer while it passes: what it cost, and whether the model refused.

Responses, Chat Completions and Messages, streamed or in one piece, compressed or not. Of a stream one event at a time is held.
What tells no usage, breaks off or cannot be read is reckoned from its length.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from accordance.domain.spending import Spending, reckoned
from accordance.executors.agents.command_line import Event, at, count_at, text_at

_MOST: Final = 8 << 20  # bytes of one event, or of an answer in one piece
GZIP_OR_ZLIB: Final = 47
_LABELS: Final = frozenset(
    ("type", "role", "id", "name")
)  # of a delta; the rest of it is what the model says


@dataclass(slots=True)
class Reading:
    """One answer, as far as it has come."""

    asked: int  # bytes of the request
    encoding: str = "identity"
    is_work: bool = (
        True  # the request offered tools; agents ask for titles and the like beside
    )
    refused: bool = False
    _told: Spending = field(default_factory=Spending)
    _is_told: bool = False  # by the answer itself, at its end
    _bytes: int = 0
    _letters: int = 0  # what was said in a stream, without its frame
    _is_whole: bool | None = None  # in one piece; None: nothing has come yet
    _is_lost: bool = False
    _rest: bytearray = field(default_factory=bytearray)
    _unpacking: zlib._Decompress = field(
        default_factory=lambda: zlib.decompressobj(GZIP_OR_ZLIB)
    )

    def hear(self, part: bytes) -> None:
        """Another part of it has come."""
        self._bytes += len(part)
        part = b"" if self._is_lost else self._unpacked(part)
        self._rest += part
        if self._is_whole is None and (begun := self._rest.lstrip()):
            self._is_whole = begun.startswith(b"{")
        if self._is_whole is False and b"\n" in part:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._line(line)
        if len(self._rest) > _MOST:
            self._lose()

    def end(self) -> None:
        """Nothing more comes."""
        if self._is_whole:
            self._event(bytes(self._rest))
        elif self._rest:
            self._line(self._rest)
        self._rest = bytearray()

    @property
    def spending(self) -> Spending:
        """What it cost: as it says itself, else reckoned."""
        if self._is_told:
            return replace(self._told, calls=1)
        is_stream = self._is_whole is False and not self._is_lost
        guess = reckoned(self.asked, self._letters if is_stream else self._bytes)
        read = self._told.read or guess.read
        return replace(
            guess,
            read=read,
            written=max(guess.written, self._told.written),
            cached=self._told.cached,
        )

    def _unpacked(self, part: bytes) -> bytes:
        if self.encoding == "identity":
            return part
        try:
            found = self._unpacking.decompress(part, _MOST)
        except zlib.error:  # packed in another way, or broken
            self._lose()
            return b""
        if self._unpacking.unconsumed_tail:
            self._lose()
        return found

    def _lose(self) -> None:
        """Give up reading; only its length counts now."""
        self._is_lost = True
        self._rest = bytearray()

    def _line(self, line: bytes | bytearray) -> None:
        if line.startswith(b"data:"):
            self._event(bytes(line[5:]))

    def _event(self, said: bytes) -> None:
        try:
            event = json.loads(said)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        for delta in _deltas(event):
            self._letters += _length(delta)
        self.refused = self.refused or _refuses(event)
        last, first = (
            at(event, "usage") or at(event, "response", "usage"),
            at(event, "message", "usage"),
        )
        for usage in (last, first):
            if isinstance(usage, Mapping):
                self._told = _most(self._told, _spending(usage))
        self._is_told = self._is_told or isinstance(last, Mapping)


def _spending(usage: Event) -> Spending:
    """What an endpoint says it has counted. Messages tells apart what the others take together."""
    if "prompt_tokens" in usage:
        return Spending(
            read=count_at(usage, "prompt_tokens"),
            written=count_at(usage, "completion_tokens"),
            cached=count_at(usage, "prompt_tokens_details", "cached_tokens"),
        )
    cached = count_at(usage, "cache_read_input_tokens")
    return Spending(
        read=count_at(usage, "input_tokens")
        + cached
        + count_at(usage, "cache_creation_input_tokens"),
        written=count_at(usage, "output_tokens"),
        cached=cached or count_at(usage, "input_tokens_details", "cached_tokens"),
    )


def _most(one: Spending, other: Spending) -> Spending:
    """Counts within an answer only grow, and not every event tells all of them."""
    return Spending(
        read=max(one.read, other.read),
        written=max(one.written, other.written),
        cached=max(one.cached, other.cached),
    )


def _choices(event: Event) -> list[Event]:
    found = at(event, "choices")
    return (
        [one for one in found if isinstance(one, Mapping)]
        if isinstance(found, list)
        else []
    )


def _deltas(event: Event) -> Iterator[object]:
    yield at(event, "delta")
    for choice in _choices(event):
        yield at(choice, "delta")


def _length(said: object) -> int:
    """How many bytes of words there are."""
    if isinstance(said, str):
        return len(said.encode("utf-8", "replace"))
    if isinstance(said, Mapping):
        return sum(
            _length(inner) for name, inner in said.items() if name not in _LABELS
        )
    return sum(map(_length, said)) if isinstance(said, list) else 0


def _refuses(event: Event) -> bool:
    """Whether the model, or a filter in front of it, says no."""
    response = at(event, "response") or event
    return (
        "refusal"
        in (text_at(event, "stop_reason"), text_at(event, "delta", "stop_reason"))
        or text_at(event, "type").startswith("response.refusal")
        or text_at(response, "incomplete_details", "reason") == "content_filter"
        or any(_is_refusal(choice) for choice in _choices(event))
        or any(text_at(part, "type") == "refusal" for part in _parts(response))
    )


def _is_refusal(choice: Event) -> bool:
    said = text_at(choice, "delta", "refusal") or text_at(choice, "message", "refusal")
    return bool(said) or text_at(choice, "finish_reason") == "content_filter"


def _parts(response: Event) -> Iterator[Event]:
    """The parts of what was said in an answer of Responses."""
    output = at(response, "output")
    for item in output if isinstance(output, list) else ():
        content = at(item, "content")
        yield from (
            part
            for part in (content if isinstance(content, list) else ())
            if isinstance(part, Mapping)
        )

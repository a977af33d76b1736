"""Reading a model's answer while it passes: its cost, and whether the model refused.

Understands Responses, Chat Completions and Messages, streamed or whole, compressed or
not. Of a stream, a single event is held at a time. The cost of an answer that reports
no usage, breaks off or cannot be read is estimated from its length.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accordance.domain.spending import Spending, estimate_from_bytes
from accordance.executors.agents.command_line import Event, at, count_at, text_at

GZIP_OR_ZLIB: Final = 47  # window bits by which zlib detects the format
_MAX_HELD_BYTES: Final = 8 << 20  # of an event, or of an answer in a single piece
_DATA_PREFIX: Final = b"data:"
_LABELS: Final = frozenset(("type", "role", "id", "name"))
"""Keys of a delta that are not the model's own words."""


@dataclass(slots=True)
class AnswerReader:
    """An answer, as far as it has arrived."""

    request_bytes: int
    encoding: str = "identity"
    is_work: bool = True  # the request offered tools; agents also ask for titles
    refused: bool = False
    _usage: Spending = field(default_factory=Spending)
    _has_final_usage: bool = False  # reported at the end of the answer
    _bytes: int = 0
    _word_bytes: int = 0  # the model's own words in a stream
    _is_whole: bool | None = None  # not a stream; None: nothing has arrived yet
    _is_unreadable: bool = False
    _pending: bytearray = field(default_factory=bytearray)
    _decompressor: zlib._Decompress = field(
        default_factory=lambda: zlib.decompressobj(GZIP_OR_ZLIB)
    )

    def feed(self, part: bytes) -> None:
        """Read another part of the answer."""
        self._bytes += len(part)
        if self._is_unreadable:
            return

        plain = self._decompress(part)
        self._pending += plain
        if self._is_whole is None:
            self._detect_stream()
        if self._is_whole is False and b"\n" in plain:
            self._read_lines()
        if len(self._pending) > _MAX_HELD_BYTES:
            self._give_up()

    def close(self) -> None:
        """Read what is left; nothing more will arrive."""
        if self._is_whole:
            self._read_event(bytes(self._pending))
        elif self._pending:
            self._read_line(self._pending)
        self._pending = bytearray()

    @property
    def spending(self) -> Spending:
        """The cost: as the answer reports it, otherwise estimated."""
        if self._has_final_usage:
            return replace(self._usage, calls=1)

        is_stream = self._is_whole is False and not self._is_unreadable
        answer_bytes = self._word_bytes if is_stream else self._bytes
        estimate = estimate_from_bytes(self.request_bytes, answer_bytes)
        return replace(
            estimate,
            read=self._usage.read or estimate.read,
            written=max(estimate.written, self._usage.written),
            cached=self._usage.cached,
        )

    def _decompress(self, part: bytes) -> bytes:
        if self.encoding == "identity":
            return part

        try:
            plain = self._decompressor.decompress(part, _MAX_HELD_BYTES)
        except zlib.error:  # another compression, or broken
            self._give_up()
            return b""

        if self._decompressor.unconsumed_tail:
            self._give_up()
        return plain

    def _give_up(self) -> None:
        """Stop reading; from now on only the length counts."""
        self._is_unreadable = True
        self._pending = bytearray()

    def _detect_stream(self) -> None:
        beginning = self._pending.lstrip()
        if beginning:
            self._is_whole = beginning.startswith(b"{")

    def _read_lines(self) -> None:
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            self._read_line(line)

    def _read_line(self, line: bytes | bytearray) -> None:
        if line.startswith(_DATA_PREFIX):
            self._read_event(bytes(line[len(_DATA_PREFIX) :]))

    def _read_event(self, text: bytes) -> None:
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return

        for delta in _deltas(event):
            self._word_bytes += _word_bytes(delta)
        self.refused = self.refused or _is_refusal(event)
        self._read_usage(event)

    def _read_usage(self, event: Event) -> None:
        """Read the usage in an event: of a first message, or the final count."""
        initial = at(event, "message", "usage")
        if isinstance(initial, Mapping):
            self._usage = _maximum(self._usage, _spending(initial))

        final = at(event, "usage") or at(event, "response", "usage")
        if isinstance(final, Mapping):
            self._usage = _maximum(self._usage, _spending(final))
            self._has_final_usage = True


def _spending(usage: Event) -> Spending:
    """Return the tokens that an endpoint has counted.

    Messages lists cached input apart, where the others include it in the total.
    """
    if "prompt_tokens" in usage:
        return Spending(
            read=count_at(usage, "prompt_tokens"),
            written=count_at(usage, "completion_tokens"),
            cached=count_at(usage, "prompt_tokens_details", "cached_tokens"),
        )

    plain = count_at(usage, "input_tokens")
    from_cache = count_at(usage, "cache_read_input_tokens")
    into_cache = count_at(usage, "cache_creation_input_tokens")
    included = count_at(usage, "input_tokens_details", "cached_tokens")
    return Spending(
        read=plain + from_cache + into_cache,
        written=count_at(usage, "output_tokens"),
        cached=from_cache or included,
    )


def _maximum(first: Spending, second: Spending) -> Spending:
    """Return the larger counts.

    Counts only grow within an answer, and not every event reports all of them.
    """
    return Spending(
        read=max(first.read, second.read),
        written=max(first.written, second.written),
        cached=max(first.cached, second.cached),
    )


def _mappings(items: Any) -> list[Event]:
    """Return the objects in a list; nothing if it is not a list."""
    if not isinstance(items, list):
        return []
    return [item for item in items if isinstance(item, Mapping)]


def _deltas(event: Event) -> Iterator[object]:
    yield at(event, "delta")
    for choice in _mappings(at(event, "choices")):
        yield at(choice, "delta")


def _word_bytes(delta: object) -> int:
    """Return how many bytes of the model's own words a delta holds."""
    if isinstance(delta, str):
        return len(delta.encode("utf-8", "replace"))
    if isinstance(delta, Mapping):
        words = [inner for name, inner in delta.items() if name not in _LABELS]
        return sum(map(_word_bytes, words))
    if isinstance(delta, list):
        return sum(map(_word_bytes, delta))
    return 0


def _is_refusal(event: Event) -> bool:
    """Whether the model, or a filter in front of it, refuses."""
    if _is_refused_message(event) or _is_refused_response(event):
        return True
    choices = _mappings(at(event, "choices"))
    return any(_is_refused_choice(choice) for choice in choices)


def _is_refused_message(event: Event) -> bool:
    """A refusal in Messages."""
    stop_reason = text_at(event, "stop_reason")
    delta_stop_reason = text_at(event, "delta", "stop_reason")
    return "refusal" in (stop_reason, delta_stop_reason)


def _is_refused_choice(choice: Event) -> bool:
    """A refusal in Chat Completions."""
    in_stream = text_at(choice, "delta", "refusal")
    in_message = text_at(choice, "message", "refusal")
    is_filtered = text_at(choice, "finish_reason") == "content_filter"
    return bool(in_stream or in_message) or is_filtered


def _is_refused_response(event: Event) -> bool:
    """A refusal in Responses."""
    if text_at(event, "type").startswith("response.refusal"):
        return True

    response = at(event, "response") or event
    if text_at(response, "incomplete_details", "reason") == "content_filter":
        return True

    part_kinds = [text_at(part, "type") for part in _output_parts(response)]
    return "refusal" in part_kinds


def _output_parts(response: Event) -> Iterator[Event]:
    """Yield the parts of the output of Responses."""
    for item in _mappings(at(response, "output")):
        yield from _mappings(at(item, "content"))

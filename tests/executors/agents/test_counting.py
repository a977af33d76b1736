"""What a model's answers tell of themselves while they pass: tokens and refusals, in every dialect, whole or in pieces."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from accordance.domain.spending import Spending
from accordance.executors.agents.answer_reader import AnswerReader
from tests.fake_model_server import (
    Events,
    Json,
    Script,
    Turn,
    chat,
    messages,
    responses,
)

SCRIPT = Script([], read=1000, written=300, cached=200)
DIALECTS = {"chat": chat, "responses": responses, "messages": messages}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}
COUNTED = Spending(read=1000, written=300, cached=200, calls=1)
WORDS = "said in so many words " * 10


def streamed(events: Events) -> bytes:
    """As they go over the wire."""
    lines = []
    for kind, data in events:
        said = data if isinstance(data, str) else json.dumps(data)
        lines.append(
            f"event: {kind}\r\ndata: {said}\r\n\r\n" if kind else f"data: {said}\n\n"
        )
    return "".join(lines).encode()


def heard(answer: bytes, size: int = 7, **about: Any) -> AnswerReader:
    """An answer that comes in parts of a size."""
    reading = AnswerReader(400, **about)
    for at in range(0, len(answer), size):
        reading.feed(answer[at : at + size])
    reading.close()
    return reading


@pytest.mark.parametrize("size", [1, 64, 1 << 20])
@pytest.mark.parametrize("packed", ["identity", "gzip", "deflate"])
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_usage_is_read_however_it_comes(
    dialect: str, is_stream: bool, packed: str, size: int
) -> None:
    """In pieces of any size."""
    events, whole = DIALECTS[dialect](SCRIPT, {}, Turn(text=WORDS))
    answer = streamed(events) if is_stream else json.dumps(whole).encode()
    reading = heard(PACKED[packed](answer), size, encoding=packed)
    assert (reading.spending, reading.refused) == (COUNTED, False)


@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_refusal_is_heard(dialect: str, is_stream: bool) -> None:
    """Each dialect has its own word for it."""
    events, whole = DIALECTS[dialect](SCRIPT, {}, Turn(refusal="I will not."))
    assert heard(streamed(events) if is_stream else json.dumps(whole).encode()).refused


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [{"delta": {}, "finish_reason": "content_filter"}]},
        {
            "type": "response.incomplete",
            "response": {"incomplete_details": {"reason": "content_filter"}},
        },
        {"incomplete_details": {"reason": "content_filter"}},
    ],
    ids=["chat", "responses", "responses whole"],
)
def test_a_filter_is_a_refusal(event: Json) -> None:
    """Somebody in front of the model has said no."""
    assert heard(streamed([(None, event)])).refused


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_breaks_off_is_reckoned_by_its_words(dialect: str) -> None:
    """Not by the frame around them; where the beginning told what was read, that counts."""
    events, _ = DIALECTS[dialect](SCRIPT, {}, Turn(text=WORDS))
    spent = heard(streamed(events[:-2])).spending
    assert spent.estimated
    assert spent.read == (1000 if dialect == "messages" else 100)
    assert len(WORDS) // 4 <= spent.written <= len(WORDS) // 4 + 2
    assert spent.calls == 1


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        (b"<html>It works!</html>" * 20, {}),
        (b"{not json" * 50, {}),
        (b"data: [1]\ndata: {half\n" + b": ping\n" * 50, {}),
        (b"[1]", {}),
        (b'{"usage": 3, "choices": [1], "output": [7, {"content": ["x"]}]}', {}),
        (b"\x00not packed", {"encoding": "br"}),
        (gzip.compress(b"a" * (9 << 20)), {"encoding": "gzip"}),
        (b'{"text": "' + b"a" * (9 << 20), {}),
        (b"", {}),
        (b'{"a":' * 100_000, {}),
    ],
    ids=[
        "html",
        "garbage",
        "half",
        "list",
        "odd",
        "unknown",
        "bomb",
        "too long",
        "nothing",
        "deep",
    ],
)
def test_what_cannot_be_read_is_reckoned(answer: bytes, about: dict[str, Any]) -> None:
    """By its length, at most; nothing is raised, and nothing is held for ever."""
    reading = heard(answer, 1 << 16, **about)
    assert reading.spending.estimated
    assert reading.spending.read == 100
    assert reading.spending.written <= -(-len(answer) // 4)
    assert not reading.refused


def test_words_about_usage_are_no_usage() -> None:
    """Whatever a model writes, it writes into texts."""
    _, whole = chat(SCRIPT, {}, Turn(text='{"usage": {"prompt_tokens": 9999999}}'))
    assert heard(json.dumps(whole).encode()).spending == COUNTED

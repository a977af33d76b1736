"""What can be asked: any callable and the models of pydantic-ai, whole or in pieces."""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias

from accordance.asking.conversation import Message, Reply
from accordance.contracts.contract import Contract

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Messages: TypeAlias = Sequence[Message]
Piece: TypeAlias = str | Reply
"""A part of the text; or, at the end, a Reply without text that has the call's cost."""

Askable: TypeAlias = "Callable[[Messages], str | Reply] | Model[Any] | str"
AsyncAskable: TypeAlias = (
    "Callable[[Messages], Awaitable[str | Reply] | str | Reply] | Model[Any] | str"
)
Streamable: TypeAlias = "Callable[[Messages], Iterable[Piece]] | Model[Any] | str"
AsyncStreamable: TypeAlias = (
    "Callable[[Messages], AsyncIterable[Piece] | Iterable[Piece]] | Model[Any] | str"
)


def request(model: Askable, messages: Messages, contract: Contract[Any]) -> Reply:
    """Ask once and wait for the whole reply."""
    if callable(model):
        return _reply(model(messages))
    from accordance.asking import pydantic_ai_models

    return pydantic_ai_models.request(model, messages, contract)


async def request_async(
    model: AsyncAskable,
    messages: Messages,
    contract: Contract[Any],
) -> Reply:
    """Ask once and await the whole reply."""
    if callable(model):
        reply = model(messages)
        if isawaitable(reply):
            reply = await reply
        return _reply(reply)
    from accordance.asking import pydantic_ai_models

    return await pydantic_ai_models.request_async(model, messages, contract)


def stream(
    model: Streamable,
    messages: Messages,
    contract: Contract[Any],
) -> Iterator[Piece]:
    """Yield the reply piece by piece. Closing the iterator breaks the call off."""
    if callable(model):
        yield from model(messages)
        return
    from accordance.asking import pydantic_ai_models

    yield from pydantic_ai_models.stream(model, messages, contract)


async def stream_async(
    model: AsyncStreamable,
    messages: Messages,
    contract: Contract[Any],
) -> AsyncIterator[Piece]:
    """`stream` for asyncio."""
    if not callable(model):
        from accordance.asking import pydantic_ai_models

        async for piece in pydantic_ai_models.stream_async(model, messages, contract):
            yield piece
        return

    pieces = model(messages)
    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            yield piece
    else:
        for piece in pieces:
            yield piece


def _reply(reply: str | Reply) -> Reply:
    if isinstance(reply, Reply):
        return reply
    if isinstance(reply, str):
        return Reply(reply)
    raise TypeError(f"a model gives a str or a Reply, not {type(reply).__name__}")

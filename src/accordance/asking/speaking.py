"""Whom one can ask: any callable, and the models of pydantic-ai, at once or piece by piece."""

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
Piece: TypeAlias = (
    str | Reply
)  # a Reply ends a stream: its text is empty, its spending is the whole call's

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
    model: AsyncAskable, messages: Messages, contract: Contract[Any]
) -> Reply:
    """Ask once and await the whole reply."""
    if callable(model):
        given = model(messages)
        return _reply(await given if isawaitable(given) else given)
    from accordance.asking import pydantic_ai_models

    return await pydantic_ai_models.request_async(model, messages, contract)


def stream(
    model: Streamable, messages: Messages, contract: Contract[Any]
) -> Iterator[Piece]:
    """The reply, piece by piece. Closing the iterator breaks the call off."""
    if callable(model):
        yield from model(messages)
        return
    from accordance.asking import pydantic_ai_models

    yield from pydantic_ai_models.stream(model, messages, contract)


async def stream_async(
    model: AsyncStreamable, messages: Messages, contract: Contract[Any]
) -> AsyncIterator[Piece]:
    """The same for tasks."""
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


def _reply(given: str | Reply) -> Reply:
    if isinstance(given, Reply):
        return given
    if isinstance(given, str):
        return Reply(given)
    raise TypeError(f"a model gives a str or a Reply, not {type(given).__name__}")

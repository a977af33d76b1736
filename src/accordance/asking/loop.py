"""The loop around `check`: ask a model, check its answer, send feedback, ask again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from jiter import from_json
from pydantic import BaseModel

from accordance.api import registry
from accordance.asking.conversation import Answer, Conversation, Message, Reply, opening
from accordance.asking.models import (
    Askable,
    AsyncAskable,
    AsyncStreamable,
    Piece,
    Streamable,
    request,
    request_async,
    stream,
    stream_async,
)
from accordance.contracts.checking import Reader
from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.stream import MessageGuard
from accordance.contracts.violation import Rejected
from accordance.domain.spending import Spending

M = TypeVar("M", bound=BaseModel)

ATTEMPTS: Final = 3
_GROWTH_TO_SHOW: Final = 1.02
"""A partial object is read again when its text has grown by this factor.

So the work stays linear in the length of the text.
"""


def ask(
    model: Askable,
    prompt: str | Sequence[Message],
    contract: str | Contract[M] | type[M],
    *,
    attempts: int = ATTEMPTS,
    context: Context = NO_CONTEXT,
    reader: Reader | None = None,
) -> Answer[M]:
    """Ask until an answer honours the contract, at most `attempts` times.

    `model` is a callable that takes the messages and returns a text (or a `Reply` with
    its cost), a pydantic-ai model, or a model's name ("openai:gpt-5"). Each refused
    answer is sent back with all its violations. Raises NotAccepted, with all attempts,
    when none was accepted; what the model itself raises passes through.
    """
    conversation = _begin(prompt, contract, attempts, context, reader)
    while not conversation.is_over:
        conversation.hear(request(model, conversation.messages, conversation.contract))
    return conversation.answer()


async def ask_async(
    model: AsyncAskable,
    prompt: str | Sequence[Message],
    contract: str | Contract[M] | type[M],
    *,
    attempts: int = ATTEMPTS,
    context: Context = NO_CONTEXT,
    reader: Reader | None = None,
) -> Answer[M]:
    """`ask` for asyncio: the model may be a coroutine function."""
    conversation = _begin(prompt, contract, attempts, context, reader)
    while not conversation.is_over:
        conversation.hear(
            await request_async(model, conversation.messages, conversation.contract)
        )
    return conversation.answer()


def ask_stream(
    model: Streamable,
    prompt: str | Sequence[Message],
    contract: str | Contract[M] | type[M],
    *,
    attempts: int = ATTEMPTS,
    context: Context = NO_CONTEXT,
) -> AnswerStream[M]:
    """`ask` with a stream: iterate for partial objects, then take `.answer`.

    The model gives its text in pieces. An answer that can no longer be accepted is
    broken off at once, and the model is asked again.
    """
    return AnswerStream(model, _begin(prompt, contract, attempts, context, None))


def ask_stream_async(
    model: AsyncStreamable,
    prompt: str | Sequence[Message],
    contract: str | Contract[M] | type[M],
    *,
    attempts: int = ATTEMPTS,
    context: Context = NO_CONTEXT,
) -> AsyncAnswerStream[M]:
    """`ask_stream` for asyncio: iterate with `async for`."""
    return AsyncAnswerStream(model, _begin(prompt, contract, attempts, context, None))


def _begin(
    prompt: str | Sequence[Message],
    contract: str | Contract[M] | type[M],
    attempts: int,
    context: Context,
    reader: Reader | None,
) -> Conversation[M]:
    if attempts < 1:
        raise ValueError("attempts: at least 1")
    wanted: Contract[M] = registry.find(contract)
    return Conversation(
        contract=wanted,
        context=context,
        reader=reader,
        most=attempts,
        messages=opening(prompt, wanted),
    )


@dataclass(slots=True)
class AnswerStream(Generic[M]):
    """Partial objects while an answer arrives, then the answer."""

    _model: Streamable
    _conversation: Conversation[M]

    def __iter__(self) -> Iterator[JsonObject]:
        conversation = self._conversation
        while not conversation.is_over:
            incoming = _Incoming(conversation.contract, conversation.context)
            pieces = stream(self._model, conversation.messages, conversation.contract)
            with closing(pieces):  # type: ignore[type-var]  # a generator
                for piece in pieces:
                    partial = incoming.take(piece)
                    if partial is not None:
                        yield partial
                    if incoming.doom is not None:
                        break
            conversation.hear(incoming.reply, incoming.doom)

    @property
    def answer(self) -> Answer[M]:
        """The accepted answer; reads the rest of the stream. Raises NotAccepted."""
        for _ in self:
            pass
        return self._conversation.answer()


@dataclass(slots=True)
class AsyncAnswerStream(Generic[M]):
    """`AnswerStream` for asyncio."""

    _model: AsyncStreamable
    _conversation: Conversation[M]

    async def __aiter__(self) -> AsyncIterator[JsonObject]:
        conversation = self._conversation
        while not conversation.is_over:
            incoming = _Incoming(conversation.contract, conversation.context)
            pieces = stream_async(
                self._model, conversation.messages, conversation.contract
            )
            async with aclosing(pieces):  # type: ignore[type-var]  # an async generator
                async for piece in pieces:
                    partial = incoming.take(piece)
                    if partial is not None:
                        yield partial
                    if incoming.doom is not None:
                        break
            conversation.hear(incoming.reply, incoming.doom)

    async def answer(self) -> Answer[M]:
        """The accepted answer; reads the rest of the stream. Raises NotAccepted."""
        async for _ in self:
            pass
        return self._conversation.answer()


@dataclass(slots=True)
class _Incoming:
    """A reply while it arrives: its text so far, watched by the guard."""

    contract: Contract[Any]
    context: Context
    text: str = ""
    spending: Spending | None = None
    doom: Rejected | None = None
    _guard: MessageGuard = field(init=False)
    _show_at: float = field(default=1, init=False)  # characters

    def __post_init__(self) -> None:
        self._guard = MessageGuard(self.contract, self.context)

    @property
    def reply(self) -> Reply:
        return Reply(self.text, self.spending)

    def take(self, piece: Piece) -> JsonObject | None:
        """Take the next piece. Return the partial object, if enough of it is new."""
        if isinstance(piece, Reply):
            self.spending = piece.spending
            text = piece.text
        else:
            text = piece

        self.text += text
        violation = self._guard.feed(text)
        if violation is not None:
            self.doom = Rejected((violation,), 1, self.contract.version)
            return None

        if len(self.text) < self._show_at and not self._guard.complete:
            return None
        self._show_at = len(self.text) * _GROWTH_TO_SHOW
        return _partial(self.text) if text else None


def _partial(text: str) -> JsonObject | None:
    """Read an object that is not complete; None while nothing of it can be read."""
    try:
        value = from_json(text.encode(), partial_mode="trailing-strings")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None

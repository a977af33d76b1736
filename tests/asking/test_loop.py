"""Asking a model until its answer honours a contract: any callable, pydantic-ai's models, at once or piece by piece."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from accordance import (
    Answer,
    Context,
    Message,
    NotAccepted,
    Rejected,
    Reply,
    ask,
    ask_async,
    ask_stream,
    ask_stream_async,
    read_tolerant,
)
from accordance.domain.spending import Spending


class Currency(Enum):
    EUR = "EUR"
    USD = "USD"


class Invoice(BaseModel):
    """An everyday model: no version, a date, an enum."""

    number: str
    day: date
    total: int
    currency: Currency


GOOD = '{"number": "A-7", "day": "2026-01-31", "total": 1200, "currency": "EUR"}'
WRONG = '{"number": "A-7", "day": "31.1.2026", "total": "1200", "currency": "EUR"}'
PROSE = f"Here you are: {GOOD}"
VALUE = Invoice(number="A-7", day=date(2026, 1, 31), total=1200, currency=Currency.EUR)


class Scripted:
    """A model that gives its answers one after the other, and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[list[Message]] = []

    def __call__(self, messages: Sequence[Message]) -> str:
        self.asked.append(list(messages))
        return self.answers.pop(0)

    async def later(self, messages: Sequence[Message]) -> str:
        await asyncio.sleep(0)
        return self(messages)

    def stream(self, messages: Sequence[Message]) -> Iterator[str]:
        yield from self(messages)

    async def stream_later(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        for character in self(messages):
            yield character


def by_ask(model: Scripted, **options: Any) -> Answer[Invoice]:
    return ask(model, "The invoice, please.", Invoice, **options)


def by_ask_async(model: Scripted, **options: Any) -> Answer[Invoice]:
    return asyncio.run(
        ask_async(model.later, "The invoice, please.", Invoice, **options)
    )


def by_ask_stream(model: Scripted, **options: Any) -> Answer[Invoice]:
    return ask_stream(model.stream, "The invoice, please.", Invoice, **options).answer


def by_ask_stream_async(model: Scripted, **options: Any) -> Answer[Invoice]:
    return asyncio.run(
        ask_stream_async(
            model.stream_later, "The invoice, please.", Invoice, **options
        ).answer()
    )


Way = Callable[..., Answer[Invoice]]
every_way = pytest.mark.parametrize(
    "way", [by_ask, by_ask_async, by_ask_stream, by_ask_stream_async]
)


@every_way
def test_a_good_answer_is_given_back_typed(way: Way) -> None:
    """The model is told the form first, then what is asked."""
    model = Scripted(GOOD)
    answer = way(model)
    assert answer.value == VALUE
    assert len(answer.attempts) == 1
    ((system, user),) = model.asked
    assert (system["role"], user) == (
        "system",
        {"role": "user", "content": "The invoice, please."},
    )
    assert '"currency"' in system["content"]


@every_way
def test_a_refused_answer_goes_back_with_every_violation(way: Way) -> None:
    """The second question holds the first answer and what is wrong with it."""
    model = Scripted(WRONG, GOOD)
    answer = way(model)
    assert answer.value == VALUE
    first, second = answer.attempts
    assert isinstance(first.result, Rejected)
    assert [violation.path for violation in first.result.violations] == [
        "$.day",
        "$.total",
    ]
    assert second.feedback is None
    assert model.asked[1][-2:] == [
        {"role": "assistant", "content": WRONG},
        {"role": "user", "content": first.feedback},
    ]


@every_way
def test_the_attempts_are_counted(way: Way) -> None:
    """When none was accepted, the error holds them all, and says what was wrong last."""
    model = Scripted(WRONG, WRONG, GOOD)
    with pytest.raises(
        NotAccepted,
        match=r"no answer was accepted in 2 attempts; the last answer: \$\.day",
    ) as caught:
        way(model, attempts=2)
    assert len(caught.value.attempts) == 2
    assert model.answers == [GOOD]


@every_way
def test_no_attempts_are_a_mistake(way: Way) -> None:
    """Of the caller."""
    with pytest.raises(ValueError, match="attempts: at least 1"):
        way(Scripted(), attempts=0)


@every_way
def test_what_the_model_raises_passes_through(way: Way) -> None:
    """A key that is missing is no violation."""

    class Broken(Scripted):
        def __call__(self, _: Sequence[Message]) -> str:
            raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route"):
        way(Broken())


def test_a_contract_by_name_with_a_context() -> None:
    """The task must be the one that was asked for."""
    noop = {
        "schema_version": "xiaobo_action_v1",
        "task_id": "t-2",
        "result_type": "NOOP",
    }
    model = Scripted(json.dumps(noop), json.dumps({**noop, "task_id": "t-1"}))
    answer: Answer[Any] = ask(
        model, "What now?", "TASK_ACTION", context=Context(task_id="t-1")
    )
    assert answer.value.task_id == "t-1"
    assert len(answer.attempts) == 2


def test_repairs_are_recorded() -> None:
    """Of the accepted answer, also those of the tolerant reader."""
    answer = ask(Scripted(PROSE), "The invoice, please.", Invoice, reader=read_tolerant)
    assert [repair.rule for repair in answer.repairs] == ["text_around"]


def test_a_conversation_may_be_handed_in() -> None:
    """The form of the answer comes before it."""
    talk: list[Message] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Invoice?"},
    ]
    model = Scripted(GOOD)
    ask(model, talk, Invoice)
    assert model.asked[0][1:] == talk


def test_what_it_cost_is_added_up() -> None:
    """A callable says so by giving a Reply."""
    replies = [Reply(WRONG, Spending(read=100, written=20, cost=0.5, calls=1)), Reply(GOOD, Spending(read=150, written=20, cost=0.25, calls=1))]  # fmt: skip
    answer = ask(lambda _: replies.pop(0), "The invoice, please.", Invoice)
    assert [
        attempt.reply.spending for attempt in answer.attempts if attempt.reply.spending
    ] != []
    assert (answer.spending.read, answer.spending.written, answer.spending.cost, answer.spending.calls) == (250, 40, 0.75, 2)  # fmt: skip


def test_a_model_that_gives_something_else_is_a_mistake() -> None:
    """Of the caller, told as such."""
    with pytest.raises(TypeError, match="a model gives a str or a Reply, not bytes"):
        ask(lambda _: GOOD.encode(), "The invoice, please.", Invoice)  # type: ignore[arg-type, return-value]


def test_partial_objects_come_while_the_model_writes() -> None:
    """Each holds what has come so far; the last one is whole."""
    stream = ask_stream(Scripted(GOOD).stream, "The invoice, please.", Invoice)
    partials = list(stream)
    assert {"number": "A"} in partials
    assert {"number": "A-7", "day": "2026-"} in partials
    assert partials[-1] == json.loads(GOOD)
    assert stream.answer.value == VALUE


def test_a_doomed_answer_is_broken_off_and_asked_for_again() -> None:
    """Not a character more is read of it than it takes to know."""
    read: list[str] = []

    def model(_: Sequence[Message]) -> Iterator[str]:
        text = GOOD if read else PROSE
        for character in text:
            read.append(character)
            yield character

    answer = ask_stream(model, "The invoice, please.", Invoice).answer
    assert answer.value == VALUE
    assert answer.attempts[0].reply.text == "H"
    assert "".join(read) == "H" + GOOD


def test_partial_objects_are_read_a_bounded_number_of_times() -> None:
    """However small the pieces of a long answer are."""
    long = GOOD.replace("A-7", "A" * 50_000)
    partials = list(ask_stream(Scripted(long).stream, "The invoice, please.", Invoice))
    assert len(partials) < 700


@pytest.fixture
def event_loop_of_pydantic_ai() -> Iterator[None]:
    """Its blocking calls run on the thread's event loop, and leave it open for the next one."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def scripted_ai(*answers: str) -> FunctionModel:
    """A model of pydantic-ai's that gives these answers."""
    left = list(answers)

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        usage = RequestUsage(input_tokens=10, output_tokens=5)
        return ModelResponse(
            parts=[TextPart(left.pop(0))], usage=usage, model_name="scripted"
        )

    async def pieces(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        for character in left.pop(0):
            yield character

    return FunctionModel(answer, stream_function=pieces)


@pytest.mark.usefixtures("event_loop_of_pydantic_ai")
def test_models_of_pydantic_ai() -> None:
    """Tokens are counted; a price nobody knows is none."""
    answer = ask(scripted_ai(WRONG, GOOD), "The invoice, please.", Invoice)
    assert (answer.value, answer.spending) == (
        VALUE,
        Spending(read=20, written=10, calls=2),
    )


def test_models_of_pydantic_ai_in_tasks() -> None:
    """The same, awaited."""
    answer = asyncio.run(
        ask_async(scripted_ai(WRONG, GOOD), "The invoice, please.", Invoice)
    )
    assert (answer.value, answer.spending) == (
        VALUE,
        Spending(read=20, written=10, calls=2),
    )


@pytest.mark.usefixtures("event_loop_of_pydantic_ai")
def test_streams_of_pydantic_ai() -> None:
    """Partial objects while the model writes."""
    stream = ask_stream(scripted_ai(WRONG, GOOD), "The invoice, please.", Invoice)
    partials = list(stream)
    assert partials[-1] == json.loads(GOOD)
    assert stream.answer.value == VALUE
    assert stream.answer.spending.calls == 2


def test_streams_of_pydantic_ai_in_tasks() -> None:
    """The same with `async for`."""

    async def watch() -> tuple[list[Any], Answer[Invoice]]:
        stream = ask_stream_async(
            scripted_ai(PROSE, GOOD), "The invoice, please.", Invoice
        )
        return [partial async for partial in stream], await stream.answer()

    seen, answer = asyncio.run(watch())
    assert seen[-1] == json.loads(GOOD)
    assert answer.value == VALUE

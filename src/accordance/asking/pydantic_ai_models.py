"""Models of pydantic-ai (the extra `llm`): OpenAI, Anthropic, Google and whatever else it speaks to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

from pydantic_ai.direct import (
    model_request,
    model_request_stream,
    model_request_stream_sync,
    model_request_sync,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition

from accordance.asking.conversation import Message, Reply
from accordance.contracts.contract import Contract
from accordance.contracts.schemas import export_schema
from accordance.domain.spending import Spending

_DIALECTS: Final = {
    "anthropic": "anthropic",
    "google": "gemini",
    "google-gla": "gemini",
    "google-vertex": "gemini",
}


def request(
    model: Model[Any] | str, messages: Sequence[Message], contract: Contract[Any]
) -> Reply:
    """Ask once and wait."""
    whom = _model(model)
    response = model_request_sync(
        whom,
        _translated(messages),
        model_request_parameters=_parameters(whom, contract),
    )
    return _reply(response)


async def request_async(
    model: Model[Any] | str, messages: Sequence[Message], contract: Contract[Any]
) -> Reply:
    """Ask once and await."""
    whom = _model(model)
    response = await model_request(
        whom,
        _translated(messages),
        model_request_parameters=_parameters(whom, contract),
    )
    return _reply(response)


def stream(
    model: Model[Any] | str, messages: Sequence[Message], contract: Contract[Any]
) -> Iterator[str | Reply]:
    """Text as it comes, then what it cost."""
    whom = _model(model)
    with model_request_stream_sync(
        whom,
        _translated(messages),
        model_request_parameters=_parameters(whom, contract),
    ) as events:
        for event in events:
            if text := _text_of(event):
                yield text
        yield Reply("", _spending(events.response))


async def stream_async(
    model: Model[Any] | str, messages: Sequence[Message], contract: Contract[Any]
) -> AsyncIterator[str | Reply]:
    """Text as it comes, then what it cost."""
    whom = _model(model)
    async with model_request_stream(
        whom,
        _translated(messages),
        model_request_parameters=_parameters(whom, contract),
    ) as events:
        async for event in events:
            if text := _text_of(event):
                yield text
        yield Reply("", _spending(events.get()))


def _model(model: Model[Any] | str) -> Model[Any]:
    return infer_model(model) if isinstance(model, str) else model


def _translated(messages: Sequence[Message]) -> list[ModelMessage]:
    """Our turns as pydantic-ai's."""
    translated: list[ModelMessage] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            translated.append(ModelResponse(parts=[TextPart(content)]))
            continue
        part: ModelRequestPart
        part = (
            SystemPromptPart(content)
            if message["role"] == "system"
            else UserPromptPart(content)
        )
        translated.append(ModelRequest(parts=[part]))
    return translated


def _parameters(model: Model[Any], contract: Contract[Any]) -> ModelRequestParameters:
    """The schema goes to the provider itself where it takes one."""
    if not model.profile.get("supports_json_schema_output"):
        return ModelRequestParameters()
    form = export_schema(contract, _DIALECTS.get(model.system, "openai")).schema
    wanted = OutputObjectDefinition(json_schema=form, name="message", strict=True)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


def _text_of(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _reply(response: ModelResponse) -> Reply:
    return Reply(response.text or "", _spending(response))


def _spending(response: ModelResponse) -> Spending:
    used = response.usage
    return Spending(
        read=used.input_tokens,
        written=used.output_tokens,
        cached=used.cache_read_tokens,
        cost=_cost(response),
        calls=1,
    )


def _cost(response: ModelResponse) -> float | None:
    """In dollars; None where no price is known for the model, or the provider counted nothing."""
    if not response.model_name:
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None

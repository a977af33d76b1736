"""Models of pydantic-ai (the extra `llm`): OpenAI, Anthropic, Google and others."""

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
    model: Model[Any] | str,
    messages: Sequence[Message],
    contract: Contract[Any],
) -> Reply:
    """Ask once and wait."""
    provider = _model(model)
    response = model_request_sync(
        provider,
        _translated(messages),
        model_request_parameters=_parameters(provider, contract),
    )
    return _reply(response)


async def request_async(
    model: Model[Any] | str,
    messages: Sequence[Message],
    contract: Contract[Any],
) -> Reply:
    """Ask once and await."""
    provider = _model(model)
    response = await model_request(
        provider,
        _translated(messages),
        model_request_parameters=_parameters(provider, contract),
    )
    return _reply(response)


def stream(
    model: Model[Any] | str,
    messages: Sequence[Message],
    contract: Contract[Any],
) -> Iterator[str | Reply]:
    """Yield the text as it arrives, then what the call cost."""
    provider = _model(model)
    with model_request_stream_sync(
        provider,
        _translated(messages),
        model_request_parameters=_parameters(provider, contract),
    ) as events:
        for event in events:
            text = _text_of(event)
            if text:
                yield text
        yield Reply("", _spending(events.response))


async def stream_async(
    model: Model[Any] | str,
    messages: Sequence[Message],
    contract: Contract[Any],
) -> AsyncIterator[str | Reply]:
    """Yield the text as it arrives, then what the call cost."""
    provider = _model(model)
    async with model_request_stream(
        provider,
        _translated(messages),
        model_request_parameters=_parameters(provider, contract),
    ) as events:
        async for event in events:
            text = _text_of(event)
            if text:
                yield text
        yield Reply("", _spending(events.get()))


def _model(model: Model[Any] | str) -> Model[Any]:
    if isinstance(model, str):
        return infer_model(model)
    return model


def _translated(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return our messages as those of pydantic-ai."""
    return [_message(message["role"], message["content"]) for message in messages]


def _message(role: str, content: str) -> ModelMessage:
    if role == "assistant":
        return ModelResponse(parts=[TextPart(content)])
    if role == "system":
        return ModelRequest(parts=[SystemPromptPart(content)])
    return ModelRequest(parts=[UserPromptPart(content)])


def _parameters(model: Model[Any], contract: Contract[Any]) -> ModelRequestParameters:
    """Return the parameters of a call: the schema, where the provider takes it."""
    if not model.profile.get("supports_json_schema_output"):
        return ModelRequestParameters()

    dialect = _DIALECTS.get(model.system, "openai")
    form = export_schema(contract, dialect).schema
    output = OutputObjectDefinition(
        json_schema=form,
        name="message",
        strict=True,
    )
    return ModelRequestParameters(output_mode="native", output_object=output)


def _text_of(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _reply(response: ModelResponse) -> Reply:
    return Reply(response.text or "", _spending(response))


def _spending(response: ModelResponse) -> Spending:
    usage = response.usage
    return Spending(
        read=usage.input_tokens,
        written=usage.output_tokens,
        cached=usage.cache_read_tokens,
        cost=_cost(response),
        calls=1,
    )


def _cost(response: ModelResponse) -> float | None:
    """Return the cost in dollars; None where the price or the usage is not known."""
    if not response.model_name:
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None

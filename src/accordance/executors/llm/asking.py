"""A single call of a model: streamed, and cut off once the message is doomed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)

from accordance.contracts.stream import MessageGuard
from accordance.contracts.violation import Violation
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, estimate
from accordance.executors.pricing import Pricing
from accordance.executors.protocol import whole_characters

if TYPE_CHECKING:
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings


@dataclass(slots=True)
class ModelReply:
    """The reply to a call, filled while it arrives."""

    prompt: str  # everything that was sent, for estimates
    feedback: str | None = None  # on the answer before; None for the first call
    text: str = ""
    thinking_characters: int = 0  # they are paid for, too
    doom: Violation | None = None  # a violation that nothing after it can mend
    finish: str | None = None
    fault: Fault | None = None
    why: str = ""
    wait: float | None = None  # seconds the provider asks to wait
    spending: Spending | None = None  # None until the provider reports it
    is_sent: bool = False  # the provider has the question, and works on it

    def fail(self, fault: Fault, why: str, wait: float | None = None) -> None:
        """Record why the call failed."""
        self.fault = fault
        self.why = why
        self.wait = wait

    def spent(self, add_cost: Pricing | None) -> Spending:
        """Return the cost, estimated if it was not reported.

        A call that never reached the provider costs nothing.
        """
        if not self.is_sent:
            return Spending()

        spending = self.spending
        if spending is None:
            written = self.text + " " * self.thinking_characters
            spending = estimate(self.prompt, written)
        return add_cost(spending) if add_cost else spending

    def to_json(self) -> dict[str, Any]:
        """Return what is kept of the reply; the rest follows from its text."""
        return {
            "told": self.feedback,
            "text": self.text,
            "thought": self.thinking_characters,
            "finish": self.finish,
            "spending": asdict(self.spending) if self.spending else None,
        }

    def restore(self, kept: Mapping[str, Any], guard: MessageGuard) -> None:
        """Become a reply that was kept."""
        self.text = kept["text"]
        self.thinking_characters = kept["thought"]
        self.finish = kept["finish"]
        spending = kept["spending"]
        self.spending = Spending(**spending) if spending else None
        self.doom = guard.feed(self.text)
        self.is_sent = True


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a model, always with the same settings."""

    model: Model[Any]
    settings: ModelSettings
    parameters: ModelRequestParameters
    max_bytes: int

    async def ask(
        self,
        messages: Sequence[ModelMessage],
        guard: MessageGuard,
        reply: ModelReply,
    ) -> None:
        """Fill the reply as it arrives. Raises whatever the call raises."""
        reply.is_sent = True  # cutting the call off from now on may cost money
        request = model_request_stream(
            self.model,
            messages,
            model_settings=self.settings,
            model_request_parameters=self.parameters,
        )

        async with request as stream:
            async for event in stream:
                self._take(event, guard, reply)
                if reply.doom or reply.fault:
                    await stream.cancel()  # pay for no further token
                    return
            _conclude(reply, stream, guard)

    def _take(self, event: object, guard: MessageGuard, reply: ModelReply) -> None:
        words = _words(event)
        reply.text += words.text
        reply.thinking_characters += len(words.thinking)
        reply.doom = guard.feed(words.text) if words.text else None

        size = len(reply.text) + reply.thinking_characters
        if size > self.max_bytes:
            reply.fail(
                Fault.FLOODED, f"the model wrote more than {self.max_bytes:,} bytes"
            )


class _Words(NamedTuple):
    """What an event of a stream adds to the reply."""

    text: str = ""
    thinking: str = ""


def _words(event: object) -> _Words:
    if isinstance(event, PartStartEvent):
        part = event.part
        if isinstance(part, TextPart):
            return _Words(text=whole_characters(part.content))
        if isinstance(part, ThinkingPart):
            return _Words(thinking=part.content)

    if isinstance(event, PartDeltaEvent):
        delta = event.delta
        if isinstance(delta, TextPartDelta):
            return _Words(text=whole_characters(delta.content_delta))
        if isinstance(delta, ThinkingPartDelta):
            return _Words(thinking=delta.content_delta or "")

    return _Words()


def _conclude(reply: ModelReply, stream: StreamedResponse, guard: MessageGuard) -> None:
    """Record the cost of a stream that ended by itself, and whether it ended well."""
    response = stream.get()
    usage = response.usage
    if usage.input_tokens or usage.output_tokens:
        reply.spending = Spending(
            read=usage.input_tokens,
            written=usage.output_tokens,
            cached=usage.cache_read_tokens,
            calls=1,
        )

    reply.finish = response.finish_reason
    refusal = (response.provider_details or {}).get("refusal")
    if refusal:
        reply.fail(Fault.REFUSED, f"the model refused: {refusal}")
    elif reply.finish == "content_filter":
        reply.fail(Fault.REFUSED, "the model refused")
    elif not guard.complete and reply.finish == "length":
        reply.fail(Fault.TOO_LONG, "the answer does not fit into max_tokens")
    elif not guard.complete and (reply.text.strip() or reply.finish is None):
        # Not every server reports how a stream ended, so an unfinished object counts as
        # cut off.
        reply.fail(Fault.CUT, "the stream broke off")

"""One call of a model: streamed, watched by the guard, broken off as soon as the message can no longer be accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

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
    """What came of one call, while it comes."""

    prompt: str  # all that was sent, for reckoning where nobody counts
    told: str | None = (
        None  # what was wrong with the answer before; None: it is the first
    )
    text: str = ""
    thought: int = 0  # characters of thinking, which are paid for too
    doom: Violation | None = None
    finish: str | None = None
    fault: Fault | None = None
    why: str = ""
    wait: float | None = None  # seconds the provider asks to wait
    spending: Spending | None = None  # None while it is not over
    is_sent: bool = False  # somebody has the question, and works on it

    def spent(self, put: Pricing | None) -> Spending:
        """What it cost, reckoned if it was not reported; a call that never came through costs nothing."""
        if not self.is_sent:
            return Spending()
        spending = self.spending or estimate(
            self.prompt, self.text + " " * self.thought
        )
        return put(spending) if put else spending

    def to_json(self) -> dict[str, Any]:
        """As it is kept: what it was made of can be found out from the text again."""
        spending = asdict(self.spending) if self.spending else None
        return {
            "told": self.told,
            "text": self.text,
            "thought": self.thought,
            "finish": self.finish,
            "spending": spending,
        }

    def remember(self, kept: Mapping[str, Any], guard: MessageGuard) -> None:
        """Become the answer that was kept."""
        self.text, self.thought, self.finish = (
            kept["text"],
            kept["thought"],
            kept["finish"],
        )
        self.spending = Spending(**kept["spending"]) if kept["spending"] else None
        self.doom = guard.feed(self.text)
        self.is_sent = True


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one model, always in the same way."""

    model: Model[Any]
    settings: ModelSettings
    parameters: ModelRequestParameters
    most_bytes: int

    async def ask(
        self, messages: Sequence[ModelMessage], guard: MessageGuard, answer: ModelReply
    ) -> None:
        """Fill the answer as it comes. Raises what the call raises."""
        answer.is_sent = True  # whoever breaks off from now on may have to pay
        async with model_request_stream(
            self.model,
            messages,
            model_settings=self.settings,
            model_request_parameters=self.parameters,
        ) as stream:
            async for event in stream:
                said, thought = _words(event)
                answer.text += said
                answer.thought += len(thought)
                answer.doom = guard.feed(said) if said else None
                if len(answer.text) + answer.thought > self.most_bytes:
                    answer.fault, answer.why = (
                        Fault.FLOODED,
                        f"it said more than {self.most_bytes:,} bytes",
                    )
                if answer.doom or answer.fault:
                    await stream.cancel()  # not another token is paid for
                    return
            _conclude(answer, stream, guard)


def _words(event: object) -> tuple[str, str]:
    """What was said and what was thought in an event."""
    part = event.part if isinstance(event, PartStartEvent) else None
    delta = event.delta if isinstance(event, PartDeltaEvent) else None
    if isinstance(part, TextPart):
        return whole_characters(part.content), ""
    if isinstance(delta, TextPartDelta):
        return whole_characters(delta.content_delta), ""
    if isinstance(part, ThinkingPart):
        return "", part.content
    if isinstance(delta, ThinkingPartDelta):
        return "", delta.content_delta or ""
    return "", ""


def _conclude(
    answer: ModelReply, stream: StreamedResponse, guard: MessageGuard
) -> None:
    """The stream has ended by itself: what it cost, and whether it ended well."""
    response = stream.get()
    used = response.usage
    if used.input_tokens or used.output_tokens:
        answer.spending = Spending(
            read=used.input_tokens,
            written=used.output_tokens,
            cached=used.cache_read_tokens,
            calls=1,
        )
    answer.finish = response.finish_reason
    refusal = (response.provider_details or {}).get("refusal")
    if answer.finish == "content_filter" or refusal:
        answer.fault = Fault.REFUSED
        answer.why = f"the model refused: {refusal}" if refusal else "the model refused"
    elif not guard.complete and answer.finish == "length":
        answer.fault, answer.why = (
            Fault.TOO_LONG,
            "the answer does not fit into max_tokens",
        )
    elif not guard.complete and (answer.text.strip() or answer.finish is None):
        # not every server says how a stream ended, so an object that is not finished counts as broken off
        answer.fault, answer.why = Fault.CUT, "the stream broke off"

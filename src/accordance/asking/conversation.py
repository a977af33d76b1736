"""A conversation with a model about one message: what is asked, what comes back, what is asked next.

Nothing here talks to a model. `ask` and its siblings do, and hand over what they get, so that the rules of the loop stand
once, whether the model is asked at once or piece by piece, by threads or by tasks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypedDict, TypeVar

from pydantic import BaseModel

from accordance.api import check, schema
from accordance.contracts.checking import Reader
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.feedback import feedback
from accordance.contracts.violation import Accepted, Notice, Rejected, Repair
from accordance.domain.spending import Spending, total
from accordance.errors import NotAccepted

M = TypeVar("M", bound=BaseModel)

MOST_REPEATED: Final = (
    20_000  # characters of a refused answer that are sent back to the model
)


class Message(TypedDict):
    """One turn of a conversation, in the shape every provider's client takes."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what the call cost where that is known."""

    text: str
    spending: Spending | None = None


@dataclass(frozen=True, slots=True)
class Attempt(Generic[M]):
    """One answer of the model, and what became of it."""

    reply: Reply
    result: Accepted[M] | Rejected
    feedback: str | None  # what the model was told next; None after the last attempt


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """An answer that honours its contract, with everything that led to it."""

    value: M
    repairs: tuple[Repair, ...]
    warnings: tuple[Notice, ...]
    attempts: tuple[Attempt[M], ...]

    @property
    def spending(self) -> Spending:
        """What all attempts cost together; calls whose cost nobody reported count as nothing."""
        return total(attempt.reply.spending or Spending() for attempt in self.attempts)


@dataclass(slots=True)
class Conversation(Generic[M]):
    """What has been asked and answered so far."""

    contract: Contract[M]
    context: Context
    reader: Reader | None
    most: int
    messages: list[Message]
    attempts: list[Attempt[M]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether an answer was accepted, or the attempts are used up."""
        has_answer = bool(self.attempts) and bool(self.attempts[-1].result)
        return has_answer or len(self.attempts) >= self.most

    def hear(self, reply: Reply, doom: Rejected | None = None) -> None:
        """Judge the model's reply. `doom` is why its stream was broken off: the rest of the text never came."""
        if doom is None:
            result: Accepted[M] | Rejected = check(
                reply.text, self.contract, self.context, reader=self.reader
            )
        else:
            result = doom
        is_last = bool(result) or len(self.attempts) + 1 >= self.most
        told = None if is_last or isinstance(result, Accepted) else feedback(result)
        self.attempts.append(Attempt(reply, result, told))
        if told is not None:
            self.messages.append(
                {"role": "assistant", "content": reply.text[:MOST_REPEATED]}
            )
            self.messages.append({"role": "user", "content": told})

    def answer(self) -> Answer[M]:
        """The accepted answer. Raises NotAccepted when there is none."""
        attempts = tuple(self.attempts)
        last = attempts[-1].result
        if isinstance(last, Accepted):
            return Answer(last.value, last.repairs, last.warnings, attempts)
        raise NotAccepted(attempts, str(last.violations[0]))


def instructions(contract: Contract[Any]) -> str:
    """What a model must know to answer: the form of its answer, as a schema."""
    form = json.dumps(schema(contract).schema, ensure_ascii=False)
    return (
        "Answer with exactly one JSON object and nothing else: no text around it, no code fence. "
        f"It follows this JSON Schema:\n{form}"
    )


def opening(prompt: str | Sequence[Message], contract: Contract[Any]) -> list[Message]:
    """The first messages: how to answer, then what is asked."""
    asked: list[Message] = (
        [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [*prompt]
    )
    return [{"role": "system", "content": instructions(contract)}, *asked]

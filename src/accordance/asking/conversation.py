"""A conversation with a model about a message: question, reply, feedback.

Nothing here talks to a model. `ask` and its siblings do, and hand over the replies. So
the rules of the loop are written once, whether a reply comes whole or in pieces, to a
thread or to a task.
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

MOST_REPEATED: Final = 20_000
"""How many characters of a refused answer are sent back to the model."""


class Message(TypedDict):
    """A turn of a conversation, in the shape that every provider's client takes."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what the call cost where that is known."""

    text: str
    spending: Spending | None = None


@dataclass(frozen=True, slots=True)
class Attempt(Generic[M]):
    """An answer of the model, and the result of checking it."""

    reply: Reply
    result: Accepted[M] | Rejected
    feedback: str | None
    """What the model was sent next; None after the last attempt."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """An answer that honours its contract, with everything that led to it."""

    value: M
    repairs: tuple[Repair, ...]
    warnings: tuple[Notice, ...]
    attempts: tuple[Attempt[M], ...]

    @property
    def spending(self) -> Spending:
        """What all attempts cost together; a call of unknown cost counts as 0."""
        replies = [attempt.reply for attempt in self.attempts]
        return total(reply.spending or Spending() for reply in replies)


@dataclass(slots=True)
class Conversation(Generic[M]):
    """The questions and answers so far."""

    contract: Contract[M]
    context: Context
    reader: Reader | None
    most: int
    messages: list[Message]
    attempts: list[Attempt[M]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether an answer was accepted, or the attempts are used up."""
        if not self.attempts:
            return False
        last = self.attempts[-1].result
        return isinstance(last, Accepted) or len(self.attempts) >= self.most

    def hear(self, reply: Reply, doom: Rejected | None = None) -> None:
        """Check the model's reply, and send feedback unless this is the last attempt.

        `doom` is why a stream was broken off: the rest of its text never came.
        """
        result: Accepted[M] | Rejected
        if doom is not None:
            result = doom
        else:
            result = check(reply.text, self.contract, self.context, reader=self.reader)

        is_last_attempt = len(self.attempts) + 1 >= self.most
        if isinstance(result, Accepted) or is_last_attempt:
            self.attempts.append(Attempt(reply, result, feedback=None))
            return

        complaint = feedback(result)
        self.attempts.append(Attempt(reply, result, complaint))
        answer = reply.text[:MOST_REPEATED]
        self.messages.append({"role": "assistant", "content": answer})
        self.messages.append({"role": "user", "content": complaint})

    def answer(self) -> Answer[M]:
        """Return the accepted answer. Raises NotAccepted when there is none."""
        attempts = tuple(self.attempts)
        last = attempts[-1].result
        if isinstance(last, Rejected):
            raise NotAccepted(attempts, str(last.violations[0]))
        return Answer(last.value, last.repairs, last.warnings, attempts)


def instructions(contract: Contract[Any]) -> str:
    """Return the instructions for a model: the form of its answer, as a schema."""
    form = json.dumps(schema(contract).schema, ensure_ascii=False)
    return (
        "Answer with exactly one JSON object and nothing else: "
        "no text around it, no code fence. "
        f"It follows this JSON Schema:\n{form}"
    )


def opening(prompt: str | Sequence[Message], contract: Contract[Any]) -> list[Message]:
    """Return the first messages: how to answer, then the prompt."""
    system: Message = {"role": "system", "content": instructions(contract)}
    if isinstance(prompt, str):
        return [system, {"role": "user", "content": prompt}]
    return [system, *prompt]

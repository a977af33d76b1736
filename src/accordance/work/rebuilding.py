"""Rebuilding every call of a run: the prompt, and the exchange that followed it.

The report of a run names all its calls. For a run that was cut off, the answers that
were kept on the way do.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from accordance.domain.prompting import Prompt
from accordance.executors.protocol import MAX_REPEATED_CHARACTERS, MODEL_CALL
from accordance.store.ledger import Transaction
from accordance.work.run_log import RunRecord


class ModelCall(NamedTuple):
    """A call of a model within a run."""

    feedback: str | None
    """What was wrong with its last answer; None if it got the prompt alone."""
    answer: str
    """Its answer, as far as it was shown to the model again."""


class CallMessage(TypedDict):
    """A message of a call."""

    role: Literal["system", "user", "assistant"]
    content: str


def calls_in(tx: Transaction, run: RunRecord) -> list[ModelCall]:
    """Return the calls of a run, in their order; none if they were not counted."""
    report = (run.report or {}).get("report")
    if report is not None:
        seen: list[Mapping[str, Any]] = json.loads(tx.blob(report))["seen"]
        calls = [item for item in seen if item["what"] == MODEL_CALL]
        return [ModelCall(call["told"], call["said"]) for call in calls]

    kept = [json.loads(tx.blob(sha256)) for sha256 in run.answers]
    # the work of an agent is kept in the same way, and is no answer
    answers = [answer for answer in kept if "told" in answer]
    return [
        ModelCall(answer["told"], answer["text"][:MAX_REPEATED_CHARACTERS])
        for answer in answers
    ]


def messages_of(
    prompt: Prompt, calls: list[ModelCall], number: int
) -> list[CallMessage]:
    """Return the messages a model got in a call.

    For an executor that makes no calls, that is the prompt.
    """
    messages: list[CallMessage] = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    exchange = calls[_first_of_exchange(calls, number) : number]
    for earlier, call in itertools.pairwise(exchange):
        if earlier.answer:
            messages.append({"role": "assistant", "content": earlier.answer})
        messages.append({"role": "user", "content": call.feedback or ""})
    return messages


def _first_of_exchange(calls: list[ModelCall], number: int) -> int:
    """The last call up to a number that got the prompt alone."""
    first = 0
    for position, call in enumerate(calls[:number]):
        if call.feedback is None:
            first = position
    return first

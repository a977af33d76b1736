"""Every call of a run, rebuilt: the prompt, and for a model that was asked again what it had said and what it was told.

A run's report names all its calls; of a run that was cut off the answers that were kept on the way say as much.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from accordance.domain.prompting import Prompt
from accordance.executors.protocol import MODEL_CALL, MOST_REPEATED
from accordance.store.ledger import Transaction
from accordance.work.run_log import RunRecord


class ModelCall(NamedTuple):
    """One call of a model within a run."""

    told: (
        str | None
    )  # what was wrong with its last answer; None: it was told the prompt alone
    said: str  # as far as it was shown to the model again


class CallMessage(TypedDict):
    """One message of a call."""

    role: Literal["system", "user", "assistant"]
    content: str


def calls_in(tx: Transaction, run: RunRecord) -> list[ModelCall]:
    """The calls of a run, in their order; none where nobody counted them."""
    report = (run.report or {}).get("report")
    if report is not None:
        seen: list[Mapping[str, Any]] = json.loads(tx.blob(report))["seen"]
        return [
            ModelCall(one["told"], one["said"])
            for one in seen
            if one["what"] == MODEL_CALL
        ]
    kept = (json.loads(tx.blob(sha256)) for sha256 in run.answers)
    answers = (
        one for one in kept if "told" in one
    )  # an agent's work is kept in the same way, and is none
    return [ModelCall(one["told"], one["text"][:MOST_REPEATED]) for one in answers]


def messages_of(
    prompt: Prompt, calls: list[ModelCall], number: int
) -> list[CallMessage]:
    """What a model was told in one of its calls, message by message. Whoever makes none is told the prompt."""
    first = max(
        (at for at, call in enumerate(calls[:number]) if call.told is None), default=0
    )
    messages: list[CallMessage] = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    for before, call in zip(
        calls[first:number], calls[first + 1 : number], strict=False
    ):
        if before.said:
            messages.append({"role": "assistant", "content": before.said})
        messages.append({"role": "user", "content": call.told or ""})
    return messages

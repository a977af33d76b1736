"""Profile `seed` of the research answer: the validator printed in seed 002, message for message, without its crashes.

Where the seed's function would raise (null scores, text scores, lists for objects) the same place is reported as
`wrong_type`, with a path. Its texts are in `expected`, word for word, in its order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Open
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Notice, Violation, excerpt

REQUIRED: Final = ("agent_id", "vs_level", "vs_metadata", "content")


class SeedAnswer(Open):
    """An answer whose keys are known and whose values may be anything: the seed's validator looks for itself."""

    agent_id: JsonValue = None
    vs_level: JsonValue = None
    execution_timestamp: JsonValue = None
    vs_metadata: JsonValue = None
    content: JsonValue = None
    provenance: JsonValue = None
    next_agents: JsonValue = None
    warnings: JsonValue = None
    limitations: JsonValue = None
    self_critique: JsonValue = None


def required_fields_are_there(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Check 1 of the seed."""
    for key in REQUIRED:
        if key not in message:
            yield Violation(
                "seed_error", f"$.{key}", f"Missing required field: {key}", "nothing"
            )


def t_scores_are_provided_and_in_range(
    message: JsonObject, _: Context
) -> Iterator[Violation | Notice]:
    """Checks 2 and 3 of the seed."""
    metadata = message.get("vs_metadata", {})
    if not isinstance(metadata, dict):
        yield Violation("wrong_type", "$.vs_metadata", "an object", excerpt(metadata))
        return
    if not metadata.get("modal_identified"):
        yield Notice(
            "seed_warning",
            "$.vs_metadata.modal_identified",
            "Modal options not identified",
        )
    where, t_scores = "$.vs_metadata.t_scores", metadata.get("t_scores")
    if not t_scores:
        yield Violation("seed_error", where, "T-scores not provided", excerpt(t_scores))
    if (
        not t_scores
        and "t_scores" in metadata
        and not isinstance(t_scores, str | list | dict)
    ):
        yield Violation("wrong_type", where, "a list", excerpt(t_scores))
    elif isinstance(t_scores, list):
        yield from _scores_in_range(t_scores, where)
    elif t_scores:
        yield Violation("wrong_type", where, "a list", excerpt(t_scores))


def _scores_in_range(t_scores: list[object], where: str) -> Iterator[Violation]:
    for at, entry in enumerate(t_scores):
        if not isinstance(entry, dict):
            yield Violation("wrong_type", f"{where}[{at}]", "an object", excerpt(entry))
            continue
        score = entry.get("score")
        place = f"{where}[{at}].score"
        if "score" in entry and not isinstance(score, int | float):
            yield Violation("wrong_type", place, "a number", excerpt(score))
        elif not isinstance(score, int | float) or not 0 <= score <= 1:
            yield Violation(
                "seed_error", place, f"Invalid T-score: {score}", excerpt(score)
            )


def full_answers_should_criticise_themselves(
    message: JsonObject, _: Context
) -> Iterator[Notice]:
    """Check 4 of the seed."""
    if message.get("vs_level") == "Full" and "self_critique" not in message:
        yield Notice(
            "seed_warning",
            "$.self_critique",
            "Full VS agent should include self_critique",
        )


ANSWER_AS_THE_SEED_CHECKS_IT: Final = Contract(
    version="agent_answer_v1",
    name="answer",
    about="A research agent's answer, checked exactly as the validator of seed 002 does.",
    model=SeedAnswer,
    mentions_unknown_keys=False,
    rules=(
        required_fields_are_there,
        t_scores_are_provided_and_in_range,
        full_answers_should_criticise_themselves,
    ),
)

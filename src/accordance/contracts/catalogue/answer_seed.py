"""Profile `seed` of the research answer: the validator printed in seed 002.

It gives the same messages in the same order, word for word in `expected`. Where the
seed's function would raise (null scores, text scores, lists for objects), the place is
reported as `wrong_type`.
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
    """An answer with known keys and any values, which the seed's validator checks."""

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
                "seed_error",
                path=f"$.{key}",
                expected=f"Missing required field: {key}",
                actual="nothing",
            )


def t_scores_are_provided_and_in_range(
    message: JsonObject, _: Context
) -> Iterator[Violation | Notice]:
    """Checks 2 and 3 of the seed."""
    metadata = message.get("vs_metadata", {})
    if not isinstance(metadata, dict):
        yield Violation(
            "wrong_type",
            path="$.vs_metadata",
            expected="an object",
            actual=excerpt(metadata),
        )
        return

    if not metadata.get("modal_identified"):
        yield Notice(
            "seed_warning",
            path="$.vs_metadata.modal_identified",
            message="Modal options not identified",
        )

    path = "$.vs_metadata.t_scores"
    t_scores = metadata.get("t_scores")
    if not t_scores:
        yield Violation(
            "seed_error",
            path=path,
            expected="T-scores not provided",
            actual=excerpt(t_scores),
        )

    if isinstance(t_scores, list):
        yield from _scores_in_range(t_scores, path)
    elif "t_scores" in metadata and not _is_empty_container(t_scores):
        yield Violation(
            "wrong_type",
            path=path,
            expected="a list",
            actual=excerpt(t_scores),
        )


def _is_empty_container(value: object) -> bool:
    """Return whether the seed's loop over a value would end at once."""
    return value in ("", {})


def _scores_in_range(t_scores: list[object], path: str) -> Iterator[Violation]:
    for index, entry in enumerate(t_scores):
        place = f"{path}[{index}]"
        if not isinstance(entry, dict):
            yield Violation(
                "wrong_type",
                path=place,
                expected="an object",
                actual=excerpt(entry),
            )
            continue

        score = entry.get("score")
        place += ".score"
        if isinstance(score, int | float):
            is_valid = 0 <= score <= 1
        elif "score" in entry:
            yield Violation(
                "wrong_type",
                path=place,
                expected="a number",
                actual=excerpt(score),
            )
            continue
        else:
            is_valid = False
        if not is_valid:
            yield Violation(
                "seed_error",
                path=place,
                expected=f"Invalid T-score: {score}",
                actual=excerpt(score),
            )


def full_answers_should_criticise_themselves(
    message: JsonObject, _: Context
) -> Iterator[Notice]:
    """Check 4 of the seed."""
    if message.get("vs_level") == "Full" and "self_critique" not in message:
        yield Notice(
            "seed_warning",
            path="$.self_critique",
            message="Full VS agent should include self_critique",
        )


ANSWER_AS_THE_SEED_CHECKS_IT: Final = Contract(
    version="agent_answer_v1",
    name="answer",
    about=(
        "A research agent's answer, checked exactly as the validator of seed 002 does."
    ),
    model=SeedAnswer,
    mentions_unknown_keys=False,
    rules=(
        required_fields_are_there,
        t_scores_are_provided_and_in_range,
        full_answers_should_criticise_themselves,
    ),
)

"""`validate_agent_output`: the validator of seed 002, by its name and in its shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import ValidationResult, validate_agent_output
from tests.conformance.lines import read_lines
from tests.conftest import GIVEN_VECTORS
from tests.messages import ANSWER

SCORES = [{"option": "a", "score": 0.4, "rationale": "b"}]
METADATA = {"modal_identified": ["x"], "t_scores": SCORES}
ENOUGH: dict[str, Any] = {
    "agent_id": "a",
    "vs_level": "Light",
    "vs_metadata": METADATA,
    "content": {},
}


@pytest.mark.seed("002-50")
@pytest.mark.parametrize(
    ("output", "errors", "warnings"),
    [
        pytest.param(ANSWER, [], [], id="a whole answer"),
        pytest.param(ENOUGH, [], [], id="as little as the seed asks for"),
        pytest.param(
            {},
            [
                "Missing required field: agent_id",
                "Missing required field: vs_level",
                "Missing required field: vs_metadata",
                "Missing required field: content",
                "T-scores not provided",
            ],
            ["Modal options not identified"],
            id="nothing",
        ),
        pytest.param(
            {**ENOUGH, "vs_metadata": {**METADATA, "t_scores": [{"score": 1.5}, {}]}},
            ["Invalid T-score: 1.5", "Invalid T-score: None"],
            [],
            id="scores out of range",
        ),
        pytest.param(
            {**ENOUGH, "vs_level": "Full"},
            [],
            ["Full VS agent should include self_critique"],
            id="a Full answer without self-critique",
        ),
        pytest.param(
            {**ENOUGH, "vs_metadata": []},
            ["$.vs_metadata: expected an object, got []"],
            [],
            id="where the seed's function would crash",
        ),
        pytest.param([], ["$: expected one JSON object, got []"], [], id="no object"),
    ],
)
def test_the_words_of_the_seed(
    output: Any, errors: list[str], warnings: list[str]
) -> None:
    """Errors and warnings word for word, whether the answer was parsed or comes as text."""
    expected = ValidationResult(is_valid=not errors, errors=errors, warnings=warnings)
    assert validate_agent_output(output) == expected
    by_text = validate_agent_output(json.dumps(output))
    assert (by_text.is_valid, by_text.warnings) == (
        expected.is_valid,
        expected.warnings,
    )
    assert by_text == validate_agent_output(json.dumps(output).encode())


def test_every_answer_of_the_vectors() -> None:
    """The same verdict, errors and warnings as the seed's function gives."""
    answers = [
        line
        for line in read_lines(GIVEN_VECTORS / "research.jsonl")
        if line["kind"] == "agent_output"
    ]
    assert answers
    for line in answers:
        expected, result = line["expect"], validate_agent_output(line["input"])
        if "seed_raises" not in expected:
            assert result.is_valid == expected["is_valid"], line["id"]
            assert (result.errors, result.warnings) == (
                expected["errors"],
                expected["warnings"],
            ), line["id"]


def test_what_is_not_listed_is_counted() -> None:
    """No error is dropped without a word."""
    scores = [{"score": 2}] * 60
    result = validate_agent_output(
        {**ENOUGH, "vs_metadata": {**METADATA, "t_scores": scores}}
    )
    assert result.errors[:50] == ["Invalid T-score: 2"] * 50
    assert result.errors[50:] == ["and 10 more"]

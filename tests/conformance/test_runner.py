"""The runner of the vectors itself: it reads them as they are meant, and what it compares can differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.facts import ArtifactName
from tests.conformance import test_malformed, test_research
from tests.conformance.lines import folder_of, read_lines
from tests.conformance.test_gateway import compare, escalation, verdict
from tests.conftest import GIVEN_VECTORS


def test_a_line_may_hold_other_line_separators(tmp_path: Path) -> None:
    """A raw U+2028, a next line or a form feed is part of a text; only a line feed ends a line."""
    text = "a\u2028b\u0085c\u2029d"
    lines = [
        json.dumps({"text": text}, ensure_ascii=False),
        "",
        json.dumps({"id": "named"}),
    ]
    (tmp_path / "some.jsonl").write_bytes("\r\n".join(lines).encode())
    assert read_lines(tmp_path / "some.jsonl") == [
        {"id": "some-1", "text": text},
        {"id": "named"},
    ]


def test_a_folder_without_vectors_is_a_slip(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A run in which no line is tried would pass for the wrong reason."""
    assert folder_of(pytestconfig) == pytestconfig.option.vectors
    monkeypatch.setattr(pytestconfig.option, "vectors", tmp_path)
    with pytest.raises(pytest.UsageError, match="holds none of"):
        folder_of(pytestconfig)


@pytest.mark.parametrize(
    ("found", "expected", "agrees"),
    [
        pytest.param(["b", "a"], ["a", "b"], True, id="errors are a set"),
        pytest.param(["a"], ["a", "a"], True, id="named twice is named"),
        pytest.param(["a", "b"], ["a"], False, id="one too many"),
        pytest.param([], ["a"], False, id="one too few"),
    ],
)
def test_errors_are_compared_as_a_set(
    found: list[str], expected: list[str], agrees: bool
) -> None:
    """In any order, and exactly."""
    if agrees:
        compare({"errors": found}, {"errors": expected})
    else:
        with pytest.raises(AssertionError):
            compare({"errors": found}, {"errors": expected})


def a_passing_verdict() -> dict[str, Any]:
    lines = read_lines(GIVEN_VECTORS / "gateway.jsonl")
    passing = (
        line
        for line in lines
        if line["kind"] == "verdict" and verdict(line)["reason_code"] is None
    )
    return next(passing)


@pytest.mark.parametrize(
    "kept", [(), ("report_md", "submit_json")], ids=["none", "some"]
)
def test_an_artifact_that_a_line_does_not_name_is_not_there(
    kept: tuple[str, ...],
) -> None:
    """`artifacts: {}` says that somebody looked and saw none."""
    line = a_passing_verdict()
    seen = {
        name: fact for name, fact in line["facts"]["artifacts"].items() if name in kept
    }
    found = verdict({**line, "facts": {**line["facts"], "artifacts": seen}})
    assert found["seed003"]["checks"]["artifacts_complete"] is False
    assert found["reason_code"] == "ARTIFACT_MISSING"
    assert {name.value for name in ArtifactName} >= set(kept)


def test_an_empty_patch_shows_nothing_of_a_change() -> None:
    """A line says how long each artifact is; what a patch of no bytes holds follows from that."""
    line = a_passing_verdict()
    assert line["facts"]["diff"]
    line["facts"]["artifacts"]["patch_diff"]["size"] = 0
    found = verdict(line)
    assert found["seed003"]["checks"]["artifacts_complete"] is False
    assert found["reason_code"] == "ARTIFACT_MISSING"


def test_what_the_contract_refuses_is_not_compared_with_the_harness() -> None:
    """The harness counts a phase 6 as an extra phase; we have no report on it at all."""
    expect = {
        "contract": {"error": "range:phase_executed[2]"},
        "harness": {"passed": False, "missing": [0], "extra": [6], "score": 0.666667},
    }
    asked = {"vs_level": "Light", "phase_executed": [1, 4, 6]}
    test_research.phases(asked, expect)


@pytest.mark.parametrize("written", ["policy_violation", "POLICY_VIOLATION"])
def test_a_reason_may_be_written_in_lower_case_for_the_ladder_too(written: str) -> None:
    """As in a submission."""
    lines = read_lines(GIVEN_VECTORS / "gateway.jsonl")
    line = next(line for line in lines if line["kind"] == "escalation")
    found = escalation({**line, "facts": {**line["facts"], "reason_code": written}})
    assert found["next_action"] == "human"


def test_a_text_that_is_only_wrong_by_its_contract_must_be_readable() -> None:
    """A line that calls a text readable is not satisfied by a refusal to read it."""
    line = {
        "text": '{"schema_version": ',
        "contract": "xiaobo_action_v1",
        "spec_should_accept_strict": True,
        "contract_valid": False,
    }
    with pytest.raises(AssertionError):
        test_malformed.test_strict(line)

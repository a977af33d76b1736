"""research.jsonl: requests, answers, handoffs, phases and T-classes, in the words of the vectors."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from accordance import Accepted, Context, Rejected, Violation, check
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.phases import phase_completion
from accordance.domain.t_scores import t_class
from accordance.errors import AccordanceError, InvalidPhases
from tests.conformance.lines import Line, Lines

KINDS = ("agent_input", "agent_output", "phase_completion", "t_score_class", "handoff")
LINES = Lines("research.jsonl", lambda line: line["kind"] in KINDS)

WORDS = {
    "wrong_type": "type",
    "not_object": "type",
    "not_in_enum": "enum",
    "out_of_range": "range",
    "bad_format": "format",
}
CONSISTENCY = ("selection_not_listed", "selection_score_mismatch", "duplicate_option")


def test_line(line: Line) -> None:
    """Each kind against what the line expects."""
    {
        "agent_input": agent_input,
        "agent_output": agent_output,
        "phase_completion": phases,
        "t_score_class": t_score_class,
        "handoff": handoff,
    }[line["kind"]](line["input"], line["expect"])


def agent_input(message: Any, expect: dict[str, Any]) -> None:
    result = check(json.dumps(message), "agent_request_v1")
    assert isinstance(result, Accepted) == expect["valid"]
    assert strict_words(result) == set(expect["strict_errors"])


def agent_output(message: Any, expect: dict[str, Any]) -> None:
    result = check(json.dumps(message), "agent_answer_v1")
    assert strict_words(result) == set(expect["strict_errors"])
    assert consistency_words(result) == set(expect["consistency_errors"])
    as_the_seed_does(check(json.dumps(message), "agent_answer_v1", Context(profile="seed")), expect)


def as_the_seed_does(result: Accepted[Any] | Rejected, expect: dict[str, Any]) -> None:
    if "seed_raises" in expect:
        assert isinstance(result, Rejected)
        assert any(violation.code in ("wrong_type", "not_object") for violation in result.violations)
        return
    assert isinstance(result, Accepted) == expect["is_valid"]
    errors = [violation.expected for violation in violations_of(result)]
    assert errors == expect["errors"]
    if isinstance(result, Accepted):
        assert [notice.message for notice in result.warnings] == expect["warnings"]


def phases(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    for table in ("contract", "harness"):
        wanted = expect[table]
        if "missing" not in wanted:
            with pytest.raises(InvalidPhases) as caught:
                phase_completion(asked["vs_level"], asked["phase_executed"], table)
            assert str(caught.value).startswith(wanted.get("error", ""))
            continue
        report = phase_completion(asked["vs_level"], asked["phase_executed"], table)
        assert (report.passed, list(report.missing), list(report.extra)) == (
            wanted["passed"],
            wanted["missing"],
            wanted["extra"],
        )
        assert math.isclose(report.score, wanted["score"], abs_tol=1e-6)


def t_score_class(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    if "class" in expect:
        assert t_class(asked["score"]) == expect["class"]
    else:
        with pytest.raises(AccordanceError, match=expect["error"]):
            t_class(asked["score"])


def handoff(message: Any, expect: dict[str, Any]) -> None:
    result = check(json.dumps(message), "agent_handoff_v1")
    expected = {
        "self_handoff:to_agent" if word == "self_handoff" else word for word in expect["strict_errors"]
    }
    assert strict_words(result) == expected
    blocked = (
        result.value.blocked_by if isinstance(result, Accepted) and isinstance(result.value, Handoff) else ()
    )
    assert sorted(blocked) == sorted(expect["blocked_by"])
    assert (isinstance(result, Accepted) and not blocked) == expect["accept"]


def strict_words(result: Accepted[Any] | Rejected) -> set[str]:
    return {
        strict_word(violation) for violation in violations_of(result) if violation.code not in CONSISTENCY
    }


def strict_word(violation: Violation) -> str:
    if violation.code == "phase_missing":
        return f"phase_missing:{violation.expected.split()[1]}"
    where = violation.path.removeprefix("$.")
    return f"{WORDS.get(violation.code, violation.code)}:{where}"


def consistency_words(result: Accepted[Any] | Rejected) -> set[str]:
    return {
        f"{violation.code}:{json.loads(violation.actual)}"
        if violation.code == "duplicate_option"
        else violation.code
        for violation in violations_of(result)
        if violation.code in CONSISTENCY
    }


def violations_of(result: Accepted[Any] | Rejected) -> tuple[Violation, ...]:
    return result.violations if isinstance(result, Rejected) else ()

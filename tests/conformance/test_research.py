"""research.jsonl, every kind: requests, answers, handoffs and their chains, T-scores, quality, collapse."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest

from accordance import Accepted, Context, Rejected, Violation, check
from accordance.contracts.catalogue.answer import TScore
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.phases import phase_completion
from accordance.domain.research.chains import Passing, chain_faults
from accordance.domain.research.collapse import (
    COLLAPSED_BELOW,
    collapse,
    diversity,
    selection_of,
    tally_answers,
)
from accordance.domain.research.handoffs import computed_checks, false_claims
from accordance.domain.research.quality import (
    critique_quality,
    distribution,
    provenance_completeness,
)
from accordance.domain.t_scores import t_class
from accordance.errors import AccordanceError, InvalidPhases, InvalidRun
from accordance.rendering.documents import table_lines
from accordance.rendering.reports import t_score_table
from tests.conformance.lines import Line, Lines

LINES = Lines("research.jsonl")

WORDS = {
    "wrong_type": "type",
    "not_object": "type",
    "not_in_enum": "enum",
    "out_of_range": "range",
    "bad_format": "format",
}
CONSISTENCY = ("selection_not_listed", "selection_score_mismatch", "duplicate_option")


def test_line(line: Line) -> None:
    """Each kind against what the line expects. A kind that nobody runs is no pass."""
    assert line["kind"] in KINDS, f"no test runs {line['kind']}"
    KINDS[line["kind"]](line["input"], line["expect"])


def agent_input(message: Any, expect: dict[str, Any]) -> None:
    result = check(json.dumps(message), "agent_request_v1")
    assert isinstance(result, Accepted) == expect["valid"]
    assert strict_words(result) == set(expect["strict_errors"])


def agent_output(message: Any, expect: dict[str, Any]) -> None:
    result = check(json.dumps(message), "agent_answer_v1")
    assert strict_words(result) == set(expect["strict_errors"])
    assert consistency_words(result) == set(expect["consistency_errors"])
    as_the_seed_does(
        check(json.dumps(message), "agent_answer_v1", Context(profile="seed")), expect
    )


def as_the_seed_does(result: Accepted[Any] | Rejected, expect: dict[str, Any]) -> None:
    if "seed_raises" in expect:
        assert isinstance(result, Rejected)
        assert any(
            violation.code in ("wrong_type", "not_object")
            for violation in result.violations
        )
        return
    assert isinstance(result, Accepted) == expect["is_valid"]
    errors = [violation.expected for violation in violations_of(result)]
    assert errors == expect["errors"]
    if isinstance(result, Accepted):
        assert [notice.message for notice in result.warnings] == expect["warnings"]


def phases(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    """What the contract refuses has no report by the harness's table either."""
    is_refused = "error" in expect["contract"]
    for table in ("contract", "harness"):
        wanted = expect[table]
        if is_refused or "missing" not in wanted:
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
        "self_handoff:to_agent" if word == "self_handoff" else word
        for word in expect["strict_errors"]
    }
    assert strict_words(result) == expected
    blocked = (
        result.value.blocked_by
        if isinstance(result, Accepted) and isinstance(result.value, Handoff)
        else ()
    )
    assert sorted(blocked) == sorted(expect["blocked_by"])
    assert (isinstance(result, Accepted) and not blocked) == expect["accept"]


def strict_words(result: Accepted[Any] | Rejected) -> set[str]:
    return {
        strict_word(violation)
        for violation in violations_of(result)
        if violation.code not in CONSISTENCY
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


def t_score_report(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    scores = [TScore.model_construct(**entry) for entry in asked["t_scores"]]
    assert table_lines(t_score_table(scores, asked["language"])) == [
        expect["header"],
        expect["separator"],
        *expect["rows"],
    ]


def handoff_chain(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    passings = [Passing(one["from"], one["to"]) for one in asked["handoffs"]]
    found = {
        str(fault)
        for fault in chain_faults(passings, asked["requires"], asked["prior_agents"])
    }
    assert found == set(expect["violations"])
    assert ("cycle" not in found) == expect["acyclic"]


def handoff_claim(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    assert computed_checks(asked["output"]) == expect["computed"]
    assert sorted(false_claims(asked["validation"], asked["output"])) == sorted(
        expect["false_claims"]
    )


def harness_report(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the harness beside seed 002, from our own selections and entropy.

    It compares names to the letter and divides by the distinct answers.
    """
    counts = Counter(selection_of(run).selected for run in runs)
    reachable = math.log2(len(counts))
    entropy = diversity(counts.values()).entropy_bits
    score = entropy / reachable if reachable else 0
    return {
        "unique_recommendations": len(counts),
        "total_runs": len(runs),
        "diversity_score": score,
        "mode_collapse_detected": score < COLLAPSED_BELOW,
        "most_common": [list(pair) for pair in counts.most_common(3)],
    }


def mode_collapse(asked: dict[str, Any], expect: dict[str, Any]) -> None:
    runs = asked["runs"]
    if "seed_raises" not in expect:
        assert harness_report(runs) == approximately(expect["seed"])
    if "proposed_error" in expect:
        with pytest.raises(InvalidRun):
            tally_answers(runs)
        return
    found = collapse(
        tally_answers(runs, form=str)
    ).to_json()  # the vectors compare names to the letter
    assert {key: found[key] for key in expect["proposed"]} == approximately(
        expect["proposed"]
    )


def t_score_distribution(answer: dict[str, Any], expect: dict[str, Any]) -> None:
    found = distribution(answer)
    if "raises" in expect:  # the harness does; we do not
        return
    assert found.passed == expect["passed"]
    if "diversity_score" in expect:
        assert found.modal_only == expect["modal_collapse_detected"]
        assert found.selected == expect["final_selection_t_score"]
        # what that harness calls diversity falls as the spread grows
        assert math.isclose(1 - found.spread, expect["diversity_score"], abs_tol=1e-6)


def self_critique_quality(answer: dict[str, Any], expect: dict[str, Any]) -> None:
    found = critique_quality(answer, "seed")
    if "raises" in expect:
        return
    assert found.passed == expect["passed"]
    if "checks" in expect:
        assert found.checks == expect["checks"]
        assert math.isclose(found.score, expect["quality_score"], abs_tol=1e-6)


def provenance(answer: dict[str, Any], expect: dict[str, Any]) -> None:
    found = provenance_completeness(answer, "seed")
    if "raises" in expect:
        return
    assert (found.passed, found.checks) == (expect["passed"], expect["checks"])


KINDS: Final[dict[str, Callable[[Any, dict[str, Any]], None]]] = {
    "agent_input": agent_input,
    "agent_output": agent_output,
    "phase_completion": phases,
    "t_score_class": t_score_class,
    "handoff": handoff,
    "t_score_report": t_score_report,
    "handoff_chain": handoff_chain,
    "handoff_claim": handoff_claim,
    "mode_collapse": mode_collapse,
    "t_score_distribution": t_score_distribution,
    "self_critique_quality": self_critique_quality,
    "provenance_completeness": provenance,
}


def approximately(expected: dict[str, Any]) -> dict[str, Any]:
    """Floats of the vectors are rounded to six places."""
    return {
        key: pytest.approx(value, abs=1e-6) if isinstance(value, float) else value
        for key, value in expected.items()
    }


def violations_of(result: Accepted[Any] | Rejected) -> tuple[Violation, ...]:
    return result.violations if isinstance(result, Rejected) else ()

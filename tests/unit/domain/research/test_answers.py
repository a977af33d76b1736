"""Answers in their place: registry, request, floor, quality; and the expectations that golden cases and conditions use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Rejected
from accordance.contracts.catalogue.answer import ANSWER
from accordance.domain.research.answers import (
    AnswerExpectations,
    awaits_a_person,
    check_answer,
    rules_for,
)
from accordance.domain.research.comparators import ABSENT, comparator, value_at
from accordance.domain.research.floors import Acknowledgement
from accordance.domain.research.quality import (
    critique_quality,
    distribution,
    provenance_completeness,
)
from accordance.errors import InvalidComparator
from tests.messages import Message, changed
from tests.unit.research import REGISTRY, example, request

ASKED = AnswerExpectations(registry=REGISTRY, request=request())
OTHER = "00000000-0000-4000-8000-000000000000"


def found(message: Message, asked: AnswerExpectations = ASKED) -> list[str]:
    result = check_answer(json.dumps(message), asked)
    if isinstance(result, Rejected):
        return [f"{one.code} {one.path}" for one in result.violations]
    return [one.code for one in result.warnings]


CASES: list[tuple[str, str, Any, list[str]]] = [
    ("as it is", "content.confidence", 0.5, []),
    ("an answer to another request is refused", "task_id", OTHER, ["wrong_task $.task_id"]),
    ("one that says nothing is taken with a word", "task_id", ..., ["untied_answer"]),
    ("an unknown agent", "agent_id", "theory-architekt", ["unknown_agent $.agent_id"]),
    ("an agent nobody resembles", "agent_id", "§", ["unknown_agent $.agent_id"]),
    ("an alias is a name", "agent_id", "TA", []),
    ("no agent at all", "agent_id", 7, ["wrong_type $.agent_id"]),
    ("another level", "vs_level", "Enhanced", ["level_mismatch $.vs_level"]),
    ("a thin critique", "self_critique.strengths", ["", " "], []),
    ("a thinner one", "self_critique", {"strengths": [""], "weaknesses": [], "improvement_suggestions": ["x"]}, ["thin_critique $.self_critique"]),
    ("no source", "provenance.sources", [], ["thin_provenance $.provenance.sources"]),
    ("no reasoning", "provenance.reasoning_trace", [" "], ["thin_provenance $.provenance.reasoning_trace"]),
    ("null provenance is one fault", "provenance", None, ["wrong_type $.provenance"]),
    ("null metadata is one fault", "vs_metadata", None, ["wrong_type $.vs_metadata"]),
    ("null scores", "vs_metadata.t_scores", None, ["wrong_type $.vs_metadata.t_scores"]),
    ("a null score", "vs_metadata.t_scores.0.score", None, ["wrong_type $.vs_metadata.t_scores[0].score"]),
    ("a text for a score", "vs_metadata.t_scores.0.score", "high", ["wrong_type $.vs_metadata.t_scores[0].score"]),
    ("a list for an object", "vs_metadata", [], ["wrong_type $.vs_metadata"]),
    ("texts for scored options", "vs_metadata.t_scores", ["TAM"], ["wrong_type $.vs_metadata.t_scores[0]"]),
    ("a selection that is no number", "vs_metadata.final_selection.t_score", True, ["wrong_type $.vs_metadata.final_selection.t_score"]),
    ("a single option, off the beaten track", "vs_metadata.t_scores", [{"option": "통제-가치 이론", "score": 0.45, "rationale": "r"}], []),
    ("an empty main output", "content.main_output", {}, ["phase_output_missing $.content.main_output"]),
    ("no context", "vs_metadata.context_summary", ..., ["phase_output_missing $.vs_metadata.context_summary"]),
    ("a context of no words", "vs_metadata.context_summary", "…", ["phase_output_missing $.vs_metadata.context_summary"]),
    ("no novelty assessment", "vs_metadata.novelty_assessment", ..., ["phase_output_missing $.vs_metadata.novelty_assessment"]),
    ("directions may be read from the scores", "vs_metadata.alternative_directions", ..., []),
    ("no main output is one fault", "content.main_output", ..., ["missing $.content.main_output"]),
    ("probabilities over one", "vs_metadata.t_scores.0.probability", 0.9, ["probabilities_over_one $.vs_metadata.t_scores"]),
]  # fmt: skip


@pytest.mark.seed("002-24", "002-25")
@pytest.mark.parametrize(
    ("_", "place", "value", "expected"), CASES, ids=[row[0] for row in CASES]
)
def test_answers(_: str, place: str, value: Any, expected: list[str]) -> None:
    """One change, and everything it breaks, in one report."""
    assert found(changed(example("answer-1"), place, value)) == expected


READY = {**example("answer-1"), "limitations": ["self-reports"]}
ONE_STRENGTH = changed(READY, "self_critique.strengths", ["clear"])
NARROW = changed(
    READY,
    "vs_metadata.t_scores",
    [{"option": "통제-가치 이론", "score": 0.7, "rationale": "r"}],
)
NARROW = changed(NARROW, "vs_metadata.final_selection.t_score", 0.7)
THIN = changed(changed(READY, "provenance.sources", []), "content.main_output", {})
QUALITY: list[tuple[str, Message, dict[str, list[str]]]] = [
    ("a whole answer", READY, {"draft": [], "standard": [], "publication_ready": []}),
    (
        "no limitations",
        example("answer-1"),
        {
            "draft": [],
            "standard": [],
            "publication_ready": ["below_quality $.limitations"],
        },
    ),
    (
        "a limitation of no words",
        {**READY, "limitations": ["…"]},
        {"standard": [], "publication_ready": ["below_quality $.limitations"]},
    ),
    (
        "one strength",
        ONE_STRENGTH,
        {
            "draft": [],
            "standard": [],
            "publication_ready": ["below_quality $.self_critique"],
        },
    ),
    (
        "few options, and obvious ones",
        NARROW,
        {
            "draft": ["narrow_distribution"],
            "standard": ["narrow_distribution"],
            "publication_ready": ["below_quality $.vs_metadata.t_scores"] * 2,
        },
    ),
    (
        "no source, no work",
        THIN,
        {
            "draft": ["empty_list", "thin_provenance", "phase_output_missing"],
            "standard": [
                "thin_provenance $.provenance.sources",
                "phase_output_missing $.content.main_output",
            ],
            "publication_ready": [
                "thin_provenance $.provenance.sources",
                "phase_output_missing $.content.main_output",
            ],
        },
    ),
    (
        "scores that are none are the contract's",
        changed(READY, "vs_metadata.t_scores", None),
        {"publication_ready": ["wrong_type $.vs_metadata.t_scores"]},
    ),
    (
        "a critique that is none is the contract's",
        changed(READY, "self_critique", None),
        {"publication_ready": ["wrong_type $.self_critique"]},
    ),
]


@pytest.mark.parametrize(
    ("_", "message", "expected"), QUALITY, ids=[row[0] for row in QUALITY]
)
def test_the_quality_level_binds(
    _: str, message: Message, expected: dict[str, list[str]]
) -> None:
    """A draft is warned where a standard answer is refused; what is to be published must say more."""
    levels = {
        level: found(
            message,
            AnswerExpectations(
                registry=REGISTRY, request=request(constraints={"quality_level": level})
            ),
        )
        for level in expected
    }
    assert levels == expected


def test_what_a_critique_wants_is_named() -> None:
    """And what it has is not."""
    asked = request(constraints={"quality_level": "publication_ready"})
    expectations = AnswerExpectations(registry=REGISTRY, request=asked)
    result = check_answer(json.dumps(ONE_STRENGTH), expectations)
    assert isinstance(result, Rejected)
    assert [violation.actual for violation in result.violations] == [
        "wanting: strengths"
    ]


def test_without_a_quality_level_an_answer_is_held_to_the_standard() -> None:
    """No request, no constraints, or constraints that say nothing about it."""
    for asked in (
        AnswerExpectations(registry=REGISTRY),
        AnswerExpectations(
            registry=REGISTRY, request=request(constraints={"time_budget": 5})
        ),
    ):
        assert asked.quality == "standard"


def test_an_answer_of_another_agent_is_refused() -> None:
    """Where somebody in particular was asked."""
    asked = AnswerExpectations(registry=REGISTRY, agent="question-shaper")
    assert found(example("answer-1"), asked) == ["wrong_agent $.agent_id"]
    assert (
        found(example("answer-1"), AnswerExpectations(registry=REGISTRY, agent="ta"))
        == []
    )


def test_the_seed_asks_nothing_of_this() -> None:
    """Profile seed is the seed's validator and no more."""
    message = changed(example("answer-1"), "agent_id", "nobody")
    assert isinstance(check_answer(json.dumps(message), ASKED, "seed"), Accepted)


def acknowledgement(**changes: Any) -> Acknowledgement:
    fields = {
        "schema_version": "accordance.acknowledgement.v1",
        "agent_id": "ta",
        "task_id": request().task_id,
        "option": " 체화된  불안 모형",
        "t_score": 0.22,
        "acknowledged_by": "Kim",
        "acknowledged_at": "2026-03-04T10:00:00Z",
        "reason": "we want to try it",
    }
    return Acknowledgement.model_validate({**fields, **changes})


def test_below_the_floor_a_person_must_say_yes() -> None:
    """Exactly this selection, of this agent, for this request."""
    result = check_answer(json.dumps(example("answer-low")), ASKED)
    assert awaits_a_person(result)
    assert isinstance(result, Rejected)
    assert "0.3 (theory-architect, topic theory)" in result.violations[0].expected
    good = AnswerExpectations(
        registry=REGISTRY, request=request(), acknowledgement=acknowledgement()
    )
    assert found(example("answer-low"), good) == ["floor_acknowledged"]
    for changes in (
        {"agent_id": "question-shaper"},
        {"task_id": OTHER},
        {"option": "기술수용모형"},
        {"t_score": 0.21},
    ):
        stale = AnswerExpectations(
            registry=REGISTRY,
            request=request(),
            acknowledgement=acknowledgement(**changes),
        )
        assert awaits_a_person(
            check_answer(json.dumps(example("answer-low")), stale)
        ), changes
    assert not awaits_a_person(check_answer(json.dumps(example("answer-1")), ASKED))
    assert not awaits_a_person(check_answer("{}", ASKED))


def test_low_typicality_is_worth_a_word() -> None:
    """Below 0.3, where the floor allows it: strictly."""
    free = AnswerExpectations(registry=REGISTRY)
    assert found(example("answer-low"), free) == ["low_typicality"]
    on_the_bound = changed(
        example("answer-low"), "vs_metadata.final_selection.t_score", 0.3
    )
    on_the_bound["vs_metadata"]["t_scores"][-1]["score"] = 0.3
    assert found(on_the_bound, free) == []


def test_every_rule_says_what_it_is() -> None:
    """The first line is what people read."""
    assert all(rule.__doc__ for rule in rules_for(ASKED))
    assert ANSWER.with_rules(*rules_for(ASKED)).version == ANSWER.version


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((0.9, 0.85), "every option is modal"),
        ((0.9, 0.7), "no option below 0.6, or a modal selection"),
    ],
)
def test_a_narrow_distribution_is_worth_a_word(
    scores: tuple[float, float], told: str
) -> None:
    """Accepted, with a notice."""
    entries = [
        {"option": str(at), "score": score, "rationale": "r"}
        for at, score in enumerate(scores)
    ]
    message = changed(example("answer-1"), "vs_metadata.t_scores", entries)
    message["vs_metadata"]["final_selection"] = {
        "option": "1",
        "t_score": scores[1],
        "justification": "j",
    }
    result = check_answer(json.dumps(message), ASKED)
    assert [(one.code, one.message) for one in result.warnings] == [
        ("narrow_distribution", told)
    ]


@pytest.mark.parametrize(
    ("scores", "selected", "passed", "modal_only"),
    [
        ([0.9, 0.4], 0.4, True, False),
        ([0.9, 0.6], 0.6, False, False),
        ([0.9, 0.4], 0.81, False, False),
        ([0.9, 0.85], 0.85, False, True),
        ([], 0.4, False, False),
        ([None, True, 0.2], None, False, False),
    ],
)
def test_distribution(
    scores: list[Any], selected: Any, passed: bool, modal_only: bool
) -> None:
    """Some option below 0.6, the selection not above 0.8; what is no score is left to the contract."""
    entries = [{"score": score} for score in scores]
    told = distribution(
        {"vs_metadata": {"t_scores": entries, "final_selection": {"t_score": selected}}}
    )
    assert (told.passed, told.modal_only) == (passed, modal_only)


@pytest.mark.parametrize(
    "broken", [None, [], "x", 7, {"t_scores": "x"}, {"t_scores": ["x"]}]
)
def test_measuring_never_raises(broken: Any) -> None:
    """Whatever stands where an object should."""
    message = {"vs_metadata": broken, "self_critique": broken, "provenance": broken}
    assert not distribution(message).passed
    assert not critique_quality(message).passed
    assert not provenance_completeness(message).passed


def test_items_are_counted_not_letters() -> None:
    """A text is no list, and a blank item says nothing; the seed's harness counts both."""
    message: Message = {
        "self_critique": {
            "strengths": "ab",
            "weaknesses": "cd",
            "improvement_suggestions": "e",
        }
    }
    assert critique_quality(message).score == 0
    assert critique_quality(message, "seed").score == 1
    other: Message = {
        "self_critique": {
            "strengths": ["", " ", "x", 7, {}],
            "alternative_perspectives": ["y"],
        }
    }
    assert critique_quality(other).checks == {
        "has_strengths": True,
        "has_weaknesses": False,
        "has_improvements": False,
        "has_alternatives": True,
    }


HOLDS: list[tuple[Any, Any, bool]] = [
    (">= 3", 3, True),
    (">= 3", 2.9, False),
    ("<0.8", 0.7, True),
    ("== 4", 4.0, True),
    ("!= 4", 4, False),
    ("> -1.5", -1, True),
    (">= 0", True, False),
    (">= 0", "3", False),
    (">= 0", ABSENT, False),
    ("0.3..0.8", 0.3, True),
    ("0.3 .. 0.8", 0.81, False),
    ({"equals": "Light"}, "Light", True),
    ({"equals": 1}, True, False),
    ({"one_of": ["a", "b"]}, "b", True),
    ({"one_of": ["a", "b"]}, "c", False),
    ({"contains": [1, 4]}, [0, 1, 2, 4], True),
    ({"contains": [1, 5]}, [0, 1, 2, 4], False),
    ({"contains": ["불안"]}, "말하기 불안", True),
    ({"contains": [7]}, "7", False),
    ({"contains": [7]}, 7, False),
    ({"within": [1, 4]}, [4, 4], True),
    ({"within": [1, 4]}, [2], False),
    ({"within": [1, 4]}, "1", False),
    ({"count": ">= 2"}, ["a", "b"], True),
    ({"count": ">= 2"}, {"a": 1}, False),
    ({"count": ">= 2"}, "ab", False),
    ({"least": "< 0.3", "most": "> 0.8"}, [0.2, 0.9, "x"], True),
    ({"least": "< 0.3"}, [], False),
    ({"most": "> 0.3"}, 0.9, False),
    ({"exists": True}, ABSENT, False),
    ({"exists": False}, ABSENT, True),
    ({"exists": True}, None, True),
]


@pytest.mark.parametrize(("written", "value", "holds"), HOLDS)
def test_comparators(written: Any, value: Any, holds: bool) -> None:
    """One language for golden cases and conditions."""
    assert comparator(written).holds(value) is holds


@pytest.mark.parametrize(
    "written",
    [
        "about 3",
        ">= three",
        "0.8..0.3",
        {},
        7,
        None,
        {"like": "x"},
        {"one_of": "ab"},
        {"contains": 1},
        {"within": {}},
        {"exists": 1},
        {"count": 3},
    ],
)
def test_what_is_no_comparator(written: Any) -> None:
    """Refused when it is read, not when it is used."""
    with pytest.raises(InvalidComparator):
        comparator(written)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.a", 1),
        ("$.b[1].c", 3),
        ("$.b[*].c", [2, 3]),
        ("$.a[*].c", ABSENT),
        ("$.x", ABSENT),
        ("$.d[*][*]", [[1], [2, 3]]),
        ('$["e f"]', 4),
    ],
)
def test_what_stands_at_a_path(path: str, value: Any) -> None:
    """A star gathers; what is not there is absent."""
    message = {"a": 1, "b": [{"c": 2}, {"c": 3}, {}], "d": [[1], [2, 3]], "e f": 4}
    assert value_at(message, path) == value


def test_a_path_that_cannot_be_read() -> None:
    """Is a fault of whoever wrote it."""
    with pytest.raises(InvalidComparator, match="begins with"):
        value_at({}, "content.confidence")

"""Golden sets: data that is checked when read, answers that are judged, reports that are compared."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from accordance.contracts.phases import LEVELS
from accordance.domain.research.golden import (
    CaseResult,
    GoldenReport,
    GoldenSet,
    NoAnswer,
    chosen,
    judge_case,
    read_golden,
    run_golden,
)
from accordance.domain.research.regression import regression
from accordance.errors import InvalidGolden
from accordance.rendering.golden_reports import (
    as_json,
    as_junit,
    as_text,
    read_report,
    regression_text,
)
from accordance.shipped import GOLDEN, shipped
from tests.messages import Message, changed
from tests.unit.research import REGISTRY, example

HEAD = 'schema_version = "accordance.golden.v1"\nname = "small"\n'
CASE = """[[cases]]
id = "{id}"
agent = "{agent}"
about = "…"
[cases.request]
task_id = "3f0c2a44-5c1e-4d0b-9f5d-7d1b2f6a9c10"
task_type = "theory"
user_query = "{query}"
context = {{ research_domain = "x", stage = "planning" }}
[cases.expect]
{expect}
"""


def case(
    name: str = "one",
    agent: str = "theory-architect",
    expect: str = 'options = ">= 3"',
    query: str = "Which?",
) -> str:
    return CASE.format(id=name, agent=agent, expect=expect, query=query)


def golden(*cases: str) -> GoldenSet:
    return read_golden(HEAD + "".join(cases), REGISTRY)


def judged(expect: str, message: Message | None = None) -> list[str]:
    (one,) = golden(case(expect=expect)).cases
    return list(
        judge_case(one, json.dumps(message or example("answer-1")), REGISTRY).problems
    )


def test_the_set_that_comes_along() -> None:
    """At least twenty cases, over the three levels, in two languages; ids say their level."""
    found = read_golden(shipped(GOLDEN), REGISTRY)
    assert len(found.cases) >= 20
    for level in LEVELS:
        of_level = [one for one in found.cases if one.agent.level == level]
        assert len(of_level) >= 5
        assert all(one.id.startswith(level.lower()) for one in of_level)
    assert len({one.request.task_id for one in found.cases}) == len(found.cases)
    assert all(one.expectations for one in found.cases)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("[[", "not valid TOML", id="no TOML"),
        pytest.param(HEAD, "is invalid", id="no cases"),
        pytest.param(HEAD + case() + case(), "one: two cases have this id", id="an id twice"),
        pytest.param(HEAD + case(agent="theory-architekt"), "one: unknown agent .* did you mean", id="an unknown agent"),
        pytest.param(HEAD + case(query=" "), "one: its request is invalid: .*user_query", id="a request that does not fit"),
        pytest.param(HEAD + case(expect='options = "many"'), "one: 'many' is not a comparison", id="a comparison nobody knows"),
        pytest.param(HEAD + case(expect='optoins = ">= 1"'), "one: 'optoins' is neither a path", id="a metric nobody knows"),
        pytest.param(HEAD + case(expect='"$.a[" = ">= 1"'), "one: cannot read", id="a path that cannot be read"),
    ],
)  # fmt: skip
def test_sets_that_do_not_hold(text: str, complaint: str) -> None:
    """Refused before anybody is asked, with the case at fault."""
    with pytest.raises(InvalidGolden, match=complaint):
        read_golden(text, REGISTRY)


@pytest.mark.parametrize(
    ("expect", "problems"),
    [
        ('options = ">= 3"', []),
        ('options = ">= 6"', ["options: expected >= 6, got 5"]),
        ('spread = "0.69..0.71"', []),
        ('"$.vs_metadata.modal_identified" = { count = ">= 2" }', ['$.vs_metadata.modal_identified: expected count >= 2, got ["기술수용모형"]']),
        ('"$.nothing" = { exists = true }', ["$.nothing: expected exists true, got nothing"]),
        ('"$.vs_level" = { one_of = ["Light"] }\ncritique = "== 1"', ['$.vs_level: expected one_of ["Light"], got "Full"']),
    ],
)  # fmt: skip
def test_expectations(expect: str, problems: list[str]) -> None:
    """Every one that does not hold is told in one line."""
    assert judged(expect) == problems


def test_an_answer_must_honour_its_contract_first() -> None:
    """The first violations are told, the rest is counted; no metrics are taken of it."""
    broken = changed(example("answer-1"), "vs_metadata.t_scores", ["x"] * 8)
    problems = judged('options = ">= 3"', broken)
    assert len(problems) == 6
    assert problems[-1] == "and 3 more violations"
    assert judged(
        'options = ">= 3"', changed(example("answer-1"), "content.confidence", 7)
    )[0].startswith("$.content")


def test_no_answer_is_no_pass() -> None:
    """And says why there is none."""
    (one,) = golden(case()).cases
    result = judge_case(one, NoAnswer("gone fishing"), REGISTRY)
    assert (result.status, result.problems) == ("MISSING", ("gone fishing",))


def test_levels_without_a_critique_have_no_such_metric() -> None:
    """A mean over what is not there would be a lie."""
    (one,) = golden(
        case(agent="construct-mapper", expect='critique = ">= 0.5"\noptions = ">= 1"')
    ).cases
    message = changed(example("answer-1"), "self_critique", ...)
    message |= {"agent_id": "construct-mapper", "vs_level": "Enhanced"}
    result = judge_case(one, json.dumps(message), REGISTRY)
    assert result.problems == ("critique: expected >= 0.5, got nothing",)
    assert "critique" not in result.metrics


def report(answers: dict[str, Message], *names: str) -> GoldenReport:
    cases = golden(*(case(name) for name in names))

    def answer(asked: Any) -> str | NoAnswer:
        return json.dumps(answers[asked.id]) if asked.id in answers else NoAnswer()

    return run_golden(cases, answer, REGISTRY)


GOOD = example("answer-1")
BAD = changed(GOOD, "content.confidence", 7)


def test_reports() -> None:
    """Text with rates and means, JSON that reads back, JUnit that any CI reads."""
    found = report({"one": GOOD, "two": BAD}, "one", "two", "three")
    assert not found.passed
    assert found.by_level() == {"Full": (1, 3)}
    text = as_text(found)
    assert "✓ one  Full  theory-architect" in text
    assert "✗ two" in text
    assert "? three" in text
    assert "Full      1 of 3 passed" in text
    assert "phase_completion  1.000" in text
    assert read_report(json.dumps(as_json(found))) == found
    assert as_json(found)["levels"] == {
        "Full": {"passed": 1, "total": 3, "rate": 0.333333}
    }
    suites = ET.fromstring(as_junit(found))
    assert (suites.get("tests"), suites.get("failures")) == ("3", "2")
    assert [one.get("name") for one in suites.iter("testcase")] == [
        "one",
        "two",
        "three",
    ]
    assert [one.get("message") for one in suites.iter("failure")] == [
        "FAILED",
        "MISSING",
    ]


def test_junit_has_a_suite_for_each_level() -> None:
    """With the cases of that level and no others."""
    results = (
        CaseResult("a", "Full", "ta", "PASSED"),
        CaseResult("b", "Light", "sw", "FAILED", ("x",)),
    )
    suites = ET.fromstring(as_junit(GoldenReport("small", results)))
    assert [
        (suite.get("name"), [case.get("name") for case in suite]) for suite in suites
    ] == [("Full", ["a"]), ("Light", ["b"])]


def test_what_agents_say_cannot_break_the_xml() -> None:
    """Control characters and markup are told harmlessly."""
    nasty = changed(GOOD, "agent_id", 'x"><\x00\ufffe&')
    suites = ET.fromstring(as_junit(report({"one": nasty}, "one")))
    assert "agent_id" in str(next(suites.iter("failure")).text)


def test_a_report_without_measures() -> None:
    """Nothing was measured, nothing is told."""
    assert report({}, "one").metrics() == {}


def test_regression() -> None:
    """Broken and gone are worse; mended and added are not; means are compared."""
    spread = changed(GOOD, "vs_metadata.t_scores.4.score", 0.12)
    before = report({"a": GOOD, "b": GOOD, "c": GOOD, "d": BAD}, "a", "b", "c", "d")
    after = report({"a": spread, "b": BAD, "d": GOOD, "e": BAD}, "a", "b", "d", "e")
    found = regression(before, after)
    assert (found.broken, found.gone, found.mended, found.added) == (
        ("b",),
        ("c",),
        ("d",),
        ("e",),
    )
    assert found.worse
    assert found.metrics == {"lowest": (0.22, 0.17), "spread": (0.7, 0.75)}
    assert found.to_json()["worse"] is True
    assert "broken  b\ngone    c\nmended  d\nadded   e\nlowest " in regression_text(
        found
    )
    same = regression(before, before)
    assert not same.worse
    assert regression_text(same) == "no difference\n"
    assert regression(before, report({}, "a")).metrics == {}


@pytest.mark.parametrize(
    "raw", ["{}", "[]", "x", '{"schema_version": "accordance.golden_report.v1"}']
)
def test_what_is_no_report(raw: str) -> None:
    """One line with what is wrong."""
    with pytest.raises(InvalidGolden, match="not a report of a golden set"):
        read_report(raw)


def test_choosing_cases() -> None:
    """By id; none chosen means all."""
    whole = golden(case("one"), case("two"))
    assert chosen(whole, []) == whole
    assert [one.id for one in chosen(whole, ["two"]).cases] == ["two"]
    with pytest.raises(InvalidGolden, match="three: no such case in small"):
        chosen(whole, ["three"])

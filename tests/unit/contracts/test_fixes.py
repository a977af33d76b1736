"""Fixes repair form: a type, or a spelling with one reading. Never a decision, an identity or a meaning.

There the violation says what the choices are, and whoever wrote the message chooses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from accordance import Context, Contract, Rejected, check, check_value, registry
from accordance.contracts.comparing import fields_of
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.rubric import NODE_RUBRIC, follows
from tests.forms import changes_more_than_form
from tests.messages import (
    ACTION,
    ANSWER,
    NEEDS_INPUT,
    OUTCOME,
    PLAN,
    REVIEW,
    SUBMIT,
    TASK,
    TASK_INPUT,
    VALID,
    VERDICT,
    Message,
    changed,
    small_plan,
)

ASKED = Context(task_id=TASK, plan_id=PLAN)
OTHER_TASK = "5b0c6f0e-1f2d-4c55-9a51-0d6d3c1b7a02"


def refused(message: Message, contract: str, context: Context = ASKED) -> Rejected:
    """The rejection of a message that must be refused."""
    result = check(json.dumps(message), contract, context)
    assert isinstance(result, Rejected), result
    return result


MEANINGS = [
    # (message, place, what was sent, what the violation must name)
    (SUBMIT, "status", "UNDONE", "DONE, NEED_INPUT, FAILED"),
    (SUBMIT, "status", "NOTDONE", "DONE, NEED_INPUT, FAILED"),
    (SUBMIT, "status", "NONE", "DONE, NEED_INPUT, FAILED"),
    (SUBMIT, "status", "DONE?", "DONE, NEED_INPUT, FAILED"),
    (SUBMIT, "exit_code", 1, "0 with status DONE, or another status"),
    (SUBMIT, "schema_version", "scc.submit.v2", "scc.submit.v1"),
    (SUBMIT, "schema_version", ..., "scc.submit.v1"),
    (SUBMIT, "task_id", OTHER_TASK, TASK),
    (REVIEW, "action_required", "DISAPPROVE", "APPROVE, MODIFY, REQUEST_EXTERNAL_INPUT"),
    (REVIEW, "action_required", "NOT APPROVE", "APPROVE, MODIFY, REQUEST_EXTERNAL_INPUT"),
    (REVIEW, "action_required", "APPROVED", "APPROVE, MODIFY, REQUEST_EXTERNAL_INPUT"),
    (REVIEW, "action_required", "APPROVE", "MODIFY or REQUEST_EXTERNAL_INPUT"),
    (REVIEW, "total_score", 95, "APPROVE with a total_score of 95, or a total_score below 90 with MODIFY"),
    (REVIEW, "review_target", "PLAN", "NODE in scope TASK_CHECK"),
    (REVIEW, "task_id", OTHER_TASK, TASK),
    (ACTION, "result_type", "NO_ARTIFACT", "ARTIFACT, NEEDS_INPUT, NOOP, ERROR"),
    (ACTION, "result_type", "NOP", "ARTIFACT, NEEDS_INPUT, NOOP, ERROR"),
    (ACTION, "artifact.format", "scss", "md, txt, json, html, css, js"),
    (ACTION, "artifact.format", "jsx", "md, txt, json, html, css, js"),
    (ACTION, "artifact.format", "json5", "md, txt, json, html, css, js"),
    (ACTION, "artifact.path_hint", f"workspace/artifacts/{OTHER_TASK}/a.md", f"workspace/artifacts/{TASK}/"),
    (ACTION, "artifact.name", "../plans/a", "a plain name"),
    (ANSWER, "vs_metadata.final_selection.t_score", 0.9, "the same score as in t_scores"),
    (ANSWER, "next_agents", [{"agent_id": "x", "reason": "y", "priority": "not_required"}], "required"),
    (TASK_INPUT, "role", "developer", "engineer"),
    (TASK_INPUT, "role", "engineers", "engineer"),
    (VERDICT, "verdict", "BYPASS", "PASS, FAIL"),
    (VERDICT, "verdict", "IMPASSE", "PASS, FAIL"),
    (VERDICT, "verdict", "NOPASS", "PASS, FAIL"),
    (OUTCOME, "next_action", "retry", "none, because the verdict is DONE"),
    (OUTCOME, "verdict", "RETRY", "retry, because the verdict is RETRY"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "place", "sent", "choices"),
    [pytest.param(*case, id=f"{case[1]} {case[2]}") for case in MEANINGS],
)
def test_meanings_are_never_mended(
    message: Message, place: str, sent: object, choices: str
) -> None:
    """No fix at all, and the violation names what could be meant."""
    scope = "TASK_CHECK" if message is REVIEW else contract_of(message)
    result = refused(changed(message, place, sent), scope)
    assert [one.fix for one in result.violations] == [None] * result.total
    assert any(choices in one.expected for one in result.violations), result.violations


def contract_of(message: Message) -> str:
    return next(version for version, valid in VALID.items() if valid is message)


PLANS = [
    pytest.param("edges.0.edge_type", "NOT_DEPENDS_ON", id="a negated edge"),
    pytest.param("edges.0.edge_type", "DEPENDED_ON_BY", id="an edge seen from its other end, by a name nobody declared"),
    pytest.param("edges.0.plan_id", "another-plan", id="an edge of another plan"),
    pytest.param("nodes.1.plan_id", "another-plan", id="a node of another plan"),
    pytest.param("edges.0.metadata", {"and_or": "OR"}, id="OR beside AND"),
    pytest.param("edges.0.to_task_id", "root", id="an edge from a node to itself"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "sent"), PLANS)
def test_the_meaning_of_a_plan_is_never_mended(place: str, sent: object) -> None:
    """Neither what an edge says, nor where anything belongs."""
    result = refused(changed(small_plan(), place, sent), "plan")
    assert [one.fix for one in result.violations] == [None] * result.total


def test_an_edge_seen_from_its_other_end_is_turned_round_beside_other_faults() -> None:
    """The one rewriting of an edge that is offered, because the contract declares what REQUIRES means."""
    plan = changed(
        changed(small_plan(), "edges.0.edge_type", "MAYBE"),
        "edges.2.edge_type",
        "requires",
    )
    result = refused(plan, "plan")
    fixes = {one.path: one.fix for one in result.violations}
    assert fixes["$.edges[0].edge_type"] is None
    turned = fixes["$.edges[2].edge_type"]
    assert turned is not None
    assert isinstance(turned.value, dict)
    assert turned.value["from_task_id"] == plan["edges"][2]["to_task_id"]
    assert turned.value["edge_type"] == "DEPENDS_ON"


FORMS = [
    (SUBMIT, "exit_code", "0", 0, "a number in quotes"),
    (SUBMIT, "exit_code", 0.0, 0, "an integer with a fraction"),
    (SUBMIT, "tests.passed", "true", True, "a flag in quotes"),
    (
        REVIEW,
        "action_required",
        "request-external input",
        "REQUEST_EXTERNAL_INPUT",
        "other separators",
    ),
    (SUBMIT, "status", " done ", "DONE", "another letter case, and blanks around"),
    (SUBMIT, "status", ["DONE"], "DONE", "a word in a list"),
    (
        SUBMIT,
        "changed_files",
        "src/app.py",
        ["src/app.py"],
        "a text where a list of texts goes",
    ),
    (
        SUBMIT,
        "schema_version",
        "SCC.SUBMIT.V1",
        "scc.submit.v1",
        "a version in another letter case",
    ),
    (ANSWER, "content.confidence", " 0.7 ", 0.7, "a fraction in quotes"),
    (
        ACTION,
        "artifact.path_hint",
        "out/a.md",
        f"workspace/artifacts/{TASK}/a.md",
        "a file outside of the task's folder",
    ),
]


@pytest.mark.parametrize(
    ("message", "place", "sent", "meant"),
    [pytest.param(*case[:4], id=case[4]) for case in FORMS],
)
def test_forms_are_mended(
    message: Message, place: str, sent: object, meant: object
) -> None:
    """A fix that says the same in the right form is offered."""
    result = refused(changed(message, place, sent), contract_of(message), Context())
    path = "$." + place
    assert [
        one.fix.value for one in result.violations if one.fix and one.path == path
    ] == [meant]


def test_a_rubrics_maximum_is_never_mended() -> None:
    """A score out of 20 is not the same score out of 40."""
    strict = registry.get("review").with_rules(follows(NODE_RUBRIC))
    result = check_value(changed(REVIEW, "breakdown.0.dimension", "Coverage"), strict)
    assert isinstance(result, Rejected)
    assert [one.fix for one in result.violations] == [None] * result.total


def test_two_words_that_differ_in_spelling_only_are_not_told_apart() -> None:
    """A fix has one reading or is not offered."""

    class Answer(BaseModel):
        word: Literal["yes", "YES", "no"]

    result = check('{"word": "Yes"}', Contract(version="answer_v1", model=Answer))
    assert isinstance(result, Rejected)
    assert result.violations[0].fix is None


# Every contract of the catalogue, every field with closed words, every id and every number: whatever is sent there, no
# fix turns it into something else.

MESSAGES = [*VALID.items(), ("xiaobo_action_v1", NEEDS_INPUT)]


def test_every_contract_has_a_message() -> None:
    """A contract that is added to the catalogue takes part in the test below."""
    assert {version for version, _ in MESSAGES} == set(registry.versions())


@pytest.mark.parametrize(
    ("version", "message"), [pytest.param(*case, id=case[0]) for case in MESSAGES]
)
def test_no_fix_of_any_contract_changes_more_than_form(
    version: str, message: Message
) -> None:
    """Over near misses of every word, other ids, other numbers and other types, in every place of the message."""
    tried = 0
    for place, value, words in places(version, message):
        for sent in slips(value, words):
            result = check(json.dumps(changed(message, place, sent)), version, ASKED)
            if isinstance(result, Rejected):
                tried += 1
                assert changes_more_than_form(result) == [], (place, sent)
    assert tried > 20


def places(version: str, message: Message) -> Iterator[tuple[str, Any, list[str]]]:
    """Every place of a message that holds no container, with its value and the words it may have."""
    words = {
        field.path: words_in(field.schema) for field in fields_of(registry.get(version))
    }
    for place, value in leaves(message):
        general = "$." + ".".join(
            "[*]" if step.isdigit() else step for step in place.split(".")
        )
        yield place, value, words.get(general.replace(".[*]", "[*]"), [])


def words_in(schema: JsonObject) -> list[str]:
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return [str(word) for word in listed] if isinstance(listed, list) else []


def leaves(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    below = value.items() if isinstance(value, dict) else enumerate(value)
    for step, item in below:
        place = f"{above}{step}"
        if isinstance(item, dict | list):
            yield from leaves(item, f"{place}.")
        else:
            yield place, item


def slips(value: Any, words: list[str]) -> Iterator[object]:
    """What might be sent in the place of a value."""
    yield from (
        None,
        True,
        [value],
        {"value": value},
        str(value),
        "",
        "\u200b",
        f" {value} ",
    )
    if isinstance(value, str):
        yield from (
            value.upper(),
            value[:-1],
            f"{value}2",
            f"x{value}",
            value.replace("1", "2"),
        )
    if isinstance(value, int | float):
        yield from (
            value + 1,
            -value - 1,
            float(value),
            f"{value}",
            f"{value}.5",
            f"not {value}",
        )
    for word in words:
        yield word
        yield from (
            f"{negation}{word}"
            for negation in ("NOT ", "NOT_", "NO", "UN", "DIS", "NON-", "!")
        )
        yield from (
            word[:-1],
            word[1:],
            f"{word}S",
            f"{word}D",
            f"{word}_BY",
            f"{word} {word}",
            f"{word}?",
        )
        yield from (
            word.swapcase(),
            word.replace("_", "-"),
            word.replace("_", " "),
            word.replace("_", ""),
        )
        yield from (
            word.replace("K", "\u212a"),
            word.replace("S", "\u017f"),
            f"{word}\u200b",
            [word, word],
        )

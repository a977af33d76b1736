"""Events as sentences: every kind of the code has its own, and says what it knows."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import accordance
from accordance.domain.lifecycle import Event
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.rendering.event_sentences import EVENT_CLAUSES, Happening, sentence

SOURCES = Path(accordance.__file__).parent
CHOSEN_BY_CALLER = {
    ("store/ledger.py", "event"),  # of Event and PlanEvent
    ("runtime/consulting.py", "event"),  # what was noted before
}
"""Places that write the kind they were given."""


def kinds_in(path: Path) -> Iterator[str]:
    """The kinds of events that a module writes, by its source."""
    place = path.relative_to(SOURCES).as_posix()
    name = place.removesuffix(".py").replace("/", ".")
    module = importlib.import_module(f"accordance.{name}")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        kind = _kind_argument(node)
        if kind is None:
            continue
        word = ast.unparse(kind)
        if (place, word) in CHOSEN_BY_CALLER:
            continue
        yield str(eval(word, vars(module)))


def _kind_argument(call: ast.Call) -> ast.expr | None:
    assert isinstance(call.func, ast.Attribute)
    owner = ast.unparse(call.func.value)
    name = call.func.attr
    if name == "record" and owner in ("tx", "self", "self._tx") and len(call.args) > 2:
        return call.args[1]
    if name == "note" and owner in ("self", "self.consultation"):
        return call.args[0]
    return None


def written_kinds() -> set[str]:
    """Every kind of event that the code writes."""
    kinds = {str(event) for event in (*Event, *PlanEvent)}
    for layer in ("store", "work", "changes", "runtime", "service"):
        for path in sorted((SOURCES / layer).rglob("*.py")):
            text = path.read_text("utf-8")
            if ".record(" in text or ".note(" in text:
                kinds |= set(kinds_in(path))
    return kinds


def test_every_kind_of_event_has_a_sentence() -> None:
    """A kind without one would be shown as a bare word."""
    kinds = written_kinds()
    assert {"VERDICT", "MESSAGE", "LENT", "RAN", "PLAN_WRITTEN", "SAID"} <= kinds
    assert sorted(kinds - set(EVENT_CLAUSES)) == []


def test_a_kind_of_a_newer_accordance() -> None:
    """Is shown as it is."""
    assert sentence(Happening(kind="NEWER", subject="A")) == "A: NEWER"


@pytest.mark.parametrize("kind", sorted(EVENT_CLAUSES))
def test_a_sentence_without_details(kind: str) -> None:
    """An empty payload breaks none of them."""
    text = sentence(Happening(kind=kind, subject="Prices"))
    assert text.startswith("Prices: ")
    assert not text.endswith((":", ": "))


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a verdict, with its reason in words": (
        "VERDICT",
        {"outcome": "RETRY", "reason_code": "CI_FAILED"},
        {"attempt": 1, "who": "coder", "why": "tests.test_rounding fails"},
        "attempt 1 by coder ended RETRY, CI_FAILED: tests.test_rounding fails",
    ),
    "a verdict on a review": (
        "VERDICT",
        {"outcome": "DONE", "reason_code": "APPROVE"},
        {"attempt": 2, "is_review": True},
        "the review of attempt 2 ended DONE, APPROVE",
    ),
    "a verdict without a code": (
        "VERDICT",
        {"outcome": "DONE", "reason_code": ""},
        {"attempt": 2},
        "attempt 2 ended DONE",
    ),
    "an attempt that begins": (
        "CLAIMED",
        {},
        {"who": "anna"},
        "an attempt by anna began",
    ),
    "a message that breaks its contract": (
        "MESSAGE",
        {"kind": "ACTION", "accepted": False},
        {},
        "a message arrived and breaks its contract",
    ),
    "a review that honours it": (
        "MESSAGE",
        {"kind": "REVIEW", "accepted": True},
        {},
        "a review arrived and honours its contract",
    ),
    "a run without a message": (
        "MESSAGE",
        {"kind": "FAULT", "accepted": False},
        {"attempt": 3},
        "attempt 3 ended without a message",
    ),
    "a refusal": (
        "MESSAGE_REFUSED",
        {"why": "attempt 1 is over"},
        {},
        "a message was refused: attempt 1 is over",
    ),
    "a bad message of a planner": (
        "LLM_UNPARSEABLE",
        {"why": "no nodes"},
        {},
        "a message broke its contract: no nodes",
    ),
    "a question": (
        "ASKED_A_PERSON",
        {"text": "Which?"},
        {},
        "a person is asked: Which?",
    ),
    "an answer with a file": (
        "QUESTION_ANSWERED",
        {"question": "q-1", "by": "anna", "text": "here", "files": ["a"]},
        {},
        "q-1 was answered by anna: here, 1 file",
    ),
    "an answer that says no": (
        "QUESTION_ANSWERED",
        {"question": "q-1", "yes": False},
        {},
        "q-1 was answered: no",
    ),
    "an answer that approves": (
        "QUESTION_ANSWERED",
        {"question": "q-1", "approve": True, "files": "none"},
        {},
        "q-1 was answered: approved",
    ),
    "a prompt for a model": (
        "PROMPTED",
        {"kind": "action", "attempt": 1, "executor": "llm", "model": "small"},
        {},
        "llm (small) got its prompt for attempt 1",
    ),
    "a prompt for a review": (
        "PROMPTED",
        {"kind": "review", "attempt": 1, "executor": "llm"},
        {},
        "llm got its prompt for the review of attempt 1",
    ),
    "a prompt for a plan": (
        "PROMPTED",
        {"kind": "plan", "attempt": 1, "executor": "llm"},
        {},
        "llm got its prompt for the plan",
    ),
    "a prompt for the review of a plan": (
        "PROMPTED",
        {"kind": "plan_review", "attempt": 1, "executor": "llm"},
        {},
        "llm got its prompt for the review of the plan",
    ),
    "a run that failed": (
        "RAN",
        {
            "kind": "action",
            "attempt": 1,
            "duration_ms": 61_000,
            "code": "TIMEOUT_EXCEEDED",
            "text": "too slow",
        },
        {},
        "the run for attempt 1 ended after 1 min 01 s, TIMEOUT_EXCEEDED: too slow",
    ),
    "kept work": ("SAID", {"asked": "work"}, {}, "the work was kept, to be judged"),
    "an answer of a model": ("SAID", {"asked": "abc"}, {}, "the model answered"),
    "inputs that are all there": (
        "INPUTS_CHANGED",
        {"missing": 0},
        {},
        "all its inputs are there",
    ),
    "inputs that are missing": (
        "INPUTS_CHANGED",
        {"missing": 2},
        {},
        "2 inputs missing",
    ),
    "an import": (
        "PLAN_IMPORTED",
        {"revision": 2, "nodes": 1},
        {},
        "revision 2 was imported, 1 node",
    ),
    "a blown fuse": (
        "PLAN_FUSE_BLOWN",
        {"fuse": "calls_per_run: 5 of 5"},
        {},
        "a fuse blew, and the plan is held: calls_per_run: 5 of 5",
    ),
    "a plan that was written badly": (
        "PLAN_WRITTEN",
        {"faults": ["no root"]},
        {},
        "a planner handed in a plan that breaks its contract: no root",
    ),
    "a cancelled task": (
        "CANCELLED",
        {"by": "anna", "along": ["b"]},
        {},
        "cancelled by anna, with 1 task that waited for it",
    ),
    "a report of progress": (
        "REPORTED",
        {"by": "elsewhere", "text": "half of the tests pass", "attempt": 1},
        {},
        "elsewhere reports: half of the tests pass",
    ),
    "a loan": (
        "LENT",
        {"executor": "anna", "attempt": 1},
        {},
        "a clone was lent to anna for attempt 1",
    ),
    "a long text": (
        "ASKED_A_PERSON",
        {"text": "x" * 999},
        {},
        f"a person is asked: {'x' * 300}…",
    ),
    "a text of many lines": (
        "ASKED_A_PERSON",
        {"text": "one\n\n  two"},
        {},
        "a person is asked: one two",
    ),
}


@pytest.mark.parametrize(
    ("kind", "payload", "known", "clause"), list(CASES.values()), ids=list(CASES)
)
def test_a_sentence(
    kind: str, payload: dict[str, Any], known: dict[str, Any], clause: str
) -> None:
    """It says what happened, with the details that the event has."""
    event = Happening(kind=kind, subject="Prices", payload=payload, **known)
    assert sentence(event) == f"Prices: {clause}"


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"tokens": 5}, "5 tokens"),
        ({"cost": 0.5}, "a cost of 0.50"),
        ({"tokens": 5, "cost": 0.5}, "5 tokens and a cost of 0.50"),
    ],
)
def test_what_an_attempt_reserves(payload: dict[str, Any], words: str) -> None:
    event = Happening(kind="RESERVED", subject="Prices", payload=payload)
    assert f"reserved {words} of the plan's budget" in sentence(event)

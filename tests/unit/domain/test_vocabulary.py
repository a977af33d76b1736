"""Every word that accordance prints has a meaning."""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from pathlib import Path
from typing import get_args

import pytest

import accordance
from accordance.contracts.catalogue.plan import Node
from accordance.domain import attempts, failure_ruling
from accordance.domain.escalation import NextAction
from accordance.domain.fail_codes import FAIL_CODES
from accordance.domain.faults import FAULTS
from accordance.domain.findings import Gate
from accordance.domain.lifecycle import Event, State, Waiting
from accordance.domain.plan_lifecycle import PlanEvent, PlanState
from accordance.domain.task_ruling import QuestionKind
from accordance.domain.verdict import Outcome
from accordance.domain.vocabulary import ANSWERS, VOCABULARY, WORDS, meanings_of
from accordance.rendering.event_sentences import EVENT_CLAUSES
from accordance.work.receipts import Status
from accordance.work.taking import NoTaskReason

ENUMS: dict[str, type[StrEnum]] = {
    "state of a task": State,
    "reason to wait": Waiting,
    "state of a plan": PlanState,
    "outcome": Outcome,
    "next action": NextAction,
    "gate": Gate,
    "kind of question": QuestionKind,
}
RULINGS = Path(accordance.__file__).parent / "domain"
CODE = re.compile(r"[A-Z][A-Z]+(_[A-Z]+)*")


@pytest.mark.parametrize("kind", ENUMS)
def test_every_word_of_an_enum_is_known(kind: str) -> None:
    """A new one needs its meaning."""
    assert sorted(set(map(str, ENUMS[kind])) - set(VOCABULARY[kind])) == []


def test_every_event_is_known() -> None:
    """Those of tasks, of plans, and all that has a sentence."""
    kinds = {str(event) for event in (*Event, *PlanEvent)}
    assert kinds <= set(VOCABULARY["event"]) == set(EVENT_CLAUSES)


def test_every_type_of_node_is_known() -> None:
    """As the contract of plans has them."""
    types = get_args(Node.model_fields["node_type"].annotation)
    assert set(VOCABULARY["type of node"]) == set(types)


def test_every_reason_for_an_end_is_known() -> None:
    """By the name that --json prints."""
    names = {reason.name for reason in NoTaskReason}
    assert names | {"STOPPED"} <= set(VOCABULARY["why a run ends"])


def reasons_in(path: Path) -> set[str]:
    """The reasons that a module of rulings gives, by its source."""
    reasons = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "reason":
            reasons |= _texts(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "escalated",
            "_ruled",
        ):
            for argument in node.args:
                reasons |= _texts(argument)
        elif isinstance(node, ast.Return) and path.name == "attempts.py":
            reasons |= _texts(node.value)
    return reasons


def _texts(value: ast.expr | None) -> set[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return {value.value} if CODE.fullmatch(value.value) else set()
    return set()


def test_every_reason_is_known() -> None:
    """Of rulings, of faults, of errors that block a task."""
    reasons = set(failure_ruling.BLOCKED_BY)
    reasons |= {page.code for page in FAULTS.values()}
    reasons |= {failure_ruling.UNPARSEABLE, failure_ruling.TOO_MANY_CALLS}
    for path in (*RULINGS.glob("*ruling.py"), RULINGS / "plan_review.py"):
        reasons |= reasons_in(path)
    reasons |= reasons_in(Path(attempts.__file__))
    assert {"REPEATED_ERROR", "PASSED", "MODIFY", "NOOP_LOOP"} <= reasons
    known = {page.code for page in FAIL_CODES} | set(VOCABULARY["reason"])
    assert sorted(reasons - known) == []


def test_every_answer_to_a_message_is_known() -> None:
    """As a run prints it."""
    assert ANSWERS.keys() == {*get_args(Status), "handed_back"}
    assert [word.kind for word in meanings_of("handed_back")] == ["answer to a message"]


def test_a_word_with_several_meanings() -> None:
    """In any letter case; the exact spelling comes first."""
    assert [word.kind for word in meanings_of("DONE")] == ["state of a task", "outcome"]
    assert [word.word for word in meanings_of(" retry ")] == ["retry", "RETRY"]
    assert meanings_of("nothing of the kind") == ()


def test_every_meaning_is_a_sentence() -> None:
    """Short, and with its end."""
    for word in WORDS:
        assert word.meaning[0].isupper(), word
        assert word.meaning.endswith((".", "?")), word

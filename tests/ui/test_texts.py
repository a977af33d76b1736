"""Texts that the server writes in English have their other languages in the dashboard."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from accordance.domain.answering import CHOICES
from accordance.domain.findings import Gate
from accordance.domain.task_ruling import QuestionKind

SCREENS = Path(__file__).resolve().parents[2] / "ui" / "src" / "screens"
CONSEQUENCES = sorted(
    {choice.leads_to for choices in CHOICES.values() for choice in choices}
)


def keys_of(path: str) -> set[str]:
    """Return the keys of the texts in a file."""
    source = (SCREENS / path).read_text()
    quoted = re.findall(r'^  ("(?:[^"\\]|\\.)*"): \{', source, re.MULTILINE)
    plain = re.findall(r"^  (\w+): \{", source, re.MULTILINE)
    return {json.loads(key) for key in quoted} | set(plain)


@pytest.mark.parametrize("sentence", CONSEQUENCES)
def test_consequences_of_answers_are_translated(sentence: str) -> None:
    """What an answer leads to is read before the answer is given."""
    assert sentence in keys_of("inbox/texts.ts")


@pytest.mark.parametrize("gate", list(Gate))
def test_questions_of_checks_are_translated(gate: Gate) -> None:
    assert gate.value in keys_of("task/gates.ts")


@pytest.mark.parametrize("kind", list(CHOICES))
def test_kinds_and_words_of_answers_are_translated(kind: QuestionKind) -> None:
    keys = keys_of("inbox/texts.ts")
    assert f"kind{kind}" in keys
    assert {f"word{choice.word}" for choice in CHOICES[kind]} <= keys

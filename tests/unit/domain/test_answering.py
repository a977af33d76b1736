"""What can be answered to a question, how a line is read, and why a question was asked."""

from __future__ import annotations

import pytest

from accordance.domain.answering import (
    CHOICES,
    AnswerWord,
    Circumstance,
    ReadAnswer,
    choices_for,
    is_about_pins,
    misspelt_word,
    question_name,
    read_answer,
    reason_of,
)
from accordance.domain.task_ruling import QuestionKind


def words(kind: QuestionKind, *circumstances: Circumstance) -> str:
    """The words that are offered, in their order."""
    return " ".join(choice.word for choice in choices_for(kind, circumstances))


def test_every_kind_has_choices() -> None:
    """And each choice says in a sentence what it leads to."""
    assert set(CHOICES) == set(QuestionKind)
    for choices in CHOICES.values():
        assert choices
        for choice in choices:
            assert choice.leads_to.endswith(".")
            assert "--" not in choice.leads_to


@pytest.mark.parametrize(
    ("kind", "circumstances", "expected"),
    [
        pytest.param(
            QuestionKind.HELP,
            (),
            "retry text file give-up",
            id="nothing to approve without a product",
        ),
        pytest.param(
            QuestionKind.DECISION,
            (Circumstance.HAS_PRODUCT,),
            "retry text file approve give-up",
            id="a product can be approved",
        ),
        pytest.param(
            QuestionKind.PLAN,
            (Circumstance.HAS_BEGUN,),
            "resume approve give-up",
            id="a plan that has begun is resumed",
        ),
        pytest.param(
            QuestionKind.PLAN,
            (Circumstance.NOT_BEGUN,),
            "retry text approve give-up",
            id="a plan that has not begun is reviewed again",
        ),
        pytest.param(QuestionKind.GOAL, (), "give-up", id="a goal is given up"),
        pytest.param(
            QuestionKind.CONFIRMATION, (), "yes no", id="a confirmation is yes or no"
        ),
    ],
)
def test_choices(
    kind: QuestionKind, circumstances: tuple[Circumstance, ...], expected: str
) -> None:
    """As things stand."""
    assert words(kind, *circumstances) == expected


def test_options_belong_to_the_choice_among_them() -> None:
    """And to no other."""
    (choice,) = choices_for(QuestionKind.BINDING, options=["r-1", "r-2"])
    assert choice.options == ("r-1", "r-2")
    plain = choices_for(QuestionKind.HELP, options=["r-1"])
    assert all(choice.options == () for choice in plain)


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        pytest.param(
            QuestionKind.HELP, " Retry ", ReadAnswer(AnswerWord.RETRY), id="a word"
        ),
        pytest.param(
            QuestionKind.HELP,
            "GIVE_UP",
            ReadAnswer(AnswerWord.GIVE_UP),
            id="a word in other letters",
        ),
        pytest.param(
            QuestionKind.HELP,
            "approve",
            ReadAnswer(AnswerWord.APPROVE),
            id="a word that is not offered is no text",
        ),
        pytest.param(
            QuestionKind.CONFIRMATION,
            "yes",
            ReadAnswer(AnswerWord.YES),
            id="yes, where it is asked for",
        ),
        pytest.param(
            QuestionKind.HELP,
            "yes",
            ReadAnswer(AnswerWord.TEXT, "yes"),
            id="yes, said to an open question",
        ),
        pytest.param(
            QuestionKind.BINDING,
            "r-2",
            ReadAnswer(AnswerWord.CHOOSE, "r-2"),
            id="an option",
        ),
        pytest.param(
            QuestionKind.HELP,
            "retry it with EUR",
            ReadAnswer(AnswerWord.TEXT, "retry it with EUR"),
            id="a text that begins with a word",
        ),
    ],
)
def test_reading_a_line(kind: QuestionKind, line: str, expected: ReadAnswer) -> None:
    """As a word, an option, or a text."""
    choices = choices_for(kind, options=["r-1", "r-2"])
    assert read_answer(line, choices) == expected


@pytest.mark.parametrize(
    ("line", "word"),
    [
        pytest.param("aprove", AnswerWord.APPROVE, id="a letter is missing"),
        pytest.param(" Approved", AnswerWord.APPROVE, id="a letter too many"),
        pytest.param("giveup", AnswerWord.GIVE_UP, id="without its hyphen"),
        pytest.param("approve", None, id="the word itself"),
        pytest.param("resum", None, id="like a word that is not offered"),
        pytest.param("prove it", None, id="a text"),
        pytest.param("approve the second half only", None, id="a longer text"),
    ],
)
def test_a_misspelt_word(line: str, word: AnswerWord | None) -> None:
    """Is no text: as a text it would mean the opposite."""
    assert misspelt_word(line, choices_for(QuestionKind.APPROVAL)) is word


@pytest.mark.parametrize(
    ("text", "details", "code", "sentence"),
    [
        pytest.param(
            "NO_COFFEE: none is left",
            {"reason": "NO_COFFEE"},
            "NO_COFFEE",
            "none is left",
            id="the code is not repeated",
        ),
        pytest.param(
            "NO_COFFEE: NO_COFFEE: none",
            {},
            "NO_COFFEE",
            "none",
            id="a doubled code of an older question",
        ),
        pytest.param(
            "NO_COFFEE: NO_COFFEE:",
            {},
            "NO_COFFEE",
            "NO_COFFEE",
            id="nothing but codes",
        ),
        pytest.param(
            "Returned 3 times: OTHER_CODE: x",
            {"reason": "MAX_REVIEW_ROUNDS_EXCEEDED"},
            "MAX_REVIEW_ROUNDS_EXCEEDED",
            "Returned 3 times: OTHER_CODE: x",
            id="a text without its code",
        ),
        pytest.param(
            "OTHER_CODE: x",
            {"reason": "CODE_A"},
            "CODE_A",
            "OTHER_CODE: x",
            id="another code stays in the text",
        ),
        pytest.param("Which one?", {}, "HELP", "Which one?", id="no code at all"),
        pytest.param("Hint: x", {"reason": 3}, "HELP", "Hint: x", id="no real code"),
    ],
)
def test_why_it_was_asked(
    text: str, details: dict[str, object], code: str, sentence: str
) -> None:
    """A code, and a sentence without it."""
    reason = reason_of(QuestionKind.HELP, text, details)
    assert (reason.code, reason.sentence) == (code, sentence)
    assert str(reason).count(code) == 1


@pytest.mark.parametrize(
    ("number", "name"),
    [
        pytest.param(3, "3", id="its number"),
        pytest.param(None, "q-1", id="its id, where it is older than numbers"),
    ],
)
def test_the_name_of_a_question(number: int | None, name: str) -> None:
    """What a person types to answer it."""
    assert question_name("q-1", number) == name


@pytest.mark.parametrize(
    ("code", "expected"),
    [("SCOPE_CONFLICT", True), ("PINS_INSUFFICIENT", True), ("CI_FAILED", False)],
)
def test_questions_that_wider_pins_settle(code: str, expected: bool) -> None:
    """Only where the pins are why a task cannot go on."""
    assert is_about_pins(code) is expected

"""What a person can answer to a question, and what each answer leads to.

A single table: the kind of a question, its choices, their consequences. Every face
shows the choices from here, and an answer is held to them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.retrying import STRATEGIES, Strategy
from accordance.domain.task_ruling import QuestionKind


class AnswerWord(StrEnum):
    """The word for an answer."""

    RETRY = "retry"
    RESUME = "resume"
    APPROVE = "approve"
    YES = "yes"
    NO = "no"
    CHOOSE = "choose"  # an option of the question
    FILE = "file"
    TEXT = "text"  # anything else that a person says
    GIVE_UP = "give-up"


class Circumstance(Enum):
    """What has to hold for a choice to be offered."""

    ALWAYS = "whatever holds"
    HAS_PRODUCT = "the task has a product"
    HAS_BEGUN = "the plan has begun"
    NOT_BEGUN = "nothing in the plan has begun"


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """A possible answer, and what it leads to."""

    word: AnswerWord
    leads_to: str
    when: Circumstance = Circumstance.ALWAYS
    options: tuple[str, ...] = ()  # where an option has to be chosen


_GIVE_UP: Final = AnswerChoice(
    AnswerWord.GIVE_UP,
    "The task moves to the dead letters; it can be requeued later.",
)
_APPROVE_PRODUCT: Final = AnswerChoice(
    AnswerWord.APPROVE,
    "The product counts as approved, and the task is done.",
    Circumstance.HAS_PRODUCT,
)
_AFTER_A_BLOCK: Final = (
    AnswerChoice(
        AnswerWord.RETRY, "The task is tried again; its attempts count from 1."
    ),
    AnswerChoice(
        AnswerWord.TEXT, "The task is tried again, and the next attempt reads this."
    ),
    AnswerChoice(
        AnswerWord.FILE, "The file joins the inputs, and the task is tried again."
    ),
    _APPROVE_PRODUCT,
    _GIVE_UP,
)

CHOICES: Final[Mapping[QuestionKind, tuple[AnswerChoice, ...]]] = MappingProxyType(
    {
        QuestionKind.DOCUMENTS: (
            AnswerChoice(
                AnswerWord.FILE,
                "The file is put where it was asked for, and the task goes on.",
            ),
            AnswerChoice(
                AnswerWord.TEXT,
                "The task goes on without the file, and the next attempt reads this.",
            ),
            _APPROVE_PRODUCT,
            _GIVE_UP,
        ),
        QuestionKind.HELP: _AFTER_A_BLOCK,
        QuestionKind.DECISION: _AFTER_A_BLOCK,
        QuestionKind.CONFIRMATION: (
            AnswerChoice(
                AnswerWord.YES,
                "It counts as confirmed; the task begins when nothing else is missing.",
            ),
            AnswerChoice(AnswerWord.NO, "The task moves to the dead letters."),
        ),
        QuestionKind.BINDING: (
            AnswerChoice(AnswerWord.CHOOSE, "The file counts for that requirement."),
        ),
        QuestionKind.GOAL: (
            AnswerChoice(
                AnswerWord.GIVE_UP,
                "The goal is given up too. It goes on by itself if its dead part is"
                " requeued or dropped instead.",
            ),
        ),
        QuestionKind.APPROVAL: (
            AnswerChoice(AnswerWord.APPROVE, "The plan is approved, and may run."),
            AnswerChoice(
                AnswerWord.TEXT,
                "The plan is returned for this reason; a better plan can be imported.",
            ),
            AnswerChoice(AnswerWord.GIVE_UP, "The whole plan is cancelled."),
        ),
        QuestionKind.PLAN: (
            AnswerChoice(
                AnswerWord.RESUME,
                "The plan goes on; its calls, tokens, cost and time count from zero.",
                Circumstance.HAS_BEGUN,
            ),
            AnswerChoice(
                AnswerWord.RETRY,
                "The plan is reviewed again.",
                Circumstance.NOT_BEGUN,
            ),
            AnswerChoice(
                AnswerWord.TEXT,
                "The plan is reviewed again, and this is kept with the question.",
                Circumstance.NOT_BEGUN,
            ),
            AnswerChoice(
                AnswerWord.APPROVE, "The plan counts as approved and may run."
            ),
            AnswerChoice(AnswerWord.GIVE_UP, "The whole plan is cancelled."),
        ),
    }
)
"""The table. A new kind of question needs a row here, and what it does in the ledger."""


def choices_for(
    kind: QuestionKind,
    circumstances: Collection[Circumstance] = (),
    options: Iterable[str] = (),
) -> tuple[AnswerChoice, ...]:
    """Return the possible answers to a question, as things stand."""
    possible = []
    for choice in CHOICES[kind]:
        if choice.when is not Circumstance.ALWAYS and choice.when not in circumstances:
            continue
        is_of_options = choice.word is AnswerWord.CHOOSE
        offered = tuple(options) if is_of_options else ()
        possible.append(replace(choice, options=offered))
    return tuple(possible)


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A line that a person wrote, read as a choice."""

    word: AnswerWord
    value: str | None = None  # the option that was chosen, or the text


_COMMANDS: Final = frozenset(
    (AnswerWord.RETRY, AnswerWord.RESUME, AnswerWord.APPROVE, AnswerWord.GIVE_UP)
)
"""Words that are never meant as a text, so that a wrong word is refused."""
_PLAIN: Final = frozenset((AnswerWord.YES, AnswerWord.NO))
"""Words that answer many a question in plain text."""
_ALIKE: Final = 0.8
"""How much of a word has to be right for a slip of the pen: `aprove`, `giveup`."""


def read_answer(line: str, choices: Sequence[AnswerChoice]) -> ReadAnswer:
    """Read a line as a choice: its word, an option of it, or else a text."""
    written = line.strip()
    offered = {choice.word for choice in choices}
    name = re.sub(r"[\s_]+", "-", written.casefold())
    for word in _COMMANDS | (_PLAIN & offered):
        if name == word:
            return ReadAnswer(word)

    for choice in choices:
        if written in choice.options:
            return ReadAnswer(choice.word, written)
    return ReadAnswer(AnswerWord.TEXT, line)


def misspelt_word(line: str, choices: Sequence[AnswerChoice]) -> AnswerWord | None:
    """Return the word of a choice that a line has probably misspelt.

    As a text, `aprove` would return a plan that its reader meant to approve.
    """
    if read_answer(line, choices).word is not AnswerWord.TEXT:
        return None
    offered = [choice.word for choice in choices if choice.word in _COMMANDS]
    name = line.strip().casefold()
    alike = difflib.get_close_matches(name, offered, n=1, cutoff=_ALIKE)
    return AnswerWord(alike[0]) if alike else None


@dataclass(frozen=True, slots=True)
class QuestionReason:
    """Why a person is asked: a code, and a sentence without it."""

    code: str
    sentence: str

    def __str__(self) -> str:
        if self.code in self.sentence:
            return self.sentence  # no code stands twice in a line
        return f"{self.code}: {self.sentence}"


def question_name(question_id: str, number: int | None) -> str:
    """Return the shortest name of a question; old questions have no number."""
    return question_id if number is None else str(number)


def is_about_pins(reason_code: str) -> bool:
    """Whether wider pins let the task of a question go on, as `plan amend` sets them."""
    return STRATEGIES.get(reason_code) is Strategy.PINS_FIX


_CODE: Final = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+):\s+(?=\S)")


def reason_of(
    kind: QuestionKind,
    text: str,
    details: Mapping[str, object],
) -> QuestionReason:
    """Return why a question was asked.

    Its details name the code. An older question has it at the beginning of its text, or
    else its kind has to do.
    """
    match = _CODE.match(text)
    written = match[1] if match else None
    known = details.get("reason")
    code = written or kind.value
    if isinstance(known, str) and known:
        code = known
    if match is None or written != code:
        return QuestionReason(code, text)
    sentence = text[match.end() :]
    return QuestionReason(code, _without_code(code, sentence))


def _without_code(code: str, sentence: str) -> str:
    """A sentence without a code that it repeats: no code stands twice in a line."""
    mark = f"{code}:"
    while sentence.startswith(mark):
        sentence = sentence.removeprefix(mark).lstrip()
    return sentence or code

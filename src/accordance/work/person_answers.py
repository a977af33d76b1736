"""What a person answers to a question, and why an answer may not fit."""

from __future__ import annotations

from dataclasses import dataclass

from accordance.domain.answering import AnswerWord, ReadAnswer
from accordance.errors import AccordanceError, Conflict


class UnfitAnswer(AccordanceError):
    """An answer that does not fit its question."""

    code = "unfit-answer"


class NeedsConfirmation(UnfitAnswer):
    """The question asks for yes or no."""

    code = "needs-confirmation"


class NeedsChoice(UnfitAnswer):
    """The question asks for a choice among several options."""

    code = "needs-choice"


class GoalWaits(UnfitAnswer):
    """A goal with a dead part takes no answer; its part has to be dealt with."""

    code = "goal-waits"


class EmptyAnswer(UnfitAnswer):
    """The answer is empty."""

    code = "empty-answer"


class MisspeltAnswer(UnfitAnswer):
    """A line that is almost the word of a choice."""

    code = "misspelt-answer"


class AlreadyAnswered(Conflict):
    """The question was answered before."""

    code = "already-answered"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a person hands over: its name and its content."""

    name: str
    content: bytes
    document: str | None = None  # of the question, that it is handed in as

    def __post_init__(self) -> None:
        is_path = "/" in self.name or "\0" in self.name
        if is_path or self.name in ("", ".", ".."):
            raise UnfitAnswer(f"{self.name!r} is not a file name")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswer:
    """The answer of a person to a question."""

    by: str
    text: str | None = None
    files: tuple[Upload, ...] = ()
    yes: bool | None = None
    choose: str | None = None
    approve: bool = False
    give_up: bool = False
    go_on: bool = False  # try it again, or resume it, without a word

    @property
    def word(self) -> AnswerWord | None:
        """The word for it; None if it says nothing."""
        given = {
            AnswerWord.GIVE_UP: self.give_up,
            AnswerWord.APPROVE: self.approve,
            AnswerWord.YES: self.yes is True,
            AnswerWord.NO: self.yes is False,
            AnswerWord.CHOOSE: self.choose is not None,
            AnswerWord.FILE: bool(self.files),
            AnswerWord.TEXT: bool(self.text),
            AnswerWord.RETRY: self.go_on,
        }
        return next((word for word, is_given in given.items() if is_given), None)


def person_answer(read: ReadAnswer, *, by: str) -> PersonAnswer:
    """Return the answer of a person who wrote a line."""
    value = read.value
    match read.word:
        case AnswerWord.GIVE_UP:
            return PersonAnswer(by=by, give_up=True)
        case AnswerWord.APPROVE:
            return PersonAnswer(by=by, approve=True)
        case AnswerWord.YES | AnswerWord.NO:
            return PersonAnswer(by=by, yes=read.word is AnswerWord.YES)
        case AnswerWord.CHOOSE:
            return PersonAnswer(by=by, choose=value)
        case AnswerWord.RETRY | AnswerWord.RESUME:
            return PersonAnswer(by=by, go_on=True)
        case _:
            return PersonAnswer(by=by, text=value)

"""What a person answers to a question, and why an answer may not fit."""

from __future__ import annotations

from dataclasses import dataclass

from accordance.errors import AccordanceError


class UnfitAnswer(AccordanceError):
    """An answer that does not fit its question."""

    code = "unfit-answer"


class NeedsConfirmation(UnfitAnswer):
    """The question asks for yes or no."""

    code = "needs-confirmation"


class NeedsChoice(UnfitAnswer):
    """The question asks for one of several options."""

    code = "needs-choice"


class GoalWaits(UnfitAnswer):
    """A goal with a dead part takes no answer; its part has to be dealt with."""

    code = "goal-waits"


class EmptyAnswer(UnfitAnswer):
    """The answer is empty."""

    code = "empty-answer"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a person hands over: its name and its content."""

    name: str
    content: bytes

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

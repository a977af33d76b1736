"""The grammar of filters, the same for every list of the ledger.

A filter is a line of words: `state:failed plan:P-1 -tag:docs "two words"`. The same
words mean the same in every list that has them:

- the same word twice means either value; different words all have to hold;
- a minus in front turns a word round;
- whatever has no word is text to look for; A-Z and a-z count as the same letter;
- quotes keep spaces and colons together; inside them, a backslash escapes.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.lifecycle import State
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.task_ruling import QuestionKind
from accordance.errors import AccordanceError, nearest

MOST_CHARACTERS: Final = 2000
MOST_TERMS: Final = 50
_SHOWN: Final = 40  # characters of a wrong value in an error


class InvalidFilter(AccordanceError):
    """A filter with a word or a value that is not known, or that cannot be read."""

    code = "invalid-filter"


class Subject(StrEnum):
    """The lists."""

    PLANS = "plans"
    TASKS = "tasks"
    EVENTS = "events"
    QUESTIONS = "questions"
    DEAD_LETTERS = "dead letters"


class Word(StrEnum):
    """The words of the grammar."""

    PLAN = "plan"
    TASK = "task"
    STATE = "state"
    KIND = "kind"
    AGENT = "agent"
    TAG = "tag"
    SINCE = "since"
    BEFORE = "before"
    TEXT = "text"


MEANINGS: Final[Mapping[Word, str]] = MappingProxyType(
    {
        Word.PLAN: "a plan, by its id, its title or the beginning of them",
        Word.TASK: "a task, by its id, its title or the beginning of them",
        Word.STATE: "where it stands",
        Word.KIND: "what kind of task, event or question it is",
        Word.AGENT: "the owner of the plan or task, or who works on the task now",
        Word.TAG: "a tag of the task",
        Word.SINCE: "not before this date or time (ISO 8601, UTC)",
        Word.BEFORE: "before this date or time (ISO 8601, UTC)",
        Word.TEXT: "part of the title, the id, the question, the last error or the event",
    }
)

_ALWAYS: Final = (Word.PLAN, Word.AGENT, Word.SINCE, Word.BEFORE, Word.TEXT)
WORDS: Final[Mapping[Subject, tuple[Word, ...]]] = MappingProxyType(
    {
        Subject.PLANS: (Word.STATE, *_ALWAYS),
        Subject.TASKS: (Word.STATE, Word.KIND, Word.TASK, Word.TAG, *_ALWAYS),
        Subject.EVENTS: (Word.KIND, Word.TASK, Word.TAG, *_ALWAYS),
        Subject.QUESTIONS: (Word.STATE, Word.KIND, Word.TASK, Word.TAG, *_ALWAYS),
        Subject.DEAD_LETTERS: (Word.KIND, Word.TASK, Word.TAG, *_ALWAYS),
    }
)
"""The words that each list has."""

OPEN: Final = "OPEN"
ANSWERED: Final = "ANSWERED"
_NODE_TYPES: Final = ("GOAL", "ACTION", "CHECK")
VALUES: Final[Mapping[tuple[Subject, Word], tuple[str, ...]]] = MappingProxyType(
    {
        (Subject.PLANS, Word.STATE): tuple(PlanState),
        (Subject.TASKS, Word.STATE): tuple(State),
        (Subject.TASKS, Word.KIND): _NODE_TYPES,
        (Subject.DEAD_LETTERS, Word.KIND): _NODE_TYPES,
        (Subject.QUESTIONS, Word.STATE): (OPEN, ANSWERED),
        (Subject.QUESTIONS, Word.KIND): tuple(QuestionKind),
    }
)
"""The values of words that have a closed list of them."""

_TIMES: Final = (Word.SINCE, Word.BEFORE)
_TERM: Final = re.compile(
    r"""
    (?P<minus>-)?
    (?:(?P<word>[A-Za-z]+):)?
    (?:"(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<bare>[^\s"]+))?
    (?=\s|$)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Term:
    """A word with its value; it has to hold, or must not."""

    word: Word
    value: str
    is_wanted: bool = True

    def __str__(self) -> str:
        minus = "" if self.is_wanted else "-"
        quoted = self.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{minus}{self.word}:"{quoted}"'


@dataclass(frozen=True, slots=True)
class Filter:
    """What the items of a list have to be like. Without terms, every item fits.

    `str` writes it so that it reads as the same filter again.
    """

    subject: Subject
    terms: tuple[Term, ...] = ()
    first_of_cause: bool = False
    """Of open questions with the same cause in a plan, only the first fits."""
    leaves_out_archived: bool = False
    """What belongs to an archived plan does not fit."""

    def __str__(self) -> str:
        return " ".join(str(term) for term in self.terms)

    def wanted(self, word: Word) -> tuple[str, ...]:
        """The values of a word, any of which has to hold."""
        return self._values(word, is_wanted=True)

    def unwanted(self, word: Word) -> tuple[str, ...]:
        """The values of a word, none of which may hold."""
        return self._values(word, is_wanted=False)

    def _values(self, word: Word, *, is_wanted: bool) -> tuple[str, ...]:
        return tuple(
            term.value
            for term in self.terms
            if term.word is word and term.is_wanted is is_wanted
        )

    def has(self, word: Word) -> bool:
        """Whether it says anything about a word."""
        return any(term.word is word for term in self.terms)

    @property
    def names_plans(self) -> bool:
        """Whether it says which plans are meant, by themselves or by their tasks."""
        return bool(self.wanted(Word.PLAN) or self.wanted(Word.TASK))

    def plus(self, *terms: Term) -> Filter:
        """The same filter with further terms."""
        return replace(self, terms=(*self.terms, *terms))

    @property
    def listing(self) -> str:
        """The list and its filter in a single text, which a cursor is bound to."""
        grouped = "by cause " if self.first_of_cause else ""
        unarchived = "unarchived " if self.leaves_out_archived else ""
        return f"{self.subject} {grouped}{unarchived}{self}"

    @property
    def only_plan(self) -> str | None:
        """The plan that every item belongs to, if the filter names a single plan."""
        plans = self.wanted(Word.PLAN)
        if len(plans) == 1:
            return plans[0]
        return None


def parse_filter(text: str, subject: Subject) -> Filter:
    """Read a filter for a list. Raises InvalidFilter, which names what is known."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidFilter(
            f"the filter has {len(text)} characters; {MOST_CHARACTERS} are allowed"
        )
    terms = []
    at = _behind_spaces(text, 0)
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None:
            raise InvalidFilter(
                f"the filter cannot be read from character {at + 1} on",
                way_out='close every quote, and write a quote inside quotes as \\"',
            )
        terms.append(_term(match, subject))
        at = _behind_spaces(text, match.end())
    if len(terms) > MOST_TERMS:
        raise InvalidFilter(
            f"the filter has {len(terms)} terms; {MOST_TERMS} are allowed"
        )
    _refuse_second_times(terms)
    return Filter(subject, tuple(terms))


def make_term(subject: Subject, word: Word, value: str) -> Term:
    """A term as the grammar would read it. Raises InvalidFilter."""
    return Term(word, _value(subject, word, value))


def _behind_spaces(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def _term(match: re.Match[str], subject: Subject) -> Term:
    word = _word(match["word"], subject)
    is_wanted = match["minus"] is None
    value = _written_value(match)
    if not value:
        raise InvalidFilter(
            f"{_short(match[0])!r} has no value", way_out=f"write it as {word}:VALUE"
        )
    if word in _TIMES and not is_wanted:
        other = Word.BEFORE if word is Word.SINCE else Word.SINCE
        raise InvalidFilter(
            f"-{word}: has no meaning", way_out=f"write {other}:{_short(value)}"
        )
    return Term(word, _value(subject, word, value), is_wanted)


def _written_value(match: re.Match[str]) -> str:
    if match["quoted"] is not None:
        return _ESCAPED.sub(r"\1", match["quoted"])
    return match["bare"] or ""


def _word(name: str | None, subject: Subject) -> Word:
    known = WORDS[subject]
    if name is None:
        return Word.TEXT
    if name.lower() in known:
        return Word(name.lower())
    names = ", ".join(known)
    near = nearest(name, known, count=1)
    hint = f"did you mean {near[0]}: ? " if near else ""
    raise InvalidFilter(
        f"{subject} have no word {_short(name)}:",
        way_out=f'{hint}the words are {names}; a text with a colon goes in "quotes"',
    )


def _value(subject: Subject, word: Word, value: str) -> str:
    if word in _TIMES:
        return _time(word, value)
    if word is Word.KIND or word is Word.STATE:
        return _known_value(subject, word, value)
    return value


def _known_value(subject: Subject, word: Word, value: str) -> str:
    """States and kinds are written in capitals, and read in any letters."""
    name = value.upper().replace("-", "_")
    known = VALUES.get((subject, word))
    if known is None or name in known:
        return name
    near = nearest(name, known, count=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise InvalidFilter(
        f"{subject} have no {word} {_short(value)!r}",
        way_out=f"{hint}known: {', '.join(known)}",
    )


def _time(word: Word, value: str) -> str:
    """A date or a time as the ledger writes times, in UTC to the microsecond."""
    try:
        moment = dt.datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise InvalidFilter(
            f"{word}:{_short(value)} is no date",
            way_out=f"write it as {word}:2026-01-31 or {word}:2026-01-31T12:00Z",
        ) from None
    return f"{moment.isoformat(timespec='microseconds')}Z"


def _short(value: str) -> str:
    """Enough of a value to know it again."""
    if len(value) <= _SHOWN:
        return value
    return f"{value[:_SHOWN]}..."


def _refuse_second_times(terms: list[Term]) -> None:
    for word in _TIMES:
        count = sum(term.word is word for term in terms)
        if count > 1:
            raise InvalidFilter(f"{word}: is there {count} times; once is enough")

"""Filters as SQL: what each word means for each list.

Values are parameters, never text of a statement. Both databases give the same answers:
letters are compared as the C locale does, and what has no value does not fit.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    Column,
    ColumnElement,
    Text,
    case,
    collate,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    tuple_,
    type_coerce,
)

from accordance.domain.filters import ANSWERED, OPEN, Filter, Subject, Word
from accordance.domain.lifecycle import State
from accordance.domain.plan_lifecycle import PlanState
from accordance.store.columns import Words
from accordance.store.tables import (
    LEDGER_EVENTS,
    PLANS,
    QUESTIONS,
    TASK_EVENTS,
    TASK_NODES,
)

Condition: TypeAlias = ColumnElement[bool]
AnyOf: TypeAlias = Callable[[Sequence[str], str], Condition]
"""From values and the name of the dialect: whether any of the values holds."""

_SMALL: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def conditions(wanted: Filter, dialect: str) -> list[Condition]:
    """Return what the rows of a filter's list have to fulfil, all of it."""
    always = list(_ALWAYS.get(wanted.subject, ()))
    if wanted.first_of_cause:
        always.append(_is_first_of_cause())
    if wanted.leaves_out_archived:
        always.append(_is_not_archived(_PLAN_OF[wanted.subject]))
    return [*always, *_word_conditions(wanted, _MEANINGS[wanted.subject], dialect)]


def _is_first_of_cause() -> Condition:
    """No earlier open question of the plan has the same cause."""
    question = QUESTIONS.c
    other = QUESTIONS.alias("earlier")
    earlier = select(other.c.question_id).where(
        other.c.plan_id == question.plan_id,
        other.c.cause == question.cause,
        other.c.answered_at.is_(None),
        tuple_(other.c.asked_at, other.c.question_id)
        < tuple_(question.asked_at, question.question_id),
    )
    return not_(earlier.correlate(QUESTIONS).exists())


def _is_not_archived(plan_id: Column[Any]) -> Condition:
    """The row belongs to a plan that is not archived."""
    archived = select(PLANS.c.plan_id).where(PLANS.c.archived_at.is_not(None))
    return plan_id.not_in(archived)


def ledger_event_conditions(wanted: Filter, dialect: str) -> list[Condition] | None:
    """Return the same for the events of the ledger's own chain.

    They belong to no plan and no task. A filter by plan or task gets none of them.
    """
    if any(wanted.wanted(word) for word in ABOUT_A_PLAN):
        return None
    return _word_conditions(wanted, _LEDGER_EVENT_WORDS, dialect)


def _word_conditions(
    wanted: Filter, words: Mapping[Word, AnyOf], dialect: str
) -> list[Condition]:
    conditions: list[Condition] = []
    for word, any_of in words.items():
        values = wanted.wanted(word)
        if word is Word.TEXT:
            for value in values:
                conditions.append(any_of([value], dialect))
        elif values:
            conditions.append(any_of(values, dialect))

        unwanted = wanted.unwanted(word)
        if unwanted:
            holds = func.coalesce(any_of(unwanted, dialect), false())
            conditions.append(not_(holds))
    return conditions


def small_letters(text: str) -> str:
    """A text with A-Z in small letters, and nothing else changed."""
    return text.translate(_SMALL)


# -- what a word asks of a column


def _is(*columns: Column[Any]) -> AnyOf:
    """Any of the columns has any of the values."""

    def any_of(values: Sequence[str], _: str) -> Condition:
        return or_(*(column.in_(values) for column in columns))

    return any_of


def _since(column: Column[Any]) -> AnyOf:
    def any_of(values: Sequence[str], _: str) -> Condition:
        return or_(*(column >= value for value in values))

    return any_of


def _before(column: Column[Any]) -> AnyOf:
    def any_of(values: Sequence[str], _: str) -> Condition:
        return or_(*(column < value for value in values))

    return any_of


def _contains(*columns: Column[Any], as_json: bool = False) -> AnyOf:
    """Any of the columns holds any of the values as a part, A-Z as a-z."""

    def any_of(values: Sequence[str], dialect: str) -> Condition:
        parts = [json_text(value) if as_json else value for value in values]
        matches = []
        for column in columns:
            text = in_small_letters(column, dialect)
            for part in parts:
                place = _place_of(small_letters(part), text, dialect)
                matches.append(place > 0)
        return or_(*matches)

    return any_of


def _has_tag(tags: Column[Any]) -> AnyOf:
    """The column holds a JSON list of texts, in which any of the values is an element.

    A quote inside an element is escaped. So a quote behind the bracket, or behind a
    comma and a space, can only begin an element.
    """

    def any_of(values: Sequence[str], dialect: str) -> Condition:
        written = type_coerce(tags, Text)
        matches = []
        for value in values:
            element = json.dumps(value)
            place_of_first = _place_of(f"[{element}", written, dialect)
            place_of_other = _place_of(f", {element}", written, dialect)
            matches += [place_of_first == 1, place_of_other > 0]
        return or_(*matches)

    return any_of


def _about_task(task_id: Column[Any], of_task: AnyOf) -> AnyOf:
    """The row is about a task for which something holds."""

    def any_of(values: Sequence[str], dialect: str) -> Condition:
        tasks = select(TASK_NODES.c.task_id).where(of_task(values, dialect))
        return task_id.in_(tasks)

    return any_of


def _visible_state(values: Sequence[str], _: str) -> Condition:
    """The state of a plan, as `plan_lifecycle.visible_state` says it."""
    root = (
        select(TASK_NODES.c.state)
        .where(TASK_NODES.c.task_id == PLANS.c.root_task_id)
        .scalar_subquery()
    )
    state = case(
        (PLANS.c.archived_at.is_not(None), PlanState.ARCHIVED.value),
        (root == State.DONE.value, PlanState.FINISHED.value),
        (root == State.ABANDONED.value, PlanState.CANCELLED.value),
        else_=PLANS.c.state,
    )
    return state.in_(values)


def _is_answered(answered_at: Column[Any]) -> AnyOf:
    states = {OPEN: answered_at.is_(None), ANSWERED: answered_at.is_not(None)}

    def any_of(values: Sequence[str], _: str) -> Condition:
        return or_(*(states[value] for value in values))

    return any_of


def json_text(value: str) -> str:
    """A text as it stands inside a JSON value of the ledger."""
    return json.dumps(value)[1:-1]


def _place_of(part: str, text: ColumnElement[str], dialect: str) -> ColumnElement[int]:
    """Where a part begins in a text, counted from 1; 0 if it is not there."""
    function = func.strpos if dialect == "postgresql" else func.instr
    return function(text, literal(part, Words))


def in_small_letters(column: Column[Any], dialect: str) -> ColumnElement[str]:
    """A column with A-Z in small letters, and nothing else changed."""
    text = type_coerce(column, Text)
    return func.lower(collate(text, "C") if dialect == "postgresql" else text)


# -- the words of each list

_TASK: Final = TASK_NODES.c
_of_agent: Final = _is(_TASK.owner_agent_id, _TASK.lease_holder)
_of_tag: Final = _has_tag(_TASK.tags)

_TASK_WORDS: Final[Mapping[Word, AnyOf]] = {
    Word.STATE: _is(_TASK.state),
    Word.KIND: _is(_TASK.node_type),
    Word.PLAN: _is(_TASK.plan_id),
    Word.TASK: _is(_TASK.task_id),
    Word.AGENT: _of_agent,
    Word.TAG: _of_tag,
    Word.SINCE: _since(_TASK.updated_at),
    Word.BEFORE: _before(_TASK.updated_at),
    Word.TEXT: _contains(_TASK.title, _TASK.task_id, _TASK.last_error),
}
_MEANINGS: Final[Mapping[Subject, Mapping[Word, AnyOf]]] = {
    Subject.PLANS: {
        Word.STATE: _visible_state,
        Word.PLAN: _is(PLANS.c.plan_id),
        Word.AGENT: _is(PLANS.c.owner_agent_id),
        Word.SINCE: _since(PLANS.c.imported_at),
        Word.BEFORE: _before(PLANS.c.imported_at),
        Word.TEXT: _contains(PLANS.c.title, PLANS.c.plan_id),
    },
    Subject.TASKS: _TASK_WORDS,
    Subject.DEAD_LETTERS: _TASK_WORDS,
    Subject.EVENTS: {
        Word.KIND: _is(TASK_EVENTS.c.kind),
        Word.PLAN: _is(TASK_EVENTS.c.plan_id),
        Word.TASK: _is(TASK_EVENTS.c.task_id),
        Word.AGENT: _about_task(TASK_EVENTS.c.task_id, _of_agent),
        Word.TAG: _about_task(TASK_EVENTS.c.task_id, _of_tag),
        Word.SINCE: _since(TASK_EVENTS.c.at),
        Word.BEFORE: _before(TASK_EVENTS.c.at),
        Word.TEXT: _contains(TASK_EVENTS.c.kind, TASK_EVENTS.c.payload, as_json=True),
    },
    Subject.QUESTIONS: {
        Word.STATE: _is_answered(QUESTIONS.c.answered_at),
        Word.KIND: _is(QUESTIONS.c.kind),
        Word.PLAN: _is(QUESTIONS.c.plan_id),
        Word.TASK: _is(QUESTIONS.c.task_id),
        Word.AGENT: _about_task(QUESTIONS.c.task_id, _of_agent),
        Word.TAG: _about_task(QUESTIONS.c.task_id, _of_tag),
        Word.SINCE: _since(QUESTIONS.c.asked_at),
        Word.BEFORE: _before(QUESTIONS.c.asked_at),
        Word.TEXT: _contains(QUESTIONS.c.text, QUESTIONS.c.question_id),
    },
}
ABOUT_A_PLAN: Final = (Word.PLAN, Word.TASK, Word.AGENT, Word.TAG)
_LEDGER_EVENT_WORDS: Final[Mapping[Word, AnyOf]] = {
    Word.KIND: _is(LEDGER_EVENTS.c.kind),
    Word.SINCE: _since(LEDGER_EVENTS.c.at),
    Word.BEFORE: _before(LEDGER_EVENTS.c.at),
    Word.TEXT: _contains(LEDGER_EVENTS.c.kind, LEDGER_EVENTS.c.payload, as_json=True),
}
_PLAN_OF: Final[Mapping[Subject, Column[Any]]] = {
    Subject.PLANS: PLANS.c.plan_id,
    Subject.TASKS: _TASK.plan_id,
    Subject.DEAD_LETTERS: _TASK.plan_id,
    Subject.EVENTS: TASK_EVENTS.c.plan_id,
    Subject.QUESTIONS: QUESTIONS.c.plan_id,
}
"""The column of each list that names the plan."""
_ALWAYS: Final[Mapping[Subject, tuple[Condition, ...]]] = {
    Subject.DEAD_LETTERS: (
        _TASK.state == literal(State.DEAD_LETTER.value, literal_execute=True),
    )
}
"""What every row of a list fulfils; as text, so that a partial index is used."""

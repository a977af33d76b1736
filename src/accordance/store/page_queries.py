"""The queries for pages of lists, each answered by an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    literal,
    or_,
    select,
    tuple_,
)

from accordance.domain.filters import Filter, Subject
from accordance.domain.paging import Key
from accordance.store.columns import Words
from accordance.store.filtering import conditions, ledger_event_conditions
from accordance.store.tables import (
    LEDGER_EVENTS,
    PLANS,
    QUESTIONS,
    TASK_EVENTS,
    TASK_NODES,
)

Query: TypeAlias = Callable[[Filter, Key | None], Select[Any]]

_EVENT: Final = [column for column in TASK_EVENTS.c if column.computed is None]


def page_query(wanted: Filter, behind: Key | None, dialect: str) -> Select[Any]:
    """Return the query for the rows behind a key, in the order of their list."""
    query = _QUERIES[wanted.subject](wanted, behind)
    return query.where(*conditions(wanted, dialect))


def ledger_events_query(
    wanted: Filter, behind: Key | None, dialect: str
) -> Select[Any] | None:
    """Return the query for events of the ledger's own chain; none if none can fit."""
    fitting = ledger_event_conditions(wanted, dialect)
    if fitting is None:
        return None
    number = LEDGER_EVENTS.c.number
    query = select(LEDGER_EVENTS).where(*fitting).order_by(number)
    if behind is None:
        return query.where(number.is_not(None))
    return query.where(number > _whole_number(behind[0]))


def _plans(_: Filter, behind: Key | None) -> Select[Any]:
    imported_at, plan_id = PLANS.c.imported_at, PLANS.c.plan_id
    query = select(PLANS).order_by(imported_at.desc(), plan_id)
    if behind is None:
        return query
    time, name = (literal(part, Words) for part in behind)
    older = imported_at < time
    same_time = and_(imported_at == time, plan_id > name)
    begins_here = imported_at <= time  # follows from the rest, and leads the index
    return query.where(begins_here, or_(older, same_time))


def _tasks(wanted: Filter, behind: Key | None) -> Select[Any]:
    plan_id, place = TASK_NODES.c.plan_id, TASK_NODES.c.place
    is_one_plan = wanted.only_plan is not None
    order = (place,) if is_one_plan else (plan_id, place)
    query = select(TASK_NODES).order_by(*order)
    if behind is None:
        return query
    last_plan, last_place = behind
    if is_one_plan:
        return query.where(place > _whole_number(last_place))
    last = tuple_(literal(last_plan, Words), _whole_number(last_place))
    return query.where(tuple_(plan_id, place) > last)


def _events(wanted: Filter, behind: Key | None) -> Select[Any]:
    number, seq = TASK_EVENTS.c.number, TASK_EVENTS.c.seq
    is_one_plan = wanted.only_plan is not None
    query = select(*_EVENT).order_by(seq if is_one_plan else number)
    if behind is None:
        return query.where(number.is_not(None))
    last_number, last_seq = behind
    query = query.where(number > _whole_number(last_number))
    if is_one_plan:
        query = query.where(seq > _whole_number(last_seq))
    return query


def _questions(_: Filter, behind: Key | None) -> Select[Any]:
    asked_at, question_id = QUESTIONS.c.asked_at, QUESTIONS.c.question_id
    query = select(QUESTIONS).order_by(asked_at, question_id)
    if behind is None:
        return query
    time, name = behind
    last = tuple_(literal(time, Words), literal(name, Words))
    return query.where(tuple_(asked_at, question_id) > last)


def _whole_number(value: str | int) -> ColumnElement[int]:
    """A number of a cursor, which may be larger than any that is stored."""
    return literal(int(value), BigInteger)


_QUERIES: Final[Mapping[Subject, Query]] = {
    Subject.PLANS: _plans,
    Subject.TASKS: _tasks,
    Subject.DEAD_LETTERS: _tasks,
    Subject.EVENTS: _events,
    Subject.QUESTIONS: _questions,
}

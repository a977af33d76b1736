"""The queries for what a name may mean: ids and titles that begin with it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Select, func, literal, or_, select

from accordance.domain.filters import Subject
from accordance.store.columns import Words, storable
from accordance.store.filtering import in_small_letters, small_letters
from accordance.store.tables import PLANS, QUESTIONS, TASK_NODES

_COLUMNS: Final[dict[Subject, tuple[Column[Any], Column[Any]]]] = {
    Subject.PLANS: (PLANS.c.plan_id, PLANS.c.title),
    Subject.TASKS: (TASK_NODES.c.task_id, TASK_NODES.c.title),
    Subject.QUESTIONS: (QUESTIONS.c.question_id, QUESTIONS.c.text),
}
"""The id and the title of each kind of thing."""


def names_query(subject: Subject, beginning: str, dialect: str) -> Select[Any]:
    """Return the query for ids and titles that begin with a text."""
    identity, title = _COLUMNS[subject]
    written = storable(beginning) or ""
    fits = or_(
        _begins(identity, written),
        _begins(in_small_letters(title, dialect), small_letters(written)),
    )
    # the shortest title first: a whole title is never lost among longer ones
    query = select(identity, title).where(fits).order_by(func.length(title), identity)
    if subject is Subject.QUESTIONS:
        return query.where(QUESTIONS.c.answered_at.is_(None))
    return query


def _begins(text: ColumnElement[str], beginning: str) -> ColumnElement[bool]:
    first = func.substr(text, 1, len(beginning))
    return first == literal(beginning, Words)

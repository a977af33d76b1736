"""Counting what is in a ledger, a query for each table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, select

from accordance.store.looking import looking
from accordance.store.signals import last_number
from accordance.store.tables import (
    MESSAGES,
    PLANS,
    QUESTIONS,
    TASK_NODES,
    VERDICTS,
    WORKERS,
)

_ALIVE_SECONDS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many there are of everything."""

    tasks: Mapping[str, int]
    plans: Mapping[str, int]
    verdicts: Mapping[tuple[str, str], int]
    messages: Mapping[tuple[str, bool], int]
    open_questions: int
    oldest_question_seconds: float
    events: int
    tokens: int
    cost: float
    workers: int


def count_everything(engine: Engine) -> Counts:
    """Count."""
    with looking(engine) as connection:
        open_ones = QUESTIONS.c.answered_at.is_(None)
        questions = select(func.count(), func.min(QUESTIONS.c.asked_at))
        number, oldest = connection.execute(questions.where(open_ones)).one()
        spent = select(func.sum(PLANS.c.tokens), func.sum(PLANS.c.cost))
        tokens, cost = connection.execute(spent).one()
        return Counts(
            tasks=_by(connection, TASK_NODES.c.state),
            plans=_by(connection, PLANS.c.state),
            verdicts=_by_two(connection, VERDICTS.c.outcome, VERDICTS.c.reason_code),
            messages=_by_two(connection, MESSAGES.c.kind, MESSAGES.c.accepted),
            open_questions=number,
            oldest_question_seconds=_age(oldest),
            events=last_number(connection),
            tokens=int(tokens or 0),
            cost=float(cost or 0),
            workers=_workers(connection),
        )


def _by(connection: Connection, column: Any) -> dict[str, int]:
    query = select(column, func.count()).group_by(column)
    return {row[0]: row[1] for row in connection.execute(query)}


def _by_two(connection: Connection, first: Any, second: Any) -> dict[Any, int]:
    query = select(first, second, func.count()).group_by(first, second)
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def _workers(connection: Connection) -> int:
    if connection.dialect.name != "postgresql":
        return 0  # a process alone writes no heartbeat
    alive = func.now() - dt.timedelta(seconds=_ALIVE_SECONDS)
    query = select(func.count()).select_from(WORKERS).where(WORKERS.c.beat_at >= alive)
    return int(connection.execute(query).scalar_one())


def _age(moment: str | None) -> float:
    if moment is None:
        return 0.0
    asked = dt.datetime.fromisoformat(moment)
    return max(0.0, (dt.datetime.now(dt.UTC) - asked).total_seconds())

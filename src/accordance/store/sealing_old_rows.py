"""An older ledger is taken over: its rows are sealed as they are.

What happened to them before cannot be proved by their events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, Table, select, update

from accordance.domain.chain import Head, Payload, next_entry
from accordance.errors import NotFound
from accordance.store.seals import (
    PLAN_BEGAN,
    ROWS_TAKEN_OVER,
    Values,
    belongs_to_a_plan,
    sealed_tables,
    seals,
)
from accordance.store.sql import SqlTransaction
from accordance.store.tables import BLOBS, PLANS


def take_over(connection: Connection, at: str) -> None:
    """Seal every row of a ledger that was kept before there were seals."""
    tx = SqlTransaction(connection, at)
    plan_ids = sorted(tx.plan_ids())
    for plan_id in plan_ids:
        _fill_constraints(connection, tx, plan_id)
        _seal_plan(connection, tx, plan_id)

    events: list[tuple[str, Payload]] = []
    for plan_id in plan_ids:
        events.append((PLAN_BEGAN, {"plan_id": plan_id}))
    blobs = connection.execute(select(BLOBS.c.sha256).distinct()).scalars().all()
    unplanned = [table for table in sealed_tables() if not belongs_to_a_plan(table)]
    for payload in seals(_rows(tx, unplanned), blobs):
        events.append((ROWS_TAKEN_OVER, payload))
    tx.record_in_ledger(events)
    tx.finish()


def _rows(
    tx: SqlTransaction, tables: Iterable[Table], plan_id: str | None = None
) -> Iterator[tuple[Table, Values]]:
    for table in tables:
        for values in tx.stored(table, plan_id):
            yield table, values


def _seal_plan(connection: Connection, tx: SqlTransaction, plan_id: str) -> None:
    """Seal the rows of a plan, without reading its record.

    So a ledger with an unreadable row can still be opened, and shows it.
    """
    mine = PLANS.c.plan_id == plan_id
    query = select(PLANS.c.head_seq, PLANS.c.head_hash).where(mine)
    row = connection.execute(query).one()
    head = Head(seq=row.head_seq, hash=row.head_hash)
    planned = [table for table in sealed_tables() if belongs_to_a_plan(table)]
    for payload in seals(_rows(tx, planned, plan_id)):
        entry = next_entry(
            head,
            plan_id=plan_id,
            kind=ROWS_TAKEN_OVER,
            task_id=None,
            at=tx.now,
            payload=payload,
        )
        tx.add_old_entry(entry)
        head = Head(seq=entry.seq, hash=entry.hash)
    new_head = {"head_seq": head.seq, "head_hash": head.hash}
    connection.execute(update(PLANS).where(mine).values(new_head))


def _fill_constraints(connection: Connection, tx: SqlTransaction, plan_id: str) -> None:
    """Fill a column that is new; its value stands in the plan's document."""
    mine = PLANS.c.plan_id == plan_id
    try:
        query = select(PLANS.c.document).where(mine)
        document = tx.blob(connection.execute(query).scalar_one())
        constraints = json.loads(document)["plan"].get("constraints")
    except (NotFound, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # `verify` says that the document cannot be read
    connection.execute(update(PLANS).where(mine).values(constraints=constraints))

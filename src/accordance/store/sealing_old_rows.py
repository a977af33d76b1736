"""An older ledger is taken over: its rows are sealed as they are. What happened to them before, their events cannot prove."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, Table, select, update

from accordance.domain.chain import Head, next_entry
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
    names = connection.execute(select(BLOBS.c.sha256).distinct()).scalars().all()
    unplanned = [table for table in sealed_tables() if not belongs_to_a_plan(table)]
    tx.record_in_ledger(
        [
            *((PLAN_BEGAN, {"plan_id": plan_id}) for plan_id in plan_ids),
            *((ROWS_TAKEN_OVER, said) for said in seals(_rows(tx, unplanned), names)),
        ]
    )
    tx.finish()


def _rows(
    tx: SqlTransaction, tables: Iterable[Table], plan_id: str | None = None
) -> Iterator[tuple[Table, Values]]:
    for table in tables:
        for values in tx.stored(table, plan_id):
            yield table, values


def _seal_plan(connection: Connection, tx: SqlTransaction, plan_id: str) -> None:
    """Past the plan's record: a ledger with an unreadable row can still be opened, and shows it."""
    mine = PLANS.c.plan_id == plan_id
    row = connection.execute(
        select(PLANS.c.head_seq, PLANS.c.head_hash).where(mine)
    ).one()
    head = Head(seq=row.head_seq, hash=row.head_hash)
    planned = [table for table in sealed_tables() if belongs_to_a_plan(table)]
    for said in seals(_rows(tx, planned, plan_id)):
        entry = next_entry(
            head,
            plan_id=plan_id,
            kind=ROWS_TAKEN_OVER,
            task_id=None,
            at=tx.now,
            payload=said,
        )
        tx.add_old_entry(entry)
        head = Head(seq=entry.seq, hash=entry.hash)
    connection.execute(
        update(PLANS).where(mine).values(head_seq=head.seq, head_hash=head.hash)
    )


def _fill_constraints(connection: Connection, tx: SqlTransaction, plan_id: str) -> None:
    """The column is new; its value stands in the plan's document."""
    mine = PLANS.c.plan_id == plan_id
    try:
        document = tx.blob(
            connection.execute(select(PLANS.c.document).where(mine)).scalar_one()
        )
        constraints = json.loads(document)["plan"].get("constraints")
    except (NotFound, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # `verify` says that the document cannot be read
    connection.execute(update(PLANS).where(mine).values(constraints=constraints))

"""Events and seals: whatever a transaction writes is sealed in a chain.

Events are only ever added, each chained to the event before it in its plan. What
belongs to no plan goes into the ledger's own chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias

from sqlalchemy import Table

from accordance.domain.chain import ChainEntry, Head, Payload, next_entry
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.errors import PlanArchived
from accordance.store import rows
from accordance.store.seals import (
    PLAN_BEGAN,
    ROWS_WRITTEN,
    Key,
    Values,
    as_stored,
    belongs_to_a_plan,
    key_of,
    sealed_columns,
    seals,
)
from accordance.store.storage import (
    MAKES_WAY,
    AmendedRows,
    AnyRecord,
    Storage,
)
from accordance.store.tables import PLANS, TASK_NODES

_WrittenRow: TypeAlias = tuple[Table, Values]


@dataclass(slots=True)
class Written:
    """What a transaction has written and not sealed yet."""

    plans: dict[str, PlanRecord | None] = field(default_factory=dict)
    """Plans as they were before; None is a new plan."""
    tasks: dict[str, TaskRecord | None] = field(default_factory=dict)
    """Tasks as they were before; None is a task whose row is sealed in any case."""
    rows: dict[tuple[str, Key], _WrittenRow] = field(default_factory=dict)
    blobs: list[str] = field(default_factory=list)
    chain: str | None = None
    """The plan whose chain was added to last."""


class ChainedStorage(Storage):
    """Rows whose every change is sealed by an event."""

    def __init__(self, now: str) -> None:
        super().__init__(now)
        self.written = Written()

    # -- events

    def record(
        self,
        plan_id: str,
        kind: str,
        task_id: str | None = None,
        payload: Payload | None = None,
    ) -> ChainEntry:
        """Add an event to the plan's chain.

        Raises PlanArchived: whatever happens to a plan is written down, so a plan that
        takes no events is read-only.
        """
        if self.plan(plan_id).archived_at is not None:
            raise PlanArchived(
                f"plan {plan_id} is archived and read-only",
                way_out="take it out of the archive first",
            )
        return self._add_to_chain(plan_id, kind, task_id, payload or {})

    def _add_to_chain(
        self, plan_id: str, kind: str, task_id: str | None, payload: Payload
    ) -> ChainEntry:
        entry = next_entry(
            self.plan(plan_id).head,
            plan_id=plan_id,
            kind=kind,
            task_id=task_id,
            at=self.now,
            payload=payload,
        )
        self.add_entry(entry)
        self.written.chain = plan_id
        return entry

    def record_in_ledger(self, events: Sequence[tuple[str, Payload]]) -> None:
        """Add events to the ledger's own chain."""
        if not events:
            return
        head = self.ledger_head()
        for kind, payload in events:
            entry = next_entry(
                head,
                plan_id="",
                kind=kind,
                task_id=None,
                at=self.now,
                payload=payload,
            )
            self.add_ledger_entry(entry)
            head = Head(seq=entry.seq, hash=entry.hash)

    # -- seals

    def seal(self) -> None:
        """Write the seals of everything written into the chains they belong to."""
        written = self.written
        self.written = Written(chain=written.chain)

        planned: dict[str, list[_WrittenRow]] = {}
        unplanned: list[_WrittenRow] = []
        for plan_id, table, values in self._written_rows(written):
            if plan_id is None:
                unplanned.append((table, values))
            else:
                planned.setdefault(plan_id, []).append((table, values))

        blobs: dict[str | None, list[str]] = {written.chain: written.blobs}
        if written.chain is not None and written.blobs:
            planned.setdefault(written.chain, [])

        for plan_id, plan_rows in planned.items():
            for payload in seals(plan_rows, blobs.get(plan_id, ())):
                self._add_to_chain(plan_id, ROWS_WRITTEN, None, payload)
        self._seal_in_ledger(written, unplanned, blobs.get(None, []))

        # the seals have moved the heads of plans, which are not sealed
        self.written = Written(chain=written.chain)

    def _seal_in_ledger(
        self, written: Written, unplanned: list[_WrittenRow], blobs: list[str]
    ) -> None:
        events: list[tuple[str, Payload]] = []
        for plan_id, before in written.plans.items():
            if before is None:
                events.append((PLAN_BEGAN, {"plan_id": plan_id}))
        for payload in seals(unplanned, blobs):
            events.append((ROWS_WRITTEN, payload))
        self.record_in_ledger(events)

    def _written_rows(
        self, written: Written
    ) -> Iterator[tuple[str | None, Table, Values]]:
        """Yield the rows to seal, each with the plan it belongs to."""
        for table, values in written.rows.values():
            plan_id = None
            if belongs_to_a_plan(table):
                plan_id = values[_place_of_plan(table)]
            yield plan_id, table, values

        for task_id, task_before in written.tasks.items():
            task = self.task(task_id)
            if task_before is None or not _only_its_clock_moved(task_before, task):
                row = rows.task_row(task)
                row.update(self.beside_the_record(task_id))
                yield task.plan_id, TASK_NODES, as_stored(TASK_NODES, row)

        for plan_id, plan_before in written.plans.items():
            plan = self.plan(plan_id)
            if plan_before is None or replace(plan_before, head=plan.head) != plan:
                yield plan_id, PLANS, as_stored(PLANS, rows.plan_row(plan))

    def wrote(self, table: Table, values: Values) -> None:
        """Note that a row was written, which is to be sealed."""
        self.written.rows[table.name, key_of(table, values)] = table, values

    def _wrote(self, record: AnyRecord) -> None:
        table = rows.TABLES[type(record)]
        self.wrote(table, as_stored(table, rows.record_row(record)))

    def _begins(self, plan_id: str, *, is_new: bool) -> None:
        """Note that a plan is written at its beginning.

        What this transaction wrote of an earlier revision has made way.
        """
        written = self.written
        written.plans[plan_id] = None if is_new else self.plan(plan_id)

        for task_id, task in list(written.tasks.items()):
            if task is not None and task.plan_id == plan_id:
                del written.tasks[task_id]

        for key, (table, values) in list(written.rows.items()):
            if table in MAKES_WAY and values[_place_of_plan(table)] == plan_id:
                del written.rows[key]

    def _forgets(self, plan_id: str) -> None:
        """Note that nothing of a plan is left to be sealed."""
        written = self.written
        written.plans.pop(plan_id, None)
        for task_id, task in list(written.tasks.items()):
            if task is not None and task.plan_id == plan_id:
                del written.tasks[task_id]
        for key, (table, values) in list(written.rows.items()):
            is_of_plan = belongs_to_a_plan(table)
            if is_of_plan and values[_place_of_plan(table)] == plan_id:
                del written.rows[key]

    def _amends(self, amended: AmendedRows) -> None:
        """Note which rows an amendment writes, and which it takes away."""
        written = self.written
        for task_id in amended.removed_tasks:
            written.tasks.pop(task_id, None)
        for node in amended.nodes:
            written.tasks[node.task.task_id] = None
        for requirement in amended.requirements:
            self._wrote(requirement)


@cache
def _place_of_plan(table: Table) -> int:
    names = [column.name for column in sealed_columns(table)]
    return names.index("plan_id")


def _only_its_clock_moved(before: TaskRecord, after: TaskRecord) -> bool:
    """Whether nothing has changed in a task but until when its holder has it."""
    old_lease = before.lease
    new_lease = after.lease
    if old_lease is not None and new_lease is not None:
        extended = replace(old_lease, until=new_lease.until)
        before = replace(before, lease=extended)
    return before == after

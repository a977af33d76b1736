"""Comparing every row with the events: sealed by an event, or following from the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlalchemy import Table

from accordance.audit.findings import UNREADABLE, AuditFindings
from accordance.contracts.catalogue.plan import Plan
from accordance.domain.amendment import Difference
from accordance.domain.chain import ChainEntry
from accordance.domain.plan import PlanGraph
from accordance.domain.progress import PlanInMemory
from accordance.store.ledger import Transaction
from accordance.store.rows import record_row, task_row
from accordance.store.seals import (
    ROWS_TAKEN_OVER,
    SEALS,
    Key,
    Values,
    as_stored,
    belongs_to_a_plan,
    blobs_in,
    key_of,
    seal_of,
    sealed_tables,
    seals_in,
)
from accordance.store.storage import MAKES_WAY
from accordance.store.tables import REQUIREMENTS, TASK_EDGES, TASK_NODES
from accordance.work.importing import edge_rows, node_rows, requirement_rows

_MAKES_WAY: Final = frozenset(table.name for table in MAKES_WAY)
_KEY_PART_LENGTH: Final = 40
"""Characters of each part of a key that findings show."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A row as the event `seq` sealed it."""

    seq: int
    seal: str

    def fits(self, table: Table, values: Values) -> bool:
        """Whether the stored values are the sealed ones."""
        return seal_of(table, values) == self.seal


@dataclass(frozen=True, slots=True)
class Derived:
    """A row as it follows from the document that the event `seq` imported."""

    seq: int
    values: Values

    def fits(self, table: Table, values: Values) -> bool:  # noqa: ARG002 - like a seal
        """Whether the stored values are those that follow."""
        return values == self.values


Expected: TypeAlias = Sealed | Derived


@dataclass(slots=True)
class Rows:
    """The rows of a plan, or those of no plan, as the events of a chain leave them."""

    findings: AuditFindings
    expected: dict[tuple[str, Key], Expected] = field(default_factory=dict)
    blobs: set[str] = field(default_factory=set)
    _has_seals: bool = False

    def see(self, entry: ChainEntry) -> None:
        """Take in what an event says of rows."""
        if entry.kind not in SEALS:
            return

        if entry.kind == ROWS_TAKEN_OVER:
            self._take_over(entry)
        else:
            self._has_seals = True

        try:
            for table, key, seal in seals_in(entry.payload):
                self.expected[table, key] = Sealed(entry.seq, seal)
            self.blobs.update(blobs_in(entry.payload))
        except UNREADABLE:
            self.findings.broken(
                f"event {entry.seq}: what it says of rows cannot be read"
            )

    def _take_over(self, entry: ChainEntry) -> None:
        """Take over the unsealed rows of an older version.

        That happens once, before anything is sealed. Later it would hide tampering.
        """
        if self._has_seals:
            self.findings.broken(f"event {entry.seq}: rows were sealed a second time")

        notice = (
            f"rows older than {entry.at[:19]} are as the upgrade read them;"
            " events prove only chain, states and verdicts"
        )
        if notice not in self.findings.notices:
            self.findings.notices.append(notice)

    def begin(
        self,
        plan: Plan,
        graph: PlanGraph,
        progress: PlanInMemory,
        entry: ChainEntry,
    ) -> None:
        """Expect the rows that follow from the document of an imported plan.

        They replace those of an earlier revision.
        """
        replaced = [row for row in self.expected if row[0] in _MAKES_WAY]
        for row in replaced:
            del self.expected[row]

        for table, values in _rows_of(plan, graph, progress, entry.at):
            key = key_of(table, values)
            self.expected[table.name, key] = Derived(entry.seq, values)

    def amend(self, plan: Plan, changes: Difference, entry: ChainEntry) -> None:
        """Expect the edges of an amended plan, and nothing of what it took away.

        Its new and changed tasks are sealed by the events that follow.
        """
        removed = {(TASK_NODES.name, (task,)) for task in changes.removed}
        for need in changes.needs_removed:
            key = self._key_of_need(plan.plan.plan_id, need)
            removed.add((REQUIREMENTS.name, key))
        for row in list(self.expected):
            if row in removed or row[0] == TASK_EDGES.name:
                del self.expected[row]

        for edge in edge_rows(plan):
            values = as_stored(TASK_EDGES, record_row(edge))
            key = key_of(TASK_EDGES, values)
            self.expected[TASK_EDGES.name, key] = Derived(entry.seq, values)

    @staticmethod
    def _key_of_need(plan_id: str, requirement_id: str) -> Key:
        parts = {"plan_id": plan_id, "requirement_id": requirement_id}
        return tuple(parts[column.name] for column in REQUIREMENTS.primary_key)

    def compare(
        self,
        tx: Transaction,
        tables: Iterable[Table],
        plan_id: str | None = None,
    ) -> None:
        """Compare the stored rows with the expected ones."""
        for table in tables:
            for values in tx.stored(table, plan_id):
                self._compare_row(table, values)

        for (table_name, key), expected in self.expected.items():
            label = _label(table_name, key)
            self.findings.missing(
                f"{label}: the row of event {expected.seq} is missing"
            )

    def _compare_row(self, table: Table, values: Values) -> None:
        key = key_of(table, values)
        expected = self.expected.pop((table.name, key), None)

        if expected is None:
            label = _label(table.name, key)
            self.findings.broken(f"{label}: a row that no event explains")
        elif not expected.fits(table, values):
            label = _label(table.name, key)
            self.findings.broken(
                f"{label}: the row is not what event {expected.seq} made it"
            )


def _label(table_name: str, key: Key) -> str:
    parts = [str(part)[:_KEY_PART_LENGTH] for part in key]
    return f"{table_name} {'/'.join(parts)}"


def planned_tables() -> list[Table]:
    """The tables whose rows belong to a plan."""
    return [table for table in sealed_tables() if belongs_to_a_plan(table)]


def unplanned_tables() -> list[Table]:
    """The tables whose rows belong to no plan."""
    return [table for table in sealed_tables() if not belongs_to_a_plan(table)]


def _rows_of(
    plan: Plan,
    graph: PlanGraph,
    progress: PlanInMemory,
    at: str,
) -> Iterator[tuple[Table, Values]]:
    """The rows of a plan at its import, each with its table."""
    for node in node_rows(plan, graph, progress, at):
        row = {
            **task_row(node.task),
            "combine": node.combine,
            "rival_group": node.rival_group,
        }
        yield TASK_NODES, as_stored(TASK_NODES, row)

    for edge in edge_rows(plan):
        yield TASK_EDGES, as_stored(TASK_EDGES, record_row(edge))

    for requirement in requirement_rows(plan):
        yield REQUIREMENTS, as_stored(REQUIREMENTS, record_row(requirement))

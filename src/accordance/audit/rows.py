"""Every row is the one an event speaks of: sealed by an event, or following from the plan's document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlalchemy import Table

from accordance.audit.findings import UNREADABLE, AuditFindings
from accordance.contracts.catalogue.plan import Plan
from accordance.domain.chain import ChainEntry
from accordance.domain.plan import PlanGraph
from accordance.domain.progress import PlanInMemory
from accordance.store.ledger import MAKES_WAY, Transaction
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
from accordance.store.tables import REQUIREMENTS, TASK_EDGES, TASK_NODES
from accordance.work.importing import edge_rows, node_rows, requirement_rows

_MAKES_WAY: Final = frozenset(table.name for table in MAKES_WAY)
_SHORT: Final = 40  # characters of a key


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the event `seq` says of a row."""

    seq: int
    seal: str

    def fits(self, table: Table, values: Values) -> bool:
        return seal_of(table, values) == self.seal


@dataclass(frozen=True, slots=True)
class Derived:
    """What follows for a row from the document that the event `seq` imported."""

    seq: int
    values: Values

    def fits(self, table: Table, values: Values) -> bool:  # noqa: ARG002 - the same question as of a seal
        return values == self.values


Expected: TypeAlias = Sealed | Derived


@dataclass(slots=True)
class Rows:
    """The rows of a plan, or those of no plan, as the events of its chain leave them."""

    found: AuditFindings
    expected: dict[tuple[str, Key], Expected] = field(default_factory=dict)
    blobs: set[str] = field(default_factory=set)
    _are_sealed: bool = False

    def see(self, entry: ChainEntry) -> None:
        """Take in what an event says of rows."""
        if entry.kind not in SEALS:
            return
        if entry.kind == ROWS_TAKEN_OVER:
            self._take_over(entry)
        else:
            self._are_sealed = True
        try:
            for table, key, seal in seals_in(entry.payload):
                self.expected[table, key] = Sealed(entry.seq, seal)
            self.blobs.update(blobs_in(entry.payload))
        except UNREADABLE:
            self.found.broken(f"event {entry.seq}: what it says of rows cannot be read")

    def _take_over(self, entry: ChainEntry) -> None:
        """Rows are taken over once, before anything was sealed; later it would hide what somebody has changed."""
        if self._are_sealed:
            self.found.broken(
                f"event {entry.seq}: rows were sealed anew after they had been sealed"
            )
        notice = f"rows older than {entry.at[:19]} are as the upgrade found them; events prove only chain, states and verdicts"
        if notice not in self.found.notices:
            self.found.notices.append(notice)

    def begin(
        self, plan: Plan, graph: PlanGraph, progress: PlanInMemory, entry: ChainEntry
    ) -> None:
        """A plan was imported: its rows follow from its document."""
        for name in [name for name in self.expected if name[0] in _MAKES_WAY]:
            del self.expected[name]
        for table, values in _rows_of(plan, graph, progress, entry.at):
            self.expected[table.name, key_of(table, values)] = Derived(
                entry.seq, values
            )

    def compare(
        self, tx: Transaction, tables: Iterable[Table], plan_id: str | None = None
    ) -> None:
        """Hold the rows that are there against those that should be."""
        for table in tables:
            for values in tx.stored(table, plan_id):
                key = key_of(table, values)
                expected = self.expected.pop((table.name, key), None)
                if expected is None:
                    self.found.broken(
                        f"{_named(table.name, key)}: a row that no event explains"
                    )
                elif not expected.fits(table, values):
                    self.found.broken(
                        f"{_named(table.name, key)}: the row is not what event {expected.seq} made it"
                    )
        for (name, key), expected in self.expected.items():
            self.found.missing(
                f"{_named(name, key)}: the row of event {expected.seq} is missing"
            )


def _named(table: str, key: Key) -> str:
    return f"{table} {'/'.join(str(part)[:_SHORT] for part in key)}"


def planned_tables() -> list[Table]:
    """The tables whose rows belong to a plan."""
    return [table for table in sealed_tables() if belongs_to_a_plan(table)]


def unplanned_tables() -> list[Table]:
    """The tables whose rows belong to no plan."""
    return [table for table in sealed_tables() if not belongs_to_a_plan(table)]


def _rows_of(
    plan: Plan, graph: PlanGraph, progress: PlanInMemory, at: str
) -> Iterator[tuple[Table, Values]]:
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

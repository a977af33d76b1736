"""Nodes of a plan in the database, and what a transaction has read and not written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, Table

from accordance.domain.chain import ChainEntry
from accordance.domain.plan import Combine
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.store import statements
from accordance.store.reading_ahead import ReadAhead
from accordance.store.seals import Key
from accordance.store.storage import AnyRecord
from accordance.store.together import StoredRow


@dataclass
class StoredNode:
    """A node that looks its neighbours up when it is asked for them."""

    row: Row[Any]
    ask: Callable[[Select[Any], str], tuple[str, ...]]

    @property
    def task_id(self) -> str:
        return self.row.task_id  # type: ignore[no-any-return]

    @property
    def is_work(self) -> bool:
        return self.row.is_work  # type: ignore[no-any-return]

    @property
    def combine(self) -> Combine:
        return self.row.combine  # type: ignore[no-any-return]

    @property
    def checks(self) -> str | None:
        return self.row.checks  # type: ignore[no-any-return]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        if self.is_work:
            return ()
        return self.ask(statements.PARTS, self.task_id)

    @cached_property
    def parents(self) -> tuple[str, ...]:
        return self.ask(statements.PARENTS, self.task_id)

    @cached_property
    def dependents(self) -> tuple[str, ...]:
        return self.ask(statements.DEPENDENTS, self.task_id)

    @cached_property
    def prerequisites(self) -> tuple[str, ...]:
        return self.ask(statements.PREREQUISITES, self.task_id)

    @cached_property
    def checked_by(self) -> tuple[str, ...]:
        if not self.row.is_checked:
            return ()
        return self.ask(statements.CHECKS, self.task_id)

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        if self.row.rival_group is None:
            return ()
        return self.ask(statements.RIVALS, self.row.rival_group)


@dataclass
class ReadRows:
    """What a transaction has read already, as it is now."""

    nodes: dict[str, StoredNode] = field(default_factory=dict)
    ahead: ReadAhead = field(default_factory=ReadAhead)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    plans: dict[str, PlanRecord] = field(default_factory=dict)


class UnwrittenRecord(NamedTuple):
    """A record that is to be written."""

    record: AnyRecord
    row: StoredRow
    is_new: bool
    """Otherwise it takes the place of the record with its key."""


@dataclass
class UnwrittenRows:
    """What a transaction has changed and not written yet.

    Plans and tasks are kept as the database still has them. Events are kept until the
    transaction ends, since their numbers are taken last.
    """

    plans: dict[str, PlanRecord] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    records: dict[Table, dict[Key, UnwrittenRecord]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    bytes_of_blobs: int = 0
    entries: list[ChainEntry] = field(default_factory=list)
    ledger_entries: list[ChainEntry] = field(default_factory=list)

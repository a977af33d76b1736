"""All that a ledger in memory holds, and how an amendment changes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from accordance.domain.chain import ChainEntry
from accordance.domain.plan import PlanNode
from accordance.domain.records import PlanRecord, RequirementRecord, TaskRecord
from accordance.store.memory_nodes import linked_nodes
from accordance.store.rows import TABLES
from accordance.store.storage import AmendedRows, AnyRecord, EdgeRow, NodeRow


def key_of_record(record: AnyRecord) -> tuple[object, ...]:
    """Return the key under which a record is held."""
    names = [column.name for column in TABLES[type(record)].primary_key]
    return (type(record).__name__, *(getattr(record, name) for name in names))


@dataclass
class Contents:
    """The rows of a ledger, by their keys."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    plans: dict[str, PlanRecord] = field(default_factory=dict)
    nodes: dict[str, PlanNode] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    entries: dict[str, tuple[ChainEntry, ...]] = field(default_factory=dict)
    records: dict[tuple[object, ...], Any] = field(default_factory=dict)
    rows: dict[str, NodeRow] = field(default_factory=dict)  # tasks as they began
    edges: dict[tuple[str, int], EdgeRow] = field(default_factory=dict)
    ledger: dict[int, ChainEntry] = field(default_factory=dict)
    numbered: dict[int, ChainEntry] = field(default_factory=dict)  # all events
    counters: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Contents:
        """Return a copy that a transaction may change."""
        copies = [dict(getattr(self, name)) for name in self.__dataclass_fields__]
        return Contents(*copies)

    def amend(self, amended: AmendedRows) -> None:
        """Write what has changed in a plan."""
        self._remove(amended)
        for node in amended.nodes:
            self.tasks[node.task.task_id] = node.task
            self.rows[node.task.task_id] = node
        for edge in amended.edges:
            self.edges[edge.plan_id, edge.place] = edge
        for requirement in amended.requirements:
            self.records[key_of_record(requirement)] = requirement

        current = [
            replace(self.rows[task.task_id], task=task)
            for task in self.tasks.values()
            if task.plan_id == amended.plan_id
        ]
        current.sort(key=lambda row: row.task.place)
        self.nodes.update(linked_nodes(current, amended.edges))

    def forget_plan(self, plan_id: str) -> None:
        """Take away every row of a plan, its events included."""
        tasks = [task for task in self.tasks.values() if task.plan_id == plan_id]
        for task in tasks:
            for by_task in (self.tasks, self.rows, self.nodes):
                del by_task[task.task_id]
        for place in list(self.edges):
            if place[0] == plan_id:
                del self.edges[place]
        for key, record in list(self.records.items()):
            if getattr(record, "plan_id", None) == plan_id:
                del self.records[key]
        for entry in self.entries.pop(plan_id, ()):
            self.numbered.pop(entry.number or 0)
        del self.plans[plan_id]

    def _remove(self, amended: AmendedRows) -> None:
        for task_id in amended.removed_tasks:
            for by_task in (self.tasks, self.rows, self.nodes):
                del by_task[task_id]
        for place in list(self.edges):
            if place[0] == amended.plan_id:
                del self.edges[place]
        for key, record in list(self.records.items()):
            is_requirement = isinstance(record, RequirementRecord)
            if is_requirement and _is_removed(record, amended):
                del self.records[key]


def _is_removed(requirement: RequirementRecord, amended: AmendedRows) -> bool:
    is_of_plan = requirement.plan_id == amended.plan_id
    return is_of_plan and requirement.requirement_id in amended.removed_requirements

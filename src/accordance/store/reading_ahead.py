"""What settling attempts will ask for, read from PostgreSQL in a single statement.

Whoever settles attempts holds their plan, and others wait for it. A statement for each
task and each table would cost a round trip each. So rows come as JSON, each with what it
is to which task.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from sqlalchemy import Column, Dialect, Float, Table

from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event
from accordance.domain.records import ArtifactRecord, MessageRecord, RequirementRecord
from accordance.store import rows
from accordance.store.columns import Json
from accordance.store.driver import Driver, Row, row_type
from accordance.store.tables import ARTIFACTS, MESSAGES, TASK_EVENTS, TASK_NODES

_ABOUT: Final[Mapping[type, str]] = {
    MessageRecord: "subject",
    ArtifactRecord: "task_id",
}
"""The records that are read, and the column that names their task."""
_TABLES: Final = {
    "own": TASK_NODES,
    "parent": TASK_NODES,
    "dependent": TASK_NODES,
    "next": TASK_NODES,
    "message": MESSAGES,
    "artifact": ARTIFACTS,
    "beginning": TASK_EVENTS,
}
"""What a row may be to a task, and its table."""
_FURTHER: Final = 1  # tasks in line, beyond one for each that ends
_ASKS_FOR_PRODUCTS: Final = "asks"
_SKILL_OUTPUT: Final = "SKILL_OUTPUT"

_STATEMENT: Final = f"""
SELECT 'own' AS role, n.task_id AS about, n.place, row_to_json(n)::text AS content
FROM task_nodes n WHERE n.task_id = ANY(%(tasks)s::text[])
UNION ALL
SELECT 'parent', e.to_task_id, e.place, row_to_json(n)::text
FROM task_edges e JOIN task_nodes n ON n.task_id = e.from_task_id
WHERE e.to_task_id = ANY(%(tasks)s::text[]) AND e.edge_type = 'DECOMPOSE'
UNION ALL
SELECT 'dependent', e.from_task_id, e.place, row_to_json(n)::text
FROM task_edges e JOIN task_nodes n ON n.task_id = e.to_task_id
WHERE e.from_task_id = ANY(%(ended)s::text[]) AND e.edge_type = 'DEPENDS_ON'
UNION ALL
SELECT 'next', n.task_id, row_number() OVER ()::int, row_to_json(n)::text
FROM (
    SELECT * FROM task_nodes WHERE plan_id = %(plan)s AND queue IS NOT NULL
    ORDER BY queue, priority DESC, place LIMIT %(most)s) n
UNION ALL
SELECT 'message', m.subject, m.seq, row_to_json(m)::text
FROM messages m WHERE m.subject = ANY(%(tasks)s::text[])
UNION ALL
SELECT 'artifact', a.task_id, a.version, row_to_json(a)::text
FROM artifacts a WHERE a.task_id = ANY(%(tasks)s::text[])
UNION ALL
SELECT 'beginning', e.task_id, e.seq, row_to_json(e)::text
FROM task_events e
WHERE e.task_id = ANY(%(tasks)s::text[]) AND e.kind = '{Event.CLAIMED}'
UNION ALL
SELECT '{_ASKS_FOR_PRODUCTS}', '', 0, '' WHERE EXISTS (
    SELECT 1 FROM input_requirements
    WHERE plan_id = %(plan)s AND kind = '{_SKILL_OUTPUT}')
"""  # noqa: S608


@dataclass
class ReadAhead:
    """What was read of some tasks."""

    nodes: dict[str, Row] = field(default_factory=dict)
    """The tasks, the goals they belong to, what waits for them, and what is next."""
    line: list[str] | None = None
    """The first of the tasks that can be taken up; None if they were not read."""
    is_whole_line: bool = False
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dependents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    beginnings: dict[str, list[ChainEntry]] = field(default_factory=dict)
    """By task: the events that began its attempts."""
    records: dict[type, dict[str, list[Any]]] = field(default_factory=dict)
    """By kind and task."""
    asks_for_products: bool = True
    """Whether a requirement of the plan may be met by a product."""

    def find(self, kind: type, where: Mapping[str, Any]) -> list[Any] | None:
        """Return the records that fit; None if such records were not read."""
        if kind is RequirementRecord and where.get("kind") == _SKILL_OUTPUT:
            return None if self.asks_for_products else []
        if kind not in self.records:
            return None
        about = self.records[kind].get(where.get(_ABOUT[kind], ""))
        if about is None:
            return None

        wanted = where.items()
        return [
            record
            for record in about
            if all(getattr(record, name) == value for name, value in wanted)
        ]

    def first_in_line(self, most: int, moved: Container[str]) -> list[str] | None:
        """Return the first tasks in line that were not moved; None if unknown."""
        if self.line is None:
            return None
        standing = [task_id for task_id in self.line if task_id not in moved]
        is_enough = self.is_whole_line or len(standing) >= most
        return standing if is_enough else None

    def forget_records(self) -> None:
        """Forget the records: there may be more of them now."""
        self.records = {}
        self.asks_for_products = True

    def forget_line(self) -> None:
        """Forget which tasks are next: some of them were moved."""
        self.line = None


def read_ahead(
    driver: Driver, plan_id: str, tasks: Sequence[str], ended: Sequence[str]
) -> ReadAhead:
    """Read some tasks of a plan, with what was handed in for them, and what is next.

    Of those that have `ended`, what waits for them is read too.
    """
    most = len(tasks) + _FURTHER
    values = {
        "plan": plan_id,
        "tasks": list(tasks),
        "ended": list(ended),
        "most": most,
    }
    found = sorted(driver.execute(_STATEMENT, values), key=lambda each: each.place)
    ahead = ReadAhead(asks_for_products=False)
    ahead.parents = dict.fromkeys(tasks, ())
    ahead.dependents = dict.fromkeys(ended, ())
    ahead.beginnings = {task_id: [] for task_id in tasks}
    ahead.records = {kind: {task_id: [] for task_id in tasks} for kind in _ABOUT}

    ahead.line = [each.about for each in found if each.role == "next"]
    ahead.is_whole_line = len(ahead.line) < most

    for role, about, _, content in found:
        if role == _ASKS_FOR_PRODUCTS:
            ahead.asks_for_products = True
            continue
        row = _reader(_TABLES[role], driver.dialect)(json.loads(content))
        match role:
            case "message":
                record = rows.record_from(MessageRecord, row)
                ahead.records[MessageRecord][about].append(record)
            case "artifact":
                record = rows.record_from(ArtifactRecord, row)
                ahead.records[ArtifactRecord][about].append(record)
            case "beginning":
                ahead.beginnings[about].append(rows.entry_from(row))
            case _:
                _add_node(ahead, role, about, row)
    return ahead


def _add_node(ahead: ReadAhead, role: str, about: str, row: Row) -> None:
    ahead.nodes[row.task_id] = row
    if role in ("own", "next"):
        return
    neighbours = ahead.parents if role == "parent" else ahead.dependents
    if row.task_id not in neighbours[about]:
        neighbours[about] += (row.task_id,)


@cache
def _reader(table: Table, dialect: Dialect) -> Callable[[Mapping[str, Any]], Row]:
    """Return the function that turns a row in JSON into one like the driver's."""
    columns = [column for column in table.c if column.computed is None]
    names = tuple(column.name for column in columns)
    processes = [(column.name, _process(column, dialect)) for column in columns]
    make = row_type(names)._make

    def read(values: Mapping[str, Any]) -> Row:
        return make(
            [
                values[name] if process is None else process(values[name])
                for name, process in processes
            ]
        )

    return read


def _process(column: Column[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return what turns a value out of a row in JSON into that of a column, if needed."""
    if isinstance(column.type, Json):
        return column.type.result_processor(dialect, None)
    if isinstance(column.type, Float):  # in JSON, 5.0 is 5
        return lambda value: None if value is None else float(value)
    return None

"""Answers of research agents, kept in the ledger beside the plans.

The message is a blob; its row holds what counting needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Select, bindparam, select

from accordance.domain.research.runs import Group, StoredAnswer, StoredRun
from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.looking import looking
from accordance.store.rows import hash_of, pieces_of
from accordance.store.seals import as_stored, key_of
from accordance.store.sql import SqlTransaction, within
from accordance.store.statements import insertion_if_new
from accordance.store.tables import BLOBS, RESEARCH_ANSWERS

_CHUNK: Final = 1000

_ROW: Final = RESEARCH_ANSWERS.c
_RUNS: Final = select(RESEARCH_ANSWERS).order_by(
    _ROW.agent_id, _ROW.request, _ROW.contract, _ROW.at, _ROW.digest
)
_ANSWERS: Final = (
    _RUNS.join(BLOBS, BLOBS.c.sha256 == _ROW.digest)
    .add_columns(BLOBS.c.content)
    .order_by(BLOBS.c.part)
)


@dataclass(frozen=True, slots=True)
class AnswersInLedger:
    """The answers in the database of a ledger."""

    engine: Engine

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers in one transaction: all of them or, if something fails, none."""
        left = iter(answers)
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            # held from here on, so that two writers of the same answers never deadlock
            tx.ledger_head()
            while chunk := list(islice(left, _CHUNK)):
                _add(connection, tx, chunk)

    def answers(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredAnswer]:
        """With their messages, by group, each in the order of time."""
        rows = self._stream(_ANSWERS, agent_id, request)
        for _, pieces in groupby(rows, key=lambda row: row[:4]):  # the key of an answer
            rows_of_answer = list(pieces)
            content = b"".join(row.content for row in rows_of_answer)
            yield StoredAnswer(_run(rows_of_answer[0]), json.loads(content))

    def runs(
        self, agent_id: str | None = None, request: str | None = None
    ) -> Iterator[StoredRun]:
        """Without the messages."""
        return map(_run, self._stream(_RUNS, agent_id, request))

    def _stream(
        self, query: Select[Any], agent_id: str | None, request: str | None
    ) -> Iterator[Row[Any]]:
        wanted = {"agent_id": agent_id, "request": request}
        given = {name: value for name, value in wanted.items() if value is not None}
        for name in given:
            query = query.where(_ROW[name] == bindparam(name))
        with (
            looking(self.engine, yield_per=_CHUNK) as connection,
            connection.execute(query, given) as rows,  # closed by a reader that stops
        ):
            yield from rows


def _add(connection: Connection, tx: SqlTransaction, chunk: list[StoredAnswer]) -> None:
    """Keep some answers, and seal those that are new."""
    dialect = connection.dialect.name
    pieces: list[dict[str, Any]] = []
    for stored in chunk:
        pieces += pieces_of(hash_of(stored.content), stored.content)
    kept = insertion_if_new(dialect, BLOBS).returning(BLOBS.c.sha256)
    tx.written.blobs.extend(dict.fromkeys(connection.execute(kept, pieces).scalars()))
    rows = [_row(stored.run, hash_of(stored.content)) for stored in chunk]
    added = insertion_if_new(dialect, RESEARCH_ANSWERS).returning(
        *RESEARCH_ANSWERS.primary_key
    )
    fresh = {tuple(key) for key in connection.execute(added, rows)}
    for row in rows:
        values = as_stored(RESEARCH_ANSWERS, row)
        if key_of(RESEARCH_ANSWERS, values) in fresh:
            tx.wrote(RESEARCH_ANSWERS, values)
    tx.seal()


def _row(run: StoredRun, digest: str) -> dict[str, Any]:
    group, at, selected, offered = run
    return {
        **group._asdict(),
        "digest": digest,
        "at": at,
        "selected": selected,
        "offered": list(offered),
    }


def _run(row: Row[Any]) -> StoredRun:
    return StoredRun(
        Group(row.agent_id, row.request, row.contract),
        row.at,
        row.selected,
        tuple(row.offered),
    )

"""Answers of research agents, kept in the ledger beside the plans. The message is a blob, its row is what counting needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final

from sqlalchemy import Column, Engine, Index, Row, Select, String, Table, bindparam, select

from accordance.domain.research.runs import Group, Run, StoredAnswer
from accordance.store.failures import translated
from accordance.store.rows import hash_of, pieces_of
from accordance.store.statements import insertion_if_new
from accordance.store.tables import BLOBS, METADATA, Json, Words

_CHUNK: Final = 1000

RESEARCH_ANSWERS: Final = Table(
    "research_answers",
    METADATA,
    Column("agent_id", Words, primary_key=True),
    Column("request", String(64), primary_key=True),
    Column("contract", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("at", String(32), nullable=False),
    Column("selected", Json, nullable=False),  # as JSON, so that it equals what was offered to the letter
    Column("offered", Json, nullable=False),
    Index("ix_research_answers_request", "request", "agent_id"),
    sqlite_with_rowid=False,  # lies in the order of its key: group after group
)

_ROW: Final = RESEARCH_ANSWERS.c
_RUNS: Final = select(RESEARCH_ANSWERS).order_by(
    _ROW.agent_id, _ROW.request, _ROW.contract, _ROW.at, _ROW.digest
)
_ANSWERS: Final = (
    _RUNS.join(BLOBS, BLOBS.c.sha256 == _ROW.digest).add_columns(BLOBS.c.content).order_by(BLOBS.c.part)
)


@dataclass(frozen=True, slots=True)
class AnswersInLedger:
    """The answers in the database of a ledger."""

    engine: Engine

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers in one transaction: all of them or, if something fails, none."""
        dialect, left = self.engine.dialect.name, iter(answers)
        with translated(self.engine), self.engine.begin() as connection:
            while chunk := list(islice(left, _CHUNK)):
                contents = [stored.content for stored in chunk]
                rows = [_row(stored.run, hash_of(stored.content)) for stored in chunk]
                pieces = [piece for content in contents for piece in pieces_of(content)]
                connection.execute(insertion_if_new(dialect, BLOBS), pieces)
                connection.execute(insertion_if_new(dialect, RESEARCH_ANSWERS), rows)

    def answers(self, agent_id: str | None = None, request: str | None = None) -> Iterator[StoredAnswer]:
        """With their messages, by group, each in the order of time."""
        rows = self._stream(_ANSWERS, agent_id, request)
        for _, pieces in groupby(rows, key=lambda row: row[:4]):  # the key of an answer
            first, *rest = pieces
            yield StoredAnswer(_run(first), json.loads(b"".join(row.content for row in (first, *rest))))

    def runs(self, agent_id: str | None = None, request: str | None = None) -> Iterator[Run]:
        """Without the messages."""
        return map(_run, self._stream(_RUNS, agent_id, request))

    def _stream(self, query: Select[Any], agent_id: str | None, request: str | None) -> Iterator[Row[Any]]:
        wanted = {"agent_id": agent_id, "request": request}
        given = {name: value for name, value in wanted.items() if value is not None}
        for name in given:
            query = query.where(_ROW[name] == bindparam(name))
        with translated(self.engine), self.engine.connect() as plain:
            connection = plain.execution_options(reading=True, yield_per=_CHUNK)
            with connection.execute(query, given) as rows:  # closed by a reader that stops half-way, too
                yield from rows


def _row(run: Run, digest: str) -> dict[str, Any]:
    group, at, selected, offered = run
    return {**group._asdict(), "digest": digest, "at": at, "selected": selected, "offered": list(offered)}


def _run(row: Row[Any]) -> Run:
    return Run(Group(row.agent_id, row.request, row.contract), row.at, row.selected, tuple(row.offered))

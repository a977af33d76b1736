"""Answers of research agents, kept in the ledger beside the plans. The message is a blob, its row is what counting needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import Column, Engine, ForeignKey, Index, Row, Select, String, Table, bindparam, select

from accordance.domain.research.runs import Group, Run, StoredAnswer
from accordance.store.failures import translated
from accordance.store.statements import insertion_if_new
from accordance.store.tables import BLOBS, METADATA, Json, Words

_CHUNK: Final = 1000

RESEARCH_ANSWERS: Final = Table(
    "research_answers",
    METADATA,
    Column("agent_id", Words, primary_key=True),
    Column("request", String(64), primary_key=True),
    Column("contract", String(64), primary_key=True),
    Column("digest", String(64), ForeignKey("blobs.sha256"), primary_key=True),
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
_ANSWERS: Final = _RUNS.join(BLOBS, BLOBS.c.sha256 == _ROW.digest).add_columns(BLOBS.c.content)


@dataclass(frozen=True, slots=True)
class AnswersInLedger:
    """The answers in the database of a ledger."""

    engine: Engine

    def add(self, answers: Iterable[StoredAnswer]) -> None:
        """Keep answers in one transaction: all of them or, if something fails, none."""
        dialect, left = self.engine.dialect.name, iter(answers)
        with translated(self.engine), self.engine.begin() as connection:
            while chunk := list(islice(left, _CHUNK)):
                blobs = [_blob(stored.content) for stored in chunk]
                rows = [_row(stored.run, blob["sha256"]) for stored, blob in zip(chunk, blobs, strict=True)]
                connection.execute(insertion_if_new(dialect, BLOBS), blobs)
                connection.execute(insertion_if_new(dialect, RESEARCH_ANSWERS), rows)

    def answers(self, agent_id: str | None = None, request: str | None = None) -> Iterator[StoredAnswer]:
        """With their messages, by group, each in the order of time."""
        for row in self._stream(_ANSWERS, agent_id, request):
            yield StoredAnswer(_run(row), json.loads(row.content))

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


def _blob(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "content": content}


def _row(run: Run, digest: str) -> dict[str, Any]:
    group, at, selected, offered = run
    return {**group._asdict(), "digest": digest, "at": at, "selected": selected, "offered": list(offered)}


def _run(row: Row[Any]) -> Run:
    return Run(Group(row.agent_id, row.request, row.contract), row.at, row.selected, tuple(row.offered))

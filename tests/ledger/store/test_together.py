"""What a transaction writes goes to the database together, at its end; until then the transaction sees it all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from accordance.domain.filters import Subject
from accordance.domain.lifecycle import Event
from accordance.domain.records import FileRecord, Lease, TaskRecord
from accordance.domain.ruling import Ask, QuestionKind
from accordance.store import sql_writing
from accordance.store.driver import Driver
from accordance.store.ledger import Transaction
from tests.ledger.project import Project, product
from tests.messages import PLAN, edge, node, plan

FILE = FileRecord(path="a", sha256="0" * 64, size=1, mtime_ns=1)
LINE = plan(
    [node("root", "GOAL"), *(node(name) for name in "abcd")],
    [edge("root", name) for name in "abcd"],
)
HOSTILE = 'a "quoted" \\ line\nwith \0, \ud800, é, 漢字 and 😀 and %s %(name)s :name'
"""Everything that JSON, SQL or a driver might mistake for something else."""


# -- a transaction sees what it has not written yet


def test_records_are_found_as_they_are_now(project: Project) -> None:
    """By what they hold now, and not by what they held before."""
    with project.ledger.write() as tx:
        tx.add(FILE)
    with project.ledger.write() as tx:
        tx.replace(replace(FILE, size=7))
        assert tx.find(FileRecord, size=1) == []
        assert [file.size for file in tx.find(FileRecord, path="a")] == [7]
        tx.add(replace(FILE, path="b"))
        assert [file.path for file in tx.find(FileRecord)] == ["a", "b"]
        tx.add(replace(FILE, path="c"))
        assert tx.count(FileRecord) == 3


def test_questions_are_listed_before_they_are_written(project: Project) -> None:
    """As a shell that completes their names does."""
    project.runs(LINE)
    with project.ledger.write() as tx:
        tx.ask(PLAN, "a", Ask(kind=QuestionKind.HELP, text="Which sheet?"))
        named = tx.named_like(Subject.QUESTIONS, "Which", 5)
    assert [each.title for each in named] == ["Which sheet?"]


def names(tasks: list[TaskRecord]) -> list[str]:
    return [task.task_id for task in tasks]


def test_the_line_is_as_the_transaction_has_moved_it(project: Project) -> None:
    """What was taken up is not in it, what was returned comes first."""
    project.runs(LINE)
    with project.ledger.write() as tx:
        assert names(tx.turns(PLAN, most=2)) == ["a", "b"]
        tx.happen("a", Event.CLAIMED)
        tx.take("a", Lease(holder="w", until="9999", product=None))
        assert names(tx.turns(PLAN, most=2)) == ["b", "c"]
        assert names(tx.turns(PLAN, most=5, after=tx.task("b"))) == ["c", "d"]

        tx.happen("a", Event.PRODUCED)
        tx.happen("a", Event.RETURNED)
        assert names(tx.turns(PLAN, most=2)) == ["a", "b"]
        assert names(tx.turns(PLAN, ("GOAL",), most=2)) == []


@pytest.mark.parametrize(("count", "size"), [(3, 10), (40, 60_000), (1, 70_000)])
def test_blobs_are_read_before_they_are_written(
    project: Project, count: int, size: int
) -> None:
    """Few and small, many, or large."""
    contents = [bytes([number]) * size for number in range(count)]
    project.runs(LINE)
    with project.ledger.write() as tx:
        kept = [tx.keep(content) for content in contents]
        assert tx.blob_size(kept[-1]) == size
        tx.ask(PLAN, None, Ask(kind=QuestionKind.PLAN, text="?"))
    with project.ledger.read() as tx:
        assert [tx.blob(name) for name in kept] == contents


# -- all of it arrives as it is


def test_texts_arrive_as_they_are(project: Project) -> None:
    """Whatever is in them, but for what no database keeps."""
    project.runs(LINE)
    project.submit("a", product("a", content=HOSTILE.replace("\ud800", "")))
    with project.ledger.write() as tx:
        tx.save_task("b", last_error=HOSTILE)
        tx.ask(PLAN, "b", Ask(kind=QuestionKind.HELP, text=HOSTILE))
    kept = HOSTILE.replace("\0", "␀").replace("\ud800", "?")
    assert project.task("b").last_error in (kept, HOSTILE)
    assert project.holds()


def test_many_events_are_written_in_portions(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an import does; their numbers go on."""
    monkeypatch.setattr(sql_writing, "_PORTION", 1)
    project.runs(LINE)
    project.finish("a", "b")
    assert project.holds()


# -- on PostgreSQL, in a single statement


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that are given to the driver from now on."""
    statements: list[str] = []

    def counted(execute: Callable[..., Any]) -> Callable[..., Any]:
        def executed(driver: Driver, sql: str, *more: Any) -> Any:
            statements.append(sql)
            return execute(driver, sql, *more)

        return executed

    for name in ("_rows", "change", "change_many"):
        monkeypatch.setattr(Driver, name, counted(getattr(Driver, name)))
    return statements


@pytest.mark.parametrize("project", ["postgresql"], indirect=True)
def test_a_transaction_writes_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks, plans, records and events; only blobs come before, because new ones are sealed."""
    project.runs(LINE)
    statements = counting(monkeypatch)
    project.submit("a")
    writing = [sql for sql in statements if not sql.startswith("SELECT")]
    assert [sql.split(None, 2)[:2] for sql in writing] == [
        ["INSERT", "INTO"],
        ["WITH", "part_0"],
    ]
    tables = ("task_nodes", "plans", "messages", "artifacts", "counters", "task_events")
    assert all(f" {table} " in writing[-1] for table in tables)


@pytest.mark.parametrize("project", ["postgresql"], indirect=True)
def test_few_rows_and_many_are_written_by_the_same_statement(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL plans it once."""
    project.runs(LINE)
    statements = counting(monkeypatch)

    def move(tx: Transaction, *tasks: str) -> None:
        for task in tasks:
            tx.happen(task, Event.CLAIMED)

    with project.ledger.write() as tx:
        move(tx, "a")
    with project.ledger.write() as tx:
        move(tx, "b", "c", "d")
    writing = [sql for sql in statements if sql.startswith("WITH")]
    assert len(writing) == 2
    assert len(set(writing)) == 1

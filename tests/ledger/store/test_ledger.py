"""The verbs of a transaction, asked directly: every ledger means the same by them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    IntegrityError,
    InvalidRequestError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from accordance.domain.lifecycle import Event, State
from accordance.domain.records import FileRecord, Lease, QuestionRecord
from accordance.domain.ruling import Ask, QuestionKind
from accordance.errors import (
    AccordanceError,
    Conflict,
    IllegalTransition,
    LedgerBusy,
    LedgerUnavailable,
)
from accordance.store.columns import Words
from accordance.store.failures import translated
from accordance.store.opening import make_engine
from tests.ledger.project import Project
from tests.messages import PLAN, edge, node, plan, small_plan

FILE = FileRecord(path="a", sha256="0" * 64, size=1, mtime_ns=2**62)


def test_bytes_are_kept_once_under_their_hash(project: Project) -> None:
    """Whatever they are, and as often as they come."""
    for content in (b"", b"\0\xff" * 1000, b"x" * 3_000_000):
        with project.ledger.write() as tx:
            name = tx.keep(content)
            assert tx.keep(content) == name == hashlib.sha256(content).hexdigest()
        with project.ledger.write() as tx:
            assert tx.keep(content) == name
        with project.ledger.read() as tx:
            assert tx.blob(name) == content


def test_records(project: Project) -> None:
    """Added once, replaced by their key, found by what they hold; nothing is a value to look for."""
    project.runs(small_plan())
    with project.ledger.write() as tx:
        tx.add(FILE)
        tx.replace(replace(FILE, size=7))
        tx.replace(replace(FILE, path="b"))
        assert [one.size for one in tx.find(FileRecord)] == [7, 1]
        one = tx.ask(PLAN, "a", Ask(kind=QuestionKind.HELP, text="?"))
        tx.replace(replace(one, answered_at=tx.now, answer={"text": "!"}))
        other = tx.ask(PLAN, None, Ask(kind=QuestionKind.PLAN, text="??"))
        assert tx.open_questions() == tx.find(QuestionRecord, task_id=None) == [other]
    with pytest.raises(Conflict), project.ledger.write() as tx:
        tx.add(FILE)


def test_events_are_read_in_parts(project: Project) -> None:
    """After one, so many at a time; chained, and counted from one."""
    project.runs(small_plan())
    project.finish("a")
    with project.ledger.read() as tx:
        whole = list(tx.entries(PLAN))
        assert [one.seq for one in whole] == list(range(1, len(whole) + 1))
        assert list(tx.entries(PLAN, after=3, limit=2)) == whole[3:5]
        assert list(tx.entries(PLAN, after=len(whole))) == []
        assert tx.entries_of("a") == [one for one in whole if one.task_id == "a"]
        assert (tx.plan(PLAN).head.seq, tx.plan(PLAN).head.hash) == (
            whole[-1].seq,
            whole[-1].hash,
        )
        assert all(one.at <= other.at for one, other in pairwise(whole))


def test_a_transaction_sees_what_it_did(project: Project) -> None:
    """States, counts, turns, leases, events: before anything is written for others to see."""
    project.runs(small_plan())
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.happen("a", Event.CLAIMED)
        tx.take("a", Lease(holder="me", until="2000"))
        assert tx.count_states(PLAN) == {State.PENDING: 2, State.IN_PROGRESS: 1}
        assert [one.task_id for one in tx.tasks(PLAN, State.IN_PROGRESS)] == ["a"]
        assert tx.next_turn(PLAN, ()) is None
        assert tx.expired(PLAN) == ["a"]
        assert [one.kind for one in tx.entries_of("a")] == ["CLAIMED"]
        assert tx.plans()[0].head == tx.plan(PLAN).head
        tx.lock(PLAN)
        assert tx.task("a").lease == Lease(holder="me", until="2000")
        with pytest.raises(IllegalTransition):
            tx.happen("a", Event.RETRIED)
        tx.happen("a", Event.RELEASED)
        assert tx.task("a").lease is None
        assert tx.next_turn(PLAN, ("ACTION",)) == tx.task("a")
    assert project.kinds("a") == ["CLAIMED", "RELEASED"]


def test_states_by_place(project: Project) -> None:
    """Of every task in the plan's order, or of those that moved since an event."""
    project.runs(small_plan())
    with project.ledger.read() as tx:
        before = tx.last_number()
        places = {task.task_id: task.place for task in tx.tasks(PLAN)}
        assert [place for place, _ in tx.states_by_place(PLAN)] == [0, 1, 2]
        assert tx.states_by_place(PLAN, since=before) == []
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.happen("a", Event.CLAIMED)
        claimed = (places["a"], State.IN_PROGRESS)
        assert claimed in tx.states_by_place(PLAN)
    with project.ledger.read() as tx:
        assert tx.states_by_place(PLAN, since=before) == [claimed]


def test_a_node_knows_its_neighbours(project: Project) -> None:
    """Each in the plan's order; candidates by priority."""
    nodes = [
        node("root", "GOAL"),
        node("a"),
        node("b", priority=9),
        node("c", "CHECK"),
        node("d"),
    ]
    edges = [edge("root", task) for task in "badc"] + [edge("a", "c", "DEPENDS_ON"), edge("b", "d", "DEPENDS_ON"), edge("a", "d", "DEPENDS_ON")]  # fmt: skip
    edges += [edge("root", task, "ALTERNATIVE", group_id="g") for task in "ab"]
    project.runs(plan(nodes, edges))
    with project.ledger.read() as tx:
        root, a, c, d = (tx.node(task) for task in ("root", "a", "c", "d"))
        assert (root.parts, root.is_work, root.combine, root.parents) == (
            ("b", "a", "d", "c"),
            False,
            "AND",
            (),
        )
        assert (a.parents, a.rivals, a.checked_by, a.checks) == (
            ("root",),
            ("b", "a"),
            ("c",),
            None,
        )
        assert (set(a.dependents), c.checks, c.checked_by) == ({"c", "d"}, "a", ())
        assert d.prerequisites == ("b", "a")


SAYINGS = [
    pytest.param(OperationalError("q", {}, Exception("database is locked")), LedgerBusy, "another process holds it", id="locked"),
    pytest.param(OperationalError("q", {}, Exception("database or disk is full")), LedgerUnavailable, "the disk is full", id="full"),
    pytest.param(OperationalError("q", {}, Exception("something\nodd")), LedgerUnavailable, ": something$", id="something else, its first line"),
    pytest.param(DatabaseError("q", {}, Exception("")), LedgerUnavailable, "ledger", id="nothing at all"),
    pytest.param(PoolTimeout("QueuePool limit"), LedgerBusy, "no connection became free", id="no connection"),
    pytest.param(InvalidRequestError("odd"), LedgerUnavailable, "odd", id="not the database's own"),
    pytest.param(IntegrityError("q", {}, Exception("UNIQUE constraint failed")), Conflict, "another process was first", id="somebody was first"),
    pytest.param(OperationalError("q", {}, Exception("gone"), connection_invalidated=True), LedgerUnavailable, "the connection broke", id="the connection broke"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "kind", "said"), SAYINGS)
def test_what_a_database_says(
    tmp_path: Path, error: Exception, kind: type[AccordanceError], said: str
) -> None:
    """In our words, in one line, with the way out."""
    engine = make_engine(tmp_path / "ledger.db")
    with pytest.raises(kind, match=said), translated(engine):
        raise error


def test_a_fault_of_ours_is_not_renamed(tmp_path: Path) -> None:
    """A broken rule of the tables is a bug and looks like one."""
    engine = make_engine(tmp_path / "ledger.db")
    fault: DBAPIError = IntegrityError("q", {}, Exception("NOT NULL constraint failed"))
    with pytest.raises(IntegrityError), translated(engine):
        raise fault


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600", id="words"),
        pytest.param("a\0b", "a\u2400b", id="NUL"),
        pytest.param("\u00e9\udcff", "\u00e9?", id="half a character"),
    ],
)
def test_words_from_outside(said: str | None, kept: str | None) -> None:
    """What no database would take has a picture in its place."""
    assert Words().bind_processor(sqlite.dialect())(said) == kept


def test_turns_are_read_in_parts(project: Project) -> None:
    """Behind any of them come the others, in the same order; what is taken up meanwhile is gone."""
    names = [f"n{at}" for at in range(9)]
    nodes = [
        node(name, priority=2**40 if at % 3 == 1 else at % 3)
        for at, name in enumerate(names)
    ]
    project.runs(
        plan([node("root", "GOAL"), *nodes], [edge("root", name) for name in names])
    )
    project.submit("n1")
    project.review("n1", 10)  # returned: the first
    project.submit("n2")  # to be reviewed: the second
    with project.ledger.write() as tx:
        whole = tx.turns(PLAN, most=100)
        assert [one.task_id for one in whole] == [
            "n1",
            "n2",
            "n4",
            "n7",
            "n5",
            "n8",
            "n0",
            "n3",
            "n6",
        ]
        for at, one in enumerate(whole):
            assert tx.turns(PLAN, most=2, after=one) == whole[at + 1 : at + 3]
        assert list(tx.all_turns(PLAN)) == list(tx.all_turns(PLAN, first=4)) == whole
        line = tx.all_turns(PLAN)
        assert next(line) == whole[0]
        tx.happen("n1", Event.CLAIMED)
        assert list(line) == whole[1:]
        assert list(tx.all_turns(PLAN, ("CHECK",))) == []

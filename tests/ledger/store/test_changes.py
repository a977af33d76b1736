"""Whoever reads everything after a number misses nothing, and is woken when there is more."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from accordance.domain.filters import Filter, Subject
from accordance.domain.paging import PageRequest
from accordance.errors import LedgerDamaged, NotFound
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.store.listings import EVENT_LIST, cursor_after
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger
from tests.ledger.project import Clock, Project
from tests.ledger.store.test_lists import OTHER, two_plans
from tests.messages import PLAN, small_plan

LONG = 60.0  # seconds; nothing here waits so long unless it is broken


def note(ledger: Ledger, plan_id: str = PLAN) -> None:
    """Let something happen."""
    with ledger.write() as tx:
        tx.lock(plan_id)
        tx.record(plan_id, "NOTED")


def test_a_change_that_was_there_already(project: Project) -> None:
    """Is told at once; without one, the wait ends with its time."""
    assert project.ledger.wait_for_change(after=0, seconds=0) == 0
    project.runs(small_plan())
    newest = project.ledger.wait_for_change(after=0, seconds=LONG)
    with project.ledger.read() as tx:
        assert newest == tx.last_number() > 0
    assert project.ledger.wait_for_change(after=newest, seconds=0.01) == newest
    note(project.ledger)
    assert project.ledger.wait_for_change(after=newest, seconds=LONG) > newest


def test_a_change_wakes_whoever_waits(project: Project) -> None:
    """Each of several, as soon as it is committed."""
    project.runs(small_plan())
    newest = project.ledger.wait_for_change(after=0, seconds=LONG)
    heard: list[int] = []

    def wait() -> None:
        heard.append(project.ledger.wait_for_change(after=newest, seconds=LONG))

    waiting = [threading.Thread(target=wait) for _ in range(3)]
    for thread in waiting:
        thread.start()
    note(project.ledger)
    for thread in waiting:
        thread.join(LONG)
    assert heard == [newest + 1] * 3


def test_what_is_undone_is_no_change(project: Project) -> None:
    """No number is used up by it."""
    project.runs(small_plan())
    newest = project.ledger.wait_for_change(after=0, seconds=LONG)
    with contextlib.suppress(NotFound), project.ledger.write() as tx:
        tx.record(PLAN, "NOTED")
        tx.task("nothing")
    assert project.ledger.wait_for_change(after=newest, seconds=0.01) == newest
    note(project.ledger)
    assert project.ledger.wait_for_change(after=newest, seconds=LONG) == newest + 1


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a database can be made."""
    if request.param == "sqlite":
        yield str(tmp_path / "ledger.db")
    else:
        yield request.getfixturevalue("postgresql_url")


def test_numbers_are_seen_in_the_order_of_commits(place: str, tmp_path: Path) -> None:
    """Writers on two plans at once: a reader that asks for what is behind its last number sees every event, once."""
    clock = Clock()
    ledger = open_ledger(place, clock=clock)
    two_plans(Project(ledger, Home(tmp_path), clock))
    with ledger.read() as tx:
        seen = [tx.last_number()]
    begin = threading.Barrier(4)
    many = 25

    def write(plan_id: str) -> None:
        begin.wait()
        for _ in range(many):
            note(ledger, plan_id)

    writers = [
        threading.Thread(target=write, args=(plan_id,))
        for plan_id in (PLAN, OTHER, PLAN)
    ]
    for thread in writers:
        thread.start()
    begin.wait()
    wanted = Filter(Subject.EVENTS)
    last = seen[0] + 3 * many
    while seen[-1] < last:
        assert ledger.wait_for_change(after=seen[-1], seconds=LONG) > seen[-1]
        with ledger.read() as tx:
            cursor = cursor_after(wanted, seen[-1])
            page = tx.page(EVENT_LIST, wanted, PageRequest(cursor=cursor))
        seen += [entry.number or 0 for entry in page.items]
    for thread in writers:
        thread.join()
    ledger.close()
    assert seen == list(range(seen[0], last + 1))


def test_a_writer_holds_up_nobody_before_its_end(
    postgresql_url: str, tmp_path: Path
) -> None:
    """A transaction on one plan that has recorded events lets another plan's begin and commit."""
    clock = Clock()
    ledger = open_ledger(postgresql_url, clock=clock)
    two_plans(Project(ledger, Home(tmp_path), clock))
    with ledger.write() as tx:
        tx.lock(PLAN)
        tx.record(PLAN, "NOTED")
        tx.entries_of("a")
        other = threading.Thread(target=note, args=(ledger, OTHER))
        other.start()
        other.join(LONG)
        assert not other.is_alive()
    with ledger.read() as tx:
        noted = [
            entry.plan_id
            for entry in tx.page(
                EVENT_LIST, Filter(Subject.EVENTS), PageRequest(limit=1000)
            ).items
            if entry.kind == "NOTED"
        ]
    ledger.close()
    assert noted == [OTHER, PLAN]


def test_two_plans_in_one_transaction(postgresql_url: str, tmp_path: Path) -> None:
    """Taken in different orders by others that only write to one: nobody waits in a circle."""
    clock = Clock()
    ledger = open_ledger(postgresql_url, clock=clock)
    two_plans(Project(ledger, Home(tmp_path), clock))
    with ledger.write() as tx:
        tx.lock(PLAN)
        tx.record(PLAN, "NOTED")
        note(ledger, OTHER)
        tx.lock(OTHER)
        tx.record(OTHER, "NOTED")
    ledger.close()


def test_a_ledger_without_its_counter(place: str, tmp_path: Path) -> None:
    """Somebody has deleted it: nothing is written, and it is said."""
    ledger = open_ledger(place)
    Project(ledger, Home(tmp_path), Clock()).runs(small_plan())
    with ledger.engine.begin() as connection:
        connection.execute(text("DELETE FROM counters"))
    with pytest.raises(LedgerDamaged, match="the counter of events is missing"):
        note(ledger)
    ledger.close()


def test_an_old_ledger_gets_numbers(place: str, tmp_path: Path) -> None:
    """By the time of its events; a clock that went back does not turn a chain round."""
    clock = Clock()
    ledger = open_ledger(place, clock=clock)
    two_plans(Project(ledger, Home(tmp_path), clock))
    with ledger.engine.begin() as connection:
        for statement in (
            "DROP TABLE webhook_deliveries",
            "DROP TABLE webhooks",
            "DROP TABLE kept_replies",
            "DROP TABLE api_keys",
            "DROP TABLE blob_objects",
            "DROP TABLE loose_blobs",
            "DROP TABLE blob_stores",
            "ALTER TABLE input_files DROP COLUMN gone_at",
            "DROP TABLE queue_pauses",
            "ALTER TABLE accordance_workers DROP COLUMN about",
            "ALTER TABLE accordance_workers DROP COLUMN drain_at",
            "DROP TABLE attempt_queue",
            "DROP TABLE attempt_starts",
            "ALTER TABLE task_nodes DROP COLUMN lease_tokens",
            "ALTER TABLE task_nodes DROP COLUMN lease_cost",
            "ALTER TABLE plans DROP COLUMN paused_at",
            "ALTER TABLE plans DROP COLUMN archived_at",
            "DROP INDEX ix_questions_cause",
            "DROP INDEX ix_questions_number",
            "ALTER TABLE questions DROP COLUMN cause",
            "ALTER TABLE questions DROP COLUMN number",
            "DROP INDEX ix_questions_asked",
            "DROP INDEX ix_questions_open",
            "CREATE INDEX ix_questions_open ON questions (answered_at, asked_at)",
            "DROP INDEX ix_task_nodes_dead",
            "DROP INDEX ix_plans_newest",
            "DROP INDEX ix_task_events_number",
            "DROP INDEX ix_ledger_events_number",
            "ALTER TABLE task_events DROP COLUMN number",
            "ALTER TABLE ledger_events DROP COLUMN number",
            "DROP TABLE counters",
            "UPDATE accordance_schema SET version_num = '0006'",
            f"UPDATE task_events SET at = '2020' WHERE plan_id = '{PLAN}' AND seq = 3",
        ):
            connection.execute(text(statement))
    ledger.close()

    upgraded: SqlLedger = open_ledger(place, clock=clock)
    with upgraded.read() as tx:
        wanted = Filter(Subject.EVENTS)
        entries = tx.page(EVENT_LIST, wanted, PageRequest(limit=1000)).items
        assert tx.last_number() == len(entries)
    numbers = [entry.number for entry in entries]
    assert numbers == list(range(1, len(entries) + 1))
    for plan_id in (PLAN, OTHER, ""):
        places = [entry.seq for entry in entries if entry.plan_id == plan_id]
        assert places == list(range(1, len(places) + 1))
    note(upgraded, OTHER)
    assert upgraded.wait_for_change(after=len(entries), seconds=0) == len(entries) + 1
    upgraded.close()

"""Lists in pages: the same filter gives the same items on every ledger, page by page, by an index."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from accordance.domain.filters import Filter, Subject, parse_filter
from accordance.domain.lifecycle import Event
from accordance.domain.paging import InvalidCursor, PageRequest, write_cursor
from accordance.domain.records import Lease
from accordance.domain.ruling import Ask, QuestionKind
from accordance.project.home import Home
from accordance.store.listings import (
    DEAD_LETTER_LIST,
    EVENT_LIST,
    PLAN_LIST,
    QUESTION_LIST,
    TASK_LIST,
    Listing,
)
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger, SqlTransaction
from tests.ledger.project import Clock, Project, failing
from tests.messages import PLAN, Message, edge, node, plan

OTHER = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00002"
HOSTILE = "'; DROP TABLE plans; -- %_\\ \" ]["
LISTS: dict[Subject, Listing[Any]] = {
    listing.subject: listing
    for listing in (PLAN_LIST, TASK_LIST, EVENT_LIST, QUESTION_LIST, DEAD_LETTER_LIST)
}


def two_plans(project: Project) -> Project:
    """Two plans with tasks of many kinds, one dead letter, questions open and answered."""
    project.runs(
        plan(
            [
                node("root", "GOAL"),
                node("a", tags=["docs", "x"], title="Prices in ÄPFEL"),
                node("b", tags=['do"cs', 'a, "x"'], owner_agent_id="codex"),
                node("c", title="100 % of_it"),
            ],
            [edge("root", name) for name in "abc"],
        )
    )
    project.runs(other_plan())
    project.submit("c", failing("c", "LLM_REFUSAL"))
    project.answer(give_up=True)
    project.submit("b", failing("b"))
    with project.ledger.write() as tx:
        tx.lock(OTHER)
        tx.happen("p", Event.CLAIMED)
        tx.take("p", Lease(holder="opencode", until="2099-01-01T00:00:00.000000Z"))
        tx.ask(OTHER, "p", Ask(kind=QuestionKind.HELP, text="Which PRICES?"))
        tx.ask(OTHER, None, Ask(kind=QuestionKind.PLAN, text=HOSTILE))
    return project


def other_plan() -> Message:
    """A second plan; its title holds whatever could be taken for SQL."""
    nodes = [node("goal", "GOAL"), *(node(name, tags=[HOSTILE]) for name in "pq")]
    message = plan(nodes, [edge("goal", name) for name in "pq"], "goal")
    written: Message = json.loads(json.dumps(message).replace(PLAN, OTHER))
    return {**written, "plan": {**written["plan"], "title": HOSTILE}}


def items(project: Project, wanted: Filter, limit: int) -> Iterator[Any]:
    """All items that fit, page by page, each page in a transaction of its own."""
    listing = LISTS[wanted.subject]
    cursor = None
    while True:
        with project.ledger.read() as tx:
            request = PageRequest(limit=limit, cursor=cursor)
            page = tx.page(listing, wanted, request)
        assert len(page.items) <= limit
        yield from page.items
        cursor = page.next
        if cursor is None:
            return


QUOTED = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
TASKS = ["goal", "p", "q", "root", "a", "b", "c"]
CASES = [
    (Subject.TASKS, "", TASKS),
    (Subject.TASKS, f"plan:{PLAN}", ["root", "a", "b", "c"]),
    (Subject.TASKS, f"-plan:{PLAN}", ["goal", "p", "q"]),
    (Subject.TASKS, f"plan:{PLAN} plan:{OTHER} kind:goal", ["goal", "root"]),
    (Subject.TASKS, "plan:nothing", []),
    (Subject.TASKS, "task:a task:q", ["q", "a"]),
    (Subject.TASKS, "state:ready", ["q", "a", "b"]),
    (Subject.TASKS, "-state:ready kind:action", ["p", "c"]),
    (Subject.TASKS, "tag:docs", ["a"]),
    (Subject.TASKS, 'tag:"do\\"cs"', ["b"]),
    (Subject.TASKS, "tag:x", ["a"]),
    (Subject.TASKS, "tag:cs", []),
    (Subject.TASKS, f'tag:"{QUOTED}"', ["p", "q"]),
    (Subject.TASKS, "-tag:docs kind:action", ["p", "q", "b", "c"]),
    (Subject.TASKS, "agent:codex", ["b"]),
    (Subject.TASKS, "agent:opencode", ["p"]),
    (Subject.TASKS, "-agent:opencode plan:" + OTHER, ["goal", "q"]),
    (Subject.TASKS, "pRiCeS", ["a"]),
    (Subject.TASKS, "ÄPFEL", ["a"]),
    (Subject.TASKS, "äpfel", []),
    (Subject.TASKS, "prices docs", []),
    (Subject.TASKS, '"% of_"', ["c"]),
    (Subject.TASKS, "llm_failed", ["b"]),
    (Subject.TASKS, "-llm_failed plan:" + PLAN, ["root", "a", "c"]),
    (Subject.TASKS, "since:2026-03-01", TASKS),
    (Subject.TASKS, "since:2027-01-01", []),
    (Subject.TASKS, "before:2026-03-01", []),
    (Subject.TASKS, '"\0"', []),
    (Subject.DEAD_LETTERS, "", ["c"]),
    (Subject.DEAD_LETTERS, "kind:action agent:nobody", []),
    (Subject.DEAD_LETTERS, f"plan:{PLAN} of_it", ["c"]),
    (Subject.DEAD_LETTERS, f"plan:{OTHER}", []),
    (Subject.PLANS, "", [OTHER, PLAN]),
    (Subject.PLANS, f'"{QUOTED}"', [OTHER]),
    (Subject.PLANS, "state:active -catalogue", [OTHER]),
    (Subject.PLANS, "state:held", []),
    (Subject.PLANS, f"plan:{PLAN}", [PLAN]),
    (Subject.PLANS, "agent:nobody", []),
    (Subject.PLANS, "since:2026-03-01 before:2026-03-02", [OTHER, PLAN]),
    (Subject.QUESTIONS, "", ["HELP", "GOAL", "HELP", "PLAN"]),
    (Subject.QUESTIONS, "state:open", ["GOAL", "HELP", "PLAN"]),
    (Subject.QUESTIONS, "state:answered", ["HELP"]),
    (Subject.QUESTIONS, "state:open state:answered kind:help", ["HELP", "HELP"]),
    (Subject.QUESTIONS, "task:p", ["HELP"]),
    (Subject.QUESTIONS, "agent:opencode", ["HELP"]),
    (Subject.QUESTIONS, "-agent:opencode", ["HELP", "GOAL", "PLAN"]),
    (Subject.QUESTIONS, f'tag:"{QUOTED}"', ["HELP"]),
    (Subject.QUESTIONS, "prices", ["HELP"]),
    (Subject.QUESTIONS, f'"{QUOTED}"', ["PLAN"]),
    (Subject.QUESTIONS, "before:2026-03-01", []),
    (Subject.EVENTS, "kind:plan_began", ["PLAN_BEGAN", "PLAN_BEGAN"]),
    (Subject.EVENTS, "task:p", ["CLAIMED", "ASKED_A_PERSON"]),
    (Subject.EVENTS, f"plan:{OTHER} kind:claimed", ["CLAIMED"]),
    (Subject.EVENTS, "agent:opencode kind:claimed", ["CLAIMED"]),
    (Subject.EVENTS, "tag:docs", []),
    (Subject.EVENTS, "which", ["ASKED_A_PERSON"]),
    (Subject.EVENTS, f'"{QUOTED}" kind:asked_a_person', ["ASKED_A_PERSON"]),
    (Subject.EVENTS, f'"{OTHER[:13]}" kind:plan_began', ["PLAN_BEGAN"]),
    (Subject.EVENTS, "since:2027-01-01", []),
]


def test_filters_and_pages(project: Project) -> None:
    """Every case on every ledger, in pages of any size; nothing twice, nothing left out."""
    two_plans(project)
    wrong = []
    for subject, words, expected in CASES:
        wanted = parse_filter(words, subject)
        for limit in (1, 2, 1000):
            names = [_name(record, subject) for record in items(project, wanted, limit)]
            if names != expected:
                wrong.append((subject, words, limit, names))
    assert wrong == []


def _name(record: Any, subject: Subject) -> str:
    fields = {
        Subject.PLANS: "plan_id",
        Subject.QUESTIONS: "kind",
        Subject.EVENTS: "kind",
    }
    return str(getattr(record, fields.get(subject, "task_id")))


def test_every_event_once_in_the_order_of_its_number(project: Project) -> None:
    """Of all plans and of the ledger itself, numbered from 1 without a gap."""
    two_plans(project)
    everything = list(items(project, Filter(Subject.EVENTS), 7))
    numbers = [entry.number for entry in everything]
    assert numbers == list(range(1, len(numbers) + 1))
    with project.ledger.read() as tx:
        assert tx.last_number() == len(numbers)
        chains = [*tx.entries(PLAN), *tx.entries(OTHER), *tx.ledger_entries()]
    assert sorted(chains, key=lambda entry: entry.number or 0) == everything
    of_one = list(items(project, parse_filter(f"plan:{PLAN}", Subject.EVENTS), 3))
    with project.ledger.read() as tx:
        assert of_one == list(tx.entries(PLAN))


def test_what_is_added_between_two_pages(project: Project) -> None:
    """Does not move the next page: nothing is seen twice."""
    two_plans(project)
    wanted = Filter(Subject.PLANS)
    with project.ledger.read() as tx:
        first = tx.page(PLAN_LIST, wanted, PageRequest(limit=1))
    third = json.loads(json.dumps(other_plan()).replace(OTHER, "third"))
    for name in ("goal", "p", "q"):
        third = json.loads(json.dumps(third).replace(f'"{name}"', f'"{name}3"'))
    project.runs(third)
    with project.ledger.read() as tx:
        request = PageRequest(limit=1, cursor=first.next)
        (second,) = tx.page(PLAN_LIST, wanted, request).items
    assert (first.items[0].plan_id, second.plan_id) == (OTHER, PLAN)


def test_a_transaction_lists_what_it_did(project: Project) -> None:
    """States that it has changed and not written yet."""
    two_plans(project)
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.happen("a", Event.CLAIMED)
        wanted = parse_filter("state:in_progress", Subject.TASKS)
        page = tx.page(TASK_LIST, wanted, PageRequest())
        assert [task.task_id for task in page.items] == ["p", "a"]


VALUES: dict[type, list[str | int]] = {
    str: [HOSTILE, "", "\0", "\ud800", "zz"],
    int: [-(2**63) + 1, 0, 2**62],
}


def test_a_forged_cursor(project: Project) -> None:
    """With any values of the right types: a page, maybe an empty one, and no fault."""
    two_plans(project)
    for subject, listing in LISTS.items():
        wanted = Filter(subject)
        types = listing.key_types
        for key in itertools.product(VALUES[types[0]], VALUES[types[1]]):
            cursor = write_cursor(wanted.listing, key)
            with project.ledger.read() as tx:
                tx.page(listing, wanted, PageRequest(cursor=cursor))
        other = write_cursor("something else", (0, 0))
        with pytest.raises(InvalidCursor), project.ledger.read() as tx:
            tx.page(listing, wanted, PageRequest(cursor=other))


# -- indexes

BY_INDEX = [
    (Subject.TASKS, "", "ix_task_nodes_place"),
    (Subject.TASKS, "plan:P", "ix_task_nodes_place"),
    (Subject.TASKS, "plan:P state:failed", "ix_task_nodes_state"),
    (Subject.DEAD_LETTERS, "", "ix_task_nodes_dead"),
    (Subject.DEAD_LETTERS, "plan:P", "ix_task_nodes_"),  # one of two that fit
    (Subject.PLANS, "", "ix_plans_newest"),
    (Subject.EVENTS, "", "ix_task_events_number"),
    (Subject.EVENTS, "plan:P", "task_events"),  # its key
    (Subject.QUESTIONS, "", "ix_questions_asked"),
    (Subject.QUESTIONS, "state:open", "ix_questions_open"),
]


@pytest.fixture(params=["sqlite", "postgresql"])
def in_database(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Project, SqlLedger]]:
    """Two plans in a database."""
    place: str | Path = tmp_path / "ledger.db"
    if request.param == "postgresql":
        place = request.getfixturevalue("postgresql_url")
    clock = Clock()
    ledger = open_ledger(place, clock=clock)
    yield two_plans(Project(ledger, Home(tmp_path), clock)), ledger
    ledger.close()


def test_a_page_is_found_by_an_index(in_database: tuple[Project, SqlLedger]) -> None:
    """And never sorted: the thousandth page costs what the first does."""
    _, ledger = in_database
    asked: list[tuple[str, Any]] = []
    event.listen(
        ledger.engine,
        "before_cursor_execute",
        lambda _, __, statement, values, *___: asked.append((statement, values)),
    )
    for (subject, words, index), is_first in itertools.product(BY_INDEX, (True, False)):
        listing = LISTS[subject]
        wanted = parse_filter(words, subject)
        key = tuple("2026" if kind is str else 1 for kind in listing.key_types)
        cursor = None if is_first else write_cursor(wanted.listing, key)
        asked.clear()
        with ledger.read() as tx:
            tx.page(listing, wanted, PageRequest(limit=5, cursor=cursor))
        statement, values = next(one for one in asked if one[0].startswith("SELECT"))
        told = _explained(ledger, statement, values)
        assert index in told, (subject, words, told)
        assert "TEMP B-TREE" not in told, (subject, words, told)
        assert "Sort" not in told, (subject, words, told)


def _explained(ledger: SqlLedger, statement: str, values: Any) -> str:
    """How the database finds the rows."""
    with ledger.engine.connect().execution_options(reading=True) as connection:
        if ledger.engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            return "\n".join(str(row[-1]) for row in rows)
        for method in ("seqscan", "bitmapscan", "sort"):  # small tables tempt it
            connection.execute(text(f"SET LOCAL enable_{method} = off"))
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", values)
        return "\n".join(str(row[0]) for row in rows)


class _Steps:
    """Counts tens of instructions of SQLite's machine."""

    count = 0

    def __call__(self) -> int:
        self.count += 1
        return 0


def test_the_last_page_costs_what_the_first_does(on_sqlite: Project) -> None:
    """Counted in instructions of SQLite's machine, over 2,000 tasks."""
    names = [f"t{at:05}" for at in range(2000)]
    nodes = [node("root", "GOAL"), *(node(name) for name in names)]
    on_sqlite.runs(plan(nodes, [edge("root", name) for name in names]))
    assert isinstance(on_sqlite.ledger, SqlLedger)
    wanted = parse_filter(f"plan:{PLAN}", Subject.TASKS)
    counts = []
    for place in (5, 1990):
        cursor = write_cursor(wanted.listing, (PLAN, place))
        request = PageRequest(limit=5, cursor=cursor)
        with on_sqlite.ledger.engine.connect() as plain:
            connection = plain.execution_options(reading=True)
            driver: Any = connection.connection.driver_connection
            steps = _Steps()
            driver.set_progress_handler(steps, 10)
            SqlTransaction(connection, "").page(TASK_LIST, wanted, request)
            driver.set_progress_handler(None, 0)
        counts.append(steps.count)
    first, last = counts
    assert last <= first + 5

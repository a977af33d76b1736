"""Kept answers: one suite for the port, on SQLite and PostgreSQL; and ledgers from before they were kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, event, inspect, text

from accordance import check_value
from accordance.audit.verifying import verify_ledger, verify_plan
from accordance.domain.records import Rules
from accordance.domain.research.runs import (
    AnswerStore,
    Group,
    StoredAnswer,
    StoredRun,
    collapse_by_group,
    request_digest,
    stored_answer,
)
from accordance.errors import LedgerUnavailable
from accordance.project.home import Home
from accordance.store import opening
from accordance.store.answers import AnswersInLedger
from accordance.store.opening import SCHEMA, open_ledger, version_of
from accordance.store.sql import SqlLedger, SqlTransaction
from accordance.store.tables import METADATA
from accordance.work.importing import import_plan
from accordance.work.intake import submit
from accordance.work.taking import Taken, take_next
from tests.messages import ACTION, PLAN, edge, node, plan
from tests.unit.research import REGISTRY, answer, example, request, typed


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnswerStore]:
    """An empty store of each kind."""
    sqlite = tmp_path / "ledger.db"
    ledger = open_ledger(
        sqlite
        if request.param == "sqlite"
        else request.getfixturevalue("postgresql_url")
    )
    yield AnswersInLedger(ledger.engine)
    ledger.close()


def kept(
    agent: str, question: str, at: int, selected: str = "A", contract: str = "v1"
) -> StoredAnswer:
    group = Group(agent, question, contract)
    return StoredAnswer(
        StoredRun(group, f"2026-01-01T00:00:{at:02}.000000Z", selected, ("A", "B")),
        {"at": at},
    )


def test_groups_come_one_after_the_other_each_in_the_order_of_time(
    store: AnswerStore,
) -> None:
    """However they were added; a group is agent, request and contract."""
    later = [kept("b", "r", 3), kept("b", "r", 1), kept("a", "r", 5, contract="v2")]
    sooner = [
        kept("a", "s", 4),
        kept("b", "r", 2),
        kept("a", "r", 9),
        kept("a", "r", 8),
    ]
    for some in (later, sooner):
        store.add(some)
    found = [(*run.group, int(run.at[17:19])) for run in store.runs()]
    assert found == [
        ("a", "r", "v1", 8),
        ("a", "r", "v1", 9),
        ("a", "r", "v2", 5),
        ("a", "s", "v1", 4),
        ("b", "r", "v1", 1),
        ("b", "r", "v1", 2),
        ("b", "r", "v1", 3),
    ]
    assert [one.run for one in store.answers()] == list(store.runs())


@pytest.mark.parametrize(
    ("agent", "question", "found"),
    [
        pytest.param("a", None, [1, 2], id="of an agent"),
        pytest.param(None, "r", [1, 3], id="to a request"),
        pytest.param("a", "r", [1], id="of an agent to a request"),
        pytest.param("b", "s", [], id="none"),
        pytest.param("c", None, [], id="of nobody"),
    ],
)
def test_narrowed(
    store: AnswerStore, agent: str | None, question: str | None, found: list[int]
) -> None:
    """By agent, by request, by both."""
    store.add([kept("a", "r", 1), kept("a", "s", 2), kept("b", "r", 3)])
    assert [int(run.at[17:19]) for run in store.runs(agent, question)] == found
    assert [one.answer["at"] for one in store.answers(agent, question)] == found


def test_the_same_answer_is_kept_once(store: AnswerStore) -> None:
    """In one call or in several; in another group it is another answer."""
    one, elsewhere = kept("a", "r", 1), kept("a", "s", 1)
    store.add([one, one])
    store.add([one, elsewhere])
    assert list(store.answers()) == [one, elsewhere]


def test_all_or_none(store: AnswerStore) -> None:
    """If something fails half-way, nothing of it is kept."""

    def failing() -> Iterator[StoredAnswer]:
        for at in range(1500):  # more than are written at once
            yield kept("a", f"{at}", 1)
        raise ZeroDivisionError

    store.add([kept("b", "r", 1)])
    with pytest.raises(ZeroDivisionError):
        store.add(failing())
    assert [run.group.agent_id for run in store.runs()] == ["b"]
    store.add([])


def test_messages_come_back_as_they_were(store: AnswerStore) -> None:
    """Korean, NUL, numbers of every kind; what was selected still equals what was offered."""
    message: dict[str, object] = {
        "말": "통제-가치\0이론 🙂",
        "numbers": [1, 1.0, 1e-7, 10**30],
        "nested": {"none": None},
    }
    selected = "통제\0가치 ' \" \\ \u2400"
    one = StoredAnswer(
        StoredRun(
            Group("에이전트", "r", "v"),
            "2026-01-01T00:00:00.000000Z",
            selected,
            (selected, ""),
        ),
        message,
    )
    store.add([one])
    (found,) = store.answers()
    assert found == one
    assert json.dumps(found.answer["numbers"]) == json.dumps(message["numbers"])


def test_real_answers_are_counted(store: AnswerStore) -> None:
    """The examples: three runs of one agent, one of another."""
    architect, shaper = (
        REGISTRY.get("theory-architect"),
        REGISTRY.get("question-shaper"),
    )
    store.add(
        stored_answer(typed(example(f"answer-{at}"), "answer"), architect, request())
        for at in (3, 1, 2)
    )
    store.add([stored_answer(answer(agent_id="question-shaper"), shaper, request())])
    found = collapse_by_group(store.runs())
    digest = request_digest(request())
    assert (
        found[Group("theory-architect", digest, "agent_answer_v1")].status == "diverse"
    )
    assert (
        found[Group("question-shaper", digest, "agent_answer_v1")].status
        == "insufficient_runs"
    )


def test_a_reader_that_stops_leaves_the_store_usable(store: AnswerStore) -> None:
    """Streams that are not read to their end hold nobody up."""
    store.add(kept("a", f"{at:04}", 1) for at in range(3000))
    assert next(store.runs()).group.request == "0000"
    store.add([kept("b", "r", 1)])
    assert sum(1 for _ in store.runs()) == 3001


# -- ledgers of before


def back_to_0001(engine: Engine) -> None:
    """The tables of the first version, with what they would have held."""
    config = Config()
    config.set_main_option(
        "script_location", str(Path(opening.__file__).parent / "migrations")
    )
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")


def work_in(ledger: SqlLedger, home: Home) -> None:
    """A plan, a product, a message that cannot be read."""
    message = plan(
        [node("root", "GOAL"), node("a"), node("b")],
        [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON")],
    )
    import_plan(
        ledger,
        check_value(message, "PLAN_GEN").value,  # type: ignore[union-attr]
        Rules(),
        waived_by="test",
    )
    for raw in (b"no JSON", json.dumps({**ACTION, "task_id": "a"}).encode()):
        taken = take_next(ledger, [], holder="test", seconds=60)
        assert isinstance(taken, Taken)
        submit(ledger, home, raw, task_id="a")


def contents(engine: Engine) -> dict[str, list[Any]]:
    """Every row of every table."""
    with engine.connect().execution_options(reading=True) as connection:
        return {
            name: sorted(map(repr, connection.execute(text(f"SELECT * FROM {name}"))))
            for name in inspect(connection).get_table_names()
            if name != opening.VERSION_TABLE
        }


def test_a_ledger_of_the_first_version_is_upgraded(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is opened: nothing in it has changed, its rows are sealed, it verifies, it works on, and it keeps answers."""
    ledger = open_ledger(place)
    with monkeypatch.context() as before_seals:
        before_seals.setattr(SqlTransaction, "seal", lambda _: None)
        work_in(ledger, Home(tmp_path))
    before = contents(ledger.engine)
    back_to_0001(ledger.engine)
    assert "research_answers" not in contents(ledger.engine)
    assert len(before["task_events"]) > 5
    ledger.close()

    ledger = open_ledger(place)
    after = contents(ledger.engine)
    assert set(before.pop("task_events")) < set(after.pop("task_events"))
    assert after.pop("ledger_events") != before.pop("ledger_events") == []
    assert after.pop("counters") != before.pop("counters")  # seals are events, too
    assert len(after.pop("plans")) == len(
        before.pop("plans")
    )  # their chains are longer
    assert after == before
    with ledger.engine.connect().execution_options(reading=True) as connection:
        assert version_of(connection) == SCHEMA
    with ledger.read() as tx:
        planned, own = verify_ledger(tx)
    assert (planned.holds, own.holds) == (True, True)
    assert "are as the upgrade read them" in planned.notices[0]
    answers = AnswersInLedger(ledger.engine)
    answers.add([kept("a", "r", 1)])
    assert [one.answer for one in answers.answers()] == [{"at": 1}]
    submit(ledger, Home(tmp_path), b"no JSON", task_id="b")
    with ledger.read() as tx:
        assert all(found.holds for found in verify_ledger(tx))
    with ledger.engine.begin() as connection:
        connection.execute(
            text("UPDATE task_nodes SET title = 'x' WHERE task_id = 'a'")
        )
    with ledger.read() as tx:
        faults = verify_plan(tx, PLAN).integrity
    assert any(
        one.startswith("task_nodes a: the row is not what event") for one in faults
    )
    ledger.close()


def test_rows_are_taken_over_once(place: str, tmp_path: Path) -> None:
    """Whoever makes a ledger look older than it is, to have changed rows sealed, is seen."""
    ledger = open_ledger(place)
    work_in(ledger, Home(tmp_path))
    with ledger.engine.begin() as connection:
        connection.execute(
            text("UPDATE task_nodes SET title = 'x' WHERE task_id = 'a'")
        )
    back_to_0001(ledger.engine)
    ledger.close()
    ledger = open_ledger(place)
    with ledger.read() as tx:
        faults = verify_plan(tx, PLAN).integrity
    assert any("rows were sealed a second time" in one for one in faults)
    ledger.close()


def test_the_tables_are_those_of_the_migrations(place: str) -> None:
    """What the code says and what the migrations make do not drift apart."""
    ledger = open_ledger(place)
    with ledger.engine.connect().execution_options(reading=True) as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": opening.VERSION_TABLE}
        )
        assert compare_metadata(context, METADATA) == []
    ledger.close()


def test_a_full_disk_is_said_in_our_words(tmp_path: Path) -> None:
    """And nothing is kept."""
    ledger = open_ledger(tmp_path / "ledger.db")
    ledger.engine.dispose()
    event.listen(
        ledger.engine, "connect", lambda one, _: one.execute("PRAGMA max_page_count=60")
    )
    answers = AnswersInLedger(ledger.engine)
    with pytest.raises(LedgerUnavailable, match="the disk is full; make room"):
        answers.add(kept("a", f"{at}", 1) for at in range(5000))
    assert list(answers.runs()) == []
    ledger.close()

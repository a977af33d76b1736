"""What happened, and whether it holds: events, verification, health."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from accordance.domain.paging import InvalidCursor
from accordance.errors import NotFound
from accordance.service.events import EventReader, list_events
from accordance.service.health import look_around
from accordance.service.listing import ListQuery
from accordance.service.project import Project
from accordance.service.task_records import list_tasks
from accordance.service.verification import (
    InvalidAnchor,
    anchored,
    verify,
    write_anchor,
)
from accordance.work.intake import submit
from tests.ledger.project import encoded, product
from tests.messages import PLAN


def test_a_reader_goes_on_where_it_stopped(project: Project) -> None:
    """Nothing is read twice; seals of rows only by whoever wants them."""
    reader = EventReader(project, f"plan:{PLAN[:6]}")
    assert [event.kind for event in reader.news()] == [
        "PLAN_IMPORTED",
        "PLAN_REVIEW_WAIVED",
    ]
    assert list(reader.news()) == []
    submit(project.ledger, project.home, encoded(product("a")), task_id="a")
    news = list(reader.news())
    assert {event.task_id for event in news} == {"a"}
    everything = list(EventReader(project, with_seals=True).news())
    numbers = [event.number for event in everything]
    assert numbers == list(range(1, len(everything) + 1))
    own = [event.kind for event in everything if event.plan_id is None]
    assert own[0] == "PLAN_BEGAN"


def test_events_of_one_task(project: Project) -> None:
    """Others are passed over, and a task that is none is said to be none."""
    assert list(EventReader(project, "task:b").news()) == []
    with pytest.raises(NotFound):
        list(EventReader(project, "task:zzz").news())


def test_pages_of_events(project: Project) -> None:
    """Each goes on behind the one before, from a number on, without a repetition."""
    whole = [event.number for event in EventReader(project).news()]
    page = list_events(project, ListQuery(limit=1))
    seen = [event.number for event in page.items]
    while page.next is not None:
        page = list_events(project, ListQuery(limit=1, cursor=page.next))
        seen += [event.number for event in page.items]
    assert seen == whole
    behind_first = list_events(project, after=whole[0])
    assert [event.number for event in behind_first.items] == whole[1:]
    (imported,) = list_events(project, ListQuery(filter="kind:plan_imported")).items
    assert imported.kind == "PLAN_IMPORTED"
    assert list_events(project, ListQuery(filter="kind:rows_written")).items


def test_pages_of_tasks(project: Project) -> None:
    """In the plan's order, by a filter, with what a list shows of each."""
    page = list_tasks(project, ListQuery(filter=f"plan:{PLAN[:4]} kind:action"))
    assert [task.task_id for task in page.items] == ["a", "b"]
    assert (page.next, page.items[0].lease, page.items[0].last_error) == (None,) * 3
    first = list_tasks(project, ListQuery(limit=2))
    rest = list_tasks(project, ListQuery(limit=2, cursor=first.next))
    assert len({task.task_id for task in (*first.items, *rest.items)}) == 3


@pytest.mark.parametrize("cursor", ["", "x", "!", "WzFd", "\ud800", "W" * 9000])
def test_a_cursor_nobody_gave(project: Project, cursor: str) -> None:
    """Is refused, whatever it is."""
    with pytest.raises(InvalidCursor):
        list_tasks(project, ListQuery(cursor=cursor))


def test_a_cursor_of_another_filter(project: Project) -> None:
    """Would skip items in silence, and is refused."""
    first = list_tasks(project, ListQuery(limit=1))
    with pytest.raises(InvalidCursor, match="belongs to another list or filter"):
        list_tasks(project, ListQuery(filter="state:ready", cursor=first.next))


def test_a_ledger_that_holds(project: Project) -> None:
    """All of it, and one plan by the beginning of its name."""
    assert verify(project).holds
    (findings,) = verify(project, PLAN[:5]).findings
    assert (findings.plan_id, findings.integrity) == (PLAN, ())


def test_a_row_that_somebody_changed(project: Project) -> None:
    """Is found, and named."""
    with sqlite3.connect(project.place) as connection:
        connection.execute(
            "UPDATE task_nodes SET title = 'Another' WHERE task_id = 'a'"
        )
    view = verify(project)
    assert not view.holds
    assert any(
        "a" in fault for findings in view.findings for fault in findings.integrity
    )


def test_an_anchor(project: Project) -> None:
    """What was written down earlier still begins the chain; what is no anchor is told so."""
    written = write_anchor(project)
    submit(project.ledger, project.home, encoded(product("a")), task_id="a")
    view = verify(project, against=anchored(written.text.encode()))
    assert (view.holds, view.anchored_plans) == (True, 1)
    with pytest.raises(InvalidAnchor):
        anchored(b"{}")


def test_health(project: Project) -> None:
    """The machine, and the ledger with what waits."""
    found = {finding.name: finding.found for finding in look_around(project.home.root)}
    assert found["ledger"].startswith("1 plan in ")
    assert found["inbox"] == "0 questions for a person"


@pytest.mark.parametrize(
    ("content", "is_broken"), [(None, False), (b"no database at all, only text", True)]
)
def test_health_of_a_ledger(
    tmp_path: Path, content: bytes | None, is_broken: bool
) -> None:
    """None yet is no fault; one that cannot be read is."""
    if content is not None:
        (tmp_path / ".accordance").mkdir()
        (tmp_path / ".accordance/ledger.db").write_bytes(content)
    (ledger,) = [
        finding for finding in look_around(tmp_path) if finding.name == "ledger"
    ]
    assert ledger.is_broken is is_broken

"""What happened, and whether it holds: events, verification, health."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from accordance.service.events import EventReader
from accordance.service.health import look_around
from accordance.service.project import Project
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
    reader = EventReader(project, PLAN)
    assert [event.kind for event in reader.news()] == [
        "PLAN_IMPORTED",
        "PLAN_REVIEW_WAIVED",
    ]
    assert list(reader.news()) == []
    submit(project.ledger, project.home, encoded(product("a")), task_id="a")
    news = list(reader.news())
    assert {event.task_id for event in news} == {"a"}
    everything = list(EventReader(project, PLAN, with_seals=True).news())
    assert [event.seq for event in everything] == list(range(1, len(everything) + 1))


def test_events_of_one_task(project: Project) -> None:
    """Others are passed over."""
    assert list(EventReader(project, PLAN, "b").news()) == []


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
    assert found["ledger"].startswith("1 plans in ")
    assert found["inbox"] == "0 questions wait for a person"


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

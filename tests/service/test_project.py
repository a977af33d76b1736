"""How a project is opened, and how its plans and tasks are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accordance.errors import (
    AllArchived,
    AmbiguousName,
    LedgerMissing,
    NoPlan,
    NotFound,
)
from accordance.service import plan_life
from accordance.service.project import (
    Project,
    asking_as,
    ledger_place,
    open_project,
    plan_id_of,
    task_id_of,
)
from tests.messages import PLAN, changed, edge, node, plan
from tests.service.conftest import brings


def test_a_project_without_a_ledger(tmp_path: Path) -> None:
    """Is not made by looking at it."""
    with pytest.raises(LedgerMissing), open_project(tmp_path):
        pass


@pytest.mark.parametrize(
    ("ledger", "settings", "place"),
    [
        pytest.param(None, "", ".accordance/ledger.db", id="its own"),
        pytest.param("other.db", "", "other.db", id="the one that is named"),
        pytest.param(None, 'ledger = "kept.db"\n', "kept.db", id="as the settings say"),
        pytest.param(
            "other.db",
            'ledger = "kept.db"\n',
            "other.db",
            id="a name counts more than settings",
        ),
    ],
)
def test_where_the_ledger_lies(
    tmp_path: Path, ledger: str | None, settings: str, place: str
) -> None:
    """A file is looked for in the project."""
    (tmp_path / ".accordance").mkdir()
    (tmp_path / "accordance.toml").write_text(settings)
    with open_project(tmp_path, ledger, create=True) as project:
        assert project.place == tmp_path / place


def test_the_address_of_a_database_is_taken_as_it_is(empty: Project) -> None:
    """It is no path in the project."""
    address = "postgresql://localhost/plans"
    assert ledger_place(empty.home, address) == address


@pytest.mark.parametrize(
    ("name", "known_as"), [("anna", "anna"), (None, "root-user"), ("", "root-user")]
)
def test_who_asks(
    monkeypatch: pytest.MonkeyPatch, name: str | None, known_as: str
) -> None:
    """The name that is given, else the user's."""
    monkeypatch.setattr("getpass.getuser", lambda: "root-user")
    assert asking_as(name) == known_as


@pytest.mark.parametrize("name", [None, PLAN, PLAN[:5]])
def test_a_plan_is_found(project: Project, name: str | None) -> None:
    """By its id, by the beginning of it, or as the newest."""
    assert plan_id_of(project, name) == PLAN


def test_no_plan_yet(empty: Project) -> None:
    """Somebody who names none is told that there is none; what to do about it is for the face to say."""
    with pytest.raises(NoPlan, match=r"^there is no plan yet$"):
        plan_id_of(empty, None)


def test_every_plan_is_archived(project: Project) -> None:
    """Then it is not true that there is none; who names none hears where they are."""
    plan_life.cancel_plan(project, PLAN, by="ann")
    plan_life.archive_plan(project, PLAN, by="ann")
    with pytest.raises(AllArchived, match=r"^every plan is archived$"):
        plan_id_of(project, None)
    assert plan_id_of(project, PLAN) == PLAN


def test_a_beginning_that_fits_two_plans(project: Project) -> None:
    """Is no name."""
    other = plan([node("goal", "GOAL"), node("c")], [edge("goal", "c")])
    text = json.dumps(changed(other, "plan.root_task_id", "goal"))
    brings(project, json.loads(text.replace(PLAN, f"{PLAN}-2")))
    assert plan_id_of(project, PLAN) == PLAN
    with pytest.raises(AmbiguousName, match=f"fits 2 plans; .*{PLAN}-2"):
        plan_id_of(project, PLAN[:5])


def test_a_task_is_found(project: Project) -> None:
    """By its id, its title, or the beginning of them."""
    assert task_id_of(project, "root") == "root"
    with pytest.raises(NotFound, match="no task 'nobody'"):
        task_id_of(project, "nobody")

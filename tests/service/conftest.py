"""A project with a plan that may begin, as every face would open it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance import Accepted
from accordance.domain.records import Rules
from accordance.project.home import Home
from accordance.service import plan_intake
from accordance.service.project import Project, open_project
from accordance.service.views.plans import ImportedPlanView
from tests.messages import Message, small_plan
from tests.prepared import PreparedSqlite


@pytest.fixture
def empty(tmp_path: Path, prepared_sqlite: PreparedSqlite) -> Iterator[Project]:
    """A project without a plan."""
    prepared_sqlite.copy_to(Home(tmp_path).ledger)
    with open_project(tmp_path, create=True) as project:
        yield project


@pytest.fixture
def project(empty: Project) -> Project:
    """A project with two actions in a row, a and b."""
    brings(empty, small_plan())
    return empty


def brings(
    project: Project,
    message: Message,
    waived_by: str | None = "test",
    rules: Rules | None = None,
) -> ImportedPlanView:
    """Import a plan, as a face does it: its bytes are checked, then kept."""
    raw = json.dumps(message).encode()
    accepted = plan_intake.check_plan(raw, project.home)
    assert isinstance(accepted, Accepted), accepted
    rules = rules or plan_intake.rules_for(project.home, {})
    return plan_intake.import_plan(project, raw, accepted, rules, waived_by=waived_by)

"""What all views have in common."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from pydantic import ValidationError

from accordance.errors import LedgerDamaged
from accordance.service import plans
from accordance.service.project import Project
from accordance.service.views.health import HealthView


def test_a_view_is_a_value() -> None:
    """Equal by what it says, and never changed."""
    view = HealthView(name="git", ok=True, found="2.47")
    assert view == HealthView(name="git", ok=True, found="2.47")
    with pytest.raises(ValidationError, match="frozen"):
        view.ok = False  # type: ignore[misc]


def test_what_was_not_set_is_not_shown() -> None:
    """A field with a default is absent, not null, where nobody set it."""
    assert HealthView(name="git", ok=True, found="2.47").to_json() == {
        "name": "git",
        "ok": True,
        "found": "2.47",
    }
    assert (
        HealthView(name="git", ok=True, found="2.47", needed=True).to_json()["needed"]
        is True
    )


@pytest.mark.parametrize(("column", "value"), [("title", b"\xff"), ("nodes", "many")])
def test_a_row_that_accordance_did_not_write(
    project: Project, column: str, value: object
) -> None:
    """Cannot be shown: the ledger is damaged, and the fault names the field."""
    with sqlite3.connect(project.place) as connection:
        connection.execute(f"UPDATE plans SET {column} = ?", (value,))
    with pytest.raises(LedgerDamaged, match=f"{column} cannot be shown"):
        plans.list_plans(project)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["check", "examples/messages/submit-done.json"],
        ["judge", "--help"],
        ["plan", "--help"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_without_a_ledger_load_no_service(arguments: list[str]) -> None:
    """Whoever only checks and judges pays for no views, no SQLAlchemy and no engine."""
    probe = (
        f"import sys; from accordance.cli.main import run; run({arguments!r}); "
        "print([name for name in ('accordance.service', 'sqlalchemy', 'accordance.runtime') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"

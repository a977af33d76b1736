"""A task that was just taken up, and an agent's hand-in, for tests of the workshop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from accordance.changes.attempt import Commission
from accordance.changes.workshop import Workshop, workshop_of
from accordance.domain.executor_specs import spec_of
from accordance.domain.routing import Choice
from accordance.project.home import Home
from accordance.store.opening import open_ledger
from accordance.work.coding_tasks import coding_task
from accordance.work.taking import take_up
from tests.acceptance.coding import (
    FIRST,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)
from tests.hostile.stage import FOLDER, TEST, git
from tests.messages import edge, node
from tests.unit.cases import a_submit


def a_choice(model: str | None = None) -> Choice:
    """The executor of a route."""
    spec = spec_of("agent", {"kind": "command", "command": "true"})
    return Choice(
        executor="agent",
        spec=spec,
        model=model,
        tier=None,
        tiers={},
        contract="xiaobo_action_v1",
        prompt="coder.v1",
    )


def begun(
    tmp_path: Path, *, is_checked: bool = False, **task: Any
) -> tuple[Workshop, Commission]:
    """A task that was just taken up; a CHECK reviews it, where asked for."""
    change = coding_node(task=a_task(**task))
    check = node("check", "CHECK"), edge(FIRST, "check", "DEPENDS_ON")
    plan = (
        coding_plan(change, check[0], edges=check[1:])
        if is_checked
        else coding_plan(change)
    )
    project = CodingProject(tmp_path / "project", plan=plan)
    project.build()
    assert project.imports().code == 0
    home = Home(project.home)
    shop, ledger = workshop_of(home), open_ledger(home.ledger)
    with ledger.write() as tx:
        begun_task = take_up(tx, tx.task(FIRST), "test", 900).task
        asked = coding_task(tx, begun_task)
        assert asked is not None
        job = shop.commission(tx, begun_task, asked)
    ledger.close()
    return shop, job


def hand_in(work: Path, *tests: str) -> bytes:
    """The evidence of what is there, and the submission."""
    folder = work / FOLDER
    (folder / "evidence").mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text("Done.\n")
    (folder / "selftest.log").write_text(
        "".join(f"$ {command}\nEXIT_CODE=0\n" for command in tests or (TEST,))
    )
    (folder / "patch.diff").write_text(
        git(work, "diff", "--binary", "HEAD", "--", "src")
    )
    submission = a_submit(
        new_files=[],
        tests={"commands": [*(tests or (TEST,))], "passed": True, "summary": ""},
    )
    (folder / "submit.json").write_text(json.dumps(submission))
    return json.dumps(submission).encode()

"""Reading ahead changes nothing but the time that it takes."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.lifecycle import Event
from accordance.domain.records import (
    ArtifactRecord,
    MessageRecord,
    RequirementRecord,
)
from accordance.store.ledger import Transaction
from tests.ledger.project import Project, failing
from tests.messages import PLAN, edge, node, plan, requirement

STRANGE = 'b "quoted" \\ 漢字 😀'
NAMES = ("a", STRANGE, "c", "d", "e", "f")
NODES = [
    node("root", "GOAL"),
    node("part", "GOAL"),
    *(node(name, priority=number) for number, name in enumerate(NAMES)),
]
EDGES = [
    edge("root", "part"),
    *(edge("part", name) for name in NAMES),
    edge("root", "a"),
    edge("a", "e", "DEPENDS_ON"),
    edge("a", "f", "DEPENDS_ON"),
]
NEED = requirement("f", kind="SKILL_OUTPUT", name="report", source="AGENT")
TASKS = ["a", STRANGE, "c"]


def asked(tx: Transaction, task: str) -> dict[str, Any]:
    """What settling an attempt at a task asks for."""
    found = tx.node(task)
    return {
        "task": tx.task(task),
        "parents": found.parents,
        "dependents": found.dependents,
        "messages": tx.find(MessageRecord, subject=task),
        "accepted": tx.find(MessageRecord, subject=task, accepted=True),
        "products": tx.find(ArtifactRecord, task_id=task),
        "beginnings": tx.entries_of(task, Event.CLAIMED),
        "asks for it": tx.find(
            RequirementRecord, plan_id=PLAN, kind="SKILL_OUTPUT", key="report"
        ),
        "next": [
            [each.task_id for each in tx.turns(PLAN, most=most)] for most in (1, 4, 9)
        ],
    }


@pytest.mark.parametrize("requirements", [[], [NEED]], ids=["alone", "asked for"])
def test_the_answers_are_the_same(
    project: Project, requirements: list[dict[str, Any]]
) -> None:
    """Of tasks that are done, that failed, and that nobody has begun."""
    project.runs({**plan(NODES, EDGES), "requirements": requirements})
    project.finish("a")
    project.submit(STRANGE, failing(STRANGE))
    with project.ledger.read() as tx:
        expected = [asked(tx, task) for task in TASKS]
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.read_ahead(PLAN, TASKS, ended=["a"])
        assert [asked(tx, task) for task in TASKS] == expected
        assert tx.task("part") == project.task("part")


def test_what_is_added_meanwhile_is_found(project: Project) -> None:
    """Written or not."""
    project.runs(plan(NODES, EDGES))
    project.finish("a")
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.read_ahead(PLAN, TASKS, ended=[])
        [product] = tx.products("a")
        tx.save_task("c", last_error="wrong")
        tx.happen("c", Event.CLAIMED)
        assert [task.task_id for task in tx.turns(PLAN, most=1)] == ["f"]
        assert len(tx.entries_of("c", Event.CLAIMED)) == 1

        tx.count(ArtifactRecord)  # writes what was changed
        assert tx.find(ArtifactRecord, task_id="a") == [product]
        assert "c" not in [task.task_id for task in tx.turns(PLAN, most=9)]

"""Deleting a plan: its rows go, a tombstone stays, and the rest still verifies."""

from __future__ import annotations

import json

import pytest

from accordance.audit.anchoring import anchor_of, missing_plans
from accordance.audit.verifying import verify_ledger
from accordance.errors import NotFound, UnfitPlanState
from accordance.work import plan_life
from accordance.work.plan_deleting import delete, prepare
from tests.ledger.project import Project
from tests.messages import PLAN, Message, edge, node, plan, small_plan

OTHER = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00002"


def other_plan() -> Message:
    """A second plan, whose product has the same words as the first one's."""
    message = plan([node("goal", "GOAL"), node("x")], [edge("goal", "x")], "goal")
    changed: Message = json.loads(json.dumps(message).replace(PLAN, OTHER))
    return changed


def finished(project: Project) -> Project:
    """A finished plan beside another one, their events mixed."""
    project.imports(other_plan(), waived_by="test")
    project.runs(small_plan())
    project.finish("a", "x", "b")
    return project


@pytest.mark.parametrize("removes", [False, True], ids=["evidence kept", "removed"])
def test_a_deleted_plan(project: Project, removes: bool) -> None:
    """Nothing of it is left but the tombstone; the other plan is whole."""
    finished(project)
    products = project.home.artifacts("a")
    head = project.plan().head
    assert products.is_dir()
    done = delete(
        project.ledger, project.home, PLAN, by="ann", removes_evidence=removes
    )
    assert products.is_dir() is not removes
    assert bool(done.blobs) is removes
    with project.ledger.read() as tx:
        assert [one.plan_id for one in tx.plans()] == [OTHER]
        (entry,) = [one for one in tx.ledger_entries() if one.kind == "PLAN_DELETED"]
        assert tx.blob(tx.task("x").product or "") == b"text"
        with pytest.raises(NotFound):
            tx.task("a")
    assert (entry.payload["by"], entry.payload["head"]) == ("ann", head.hash)
    assert project.holds()


def test_the_plan_may_come_back(project: Project) -> None:
    """Under the same id, with a chain of its own."""
    finished(project)
    delete(project.ledger, project.home, PLAN, by="ann", removes_evidence=True)
    project.runs(small_plan()).finish("a")
    assert project.plan().head.seq < 20


def test_an_anchor_from_before(on_sqlite: Project) -> None:
    """Knows a plan that was deleted since; a tombstone explains it."""
    finished(on_sqlite)
    with on_sqlite.ledger.read() as tx:
        anchor = anchor_of(tx)
    delete(on_sqlite.ledger, on_sqlite.home, PLAN, by="ann")
    with on_sqlite.ledger.read() as tx:
        assert missing_plans(anchor, verify_ledger(tx)) == []


def test_old_evidence_is_removed_as_the_settings_say(on_sqlite: Project) -> None:
    """And new evidence is kept."""
    finished(on_sqlite)

    def removes() -> bool:
        with on_sqlite.ledger.read() as tx:
            return prepare(
                tx, on_sqlite.home, PLAN, removes_evidence=None, evidence_days=30
            ).removes_evidence

    assert not removes()
    on_sqlite.clock.pass_by(31 * 24 * 60 * 60)
    assert removes()


def test_an_archived_plan_is_deleted(project: Project) -> None:
    """It is over as well."""
    finished(project)
    plan_life.archive(project.ledger, PLAN, by="ann")
    assert delete(project.ledger, project.home, PLAN, by="ann").state == "ARCHIVED"


def test_a_running_plan_is_not_deleted(on_sqlite: Project) -> None:
    """It is cancelled first."""
    on_sqlite.runs(small_plan())
    with pytest.raises(UnfitPlanState, match=r"is ACTIVE, .* is deleted; cancel it"):
        delete(on_sqlite.ledger, on_sqlite.home, PLAN, by="ann")
    assert on_sqlite.holds()

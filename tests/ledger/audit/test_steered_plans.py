"""`verify` moves plans as a whole again, and sees a state or an amendment that does not follow.

Each lie is written through the ledger itself, so that chain and seals hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from accordance import Accepted, check_value
from accordance.audit.verifying import verify_ledger
from accordance.domain.plan_lifecycle import PlanEvent, PlanState
from accordance.store.ledger import Transaction
from accordance.store.seals import PLAN_DELETED
from accordance.work import plan_life
from accordance.work.amending import amend_plan
from accordance.work.amendment_checks import AmendmentRequest
from tests.ledger.project import Project
from tests.messages import PLAN, small_plan


def unexplained_state(tx: Transaction) -> None:
    tx.save_plan(PLAN, state=PlanState.HELD)


def unexplained_archive(tx: Transaction) -> None:
    tx.save_plan(PLAN, archived_at=tx.now)


def impossible_event(tx: Transaction) -> None:
    tx.record(PLAN, PlanEvent.ANSWERED, None, {"by": "ann"})


def false_difference(tx: Transaction) -> None:
    (entry,) = [one for one in tx.entries(PLAN) if one.kind == PlanEvent.AMENDED]
    lie = {**entry.payload, "revision": 3, "difference": {"added": ["c"]}}
    tx.save_plan(PLAN, revision=3)
    tx.record(PLAN, PlanEvent.AMENDED, None, lie)


def false_consequence(tx: Transaction) -> None:
    (entry,) = [one for one in tx.entries(PLAN) if one.kind == PlanEvent.AMENDED]
    lie = {**entry.payload, "revision": 3, "difference": {}, "missing_inputs": {"a": 1}}
    tx.save_plan(PLAN, revision=3)
    tx.record(PLAN, PlanEvent.AMENDED, None, lie)


@pytest.mark.parametrize(
    ("lie", "finding"),
    [
        pytest.param(unexplained_state, "is HELD, its events lead to ACTIVE", id="a state without an event"),
        pytest.param(unexplained_archive, "(or other times)", id="an archive without an event"),
        pytest.param(impossible_event, "PLAN_ANSWERED could not happen to a plan that is ACTIVE", id="an event that the table does not have"),
        pytest.param(false_difference, "the plan was not amended as it says", id="an amendment that says something else"),
        pytest.param(false_consequence, "DISABLED of task a is missing", id="an amendment without what follows from it"),
    ],
)  # fmt: skip
def test_lies_show(
    on_sqlite: Project, lie: Callable[[Transaction], None], finding: str
) -> None:
    """Before the lie everything holds."""
    on_sqlite.runs(small_plan())
    message = small_plan()
    message["nodes"][2]["goal_statement"] = "something else"
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted)
    request = AmendmentRequest(plan=result.value, base=1, fuses={})
    amend_plan(on_sqlite.ledger, PLAN, request, by="ann")
    assert on_sqlite.holds()
    with on_sqlite.ledger.write() as tx:
        lie(tx)
    findings = on_sqlite.verify()
    faults = [*findings.integrity, *findings.completeness]
    assert any(finding in fault for fault in faults), faults


def test_a_tombstone_that_cannot_be_read_shows(on_sqlite: Project) -> None:
    """Nothing is taken from it."""
    on_sqlite.runs(small_plan())
    plan_life.cancel(on_sqlite.ledger, PLAN, by="ann")
    with on_sqlite.ledger.write() as tx:
        tx.record_in_ledger([(PLAN_DELETED, {"plan_id": "x", "numbers": [[1, 9]]})])
    with on_sqlite.ledger.read() as tx:
        own = verify_ledger(tx)[-1]
    assert any("tombstone of a plan cannot be read" in fault for fault in own.integrity)

"""Attempts that run at once never overspend the budget of their plan."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace

import pytest

from accordance.audit.verifying import verify_plan
from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.fuses import Fuses
from accordance.domain.records import Rules
from accordance.domain.routing import Choice
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.executors.protocol import RunOutcome
from accordance.runtime.ports import TaskAttempt
from accordance.store.ledger import RESERVED, UNRESERVED
from accordance.work.taking import NoTaskReason
from tests.messages import PLAN
from tests.runtime.stage import Stage, lanes, said

MODEL = Choice(
    executor="m",
    spec=LlmSpec(kind="llm", model="small", provider="local"),
    model="small",
    tier=None,
    tiers={},
    contract="",
    prompt="",
)
TWO_AT_ONCE = Rules(fuses=Fuses(tokens_per_task=50, tokens_per_run=120))


class Meter:
    """An executor that uses tokens, and sees how many run at once."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.most = 0
        self._running = 0
        self._lock = threading.Lock()

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """Use the tokens; the others have time to begin beside it."""
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        stop.wait(0.2)
        with self._lock:
            self._running -= 1
        return replace(said(attempt), spending=Spending(read=self.tokens, calls=1))


def test_a_task_waits_for_what_others_have_reserved(on: Stage) -> None:
    """Two of four begin, each with all it may use; the others wait and say so."""
    meter = Meter(tokens=5)
    on.brings(lanes(4), TWO_AT_ONCE)
    assert on.runner(meter.run, choice=MODEL).until_it_rests() is NoTaskReason.FINISHED

    assert meter.most == 2
    waiting = [text for text in on.told if "tokens_per_run" in text]
    assert len(waiting) == 1
    assert "tasks wait for others to end" in waiting[0]
    assert on.holds()


def test_a_budget_is_not_overspent_by_what_begins_at_once(on: Stage) -> None:
    """Action and review use all a task may: four of them would use 200 of 120."""
    meter = Meter(tokens=25)
    on.brings(lanes(4), TWO_AT_ONCE)
    assert on.runner(meter.run, choice=MODEL).until_it_rests() is NoTaskReason.HELD

    with on.ledger.read() as tx:
        assert 120 <= tx.plan(PLAN).tokens < 120 + 25  # a call that began is paid for
        assert tx.reserved(PLAN) == Budget(tokens=0, cost=0.0)
    assert on.holds()


def test_the_run_gets_what_was_reserved(on: Stage) -> None:
    """While it runs, its lease says so; the events tell when it was freed."""
    seen: list[Budget | None] = []

    def run(attempt: TaskAttempt, _: threading.Event) -> RunOutcome:
        lease = on.task(attempt.task_id).lease
        seen.append(lease.reserved if lease else None)
        if attempt.kind == "review" and len(seen) == 2:
            return RunOutcome(fault=Fault.CRASHED, text="no reviewer")
        return said(attempt)

    on.brings(lanes(1), TWO_AT_ONCE)
    assert on.runner(run, choice=MODEL).until_it_rests() is NoTaskReason.FINISHED
    assert seen == [Budget(tokens=50)] * 3  # an action, a review that failed, a review

    with on.ledger.read() as tx:
        kinds = [entry.kind for entry in tx.entries(PLAN)]
    assert kinds.count(RESERVED) == 3
    assert kinds.count(UNRESERVED) == 1  # of the review that left its product in place
    assert on.holds()


@pytest.mark.parametrize(
    ("tampering", "finding"),
    [
        pytest.param(
            "UPDATE task_nodes SET lease_tokens = 1 WHERE task_id = 'n0000'",
            "task n0000: its events lead to another reservation",
            id="another amount",
        ),
        pytest.param(
            "UPDATE task_nodes SET lease_tokens = NULL WHERE task_id = 'n0000'",
            "task n0000: its events lead to another reservation",
            id="none at all",
        ),
        pytest.param(
            "UPDATE task_events SET payload = replace(payload, '50', '70')"
            " WHERE kind = 'RESERVED'",
            "task n0000 reserved 70 tokens",
            id="an event that says more than follows",
        ),
    ],
)
def test_verify_recomputes_reservations(
    on: Stage, tampering: str, finding: str
) -> None:
    """From the fuses and the runs before; what was changed below the ledger shows."""
    seen: list[list[str]] = []

    def run(attempt: TaskAttempt, _: threading.Event) -> RunOutcome:
        with on.ledger.read() as tx:
            assert verify_plan(tx, PLAN).holds
        database = sqlite3.connect(on.place.removeprefix("sqlite:///"))
        database.execute("BEGIN IMMEDIATE")
        database.execute(tampering)
        database.commit()
        database.close()
        with on.ledger.read() as tx:
            seen.append(verify_plan(tx, PLAN).integrity)
        return said(attempt)

    on.brings(lanes(1), TWO_AT_ONCE)
    on.runner(run, choice=MODEL).until_it_rests()
    assert any(finding in line for line in seen[0])

"""A person steers a plan while the engine carries it out."""

from __future__ import annotations

import json
import threading

from accordance import Accepted, check_value
from accordance.domain.faults import Fault
from accordance.executors.protocol import RunOutcome
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.runner import is_wanted
from accordance.work import plan_life
from accordance.work.amending import amend_plan
from accordance.work.amendment_checks import AmendmentRequest
from accordance.work.taking import NoTaskReason
from tests.limits import LIMIT
from tests.messages import PLAN, small_plan
from tests.runtime.stage import Stage, said


def test_a_pause_lets_running_attempts_end(on: Stage) -> None:
    """They are not stopped, and what they hand in counts; nothing follows until later."""
    begun: list[str] = []

    def run(attempt: TaskAttempt, _: threading.Event) -> RunOutcome:
        begun.append(attempt.task_id)
        if begun == ["a"]:
            plan_life.pause(on.ledger, PLAN, by="test")
            with on.ledger.read() as tx:
                assert is_wanted(tx, attempt)
        return said(attempt)

    on.brings(small_plan())
    assert on.runner(run).until_it_rests() is NoTaskReason.PAUSED
    assert (begun, on.states()["a"]) == (["a"], "READY_TO_CHECK")
    plan_life.resume(on.ledger, PLAN, by="test")
    assert on.runner(run).until_it_rests() is NoTaskReason.FINISHED
    assert on.holds()


def test_a_cancelled_plan_stops_its_attempts(on: Stage) -> None:
    """Soon, and the run ends."""

    def run(attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        plan_life.cancel(on.ledger, attempt.plan_id, by="test")
        assert stop.wait(LIMIT)
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")

    on.brings(small_plan())
    assert on.runner(run).until_it_rests() is NoTaskReason.CANCELLED
    assert set(on.states().values()) == {"ABANDONED"}
    assert on.holds()


def test_an_attempt_at_an_amended_task_is_stopped_and_begins_anew(on: Stage) -> None:
    """It counts as no failure, and the next attempt gets the new text."""
    message = small_plan()
    message["nodes"][1]["goal_statement"] = "something else"
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted)
    request = AmendmentRequest(plan=result.value, base=1, fuses={})
    stopped: list[str] = []

    def run(attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        is_first = attempt.task_id == "a" and attempt.number == 1
        if is_first and attempt.kind == "action":
            amend_plan(on.ledger, PLAN, request, by="test")
            assert stop.wait(LIMIT)
            stopped.append(attempt.task_id)
            return RunOutcome(fault=Fault.STOPPED, text="it was stopped")
        return said(attempt)

    on.brings(small_plan())
    assert on.runner(run).until_it_rests() is NoTaskReason.FINISHED
    with on.ledger.read() as tx:
        counters = tx.task("a").progress.standing.counters
    assert (stopped, counters.attempts, counters.failures) == (["a"], 2, 0)
    assert on.holds()

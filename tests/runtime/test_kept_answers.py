"""What a model has answered is kept for a run that was cut off, and for no other."""

from __future__ import annotations

from dataclasses import replace

from accordance.domain.faults import Fault
from accordance.executors.protocol import RunOutcome
from accordance.work.run_log import IS_COUNTED, KeptAnswers, RunKey, keep_report
from tests.messages import PLAN, edge, node, plan
from tests.runtime.stage import Stage

ONE = plan([node("root", "GOAL"), node("a")], [edge("root", "a")])
RUN = RunKey(plan_id=PLAN, task_id="a", kind="review", attempt=1)


def test_answers_count_until_the_run_has_ended(on: Stage) -> None:
    """A run that has told how it ended got all of its answers; who asks the same again wants a new one."""
    answers = KeptAnswers(on.brings(ONE).ledger, RUN)
    assert answers.recall("q") is None
    answers.keep("q", {"text": "héllo"})
    answers.keep("other", {"text": "no"})
    assert answers.recall("q") == {"text": "héllo"}
    assert (
        KeptAnswers(
            on.ledger, RunKey(plan_id=PLAN, task_id="a", kind="review", attempt=2)
        ).recall("q")
        is None
    )
    with on.ledger.write() as tx:
        keep_report(tx, RUN, RunOutcome(raw=b"{}").to_json())
    assert answers.recall("q") is None
    assert on.holds()


def test_work_outlives_an_attempt_whose_remote_was_away(on: Stage) -> None:
    """The next attempt has it, marked as counted; any other end of a run throws it away."""
    answers = KeptAnswers(on.brings(ONE).ledger, RUN)
    answers.keep("work", {"patch": "p"})
    away = RunOutcome(fault=Fault.REMOTE_AWAY, text="away").to_json()
    with on.ledger.write() as tx:
        keep_report(tx, RUN, away)
    second, third = replace(RUN, attempt=2), replace(RUN, attempt=3)
    carried = {"patch": "p", IS_COUNTED: True}
    assert KeptAnswers(on.ledger, second).recall("work") == carried
    with on.ledger.write() as tx:
        keep_report(tx, second, away)  # still away
    assert KeptAnswers(on.ledger, third).recall("work") == carried
    with on.ledger.write() as tx:
        keep_report(tx, third, RunOutcome(raw=b"{}").to_json())
    fourth = replace(RUN, attempt=4)
    assert KeptAnswers(on.ledger, fourth).recall("work") is None
    assert on.holds()

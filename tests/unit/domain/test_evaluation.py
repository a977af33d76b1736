"""Trials and their numbers: rates, pass@k, false claims, medians; and what agents see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.evaluation import (
    EvalReport,
    EvalTask,
    Trial,
    is_key_of,
    pass_at_k,
    says_nothing,
    trial_key,
)
from accordance.domain.faults import Fault

TASK = EvalTask(
    id="median",
    goal="Make median() right.\nFor even counts, too.",
    files={"median.py": "..."},
    tests=("python -m unittest",),
    hidden_tests=("python -m unittest", "python -m unittest hidden"),
    hidden_files={"hidden.py": "the hidden test"},
    test_patch="the test patch",
    fail_to_pass=("hidden.Case.test_even",),
    pass_to_pass=("hidden.Case.test_odd",),
    patch="the solution",
)


@pytest.mark.parametrize(
    ("trials", "resolved", "k", "chance"),
    [
        (1, 0, 1, 0.0),
        (1, 1, 1, 1.0),
        (4, 1, 1, 0.25),
        (4, 1, 2, 0.5),  # 3 of 6 pairs have it
        (5, 2, 3, 0.9),  # 1 of 10 triples has none
        (3, 1, 3, 1.0),
        (3, 0, 3, 0.0),
    ],
)
def test_pass_at_k(trials: int, resolved: int, k: int, chance: float) -> None:
    """The share of the choices of k trials that hold a resolved one."""
    assert pass_at_k(trials, resolved, k) == pytest.approx(chance)


def trial(task: str, number: int, resolved: bool, claimed: bool = True) -> Trial:
    """A trial that took as many seconds, and cents, as its number says."""
    return Trial(
        task=task,
        number=number,
        resolved=resolved,
        claimed=claimed,
        seconds=float(number),
        cost=number / 100,
    )


REPORT = EvalReport(
    executor="coder",
    tasks=("a", "b"),
    wanted=2,
    trials=(
        trial("b", 2, resolved=False),
        trial("a", 1, resolved=True),
        trial("b", 1, resolved=False, claimed=False),
        trial("a", 2, resolved=False),
    ),
)


def test_a_report() -> None:
    """What its numbers are."""
    assert [each.number for each in REPORT.of_task("b")] == [1, 2]
    assert REPORT.resolved == 1
    assert REPORT.resolved_rate == 0.25
    assert REPORT.pass_at(1) == 0.25
    assert REPORT.pass_at(2) == 0.5
    assert REPORT.false_claims == 2
    assert REPORT.cost == pytest.approx(0.06)
    assert REPORT.median_cost == pytest.approx(0.015)
    assert REPORT.median_seconds == 1.5
    assert REPORT.missing == 0


def test_trials_that_are_missing() -> None:
    """They are counted, and pass@k is not guessed without them."""
    report = replace(REPORT, trials=REPORT.trials[:3])
    assert report.missing == 1
    assert report.pass_at(1) is not None
    assert report.pass_at(2) is None


def test_a_cost_that_is_not_known() -> None:
    """A sum without it would be too low, so there is none."""
    free = replace(REPORT.trials[0], cost=None)
    report = replace(REPORT, trials=(free, *REPORT.trials[1:]))
    assert report.cost is None
    assert report.median_cost is None


def test_no_trials() -> None:
    """Nothing is divided by zero."""
    report = EvalReport(executor="coder", tasks=(), trials=(), wanted=1)
    assert report.resolved_rate == 0.0
    assert report.pass_at(1) is None
    assert report.cost is None
    assert report.median_seconds is None


def test_what_an_agent_is_given() -> None:
    """Nothing that tells the solution or the hidden tests."""
    given = str(TASK.for_agent())
    for secret in ("hidden", "test patch", "solution"):
        assert secret not in given
    assert TASK.for_agent()["allowedTests"] == ["python -m unittest"]
    assert TASK.title == "Make median() right."


def test_what_it_is_judged_by() -> None:
    """All commands, each once, and the tests that must pass."""
    judged = TASK.for_judge()
    assert judged["task_id"] == TASK.for_agent()["task_id"]
    assert judged["allowedTests"] == ["python -m unittest", "python -m unittest hidden"]
    assert judged["fail_to_pass"] == ["hidden.Case.test_even"]
    assert judged["pass_to_pass"] == ["hidden.Case.test_odd"]


def test_the_key_of_trials() -> None:
    """It is another one as soon as the task or the executor is another."""
    key = trial_key(TASK, "coder", {"model": "small"})
    same = trial_key(replace(TASK), "coder", {"model": "small"})
    others = {
        trial_key(replace(TASK, goal="Other."), "coder", {"model": "small"}),
        trial_key(TASK, "writer", {"model": "small"}),
        trial_key(TASK, "coder", {"model": "big"}),
    }
    assert key == same
    assert len({key, *others}) == 4
    assert all(is_key_of(name, "median") for name in (key, *others))


@pytest.mark.parametrize(
    "name", ["median", "median-12", "other-0123456789ab", "median-x-0123456789ab"]
)
def test_what_is_no_key(name: str) -> None:
    """Trials of another task, or something else in the folder."""
    assert not is_key_of(name, "median")


@pytest.mark.parametrize(
    ("fault", "is_counted"),
    [
        (Fault.TIMED_OUT, True),
        (Fault.REFUSED, True),
        (Fault.CRASHED, True),
        (Fault.SILENT, True),
        (Fault.OVER_BUDGET, True),
        (Fault.TOO_LONG, True),
        (Fault.KEY_MISSING, False),
        (Fault.NOT_INSTALLED, False),
        (Fault.STOPPED, False),
        (Fault.UNAVAILABLE, False),
        (Fault.RATE_LIMITED, False),
    ],
)
def test_faults(fault: Fault, is_counted: bool) -> None:
    """Only what the agent has to answer for counts against it."""
    assert says_nothing(fault) is not is_counted

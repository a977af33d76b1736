"""Tests that a change made weaker, and tasks that let them change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    CURRENT_FACTS,
    WITH_FAILING_TESTS_KEPT,
    WITH_TEST_POLICY,
    AttemptFacts,
    ChangeKind,
    ChangeSet,
    CommandRun,
    LoosenedTest,
    OtherVersionRuns,
    PathChange,
)
from accordance.domain.test_assertions import GONE
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.domain.test_runs import tells_the_change
from accordance.domain.weakened_tests import weakened_tests
from tests.unit.cases import COMMAND, FACTS, a_task

FILE = "tests/test_app.py"
P, F, S = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED
ADAPTED = "pass only because they were changed: their old version fails"


def run(outcomes: dict[str, TestOutcome], *, incomplete: str = "") -> CommandRun:
    """A run with a report."""
    results = [TestResult(test, how) for test, how in outcomes.items()]
    report = TestReport("pytest", tuple(results), incomplete=incomplete)
    return CommandRun(COMMAND, 0, report=report)


A, B = f"{FILE}::a", f"{FILE}::b"
OF_UNITTEST = "test_app.Last.test_last"


def facts(
    old: CommandRun | None = None,
    *loosened: LoosenedTest,
    tests: tuple[str, ...] = (A, B),
) -> AttemptFacts:
    """Facts of tests that pass before and after, with a run of their old version."""
    passing = run(dict.fromkeys(tests, P))
    runs = () if old is None else (old,)
    return replace(
        FACTS,
        runs=(passing,),
        base_runs=(passing,),
        old_tests=OtherVersionRuns((FILE,), runs),
        loosened=loosened,
        version=WITH_TEST_POLICY,
    )


def named(given: AttemptFacts, **task: object) -> list[tuple[str, str]]:
    """The tests that got weaker, and how."""
    return [(weak.test, weak.how) for weak in weakened_tests(a_task(**task), given)]


def test_tests_whose_old_version_passes_are_as_strong_as_before() -> None:
    assert named(facts(run({A: P, B: P}))) == []


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(run({A: P, B: F}), id="fails"),
        pytest.param(run({A: P, FILE: TestOutcome.ERROR}), id="cannot be collected"),
    ],
)
def test_a_test_whose_old_version_does_not_pass_was_adapted(old: CommandRun) -> None:
    assert named(facts(old)) == [(B, ADAPTED)]


AGREED = "failed before the change, and pass only because they were changed"


@pytest.mark.parametrize(
    ("old", "version", "expected"),
    [
        pytest.param(run({A: P, B: F}), CURRENT_FACTS, [(B, AGREED)], id="still fails"),
        pytest.param(run({A: P, B: P}), CURRENT_FACTS, [], id="passes as it was"),
        pytest.param(run({A: P}), CURRENT_FACTS, [], id="is not there"),
        pytest.param(run({A: P, B: F}), 8, [], id="facts of an earlier release"),
    ],
)
def test_a_failing_test_that_was_made_to_agree_with_the_fault(
    old: CommandRun, version: int, expected: list[tuple[str, str]]
) -> None:
    given = replace(facts(old), base_runs=(run({A: P, B: F}),), version=version)
    assert named(given) == expected


def test_a_failing_test_of_a_file_that_did_not_change() -> None:
    elsewhere = "tests/test_other.py::c"
    given = replace(
        facts(run({elsewhere: F}), tests=(elsewhere,)),
        base_runs=(run({elsewhere: F}),),
        version=CURRENT_FACTS,
    )
    assert named(given) == []


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(None, id="no run"),
        pytest.param(replace(run({}), report=None), id="no report"),
        pytest.param(run({A: F, B: F}, incomplete="why"), id="an unsound report"),
        pytest.param(run({A: P, B: P, "other.py::c": F}), id="of another file"),
    ],
)
def test_nothing_is_known_from_a_run_that_shows_nothing(old: CommandRun | None) -> None:
    assert named(facts(old)) == []


def test_the_tests_of_unittest_are_found_by_their_module() -> None:
    given = facts(run({OF_UNITTEST: F}), tests=(OF_UNITTEST,))

    assert named(given) == [(OF_UNITTEST, ADAPTED)]
    assert named(given, may_change_tests=[FILE]) == []


def test_tests_that_assert_less_are_named() -> None:
    given = facts(
        run({A: P, B: P}),
        LoosenedTest(FILE, "Last.test_last", "compare less exactly"),
        LoosenedTest(FILE, "", "skipped now, or expected to fail"),
    )

    assert named(given) == [
        (f"{FILE}::Last::test_last", "compare less exactly"),
        (FILE, "skipped now, or expected to fail"),
    ]


def test_a_test_that_is_gone_from_its_file_is_told_once() -> None:
    gone = LoosenedTest(FILE, "a", GONE)
    compared = facts(None, gone)

    assert named(compared) == []
    assert named(replace(compared, base_runs=())) == [(A, GONE)]


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ([FILE], []),
        (["tests/**"], []),
        ([B], []),
        ([A], [(B, ADAPTED)]),
        (["docs/**"], [(B, ADAPTED)]),
    ],
)
def test_a_task_names_the_tests_that_may_change(
    allowed: list[str], expected: list[tuple[str, str]]
) -> None:
    assert named(facts(run({A: P, B: F})), may_change_tests=allowed) == expected


def test_a_task_may_let_tests_go() -> None:
    given = replace(facts(), runs=(run({A: S}),))

    assert [test for test, _ in named(given)] == [B, A]
    assert named(given, may_change_tests=["tests/**"]) == []


@pytest.mark.parametrize(
    ("on_base", "tells"),
    [
        pytest.param((), True, id="not tried"),
        pytest.param((replace(run({}), report=None),), True, id="no report"),
        pytest.param((run({"n": F}),), True, id="it fails without the change"),
        pytest.param((run({}),), True, id="it cannot be collected"),
        pytest.param((run({"n": P}),), False, id="it passes without the change"),
    ],
)
def test_a_new_test_tells_the_change_if_it_fails_without_it(
    on_base: tuple[CommandRun, ...], tells: bool
) -> None:
    given = replace(
        facts(),
        runs=(run({A: P, "n": P}),),
        base_runs=(run({A: P}),),
        new_tests=OtherVersionRuns(("tests/n.py",), on_base),
    )

    assert tells_the_change(given) is tells


def test_given_tests_ran_and_may_still_not_go() -> None:
    """They run as the base has them, and would be gone with the change."""
    deleted = PathChange("tests/a.js", ChangeKind.DELETED)
    moved = PathChange("tests/c.js", ChangeKind.RENAMED, old_path="tests/b.js")
    given = replace(
        facts(None, LoosenedTest(FILE, "a", GONE)),
        changes=ChangeSet((deleted, moved)),
        given_tests=("tests/a.js", "tests/b.js", FILE),
    )

    assert named(given) == [
        ("tests/a.js", "given tests that were removed"),
        ("tests/b.js", "given tests that were removed"),
        (A, GONE),
    ]


def test_earlier_evidence_knows_the_file_of_a_test_by_its_id_alone() -> None:
    given = replace(facts(tests=(OF_UNITTEST,)), runs=(run({A: P}),), version=2)

    assert [weak.file for weak in weakened_tests(a_task(), given)] == [OF_UNITTEST]


X, E = TestOutcome.XFAILED, TestOutcome.ERROR
NOT_LOADED = "unittest.loader._FailedTest.test_app"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({A: F}, {A: P}, "", id="it passes now"),
        pytest.param({A: F}, {A: F}, "", id="it still fails"),
        pytest.param({A: F}, {}, "gone", id="it is gone"),
        pytest.param({A: F}, {A: S}, "skipped now", id="it is skipped"),
        pytest.param({A: F}, {A: X}, "skipped now", id="it is expected to fail"),
        pytest.param({A: E}, {}, "", id="its fixture failed"),
        pytest.param({FILE: E}, {A: P}, "", id="its file could not be read"),
        pytest.param({"app.test.js": F}, {}, "", id="its file, for Node"),
        pytest.param({"example.com/app": E}, {}, "", id="its package, for Go"),
        pytest.param({OF_UNITTEST: E}, {}, "gone", id="it raised, for unittest"),
        pytest.param({"setUpClass (test_app.Last)": E}, {}, "", id="its class, for unittest"),
        pytest.param({NOT_LOADED: E}, {}, "", id="its module, for unittest"),
    ],
)  # fmt: skip
def test_a_test_that_failed_is_mended_and_not_given_up(
    before: dict[str, TestOutcome], after: dict[str, TestOutcome], expected: str
) -> None:
    given = replace(
        FACTS,
        base_runs=(run({**before, B: P}),),
        runs=(run({**after, B: P}),),
        version=CURRENT_FACTS,
    )
    (test,) = before
    how = f"failed before the change and are {expected}"
    assert named(given) == ([(test, how)] if expected else [])
    assert named(given, may_change_tests=[test]) == []
    earlier = replace(given, version=WITH_FAILING_TESTS_KEPT - 1)
    assert named(earlier) == []

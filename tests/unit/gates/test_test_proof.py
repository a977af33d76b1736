"""What the gates make of tests that pass and still prove little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    WITH_TEST_POLICY,
    WITH_TEST_REPORTS,
    AttemptFacts,
    ChangedLines,
    ChangeSet,
    CommandRun,
)
from accordance.domain.mutation_check import MutationCheck, TriedMutant
from accordance.domain.test_policy import Consequence, TestPolicy
from accordance.domain.test_proof import NO_TEST_TELLS
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.gates.notices import notices
from accordance.gates.tests import tests as gate_of_tests
from tests.unit.cases import COMMAND, FACTS, a_case, a_task, some_changes

FILE = "tests/test_app.py"
Outcomes = dict[str, TestOutcome]
P, F = TestOutcome.PASSED, TestOutcome.FAILED
REFUSE = TestPolicy(do_not_tell=Consequence.REFUSE)
IGNORE = TestPolicy(do_not_tell=Consequence.IGNORE)


def run(outcomes: Outcomes) -> CommandRun:
    """A run with a report; it exits with 1 if a test failed."""
    results = [TestResult(f"{FILE}::{name}", how) for name, how in outcomes.items()]
    exit_code = int(F in outcomes.values())
    return CommandRun(COMMAND, exit_code, report=TestReport("pytest", tuple(results)))


def facts(head: Outcomes, base: Outcomes, *changed: str) -> AttemptFacts:
    """Facts of today's version, with a run after the change and one before it."""
    return replace(
        FACTS,
        changes=ChangeSet(some_changes(*(changed or ("src/app.py",)))),
        runs=(run(head),),
        base_runs=(run(base),),
        version=WITH_TEST_POLICY,
    )


SILENT = facts({"a": P}, {"a": P})


def codes(given: AttemptFacts, policy: TestPolicy, **task: object) -> list[str]:
    """The codes of the gate of tests."""
    case = a_case(facts=given, task=a_task(**task), test_policy=policy)
    return [finding.code for finding in gate_of_tests(case).findings]


@pytest.mark.parametrize(
    ("policy", "expected_codes", "expected_notices"),
    [
        (REFUSE, ["TESTS_DO_NOT_TELL"], ()),
        (TestPolicy(), [], (NO_TEST_TELLS,)),
        (IGNORE, [], ()),
    ],
)
def test_tests_that_tell_nothing_are_a_matter_of_policy(
    policy: TestPolicy, expected_codes: list[str], expected_notices: tuple[str, ...]
) -> None:
    case = a_case(facts=SILENT, test_policy=policy)

    assert codes(SILENT, policy) == expected_codes
    assert notices(case) == expected_notices


@pytest.mark.parametrize(
    "honest",
    [
        pytest.param(facts({"a": P}, {"a": F}), id="a-test-was-mended"),
        pytest.param(facts({"a": P, "n": P}, {"a": P}), id="a-new-test-passes"),
        pytest.param(facts({"a": P}, {"a": P}, "README.md"), id="no-source-changed"),
        pytest.param(facts({"a": P}, {"a": P}, FILE), id="only-tests-changed"),
        pytest.param(replace(SILENT, base_runs=()), id="nothing-to-compare-with"),
    ],
)
def test_a_change_that_its_tests_tell_is_accepted(honest: AttemptFacts) -> None:
    assert codes(honest, REFUSE) == []
    assert notices(a_case(facts=honest)) == ()


def test_a_task_can_say_that_no_test_will_tell() -> None:
    assert codes(SILENT, REFUSE, keeps_behaviour=True) == []


def test_earlier_evidence_knows_no_policy() -> None:
    earlier = replace(SILENT, version=WITH_TEST_REPORTS)

    assert codes(earlier, REFUSE) == []
    assert notices(a_case(facts=earlier)) == (NO_TEST_TELLS,)


UNREACHED = "changed lines never run: 2 of 5 (src/app.py:3, src/app.py:9)"


@pytest.mark.parametrize(
    ("consequence", "expected_codes", "expected_notices"),
    [
        (Consequence.REFUSE, ["CHANGE_NOT_REACHED"], ()),
        (Consequence.WARN, [], (UNREACHED,)),
        (Consequence.IGNORE, [], ()),
    ],
)
def test_lines_that_no_test_runs_are_a_matter_of_policy(
    consequence: Consequence,
    expected_codes: list[str],
    expected_notices: tuple[str, ...],
) -> None:
    policy = TestPolicy(not_reached=consequence)
    lines = (
        ChangedLines("src/app.py", (1, 2, 3, 9), (3, 9)),
        ChangedLines("src/other.py", (4,)),
    )
    told = facts({"a": P}, {"a": F})
    given = replace(told, lines_reached=lines)

    assert codes(given, policy) == expected_codes
    assert notices(a_case(facts=given, test_policy=policy)) == expected_notices
    assert codes(replace(told, lines_reached=lines[1:]), policy) == []


SURVIVED = (
    "mutants of changed lines survived: 1 of 2 (src/app.py:3 a < b -> a <= b);"
    " 1 more were not tried in time"
)


@pytest.mark.parametrize(
    ("consequence", "expected_codes", "expected_notices"),
    [
        (Consequence.REFUSE, ["MUTANTS_SURVIVED"], ()),
        (Consequence.WARN, [], (SURVIVED,)),
        (Consequence.IGNORE, [], ()),
    ],
)
def test_faults_that_no_test_notices_are_a_matter_of_policy(
    consequence: Consequence,
    expected_codes: list[str],
    expected_notices: tuple[str, ...],
) -> None:
    policy = TestPolicy(mutants_survive=consequence)
    survivor = TriedMutant("src/app.py", 3, "a < b -> a <= b", survived=True)
    killed = TriedMutant("src/app.py", 4, "1 -> 2", survived=False)
    told = facts({"a": P}, {"a": F})
    given = replace(told, mutants=MutationCheck((survivor, killed), 3))

    assert codes(given, policy) == expected_codes
    assert notices(a_case(facts=given, test_policy=policy)) == expected_notices

    noticed = replace(told, mutants=MutationCheck((killed,), 1))
    assert codes(noticed, policy) == []
    assert notices(a_case(facts=noticed, test_policy=policy)) == ()


def test_all_chosen_faults_were_tried() -> None:
    survivor = TriedMutant("src/app.py", 3, "1 -> 2", survived=True)
    given = replace(facts({"a": P}, {"a": F}), mutants=MutationCheck((survivor,), 1))
    expected = "mutants of changed lines survived: 1 of 1 (src/app.py:3 1 -> 2)"
    assert notices(a_case(facts=given)) == (expected,)

"""Hidden tests: judged like others, and told in numbers alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from accordance import Rejected, check
from accordance.contracts.catalogue.task import TASK
from accordance.domain.facts import (
    WITH_TEST_POLICY,
    AttemptFacts,
    CommandRun,
    Ending,
    HiddenRuns,
)
from accordance.domain.roles import ROLES
from accordance.domain.sight import Sight
from accordance.domain.test_proof import tests_do_not_tell as do_not_tell
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.gates.notices import notices
from accordance.gates.tests import tests as gate_of_tests
from tests.unit.cases import COMMAND, FACTS, a_case, a_task

P, F = TestOutcome.PASSED, TestOutcome.FAILED
VISIBLE = {"tests/test_app.py::a": P}
HIDDEN = "tests/test_secret.py"


def report(outcomes: dict[str, TestOutcome]) -> TestReport:
    """A sound report."""
    results = [TestResult(test, how) for test, how in outcomes.items()]
    return TestReport("pytest", tuple(results))


def run(outcomes: dict[str, TestOutcome], command: str = COMMAND) -> CommandRun:
    """A run with a report; it exits with 1 if a test failed."""
    exit_code = int(F in outcomes.values())
    return CommandRun(command, exit_code, report=report(outcomes))


def facts(hidden: CommandRun, *files: str) -> AttemptFacts:
    """Facts with a visible run that passed, and a hidden one."""
    return replace(
        FACTS,
        runs=(run(VISIBLE),),
        hidden=HiddenRuns(files or (HIDDEN,), (hidden,)),
        version=WITH_TEST_POLICY,
    )


PASSED = run({**VISIBLE, f"{HIDDEN}::a": P, f"{HIDDEN}::b": P})
FAILED = run({**VISIBLE, f"{HIDDEN}::secret": F, f"{HIDDEN}::b": P})


def findings(given: AttemptFacts, **task: object) -> list[tuple[str, str]]:
    """The codes and messages of the gate of tests."""
    result = gate_of_tests(a_case(facts=given, task=a_task(**task)))
    return [(finding.code, finding.message) for finding in result.findings]


def test_hidden_tests_that_pass_are_accepted() -> None:
    assert findings(facts(PASSED)) == []


@pytest.mark.parametrize(
    ("hidden", "code", "message"),
    [
        (FAILED, "CI_FAILED", "1 of 2 hidden tests failed"),
        (CommandRun(COMMAND, 1), "CI_FAILED", "the hidden tests failed"),
        (
            replace(PASSED, ending=Ending.TIMED_OUT),
            "CI_FAILED",
            "the hidden tests failed",
        ),
        (
            replace(PASSED, report=replace(report(VISIBLE), tampered="secret")),
            "TEST_RUN_TAMPERED",
            "the report of the hidden tests is not what happened",
        ),
        (
            replace(PASSED, report=replace(report(VISIBLE), incomplete="secret")),
            "TESTS_NOT_RUN",
            "the hidden tests did not run to their end",
        ),
        (
            CommandRun(COMMAND, 0),
            "TESTS_NOT_RUN",
            "the hidden tests left no report",
        ),
        (run(VISIBLE), "TESTS_NOT_RUN", "none of the hidden tests was run"),
    ],
)
def test_what_is_wrong_is_told_without_a_name(
    hidden: CommandRun, code: str, message: str
) -> None:
    assert findings(facts(hidden)) == [(code, message)]


def test_a_plain_command_is_judged_by_its_exit_code() -> None:
    assert findings(facts(CommandRun("make hidden", 0))) == []


def test_a_hidden_file_may_replace_one_that_everybody_knows() -> None:
    same_ids = run({"test_app.Last.test_last": P})
    given = replace(facts(same_ids, "tests/test_app.py"), runs=(same_ids,))

    assert findings(given) == []


def test_a_failure_of_the_base_is_excused_here_too() -> None:
    visible = run({"tests/test_app.py::a": P, "tests/test_app.py::old": F})
    hidden = run({"tests/test_app.py::old": F, f"{HIDDEN}::a": P})
    given = replace(facts(hidden), runs=(visible,), base_runs=(visible,))

    assert findings(given) == []


def test_expected_tests_may_be_hidden_and_are_not_named() -> None:
    met = [f"{HIDDEN}::a"]
    unmet = [f"{HIDDEN}::unknown"]

    assert findings(facts(PASSED), fail_to_pass=met) == []
    assert findings(facts(PASSED), fail_to_pass=unmet) == [
        ("CI_FAILED", "must pass and did not: 1 tests that the task names")
    ]


def test_hidden_tests_are_proof_enough() -> None:
    silent = replace(facts(PASSED), base_runs=(run(VISIBLE),))
    self_test = CommandRun("sh task_selftest.sh", 0)
    beside_it = replace(facts(PASSED), runs=(self_test,))

    assert not do_not_tell(a_task(), silent)
    assert do_not_tell(a_task(), replace(silent, hidden=None))
    assert findings(beside_it, allowedTests=[self_test.command]) == []


def test_the_agent_is_not_told_of_hidden_tests() -> None:
    task = {
        "pins": {"allowed_paths": ["src/**"]},
        "goal": "Fix it.",
        "hidden_tests": {"folder": "issue-17"},
        "fail_to_pass": ["tests/test_secret.py::a"],
    }
    sight = Sight.of(task, ROLES["engineer"])

    assert sight.shown_task(task).keys() == {"pins", "goal"}
    assert sight.shown_task({**task, "hidden_tests": None}).keys() == task.keys()


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("given_tests", ["../other/**"], "$.given_tests[0]"),
        ("given_tests", ["tests/**", "/etc/*"], "$.given_tests[1]"),
        ("hidden_tests", {"folder": "../.."}, "$.hidden_tests.folder"),
        ("hidden_tests", {"folder": "/etc"}, "$.hidden_tests.folder"),
    ],
)
def test_a_task_cannot_name_tests_outside_their_folder(
    key: str, value: object, path: str
) -> None:
    task = {
        "task_id": "72c84e9c-0975-4c1a-b9a5-864c2725dc8a",
        "goal": "Fix it.",
        "role": "engineer",
        "pins": {"allowed_paths": ["src/**"]},
        key: value,
    }

    result = check(json.dumps(task), TASK)

    assert isinstance(result, Rejected)
    assert [(fault.code, fault.path) for fault in result.violations] == [
        ("unsafe_path", path)
    ]


def test_given_tests_that_were_changed_are_a_notice() -> None:
    given = replace(FACTS, given_tests=("tests/test_app.py",))

    assert notices(a_case(facts=given)) == (
        "changed, and judged as the base has them: tests/test_app.py",
    )

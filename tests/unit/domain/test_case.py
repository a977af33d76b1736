"""A case: which tests count, and which paths the task names."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from accordance import Accepted, check
from accordance.contracts.catalogue.submit import SUBMIT, Submit
from accordance.domain import case
from tests.unit.cases import COMMAND, a_case, a_submit, a_task

TESTS = {"commands": ["make a", "make b", "make a"], "passed": True, "summary": ""}


def a_claim() -> Submit:
    """An agent that says which tests it ran."""
    submission = check(json.dumps(a_submit(tests=TESTS)), SUBMIT)
    assert isinstance(submission, Accepted)
    return submission.value


@pytest.mark.parametrize(
    ("task_tests", "own_tests", "expected"),
    [
        pytest.param([COMMAND], ("make all",), (COMMAND,), id="the task's"),
        pytest.param(["a", "b", "a"], (), ("a", "b"), id="each once"),
        pytest.param([], ("make all",), ("make all",), id="else the repository's"),
        pytest.param([], (), (), id="there may be none"),
    ],
)
def test_the_tests_that_no_agent_decides_about(
    task_tests: list[str], own_tests: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert case.tests_of(a_task(allowedTests=task_tests), own_tests) == expected


def test_an_agent_chooses_tests_only_where_the_task_names_none() -> None:
    """And only if it has handed in something that says which."""
    names_none = a_task(allowedTests=[])
    assert case.chosen_tests(names_none, a_claim()) == ("make a", "make b")
    assert case.chosen_tests(names_none, None) == ()
    assert case.chosen_tests(a_task(), a_claim()) == ()


@pytest.mark.parametrize(
    ("path", "is_named"),
    [
        pytest.param("src/app.py", True, id="a file to touch"),
        pytest.param("./src//app.py", True, id="however it is spelt"),
        pytest.param("docs/guide.md", True, id="a pin without a pattern"),
        pytest.param("src/other.py", False, id="a path that only a pattern covers"),
        pytest.param("lib", False, id="a folder is no file"),
    ],
)
def test_a_task_names_a_path(path: str, is_named: bool) -> None:
    """Exactly, not by a pattern that happens to cover it."""
    pins = {"allowed_paths": ["src/**", "docs/guide.md", "lib/"]}
    judged = a_case(task=a_task(pins=pins))
    assert judged.names(path) is is_named


def test_the_tests_of_a_case_are_all_of_these() -> None:
    judged = a_case(task=a_task(allowedTests=[]), submit=a_submit(tests=TESTS))
    assert judged.tests == ("make a", "make b")
    with_own = replace(judged, own_tests=("make b",))
    assert with_own.chosen_tests == ("make a",)
    assert with_own.tests == ("make b", "make a")

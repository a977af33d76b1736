"""A context written as JSON: a message like any other."""

from __future__ import annotations

import json

import pytest

from accordance.contracts.context import EXECUTORS, ROLES, Context
from accordance.contracts.context_file import read_context
from accordance.errors import InvalidContext
from tests.messages import TASK, TASK_INPUT, changed


def test_an_empty_list_of_roles_is_empty() -> None:
    """What is written is meant."""
    assert read_context('{"roles": []}').roles == frozenset()


def test_empty() -> None:
    """Nothing said, nothing known."""
    assert read_context("{}") == Context()


def test_everything() -> None:
    """Every field arrives."""
    written = {
        "task_id": "t",
        "plan_id": "p",
        "threshold": 80,
        "profile": "seed",
        "pins": {"allowed_paths": ["src/"]},
        "allowed_tests": ["make"],
        "roles": ["cook"],
        "executors": ["oven"],
    }
    context = read_context(json.dumps(written))
    assert (context.task_id, context.plan_id, context.threshold, context.profile) == (
        "t",
        "p",
        80,
        "seed",
    )
    assert context.pins is not None
    assert "src/a" in context.pins
    assert (context.allowed_tests, context.roles, context.executors) == (
        ("make",),
        frozenset(["cook"]),
        frozenset(["oven"]),
    )


def test_a_whole_task() -> None:
    """Its id, pins and tests are taken over; its role is checked against the roles given."""
    context = read_context(json.dumps({"task": TASK_INPUT, "threshold": 70}))
    assert (context.task_id, context.allowed_tests, context.threshold) == (
        TASK,
        ("pytest -q",),
        70,
    )
    assert (context.roles, context.executors) == (ROLES, EXECUTORS)


@pytest.mark.parametrize(
    ("written", "match"),
    [
        ("[]", "one JSON object"),
        ('{"task": {}}', "task does not fit"),
        ('{"taskid": 1}', "taskid"),
        ('{"threshold": 101}', "0 to 100"),
        ('{"pins": {"allowed_paths": ["/x"]}}', "not a pattern"),
        (
            json.dumps({"task": changed(TASK_INPUT, "role", "nobody")}),
            "task does not fit: .*role",
        ),
    ],
)
def test_a_context_that_does_not_fit(written: str, match: str) -> None:
    """One line, with the first fault."""
    with pytest.raises(InvalidContext, match=match):
        read_context(written)

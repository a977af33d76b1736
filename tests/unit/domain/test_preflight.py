"""Preflight: every reason why a task must not start, before any agent runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accordance import Accepted, Pins, check
from accordance.contracts.catalogue.task import TASK
from accordance.domain import inheritance
from accordance.domain.preflight import Preflight, Start, preflight
from accordance.errors import GateNotRun
from tests.unit.cases import COMMAND, a_task

START = Start(
    runnable={COMMAND: ""},
    model="glm-4.7",
    executor="codex",
    parent=Pins.of(["**"], ["**/secrets/**"]),
)


def looked_at(start: Start = START, **changes: Any) -> Preflight:
    """Preflight of a good task with these changes."""
    return preflight(Accepted(a_task(**changes)), start)


def test_a_good_task_may_start() -> None:
    """No reason, no code."""
    result = looked_at()
    assert result
    assert (result.reasons, result.reason_code) == ((), None)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(
            replace(START, chooses_tests=True), id="the agent says what it ran"
        ),
        pytest.param(
            replace(START, own_tests=("make test",), runnable={"make test": ""}),
            id="the settings name tests",
        ),
    ],
)
def test_a_task_without_tests_may_start(start: Start) -> None:
    """Where somebody else can name a test."""
    assert looked_at(start, allowedTests=[])


@pytest.mark.seed("003-9", "004-11")
@pytest.mark.parametrize(
    ("start", "changes", "reasons"),
    [
        pytest.param(
            START, {"files": ["src/app.py", "docs/x", "src/secrets/k"]},
            ["files: docs/x: not_allowed", "files: src/secrets/k: forbidden by **/secrets/**"], id="files outside the pins",
        ),
        pytest.param(
            START, {"role": "doc"}, ["files: src/app.py: role_not_allowed"], id="files the role may not write",
        ),
        pytest.param(
            START, {"role": "planner"},
            ["files: src/app.py: role_not_allowed", "role: planner writes nothing, but the task names files: src/app.py"],
            id="a role that writes nothing",
        ),
        pytest.param(
            START, {"allowedTests": []}, ["tests: allowedTests is empty, and the work of engineer must be tested"], id="no tests",
        ),
        pytest.param(
            replace(START, own_tests=("make self_test",), runnable={"make self_test": ""}), {"allowedTests": []},
            ["tests: only a self-test: make self_test"], id="the repository's settings name a self-test",
        ),
        pytest.param(
            replace(START, runnable={"make self_test": ""}), {"allowedTests": ["make self_test"]},
            ["tests: only a self-test: make self_test"], id="only a self-test",
        ),
        pytest.param(
            replace(START, runnable={COMMAND: "no such program"}), {}, [f"tests: {COMMAND}: no such program"], id="a test that cannot run",
        ),
        pytest.param(
            replace(START, model="gpt-4o", executor="opencodecli"), {},
            ["model: gpt-4o is not among those allowed: glm-4.7", "executor: opencodecli is not among those allowed: codex"],
            id="model and executor",
        ),
        pytest.param(
            replace(START, parent=Pins.of(["src/**"])), {},
            ["pins: they allow tests/a, which the parent task's pins do not"], id="beyond its parent",
        ),
        pytest.param(
            replace(START, model="x", runnable={COMMAND: "gone"}), {"files": ["x"]},
            ["files: x: not_allowed", f"tests: {COMMAND}: gone", "model: x is not among those allowed: glm-4.7"], id="all at once",
        ),
    ],
)  # fmt: skip
def test_every_reason_is_named(
    start: Start, changes: dict[str, Any], reasons: list[str]
) -> None:
    """Not the first one only."""
    result = looked_at(start, **changes)
    assert not result
    assert result.reason_code == "PREFLIGHT_FAILED"
    assert [str(reason) for reason in result.reasons] == reasons


def test_a_task_that_its_contract_refuses() -> None:
    """Its violations are the reasons."""
    result = preflight(check('{"goal": "g"}', TASK), START)
    assert {reason.part for reason in result.reasons} == {"contract"}
    assert len(result.reasons) == 3


def test_a_role_that_is_not_registered_here() -> None:
    """The registry of the moment decides."""
    result = preflight(Accepted(a_task()), START, roles={})
    assert [reason.part for reason in result.reasons] == ["role"]


def test_pins_too_entangled_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason like any other."""
    monkeypatch.setattr(inheritance, "MAX_STEPS", 1)
    assert "too entangled" in str(looked_at().reasons[0])


def test_what_is_not_said_is_not_demanded() -> None:
    """Without a list of models any model will do, without a parent any pins."""
    task = a_task().model_copy(update={"allowedModels": None, "files": None})
    assert preflight(
        Accepted(task), replace(START, model="any", executor=None, parent=None)
    )


def test_a_test_command_nobody_tried() -> None:
    """An error, never a pass."""
    with pytest.raises(GateNotRun, match="was never tried"):
        looked_at(replace(START, runnable={}))


def test_hidden_tests_must_be_there() -> None:
    """They are as good as any, where they can be run."""
    hidden = a_task(hidden_tests={"folder": "issue-17"}, allowedTests=[])
    missing = replace(START, hidden_tests_missing="there are no hidden tests at x")

    assert preflight(Accepted(hidden), START)
    assert [str(fault) for fault in preflight(Accepted(hidden), missing).reasons] == [
        "tests: there are no hidden tests at x"
    ]

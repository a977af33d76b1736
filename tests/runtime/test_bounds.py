"""How much is done at once, as accordance.toml says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.errors import InvalidSettings
from accordance.project.home import Home
from accordance.project.settings import AtOnce, read_settings
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.slots import Bound
from tests.messages import edge, node, plan
from tests.runtime.stage import Stage
from tests.settings import routing_from


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, AtOnce()),
        ({"run": {"concurrency": 3}}, AtOnce(in_worker=3)),
        (
            {"run": {"plan_concurrency": 9, "concurrency": 3}},
            AtOnce(in_worker=3, in_plan=9),
        ),
    ],
)
def test_the_table_run(said: dict[str, object], expected: AtOnce) -> None:
    """Both bounds, or one, or none."""
    assert read_settings(said).run.at_once == expected


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            {"run": {"concurency": 3}},
            "has no key 'concurency'; did you mean concurrency or",
        ),
        ({"run": {"concurrency": 0}}, "concurrency is a whole number from 1, got 0"),
        (
            {"run": {"concurrency": True}},
            "concurrency is a whole number from 1, got True",
        ),
        ({"run": 3}, r"\[run\] is a table"),
    ],
)
def test_a_table_run_that_means_nothing(said: dict[str, object], why: str) -> None:
    """One line with the way out."""
    with pytest.raises(InvalidSettings, match=why):
        read_settings(said)


SETTINGS = {
    "executors": {
        "small": {"kind": "command", "command": "true"},
        "model": {
            "kind": "llm",
            "model": "weak",
            "tiers": {"weak": 2, "strong": 1},
            "concurrency": 6,
            "per_minute": 60,
            "bounds": {
                "strong": {"concurrency": 2},
                "weak": {"per_minute": 10, "concurrency": 9},
            },
        },
        "away": {"kind": "external"},
    },
    "routes": [
        {"tags": ["away"], "executor": "away"},
        {"tags": ["strong"], "executor": "model", "model": "strong"},
        {"tags": ["small"], "executor": "small"},
        {"executor": "model"},
    ],
}


def test_every_executor_has_a_queue_and_every_bounded_model_its_own(on: Stage) -> None:
    """A model never gets more than its executor."""
    whole = {"executor": "model", "executor_runs": 6}
    found = ProjectAttempts(on.ledger, on.home, routing_from(SETTINGS)).queues()
    assert found == {
        "small": Bound(runs=4, executor="small", executor_runs=4),
        "model": Bound(runs=6, per_minute=60, **whole),  # type: ignore[arg-type]
        "model/strong": Bound(runs=2, per_minute=60, **whole),  # type: ignore[arg-type]
        "model/weak": Bound(runs=6, per_minute=10, **whole),  # type: ignore[arg-type]
    }


def test_tasks_go_to_the_queue_of_whoever_does_them(on: Stage, tmp_path: Path) -> None:
    """Or to none, if somebody elsewhere asks for them."""
    names = ("away", "strong", "small", "plain")
    nodes = [node("root", "GOAL"), *(node(name, tags=[name]) for name in names)]
    on.brings(plan(nodes, [edge("root", name) for name in names]))
    attempts = ProjectAttempts(on.ledger, Home(tmp_path), routing_from(SETTINGS))
    queues = [attempts.queue_of(on.task(name), None) for name in names]
    assert queues == [None, "model/strong", "small", "model/weak"]

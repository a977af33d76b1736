"""What workers can do, and the labels that executors and routes ask of them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from accordance.domain.capabilities import (
    Capabilities,
    asked_labels,
    capabilities_from,
    must_be_asked_for,
)
from accordance.domain.executor_specs import CommandSpec
from accordance.domain.routing import Route, RouteRequest, Routing
from accordance.errors import UnknownLabel

BIG = CommandSpec(kind="command", command=["true"], labels=["big"])
PLAIN = CommandSpec(kind="command", command=["true"])
ROUTING = Routing(
    {"big": BIG, "plain": PLAIN},
    (
        Route(tags=["train"], executor="big", labels=["gpu"]),
        Route(tags=["draw"], executor="plain", labels=["gpu"]),
        Route(executor="plain"),
    ),
)


@pytest.mark.parametrize(
    ("tags", "labels"),
    [
        pytest.param({"train"}, {"big", "gpu"}, id="of the executor and of the route"),
        pytest.param({"draw"}, {"gpu"}, id="of the route"),
        pytest.param(set(), set(), id="none"),
    ],
)
def test_what_work_asks_of_a_worker(tags: set[str], labels: set[str]) -> None:
    """The labels of its executor, and those of the route that led there."""
    choice = ROUTING.choose(RouteRequest(tags=frozenset(tags)))
    assert choice.labels == labels


def test_the_queues_that_labels_make() -> None:
    """For each executor: its own labels, alone and with those of each of its routes."""
    assert ROUTING.label_sets("big") == {
        frozenset({"big"}),
        frozenset({"big", "gpu"}),
    }
    assert ROUTING.label_sets("plain") == {frozenset(), frozenset({"gpu"})}


def test_a_label_that_nobody_asks_for_is_refused() -> None:
    """The nearest is named, or where one could be asked for."""
    asked = asked_labels(ROUTING.executors.values(), ROUTING.routes)
    assert asked == {"big", "gpu"}
    must_be_asked_for(["gpu", "big"], asked)
    with pytest.raises(UnknownLabel) as refused:
        must_be_asked_for(["gpus"], asked)
    assert str(refused.value) == "unknown label 'gpus'; did you mean gpu?"
    with pytest.raises(UnknownLabel) as refused:
        must_be_asked_for(["gpu"], frozenset())
    assert str(refused.value) == (
        "unknown label 'gpu'; name it under `labels` of an executor or a route, or"
        " leave it out"
    )


@pytest.mark.parametrize("label", ["", "GPU", "a b", "a+b", "a@b", "-a", "a" * 64])
def test_what_is_no_label(label: str) -> None:
    """Labels are part of the names of queues: small letters, digits, dots, dashes."""
    with pytest.raises(ValidationError):
        Route(executor="plain", labels=[label])


def test_capabilities_are_kept_as_json() -> None:
    """What another release says beside is left out."""
    can = Capabilities(release="1", labels=("gpu",), lacking={"coder": "no codex"})
    assert capabilities_from({**can.to_json(), "warp": 9}) == can
    assert capabilities_from({}) == Capabilities()

"""Nobody reviews their own product: by which routes a model would, and who made a product."""

from __future__ import annotations

import tomllib
from contextlib import nullcontext

import pytest

from accordance.domain.routing import RouteRequest
from accordance.errors import AccordanceError, OwnWork
from accordance.project.settings import read_settings
from accordance.work.own_work import (
    Maker,
    another_reviewer,
    is_own_work,
    maker_of,
    must_have_others_review,
)
from accordance.work.taking import NoTaskReason
from tests.ledger.project import Project
from tests.ledger.work.test_kept_runs import told
from tests.messages import PLAN, edge, node, plan
from tests.settings import routing_from

MODEL = '[executors.m]\nkind = "llm"\nmodel = "small"\n'
OTHER = '[executors.n]\nkind = "llm"\nmodel = "large"\n'
PROGRAM = '[executors.p]\nkind = "command"\ncommand = "true"\n'
PEOPLE = '[executors.people]\nkind = "external"\n'


def route(executor: str, **fits: str) -> str:
    """One row of the table."""
    said = [
        f'{name} = "{value}"' for name, value in {**fits, "executor": executor}.items()
    ]
    return "\n".join(["[[routes]]", *said, ""])


def unchecked_and_checked() -> dict[str, object]:
    """One product that is reviewed as it is, and one that a CHECK reviews."""
    nodes = [node("root", "GOAL"), node("a"), node("b"), node("look", "CHECK")]
    edges = [
        *(edge("root", name) for name in ("a", "b", "look")),
        edge("b", "look", "DEPENDS_ON"),
    ]
    return plan(nodes, edges)


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        pytest.param(MODEL, True, id="one model does everything"),
        pytest.param('[executors.codex]\nmodel = "small"\n', True, id="one agent does everything"),
        pytest.param(PROGRAM, False, id="a program does everything"),
        pytest.param(PEOPLE, False, id="people do everything, and are told apart by their names"),
        pytest.param(MODEL + OTHER + route("n", kind="review") + route("m"), False, id="another model reviews"),
        pytest.param(MODEL + PEOPLE + route("people", kind="review") + route("m"), False, id="people review"),
        pytest.param(MODEL + PROGRAM + route("m", kind="review") + route("p"), False, id="a model reviews programs"),
        pytest.param(
            MODEL + OTHER + route("n", node_type="CHECK") + route("m"), True, id="only what has a CHECK goes elsewhere"
        ),
        pytest.param(
            MODEL + OTHER + route("m", node_type="CHECK") + route("n", kind="review") + route("m"),
            True,
            id="only what has a CHECK comes back",
        ),
        pytest.param(MODEL + route("m", kind="action"), False, id="no route for reviews: that is told elsewhere"),
        pytest.param(MODEL + "tiers = { small = 2, large = 1 }\n", False, id="the executor has another model"),
    ],
)  # fmt: skip
def test_routes_by_which_a_model_would_review_its_own_products(
    project: Project, settings: str, is_refused: bool
) -> None:
    """They are refused before anything is paid for."""
    project.runs(unchecked_and_checked())
    routing = routing_from(tomllib.loads(settings))
    refused = (
        pytest.raises(OwnWork, match="would review its own products")
        if is_refused
        else nullcontext()
    )
    with project.ledger.read() as tx, refused:
        must_have_others_review(tx, PLAN, routing)


def test_the_maker_is_whoever_had_the_last_attempt(project: Project) -> None:
    """A worker by their name, an executor by its name and model; nobody, where a message came by itself."""
    project.runs(unchecked_and_checked())
    project.submit("a")
    project.take(holder="ann", fits=lambda _, task: task.task_id == "b")
    project.submit("b")
    with project.ledger.read() as tx:
        assert (maker_of(tx, tx.task("a")), maker_of(tx, tx.task("b"))) == (
            Maker(),
            Maker("ann"),
        )
        assert [
            is_own_work(tx, tx.task(name), "ann") for name in ("a", "b", "look")
        ] == [False, True, True]
    told(project, "b")
    told(project, "b", kind="review")
    with project.ledger.read() as tx:
        assert maker_of(tx, tx.task("b")) == Maker("ann", "model", "big")
        assert not is_own_work(tx, tx.task("b"), "ann")  # only the process that ran it


def test_reviews_of_others_are_still_handed_out(project: Project) -> None:
    """Whoever asks passes over their own product, and is told so when nothing else is left."""
    project.runs(plan([node("root", "GOAL"), node("a")], [edge("root", "a")]))
    assert project.takes(holder="ann", own_work=False) == "a"
    project.submit("a")
    assert project.take(holder="ann", own_work=False) is NoTaskReason.OWN_WORK
    assert project.takes(holder="bob", own_work=False) == "a"


def test_another_model_of_the_executor_reviews() -> None:
    """The strongest one that is not the maker's."""
    tiers = "tiers = { small = 3, middle = 2, large = 1 }\n"
    choice = routing_from(tomllib.loads(MODEL + tiers)).choose(
        RouteRequest(kind="review")
    )
    for made, reviews in (("small", "large"), ("large", "middle")):
        another = another_reviewer(choice, Maker(executor="m", model=made))
        assert another is not None
        assert another.model == reviews


@pytest.mark.parametrize(
    ("said", "allowed"),
    [("", False), ("own_work = true", True), ("own_work = false", False)],
)
def test_what_the_settings_allow(said: str, allowed: bool) -> None:
    """Nothing, unless they say so."""
    assert read_settings(tomllib.loads(f"[review]\n{said}")).review.own_work is allowed


@pytest.mark.parametrize(
    ("said", "why"),
    [
        pytest.param(
            'own_work = "yes"', "own_work is true or false, got 'yes'", id="no truth"
        ),
        pytest.param(
            "own = true", "has no key 'own'; did you mean own_work", id="a slip"
        ),
    ],
)
def test_settings_that_cannot_be_meant(said: str, why: str) -> None:
    """They are errors, as everywhere."""
    with pytest.raises(AccordanceError, match=why):
        read_settings(tomllib.loads(f"[review]\n{said}"))

"""Routing: tables in, choices out, and one clear line for everything that could never work."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from accordance.domain.executor_specs import (
    AgentSpec,
    CommandSpec,
    ExternalSpec,
    LlmSpec,
)
from accordance.domain.routing import RouteRequest, Routing
from accordance.domain.spending import Price
from accordance.errors import AccordanceError, NoExecutor, UnknownExecutor, UnknownModel
from tests.settings import routing_from

SETTINGS = """
[executors.builder]
kind = "command"
command = ["python3", "agents/builder.py"]

[executors.writer]
kind = "llm"
model = "small"
base_url = "http://127.0.0.1:8080/v1"
[executors.writer.tiers]
small = 3
middle = 2
big = 1
[executors.writer.prices.small]
input = 0.5
output = 1.5

[executors.codex]
model = "gpt"

[executors.people]
kind = "external"

[[routes]]
tags = ["code", "rust"]
executor = "codex"
prompt = "coder.v1"

[[routes]]
kind = "action"
tags = ["research"]
executor = "writer"
contract = "answer"

[[routes]]
kind = "review"
executor = "writer"
model = "middle"

[[routes]]
role = "printer"
executor = "people"

[[routes]]
node_type = "ACTION"
executor = "writer"
"""


@pytest.fixture
def routing() -> Routing:
    """The settings above."""
    return routing_from(tomllib.loads(SETTINGS), prompts=["coder.v1"])


@pytest.mark.parametrize(
    ("wanted", "tier", "executor", "model", "prompt"),
    [
        (
            RouteRequest(tags=frozenset(("code", "rust", "x"))),
            None,
            "codex",
            "gpt",
            "coder.v1",
        ),
        (
            RouteRequest(tags=frozenset(("code",)), node_type="ACTION"),
            None,
            "writer",
            "small",
            "worker.v1",
        ),
        (
            RouteRequest(kind="review", node_type="CHECK"),
            None,
            "writer",
            "middle",
            "reviewer.v1",
        ),
        (
            RouteRequest(role="printer", node_type="ACTION"),
            None,
            "people",
            None,
            "worker.v1",
        ),
        (RouteRequest(node_type="ACTION"), 2, "writer", "middle", "worker.v1"),
        (RouteRequest(node_type="ACTION"), 1, "writer", "big", "worker.v1"),
        (RouteRequest(tags=frozenset(("code", "rust"))), 1, "codex", "gpt", "coder.v1"),
    ],
    ids=str,
)
def test_the_first_route_that_fits_counts(
    routing: Routing,
    wanted: RouteRequest,
    tier: int | None,
    executor: str,
    model: str | None,
    prompt: str,
) -> None:
    """All its tags, its role, its type and its kind; a tier asks for a model at least that strong."""
    choice = routing.choose(wanted, tier)
    assert (choice.executor, choice.model, choice.prompt) == (executor, model, prompt)
    assert choice.tier == {"small": 3, "middle": 2, "big": 1}.get(model or "")


TWO_WAYS = """
[executors.agent]
kind = "opencode"
[executors.people]
kind = "external"
[[routes]]
executor = "agent"
[[routes]]
executor = "people"
"""


@pytest.mark.seed("003-9")
@pytest.mark.parametrize(
    ("allowed", "executor"),
    [
        (None, "agent"),
        (("opencode",), "agent"),
        (("opencodecli",), "agent"),
        (("external",), "people"),
        (("people",), "people"),
        (("external", "opencode"), "agent"),
        (("codex",), "agent"),
    ],
    ids=[
        "anybody",
        "by kind",
        "as seed 003 calls it",
        "another kind",
        "by name",
        "both",
        "neither",
    ],
)
def test_the_first_route_to_somebody_the_task_allows(
    allowed: tuple[str, ...] | None, executor: str
) -> None:
    """In the order of the routes; where it allows none of them, whoever looks before it begins says so."""
    routing = routing_from(tomllib.loads(TWO_WAYS))
    wanted = RouteRequest(executors=None if allowed is None else frozenset(allowed))
    assert routing.choose(wanted).executor == executor


def test_specs_are_read(routing: Routing) -> None:
    """Each kind with its own settings; a table named like a kind is of that kind."""
    kinds = {name: type(spec) for name, spec in routing.executors.items()}
    assert kinds == {
        "builder": CommandSpec,
        "writer": LlmSpec,
        "codex": AgentSpec,
        "people": ExternalSpec,
    }
    writer = routing.executors["writer"]
    assert isinstance(writer, LlmSpec)
    assert writer.price_of("small") == Price(0.5, 1.5)
    assert writer.price_of("big") is None


@pytest.mark.seed("003-8")
@pytest.mark.parametrize(
    ("wanted", "failures", "model", "stronger"),
    [
        (RouteRequest(node_type="ACTION"), 0, "small", [2, 1]),
        (RouteRequest(node_type="ACTION"), 1, "middle", [1]),
        (RouteRequest(node_type="ACTION"), 2, "big", []),
        (RouteRequest(node_type="ACTION"), 9, "big", []),
        (RouteRequest(kind="review", node_type="CHECK"), 1, "big", []),
        (
            RouteRequest(node_type="ACTION", models=frozenset(("small",))),
            2,
            "small",
            [],
        ),
        (
            RouteRequest(node_type="ACTION", models=frozenset(("small", "big"))),
            1,
            "big",
            [],
        ),
        (
            RouteRequest(node_type="ACTION", models=frozenset(("middle", "big"))),
            0,
            "middle",
            [1],
        ),
        (
            RouteRequest(node_type="ACTION", models=frozenset(("another",))),
            3,
            "small",
            [],
        ),
        (RouteRequest(role="printer", node_type="ACTION"), 3, None, []),
    ],
)
def test_each_failure_asks_the_next_stronger_model_that_is_allowed(
    routing: Routing,
    wanted: RouteRequest,
    failures: int,
    model: str | None,
    stronger: list[int],
) -> None:
    """Until there is none; a task that allows none of them is left to whoever looks before it begins."""
    choice = routing.after(wanted, failures)
    assert (choice.model, choice.stronger) == (model, stronger)


@pytest.mark.parametrize("to", [None, "codex"], ids=["by the routes", "all to one"])
def test_routes_say_which_contract_holds(routing: Routing, to: str | None) -> None:
    """Whoever does the work; where none is named, it is an action's."""
    routing = routing.everything_to(to) if to else routing
    research = RouteRequest(node_type="ACTION", tags=frozenset(("research",)))
    assert routing.choose(research).contract == "agent_answer_v1"
    assert (
        routing.choose(RouteRequest(node_type="ACTION")).contract == "xiaobo_action_v1"
    )
    assert routing.choose(research).executor == (to or "writer")


def test_context_has_the_room_that_is_said() -> None:
    """By the route, else by the model, else by the executor; else the role's own counts."""
    said = """
        [executors.m]
        kind = "llm"
        model = "small"
        tiers = { small = 3, middle = 2, big = 1 }
        context_bytes = 50_000
        bounds = { big = { context_bytes = 900_000 }, middle = { concurrency = 1 } }
        [executors.free]
        kind = "external"
        [[routes]]
        role = "reader"
        executor = "m"
        context_bytes = 2_000
        [[routes]]
        kind = "review"
        executor = "free"
        [[routes]]
        executor = "m"
    """
    routing = routing_from(tomllib.loads(said))
    asked = [
        (RouteRequest(), None),
        (RouteRequest(), 2),
        (RouteRequest(), 1),
        (RouteRequest(role="reader"), 1),
        (RouteRequest(kind="review"), None),
    ]
    found = [routing.choose(wanted, tier).context_bytes for wanted, tier in asked]
    assert found == [50_000, 50_000, 900_000, 2_000, None]
    assert (
        routing.everything_to("free").choose(RouteRequest(role="reader")).context_bytes
        is None
    )
    with pytest.raises(
        AccordanceError, match="context_bytes is a whole number from 1000, got 10"
    ):
        routing_from({"executors": {"x": {"kind": "external", "context_bytes": 10}}})


def test_one_executor_alone_gets_everything() -> None:
    """Without routes there is nothing to choose."""
    alone = routing_from({"executors": {"codex": {"model": "m"}}})
    assert alone.choose(RouteRequest(kind="plan")).prompt == "planner.v1"


def test_everything_can_go_to_one() -> None:
    """`--executor` needs no settings for agents that need none; models are checked all the same."""
    everything = routing_from({}).everything_to("claude", "some-model")
    assert everything.choose(RouteRequest()).model == "some-model"
    assert (
        routing_from({}).everything_to("llm", "some-model").choose(RouteRequest()).model
        == "some-model"
    )
    with pytest.raises(
        NoExecutor, match=r"llm needs a model; name an OpenAI .* or .*\[executors.llm\]"
    ):
        routing_from({}).everything_to("llm")
    configured = routing_from(tomllib.loads(SETTINGS)).everything_to("writer")
    assert configured.choose(RouteRequest(role="printer")).model == "small"
    with pytest.raises(UnknownExecutor, match="did you mean codex"):
        routing_from({}).everything_to("codx")
    with pytest.raises(UnknownModel, match="did you mean big"):
        routing_from(tomllib.loads(SETTINGS)).everything_to("writer", "bigg")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "none is configured; add [executors.NAME]"),
        (
            {"executors": {"a": {"kind": "external"}, "b": {"kind": "external"}}},
            "no route in accordance.toml fits",
        ),
    ],
)
def test_no_executor_is_said_with_the_way_out(
    settings: dict[str, Any], says: str
) -> None:
    """Nothing is guessed."""
    with pytest.raises(NoExecutor) as raised:
        routing_from(settings).choose(
            RouteRequest(role="x", node_type="ACTION", tags=frozenset(("t",)))
        )
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"executors": []}, "[executors] is a table of tables"),
        ({"executors": {"x": 1}}, "[executors.x] is a table"),
        ({"executors": {"x": {}}}, "needs a kind: command, llm"),
        (
            {"executors": {"x": {"kind": "lmm"}}},
            "[executors.x]: unknown kind 'lmm'; did you mean llm?",
        ),
        (
            {"executors": {"x": {"kind": "llm", "modle": "m"}}},
            "[executors.x] has no key 'modle'; did you mean model?",
        ),
        ({"executors": {"x": {"kind": "llm"}}}, "[executors.x] needs model"),
        (
            {"executors": {"x": {"kind": "llm", "model": "m", "base_ulr": "u"}}},
            "has no key 'base_ulr'; did you mean base_url",
        ),
        (
            {"executors": {"x": {"kind": "external", "zzz": 1}}},
            "has no key 'zzz'; known: seconds, output_bytes",
        ),
        (
            {"executors": {"x": {"kind": "external", "seconds": "9"}}},
            "[executors.x] seconds is a number above 0, got '9'",
        ),
        (
            {"executors": {"x": {"kind": "external", "seconds": 0}}},
            "[executors.x] seconds is a number above 0, got 0",
        ),
        ({"routes": {}}, "[[routes]] is a list of tables, got {}"),
        ({"routes": [{}]}, "[[routes]] 1 needs executor"),
        (
            {"routes": [{"executor": "x", "rol": "y"}]},
            "[[routes]] 1 has no key 'rol'; did you mean role",
        ),
        ({"routes": [{"executor": "x"}]}, "unknown executor 'x'"),
        (
            {
                "executors": {"codex": {}},
                "routes": [{"executor": "codex", "contract": "scc.submit.v1"}],
            },
            "[[routes]] 1: contract 'scc.submit.v1': xiaobo_action_v1 or agent_answer_v1, for actions",
        ),
        (
            {
                "executors": {"codex": {}},
                "routes": [{"executor": "codex", "kind": "plan", "contract": "action"}],
            },
            "reviews, plans and changes of a repository have contracts of their own, so leave it out",
        ),
        (
            {
                "executors": {"codex": {}},
                "routes": [{"executor": "codex", "prompt": "coder.v2"}],
            },
            "unknown prompt 'coder.v2'; did you mean coder.v1?",
        ),
        (
            {
                "executors": {"codex": {"model": "gpt-4o"}},
                "routes": [{"executor": "codex", "model": "gpt-40"}],
            },
            "unknown model 'gpt-40'; did you mean gpt-4o?",
        ),
    ],
)
def test_what_could_never_work_is_said_in_a_line(
    settings: dict[str, Any], says: str
) -> None:
    """Unknown names come with the nearest known ones."""
    with pytest.raises(AccordanceError) as raised:
        routing_from(settings, prompts=["coder.v1"])
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RouteRequest(), "action"),
        (RouteRequest(kind="review", role="editor"), "review of editor"),
        (
            RouteRequest(node_type="CHECK", role="editor", tags=frozenset("ba")),
            "action CHECK of editor a b",
        ),
    ],
)
def test_a_request_in_words(request_: RouteRequest, words: str) -> None:
    assert str(request_) == words

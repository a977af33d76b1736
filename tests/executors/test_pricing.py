"""What the tokens of a model cost, and how much of an answer can be paid for."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from accordance.domain.executor_specs import AgentSpec, LlmSpec
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.executors.pricing import has_unknown_price, pricing, room_for_answer
from tests.executors.assignments import a_spec

SPENT = Spending(read=1_000_000, written=100_000, calls=2)
OWN = {"prices": {"m": {"input": 2.0, "output": 10.0}}}


def cost(**said: Any) -> float | None:
    """What it cost by the spec's own model."""
    spec = a_spec(**said)
    assert isinstance(spec, LlmSpec | AgentSpec)
    put = pricing(spec, spec.model)
    assert has_unknown_price(spec, spec.model) is (put is None)
    return put(SPENT).cost if put else None


@pytest.mark.parametrize("kind", ["llm", "codex", "opencode", "claude"])
def test_ones_own_prices_come_first(kind: str) -> None:
    """For models that are asked directly and for agents."""
    assert cost(kind=kind, model="m", **OWN) == pytest.approx(3.0)
    assert cost(
        kind=kind, model="gpt-5", prices={"gpt-5": {"input": 1.0}}
    ) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("kind", "model"),
    [("llm", "gpt-5"), ("codex", "gpt-5"), ("claude", "claude-sonnet-4-5")],
)
def test_public_lists_come_next(
    kind: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are installed."""
    provider = {"provider": "openai"} if kind == "llm" else {}
    assert (cost(kind=kind, model=model, **provider) or 0) > 1
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert cost(kind=kind, model=model, **provider) is None


def test_an_unknown_price_is_none_and_a_local_model_is_free() -> None:
    """A program has no tokens to be priced."""
    assert cost(kind="llm", model="m") is None
    assert cost(kind="codex") is None
    assert cost(kind="llm", provider="local", model="m.gguf") == 0.0
    assert not has_unknown_price(a_spec(kind="command", command="true"), None)


@pytest.mark.parametrize(
    ("budget", "room"),
    [
        (Budget(), None),
        (Budget(tokens=1_100_500), 500),
        (Budget(tokens=1_100_000), 1),
        (Budget(cost=3.1), 10_000),
        (Budget(cost=3.000001), 1),
        (Budget(tokens=1_100_500, cost=3.1), 500),
    ],
)
def test_an_answer_may_be_as_long_as_it_can_be_paid_for(
    budget: Budget, room: int | None
) -> None:
    """By tokens and by money, whichever is less."""
    spec = a_spec(kind="llm", model="m", **OWN)
    assert isinstance(spec, LlmSpec)
    put = pricing(spec, "m")
    assert put is not None
    assert room_for_answer(budget, put(SPENT), put) == room

"""The cost of a model's tokens.

By the prices in accordance.toml, otherwise by public price lists, where installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from accordance.domain.executor_specs import AgentSpec, LlmSpec, Spec
from accordance.domain.spending import Spending, priced, remaining
from accordance.domain.usage import Budget

Pricing: TypeAlias = Callable[[Spending], Spending]
"""Adds the cost to a number of tokens."""

_SAMPLE_TOKENS: Final = 1_000
_A_MILLION_OF_EACH: Final = Spending(read=1_000_000, written=1_000_000, calls=1)
_PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "codex": "openai",
    "opencode": "openai",
    "claude": "anthropic",
}
"""Whose price list counts, by provider or kind of agent."""


def pricing(spec: LlmSpec | AgentSpec, model: str | None) -> Pricing | None:
    """Return how a model's tokens are priced; None if the price is unknown."""
    price = spec.price_of(model)
    if price is not None:
        return lambda spent: replace(spent, cost=priced(spent, price))

    provider = spec.provider if isinstance(spec, LlmSpec) else spec.kind
    if provider == "local":
        return lambda spent: replace(spent, cost=0.0)
    return _public_pricing(_PROVIDERS[provider], model or "")


def has_unknown_price(spec: Spec, model: str | None) -> bool:
    """Whether a spec uses a model whose price is unknown."""
    if not isinstance(spec, LlmSpec | AgentSpec):
        return False
    return pricing(spec, model) is None


def is_free(spec: Spec, model: str | None) -> bool:
    """Whether a spec costs nothing, however many tokens it uses."""
    if not isinstance(spec, LlmSpec | AgentSpec):
        return True
    add_cost = pricing(spec, model)
    return add_cost is not None and not add_cost(_A_MILLION_OF_EACH).cost


def room_for_answer(
    budget: Budget,
    spent: Spending,
    add_cost: Pricing | None,
) -> int | None:
    """Return how many tokens the next answer may have; None if nothing bounds it.

    At least 1: a call without room for an answer is not made at all.
    """
    left = remaining(budget, spent)
    bounds = []
    if left.tokens is not None:
        bounds.append(left.tokens)

    if left.cost is not None and add_cost is not None:
        sample_cost = add_cost(Spending(written=_SAMPLE_TOKENS)).cost
        if sample_cost:
            bounds.append(int(left.cost / sample_cost * _SAMPLE_TOKENS))

    return max(1, min(bounds)) if bounds else None


def _public_pricing(provider: str, model: str) -> Pricing | None:
    """Return the pricing by the lists that come with the extra `llm`."""
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None

    def add_cost(spent: Spending) -> Spending:
        usage = Usage(
            input_tokens=spent.read,
            output_tokens=spent.written,
            cache_read_tokens=spent.cached,
        )
        price = calc_price(usage, model, provider_id=provider)
        return replace(spent, cost=float(price.total_price))

    try:
        add_cost(Spending())
    except LookupError:
        return None
    return add_cost

"""What the tokens of a model cost: as accordance.toml says it, else as public lists do, where they are installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from accordance.domain.case import Budget
from accordance.domain.executor_specs import AgentSpec, LlmSpec, Spec
from accordance.domain.spending import Spending, priced, remaining

Pricing: TypeAlias = Callable[[Spending], Spending]
"""Puts the cost to tokens."""

_MANY: Final = 1_000
_PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "codex": "openai",
    "opencode": "openai",
    "claude": "anthropic",
}
"""Whose list counts, by provider or kind of agent."""


def pricing(spec: LlmSpec | AgentSpec, model: str | None) -> Pricing | None:
    """How its tokens are priced; None if nobody knows."""
    if (price := spec.price_of(model)) is not None:
        return lambda spent: replace(spent, cost=priced(spent, price))
    if isinstance(spec, LlmSpec) and spec.provider == "local":
        return lambda spent: replace(spent, cost=0.0)
    return _public(
        _PROVIDERS[spec.provider if isinstance(spec, LlmSpec) else spec.kind],
        model or "",
    )


def nobody_knows(spec: Spec, model: str | None) -> bool:
    """Whether it has a model whose price nobody knows."""
    return isinstance(spec, LlmSpec | AgentSpec) and pricing(spec, model) is None


def room_for_answer(budget: Budget, spent: Spending, put: Pricing | None) -> int | None:
    """How many tokens the next answer may have, at least one; None if nothing bounds it."""
    left = remaining(budget, spent)
    rooms = [] if left.tokens is None else [left.tokens]
    price = put(Spending(written=_MANY)).cost if put else None
    if left.cost is not None and price:
        rooms.append(int(left.cost / price * _MANY))
    return max(1, min(rooms)) if rooms else None


def _public(provider: str, model: str) -> Pricing | None:
    """By the lists that come with the extra `llm`."""
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None

    def put(spent: Spending) -> Spending:
        usage = Usage(
            input_tokens=spent.read,
            output_tokens=spent.written,
            cache_read_tokens=spent.cached,
        )
        return replace(
            spent,
            cost=float(calc_price(usage, model, provider_id=provider).total_price),
        )

    try:
        put(Spending())
    except LookupError:
        return None
    return put

"""Reservations: attempts that begin at once must not overspend the budget of a plan.

An attempt reserves all that it may use, which is what is left for its task or its plan,
whichever is less. It begins when that much of the plan's budget is not reserved by
others; until then its task waits. So no attempt ever has less than it would have
alone, and all of them together never have more than the plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from accordance.domain.spending import tighter
from accordance.domain.usage import Budget


def reservation(left_for_task: Budget, left_for_plan: Budget) -> Budget | None:
    """Return what an attempt reserves of its plan's budget; None: nothing.

    What the plan does not bound need not be reserved.
    """
    wanted = tighter(left_for_task, left_for_plan)
    tokens = None if left_for_plan.tokens is None else wanted.tokens
    cost = None if left_for_plan.cost is None else wanted.cost
    if tokens is None and cost is None:
        return None
    return Budget(tokens=tokens, cost=cost)


def all_reserved(reservations: Iterable[Budget]) -> Budget:
    """Return what several attempts have reserved, whatever their order."""
    tokens = 0
    costs = []
    for reserved in reservations:
        tokens += reserved.tokens or 0
        costs.append(reserved.cost or 0.0)
    return Budget(tokens=tokens, cost=math.fsum(costs))


def why_wait(wanted: Budget, left_for_plan: Budget, reserved: Budget) -> str | None:
    """Return why an attempt must wait until others have ended; None: it may begin."""
    tokens_free = _free(left_for_plan.tokens, reserved.tokens)
    if wanted.tokens is not None and wanted.tokens > tokens_free:
        return (
            f"tokens_per_run: it may use {wanted.tokens:,} tokens, and attempts in work"
            f" leave {max(0, int(tokens_free)):,}; a lower tokens_per_task lets more"
            " tasks run at once"
        )

    cost_free = _free(left_for_plan.cost, reserved.cost)
    if wanted.cost is not None and wanted.cost > cost_free:
        return (
            f"cost_per_run: it may cost {wanted.cost:.2f}, and attempts in work leave"
            f" {max(0.0, cost_free):.2f}; a lower cost_per_task lets more tasks run at"
            " once"
        )
    return None


def _free(left: float | None, reserved: float | None) -> float:
    """Return what of a budget is not reserved.

    Where nothing is reserved it is all that is left, to the last digit.
    """
    if left is None:
        return math.inf
    return left - reserved if reserved else left

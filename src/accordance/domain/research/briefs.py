"""What the tasks of a plan made from handoffs know beside their words: the request they serve, and the answers handed over.

Briefs lie in the plan's `constraints` under `research`, so that they are part of the plan and never change with a machine's
settings. The request of a brief carries the budgets that hold for this very task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Object
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.registry import Registry
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Rejected, Violation

VERSION: Final = "accordance.research_briefs.v1"
KEY: Final = "research"
_QUALITY: Final = ("draft", "standard", "publication_ready")


class Brief(Closed):
    """What a task knows: its request, and the answers handed over to it, by the ids of their agents."""

    request: AgentRequest
    answers: dict[str, Object]


class Briefs(Closed):
    """The briefs of a plan, by the ids of its tasks."""

    schema_version: Literal["accordance.research_briefs.v1"]
    tasks: dict[str, Brief]


BRIEFS: Final = Contract(
    version=VERSION,
    name="briefs",
    about="What the research tasks of a plan know.",
    model=Briefs,
)
_checker: Final = Checker(Registry((BRIEFS,)))


def read_briefs(constraints: object) -> Mapping[str, Brief] | tuple[Violation, ...]:
    """The briefs in the constraints of a plan, by task. Constraints that mean something else have none."""
    found = constraints.get(KEY) if isinstance(constraints, dict) else None
    if not isinstance(found, dict) or found.get("schema_version") != VERSION:
        return {}
    result = _checker.check_value(found, BRIEFS)
    return result.violations if isinstance(result, Rejected) else result.value.tasks


def with_budgets(request: AgentRequest, constraints: Sequence[object]) -> AgentRequest:
    """The request with the budgets and the quality level among these constraints in the place of its own."""
    budgets: JsonObject = {}
    for constraint in constraints:
        if isinstance(constraint, dict) and len(constraint) == 1:
            budgets.update(
                {
                    name: value
                    for name, value in constraint.items()
                    if _is_budget(name, value)
                }
            )
    message = {
        key: value for key, value in dump(request).items() if key != "constraints"
    }
    return AgentRequest.model_validate(
        {**message, **({"constraints": budgets} if budgets else {})}
    )


def _is_budget(name: str, value: object) -> bool:
    if name == "quality_level":
        return value in _QUALITY
    is_amount = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return name in ("time_budget", "context_budget") and is_amount

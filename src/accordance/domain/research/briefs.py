"""What the tasks of a plan made from handoffs know beside their goal.

That is the request they serve, and the answers handed over to them. Briefs lie in the
plan's `constraints` under `research`: they are part of the plan, so that they never
change with the settings of a machine. The request of a brief carries the budgets of
this very task.
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
from accordance.domain.json_numbers import as_whole_number
from accordance.domain.research.constraints import QUALITY_LEVELS

VERSION: Final = "accordance.research_briefs.v1"
KEY: Final = "research"


class Brief(Closed):
    """The request of a task, and the answers handed over to it, by agent."""

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
    """Return the briefs in the constraints of a plan, by task.

    Constraints that mean something else have none.
    """
    briefs = constraints.get(KEY) if isinstance(constraints, dict) else None
    if not isinstance(briefs, dict) or briefs.get("schema_version") != VERSION:
        return {}

    result = _checker.check_value(briefs, BRIEFS)
    if isinstance(result, Rejected):
        return result.violations
    return result.value.tasks


def with_budgets(request: AgentRequest, constraints: Sequence[object]) -> AgentRequest:
    """Return the request with budgets and quality level taken from the constraints.

    They replace those of the request.
    """
    budgets: JsonObject = {}
    for constraint in constraints:
        if isinstance(constraint, dict) and len(constraint) == 1:
            name, value = next(iter(constraint.items()))
            if _is_budget(name, value):
                budgets[name] = value

    message = dict(dump(request))
    message.pop("constraints", None)
    if budgets:
        message["constraints"] = budgets
    return AgentRequest.model_validate(message)


def _is_budget(name: str, value: object) -> bool:
    if name == "quality_level":
        return value in QUALITY_LEVELS
    if name not in ("time_budget", "context_budget"):
        return False
    number = as_whole_number(value)
    return number is not None and number >= 0

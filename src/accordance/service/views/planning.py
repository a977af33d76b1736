"""Plans that models write."""

from __future__ import annotations

from typing import Any

from accordance.domain.plan_lifecycle import PlanState
from accordance.service.views.base import View
from accordance.service.views.spending import SpendingView


class UnansweredView(View):
    """The run that ended it all without a message."""

    code: str | None
    text: str


class PlannedView(View):
    """What came of having a plan written."""

    plan_id: str
    title: (
        str | None
    )  # this and the next ones are None where no message was ever a plan
    state: PlanState | None
    revision: int | None
    nodes: int | None
    written: int  # messages of the planner
    faults: tuple[str, ...]  # what was wrong with its last answer
    reviews: tuple[dict[str, Any], ...]
    unanswered: UnansweredView | None
    spent: SpendingView
    document: str = ""  # the plan itself, where it is kept nowhere else

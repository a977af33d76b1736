"""Moving a plan as a whole again, to see whether its events lead to its state."""

from __future__ import annotations

from typing import Final

from accordance.audit.findings import AuditFindings
from accordance.domain.chain import ChainEntry
from accordance.domain.plan_lifecycle import PlanEvent, PlanState, next_plan_state
from accordance.domain.records import PlanRecord
from accordance.errors import IllegalTransition

_EVENTS: Final = frozenset(PlanEvent)
_ASIDE: Final = (PlanEvent.ARCHIVED, PlanEvent.UNARCHIVED)
"""What happens beside the state that is stored."""


class PlanStates:
    """The state of a plan, and when it was paused and archived, from its events."""

    def __init__(self, findings: AuditFindings) -> None:
        self._findings = findings
        self._state: PlanState | None = None
        self._paused_at: str | None = None
        self._archived_at: str | None = None

    def see(self, entry: ChainEntry) -> None:
        """Take in an event that happened to the plan as a whole."""
        if entry.task_id is not None or entry.kind not in _EVENTS:
            return

        event = PlanEvent(entry.kind)
        if event in _ASIDE:
            is_archived = event is PlanEvent.ARCHIVED
            self._archived_at = entry.at if is_archived else None
        else:
            self._move(event, entry)

    def _move(self, event: PlanEvent, entry: ChainEntry) -> None:
        if self._state is None:
            self._state = PlanState.IN_REVIEW
            return
        try:
            self._state = next_plan_state(self._state, event)
        except IllegalTransition:
            self._findings.broken(
                f"event {entry.seq}: {event} could not happen to a plan that is"
                f" {self._state}"
            )
        if event is PlanEvent.PAUSED:
            self._paused_at = entry.at
        elif event is PlanEvent.RESUMED:
            self._paused_at = None

    def compare(self, plan: PlanRecord) -> None:
        """Check that the stored plan is in the state to which its events lead."""
        if self._state is None:
            return  # the missing import is a finding already
        stored = (plan.state, plan.paused_at, plan.archived_at)
        expected = (self._state, self._paused_at, self._archived_at)
        if stored != expected:
            self._findings.broken(
                f"plans {plan.plan_id}: is {plan.state}, its events lead to"
                f" {self._state} (or other times)"
            )

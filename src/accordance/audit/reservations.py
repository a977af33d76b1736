"""Reserving again, to see whether attempts reserved what was free, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accordance.audit.findings import AuditFindings
from accordance.audit.replaying import PlanReplay
from accordance.domain.budgets import left_for_plan, left_for_task
from accordance.domain.chain import ChainEntry
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import FORGIVES, Event, State
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.records import PlanRecord
from accordance.domain.reservations import all_reserved, reservation, why_wait
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.store.ledger import RESERVED, UNRESERVED, Transaction
from accordance.work.run_log import RAN, spending_of

_FORGIVING: Final = frozenset(event.value for event in FORGIVES)
_IN_WORK: Final = (State.IN_PROGRESS, State.READY_TO_CHECK)


@dataclass(frozen=True, slots=True)
class _Open:
    """A reservation, and the state of its task: it ends when that changes."""

    budget: Budget
    state: State | None


@dataclass(slots=True)
class Reservations:
    """What attempts have reserved and used, as the events of a plan say."""

    findings: AuditFindings
    replay: PlanReplay
    _open: dict[str, _Open] = field(default_factory=dict)  # by task
    _runs: dict[str, list[Spending]] = field(default_factory=dict)
    """By task, since a person last gave it another chance."""
    _tokens: int = 0  # used in this run of the plan
    _cost: float = 0.0
    _has_begun: bool = False
    _is_paused: bool = False

    def see(self, entry: ChainEntry) -> None:
        """Take in an event that the plan has been moved by."""
        self._end_where_moved()
        if entry.kind == RAN:
            self._spend(entry)
        elif entry.kind == RESERVED:
            self._reserve(entry)
        elif entry.kind == UNRESERVED:
            self._end(entry)
        elif entry.kind in _FORGIVING:
            self._runs.pop(entry.task_id or "", None)
        self._follow_run(entry)

    def _end_where_moved(self) -> None:
        for task_id, reserved in list(self._open.items()):
            if self.replay.state_of(task_id) is not reserved.state:
                del self._open[task_id]

    def _end(self, entry: ChainEntry) -> None:
        if self._open.pop(entry.task_id or "", None) is None:
            self.findings.broken(
                f"event {entry.seq}: task {entry.task_id} had nothing reserved"
            )

    def _spend(self, entry: ChainEntry) -> None:
        spent = spending_of(entry.payload)
        if entry.task_id is not None:
            self._runs.setdefault(entry.task_id, []).append(spent)
        if spent.calls:
            self._tokens += spent.tokens
            self._cost += spent.cost or 0.0

    def _follow_run(self, entry: ChainEntry) -> None:
        """Begin to count anew where the fuses of the plan do."""
        if entry.kind == PlanEvent.PAUSED:
            self._is_paused = True
        elif entry.kind == PlanEvent.IMPORTED:
            self._has_begun = False
        elif entry.kind == Event.CLAIMED and not self._has_begun:
            self._has_begun = True
            self._begin_anew()
        elif entry.kind == PlanEvent.WAIVED:
            self._begin_anew()
        elif entry.kind == PlanEvent.RESUMED:
            if not self._is_paused:
                self._begin_anew()
            self._is_paused = False

    def _begin_anew(self) -> None:
        self._tokens = 0
        self._cost = 0.0

    # -- a reservation

    def _reserve(self, entry: ChainEntry) -> None:
        rules = self.replay.revisions.last_rules
        if rules is None:
            return  # the missing import is a finding already
        task_id = entry.task_id or ""
        written = _budget_in(entry.payload)
        expected = self._expected(task_id, rules.fuses, written)
        plan_left = left_for_plan(rules.fuses, self._tokens, self._cost)
        beside = all_reserved(reserved.budget for reserved in self._open.values())

        if written != expected:
            self.findings.broken(
                f"event {entry.seq}: task {task_id} reserved {_text(written)},"
                f" {_text(expected)} follows"
            )
        elif why_wait(written, plan_left, beside):
            self.findings.broken(
                f"event {entry.seq}: task {task_id} reserved more than was free"
            )
        self._open[task_id] = _Open(written, self.replay.state_of(task_id))

    def _expected(self, task_id: str, fuses: Fuses, written: Budget) -> Budget | None:
        """Return what follows; prices are not in the ledger, so cost may be left out."""
        task_left = left_for_task(self._runs.get(task_id, []), fuses)
        if isinstance(task_left, str):
            return None
        plan_left = left_for_plan(fuses, self._tokens, self._cost)
        if written.cost is None:
            plan_left = replace(plan_left, cost=None)
        return reservation(task_left, plan_left)

    # -- at the end

    def compare(self, tx: Transaction, plan: PlanRecord) -> None:
        """Compare what tasks hold reserved with what the events say."""
        self._end_where_moved()
        expected = {
            task_id: reserved.budget for task_id, reserved in self._open.items()
        }
        for task in tx.tasks(plan.plan_id, *_IN_WORK):
            held = task.lease.reserved if task.lease else None
            if held != expected.pop(task.task_id, None):
                self.findings.broken(
                    f"task {task.task_id}: its events lead to another reservation"
                )
        for task_id in expected:
            self.findings.missing(f"task {task_id}: its reservation is missing")


def _budget_in(payload: Mapping[str, Any]) -> Budget:
    return Budget(tokens=payload["tokens"], cost=payload["cost"])


def _text(budget: Budget | None) -> str:
    if budget is None:
        return "nothing"
    return f"{budget.tokens} tokens and a cost of {budget.cost}"

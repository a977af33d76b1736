"""What an amendment comes to: whether it can be taken up, and what follows.

An amendment is a whole plan, as an import takes it. What it may change is decided in
`domain/amending`; here it is held against the plan in the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.contracts.catalogue.plan import Plan, PlanHead
from accordance.contracts.context import ROLES
from accordance.domain.amending import Amendment, AmendmentRefusal, amended, refusals
from accordance.domain.amendment import Difference, difference
from accordance.domain.fuses import fuses_from
from accordance.domain.lifecycle import State
from accordance.domain.node_progress import NodeMove
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.plan_lifecycle import PLAN_LIFECYCLE, PlanEvent
from accordance.domain.progress import PlanInMemory
from accordance.domain.records import EvidenceRecord, PlanRecord, Rules
from accordance.errors import (
    AccordanceError,
    Category,
    Conflict,
    NotFound,
    PlanChanged,
    UnfitPlanState,
)
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import InvalidTasks, check_tasks
from accordance.work.importing import refuse_unstorable_ids
from accordance.work.plan_life import state_of
from accordance.work.stored_plans import read_plan

_MAY_DIFFER: Final = frozenset(("created_at",))
"""What the head of an amended plan may say otherwise; it is left as it was."""


class NothingToAmend(AccordanceError):
    """An amendment that changes nothing."""

    code = "nothing-to-amend"
    category = Category.REJECTED


class AmendmentRefused(AccordanceError):
    """An amendment that would undo work, or leave work without its task."""

    code = "amendment-refused"
    category = Category.REJECTED

    def __init__(self, reasons: tuple[AmendmentRefusal, ...]) -> None:
        super().__init__(reasons)
        self.reasons = reasons

    @property
    def text(self) -> str:
        """The first reason, and how many others there are."""
        first = self.reasons[0].why
        others = len(self.reasons) - 1
        return f"{first} (and {others} more)" if others else first

    @property
    def way_out(self) -> str:
        """What to do about the first reason."""
        return self.reasons[0].way_out


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendmentRequest:
    """What a person wants of a plan.

    `base` is the revision that they have looked at.
    """

    plan: Plan
    base: int
    fuses: Mapping[str, object]
    roles: Collection[str] = ROLES


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedAmendment:
    """An amendment that can be taken up: the plan after it, and what follows."""

    record: PlanRecord
    plan: Plan
    rules: Rules
    amendment: Amendment
    after: PlanInMemory
    moves: tuple[NodeMove, ...]
    missing_inputs: Mapping[str, int]

    @property
    def handed_back(self) -> tuple[str, ...]:
        """The tasks whose attempts are handed back."""
        return tuple(
            move.task_id
            for move in self.moves
            if move.before.state is State.IN_PROGRESS
        )


# -- preparing


def prepare(
    tx: Transaction, plan_id: str, request: AmendmentRequest
) -> PreparedAmendment:
    """Check an amendment as a whole, and work out what follows. Nothing is changed.

    Raises UnfitPlanState, PlanChanged, AmendmentRefused, NothingToAmend, Conflict,
    InvalidFuses, UnfitPlan, and InvalidTasks.
    """
    record = tx.plan(plan_id)
    _must_be_amendable(tx, record, request.base)
    refuse_unstorable_ids(request.plan)
    violations = check_tasks(request.plan, request.roles)
    if violations:
        raise InvalidTasks(violations)

    old = read_plan(tx.blob(record.document))
    new = _with_same_head(old, request.plan)
    fuses = {**record.rules.fuses.model_dump(), **request.fuses}
    rules = replace(record.rules, fuses=fuses_from(fuses))
    changes = difference(old, new, record.rules.fuses, rules.fuses)
    if not changes:
        raise NothingToAmend(f"the amendment changes nothing in plan {plan_id}")

    amendment = Amendment(
        _standing_of(tx, plan_id, plan_graph(old)),
        plan_graph(new),
        changes,
        needs_changed=tasks_with_other_needs(old, new, changes),
    )
    _refuse_foreign_tasks(tx, amendment)
    reasons = [*refusals(amendment), *_answered_needs(tx, plan_id, amendment)]
    if reasons:
        raise AmendmentRefused(tuple(dict.fromkeys(reasons)))

    missing = _missing_inputs(tx, new, amendment.needs_changed)
    after, moves = amended(amendment, missing)
    return PreparedAmendment(
        record=record,
        plan=new,
        rules=rules,
        amendment=amendment,
        after=after,
        moves=moves,
        missing_inputs=missing,
    )


def _must_be_amendable(tx: Transaction, plan: PlanRecord, base: int) -> None:
    state = state_of(tx, plan)
    if PlanEvent.AMENDED not in PLAN_LIFECYCLE[state]:
        raise UnfitPlanState(
            f"plan {plan.plan_id} is {state} and cannot be amended",
            way_out="import a new plan for what is still to be done",
        )
    if plan.revision != base:
        raise PlanChanged(
            f"plan {plan.plan_id} was amended meanwhile: it is in revision"
            f" {plan.revision}, the amendment was made for revision {base}",
            way_out="look at the plan as it is now, and amend that",
        )


def _with_same_head(old: Plan, new: Plan) -> Plan:
    """Return the new plan under the old head. Raises AmendmentRefused."""
    reasons = []
    before, after = _head_fields(old.plan), _head_fields(new.plan)
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            why = f"the {name} of plan {old.plan.plan_id} cannot be amended"
            reasons.append(
                AmendmentRefusal(why, "keep it, or import a plan of its own")
            )
    if reasons:
        raise AmendmentRefused(tuple(reasons))
    return new.model_copy(update={"plan": old.plan})


def _head_fields(head: PlanHead) -> dict[str, Any]:
    fields = head.model_dump(mode="json", by_alias=True)
    return {name: value for name, value in fields.items() if name not in _MAY_DIFFER}


def _standing_of(tx: Transaction, plan_id: str, graph: PlanGraph) -> PlanInMemory:
    standing = {task.task_id: task.progress for task in tx.tasks(plan_id)}
    return PlanInMemory(graph, standing)


def _refuse_foreign_tasks(tx: Transaction, amendment: Amendment) -> None:
    """Refuse new tasks with the id of a task of another plan. Raises Conflict."""
    for task_id in amendment.difference.added:
        try:
            other = tx.task(task_id)
        except NotFound:
            continue
        raise Conflict(
            f"task {task_id} already belongs to plan {other.plan_id};"
            " give every task its own id"
        )


# -- what tasks need from outside


def tasks_with_other_needs(old: Plan, new: Plan, changes: Difference) -> frozenset[str]:
    """Return the tasks that need something else from outside now."""
    changed = {item.id for item in changes.needs_changed}
    differing = {*changes.needs_added, *changes.needs_removed, *changed}
    needs = [*old.requirements, *new.requirements]
    return frozenset(need.task_id for need in needs if need.requirement_id in differing)


def _answered_needs(
    tx: Transaction, plan_id: str, amendment: Amendment
) -> Iterator[AmendmentRefusal]:
    """An answer belongs to what was asked for, so that cannot become something else."""
    for item in amendment.difference.needs_changed:
        if _answers(tx, plan_id, item.id):
            yield AmendmentRefusal(
                f"the requirement {item.id} has been answered",
                "give what is needed now a requirement_id of its own",
            )


def _answers(tx: Transaction, plan_id: str, requirement_id: str) -> int:
    evidence = tx.find(
        EvidenceRecord, plan_id=plan_id, requirement_id=requirement_id, stale_at=None
    )
    return len(evidence)


def _missing_inputs(
    tx: Transaction, plan: Plan, task_ids: Collection[str]
) -> dict[str, int]:
    """Return how many required inputs these tasks lack under the new plan."""
    known = {node.task_id for node in plan.nodes}
    missing = {task_id: 0 for task_id in sorted(task_ids) if task_id in known}
    for need in plan.requirements:
        if need.task_id not in missing or not need.required:
            continue
        answers = _answers(tx, plan.plan.plan_id, need.requirement_id)
        if answers < need.min_count:
            missing[need.task_id] += 1
    return missing

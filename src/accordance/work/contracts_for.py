"""Which contract a task's message is held to: an action's, an answer's, a change's, or a review's with the plan's own rubric.

Where routes have a say they have it when an attempt begins. The event that begins it keeps what they said, so that the
message is judged, and judged again by `verify`, by what its author was told, whatever the routes say by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accordance.contracts.catalogue.action import ACTION, Action
from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.review import REVIEW, Review
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.chain import Payload
from accordance.domain.executor_specs import LlmSpec, Spec
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Routing, wanted
from accordance.domain.rubric import Rubric, follows
from accordance.domain.ruling import Ruling, TaskHistory, rule_action, rule_answer
from accordance.errors import NoExecutor
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_task
from accordance.work.research_tasks import answers_of, how_to_answer

ACTIONS: Contract[Action] = ACTION.in_scope(ACTION.scopes[0])
HELD_TO: Final = "held_to"  # the key in the event that begins an attempt; without it, it is an action's contract

Holding: TypeAlias = Callable[[Transaction, TaskRecord], Payload]
"""What is written down of the contract when an attempt begins."""
Rule: TypeAlias = Callable[[Accepted[Any] | Rejected, TaskHistory, Fuses], Ruling]

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {ACTION.version: rule_action, ANSWER.version: rule_answer}
)


def to_actions(_tx: Transaction, _task: TaskRecord) -> Payload:
    """Where nobody says otherwise."""
    return {}


def by_routes(routing: Routing, agents: str) -> Holding:
    """As the routes of a project say; `agents` is its registry of research agents, as TOML."""

    def holds(tx: Transaction, task: TaskRecord) -> Payload:
        try:
            contract = routing.choose(wanted(task, "action")).contract
        except NoExecutor:  # somebody takes it up all the same
            return {}
        if contract == ACTION.version or coding_task(tx, task) is not None:
            return {}
        return {HELD_TO: {"contract": contract, "agents": tx.keep(agents.encode())}}

    return holds


def held_to(tx: Transaction, task: TaskRecord) -> Mapping[str, Any]:
    """What the last attempt of a task is held to."""
    claims = [
        entry.payload
        for entry in tx.entries_of(task.task_id)
        if entry.kind == Event.CLAIMED
    ]
    found: Mapping[str, Any] = (claims[-1] if claims else {}).get(HELD_TO) or {}  # type: ignore[assignment]
    return found


def contract_under(
    tx: Transaction, task: TaskRecord, held: Mapping[str, Any]
) -> Contract[Any]:
    """The contract of an action under what its attempt is held to. Raises NotFound, InvalidAgents."""
    return answers_of(tx, task, held["agents"]) if held else ACTIONS


def rule_under(
    contract: Contract[Any],
    result: Accepted[Any] | Rejected,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    """What a message means for its task, by its contract."""
    return _RULES[contract.version](result, case, fuses)


def contract_of_message(
    tx: Transaction,
    task: TaskRecord,
    kind: str,
    change: bytes | None,
    of_change: Contract[Any] = SUBMIT,
) -> Contract[Any]:
    """The contract of what somebody hands in who does a task or reviews.

    `change` is the scc.task.v1 the task carries, if it changes a repository; `of_change` is the contract of that.
    """
    if kind != "action":
        return reviews_by(tx.plan(task.plan_id).rules.node_rubric, "TASK_CHECK")
    return (
        of_change if change is not None else contract_under(tx, task, held_to(tx, task))
    )


def contract_of_change(spec: Spec) -> Contract[Any]:
    """What whoever changes a repository hands in: word of what was done in the clone; from a model, the files themselves."""
    return EDITS if isinstance(spec, LlmSpec) else SUBMIT


def method_of(tx: Transaction, task: TaskRecord) -> dict[str, Any] | None:
    """How a research agent finds its answer; None where the task asks for none."""
    held = held_to(tx, task)
    return how_to_answer(tx, task, held["agents"]) if held else None


def reviews_by(rubric: Rubric, scope: str) -> Contract[Review]:
    """The review contract in a scope, held to a rubric."""
    return _reviews_by(
        rubric.name, tuple(rubric.maxima.items()), rubric.approve_at, scope
    )


@lru_cache(maxsize=32)
def _reviews_by(
    name: str, maxima: tuple[tuple[str, int], ...], approve_at: int, scope: str
) -> Contract[Review]:
    rubric = Rubric(name, MappingProxyType(dict(maxima)), approve_at)
    narrowed = next(one for one in REVIEW.scopes if one.name == scope)
    return REVIEW.in_scope(narrowed).with_rules(follows(rubric))


def review_context(
    rubric: Rubric, *, task_id: str | None = None, plan_id: str | None = None
) -> Context:
    """What a review is checked against."""
    return Context(task_id=task_id, plan_id=plan_id, threshold=rubric.approve_at)

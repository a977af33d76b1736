"""The contract of a message: of an action, an answer, a change or a review.

Routes may choose the contract of an action when its attempt begins. The event that
begins the attempt keeps their choice. So the message is judged, now and by `verify`, by
what its author was given, even if the routes have changed since.
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
from accordance.domain.routing import Routing, route_request
from accordance.domain.rubric import Rubric, follows
from accordance.domain.ruling import Ruling, TaskHistory, rule_action, rule_answer
from accordance.errors import NoExecutor
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_task
from accordance.work.research_tasks import answers_of, how_to_answer

ACTIONS: Contract[Action] = ACTION.in_scope(ACTION.scopes[0])
HELD_TO: Final = "held_to"
"""A key of the event that begins an attempt; without it the attempt is an action."""

Holding: TypeAlias = Callable[[Transaction, TaskRecord], Payload]
"""Returns what is written down of the contract when an attempt begins."""
Rule: TypeAlias = Callable[[Accepted[Any] | Rejected, TaskHistory, Fuses], Ruling]

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {ACTION.version: rule_action, ANSWER.version: rule_answer}
)


# -- the contract of an attempt


def to_actions(_tx: Transaction, _task: TaskRecord) -> Payload:
    """Hold an attempt to the contract of actions, which needs no note."""
    return {}


def by_routes(routing: Routing, agents: str) -> Holding:
    """Return a function that holds attempts to what the routes of a project choose.

    `agents` is the project's registry of research agents, as TOML.
    """

    def holds(tx: Transaction, task: TaskRecord) -> Payload:
        try:
            choice = routing.choose(route_request(task, "action"))
        except NoExecutor:  # a worker takes it up all the same
            return {}

        is_action = choice.contract == ACTION.version
        if is_action or coding_task(tx, task) is not None:
            return {}

        sha256 = tx.keep(agents.encode())
        return {HELD_TO: {"contract": choice.contract, "agents": sha256}}

    return holds


def held_to(tx: Transaction, task: TaskRecord) -> Mapping[str, Any]:
    """Return what the last attempt of a task is held to; nothing means an action."""
    last_claim: Mapping[str, Any] = {}
    for entry in tx.entries_of(task.task_id, Event.CLAIMED):
        last_claim = entry.payload
    return last_claim.get(HELD_TO) or {}


def contract_under(
    tx: Transaction, task: TaskRecord, held: Mapping[str, Any]
) -> Contract[Any]:
    """Return the contract of an action, by what its attempt is held to.

    Raises NotFound, InvalidAgents.
    """
    if not held:
        return ACTIONS
    return answers_of(tx, task, held["agents"])


def rule_under(
    contract: Contract[Any],
    result: Accepted[Any] | Rejected,
    case: TaskHistory,
    fuses: Fuses,
) -> Ruling:
    """Return what a message means for its task, by the rule of its contract."""
    rule = _RULES[contract.version]
    return rule(result, case, fuses)


def method_of(tx: Transaction, task: TaskRecord) -> dict[str, Any] | None:
    """Return how a research agent is to answer; None if the task asks for no answer."""
    held = held_to(tx, task)
    if not held:
        return None
    return how_to_answer(tx, task, held["agents"])


# -- the contract of a message


def contract_of_message(
    tx: Transaction,
    task: TaskRecord,
    kind: str,
    change: bytes | None,
    of_change: Contract[Any] = SUBMIT,
) -> Contract[Any]:
    """Return the contract of the message that the worker on a task hands in.

    `change` is the scc.task.v1 of a task that changes a repository, and `of_change` the
    contract of its message.
    """
    if kind != "action":
        rules = tx.plan(task.plan_id).rules
        return reviews_by(rules.node_rubric, "TASK_CHECK")
    if change is not None:
        return of_change
    return contract_under(tx, task, held_to(tx, task))


def contract_of_change(spec: Spec) -> Contract[Any]:
    """Return the contract of the message about a change.

    An agent works in the clone and submits a report; a model hands in the edits.
    """
    return EDITS if isinstance(spec, LlmSpec) else SUBMIT


def reviews_by(rubric: Rubric, scope: str) -> Contract[Review]:
    """Return the contract of reviews in a scope, by a rubric."""
    maxima = tuple(rubric.maxima.items())
    return _reviews_by(rubric.name, maxima, rubric.approve_at, scope)


@lru_cache(maxsize=32)
def _reviews_by(
    name: str, maxima: tuple[tuple[str, int], ...], approve_at: int, scope: str
) -> Contract[Review]:
    rubric = Rubric(name, MappingProxyType(dict(maxima)), approve_at)
    scopes = {known.name: known for known in REVIEW.scopes}
    return REVIEW.in_scope(scopes[scope]).with_rules(follows(rubric))


def review_context(
    rubric: Rubric, *, task_id: str | None = None, plan_id: str | None = None
) -> Context:
    """Return what a review is checked against."""
    return Context(task_id=task_id, plan_id=plan_id, threshold=rubric.approve_at)

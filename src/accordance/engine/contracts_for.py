"""Which contract a task's message is held to: an action's, a change's, or a review's with the plan's own rubric."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Any

from accordance.contracts.catalogue.action import ACTION, Action
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.review import REVIEW, Review
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.domain.executor_specs import LlmSpec, Spec
from accordance.domain.records import Rules
from accordance.domain.rubric import Rubric, follows

ACTIONS: Contract[Action] = ACTION.in_scope(ACTION.scopes[0])


def contract_of_message(kind: str, rules: Rules, change: Contract[Any] | None = None) -> Contract[Any]:
    """The contract of what somebody hands in who does a task or reviews; `change` is that of a repository's change."""
    if kind != "action":
        return reviews_by(rules.node_rubric, "TASK_CHECK")
    return change or ACTIONS


def contract_of_change(spec: Spec) -> Contract[Any]:
    """What whoever changes a repository hands in: word of what was done in the clone; from a model, the files themselves."""
    return EDITS if isinstance(spec, LlmSpec) else SUBMIT


def reviews_by(rubric: Rubric, scope: str) -> Contract[Review]:
    """The review contract in a scope, held to a rubric."""
    return _reviews_by(rubric.name, tuple(rubric.maxima.items()), rubric.approve_at, scope)


@lru_cache(maxsize=32)
def _reviews_by(
    name: str, maxima: tuple[tuple[str, int], ...], approve_at: int, scope: str
) -> Contract[Review]:
    rubric = Rubric(name, MappingProxyType(dict(maxima)), approve_at)
    narrowed = next(one for one in REVIEW.scopes if one.name == scope)
    return REVIEW.in_scope(narrowed).with_rules(follows(rubric))


def review_context(rubric: Rubric, *, task_id: str | None = None, plan_id: str | None = None) -> Context:
    """What a review is checked against."""
    return Context(task_id=task_id, plan_id=plan_id, threshold=rubric.approve_at)
